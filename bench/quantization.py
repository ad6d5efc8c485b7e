#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares the sign of the gain of int8 with pairs of published times: does int8 take less time than
the float network on the same board?

usage: quantization.py COSTMODEL MODELS ROWS.csv...

The columns are those of ncnn_rows.py: table, device, runtime, precision, model, batch, dims, ms. A
pair is an int8 row and the faster float row of the same table and network.

Prints the share of right signs with the devices as they are, that of the rival "int8 is always
faster", and that of a test in which boards without calibration are split in two halves: each takes
the int8_product that is best on the other one.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import collections
import csv
import hashlib
import json
import pathlib
import subprocess
import tempfile

DEVICES = pathlib.Path(__file__).resolve().parent.parent / "devices"
CANDIDATES = (0.4, 0.45, 0.5, 0.55, 0.6, 0.7)  # of int8_product
GPU = ("sm_", "gfx")

Pair = collections.namedtuple("Pair", "table device runtime model batch dims gain")


def network(row):
    return row["table"].removesuffix(row["precision"]), row["model"].replace("_int8", "")


def pairs_of(paths):
    """Returns the pairs of the files. A gain is float time / int8 time."""
    floats, int8 = {}, []
    for path in paths:
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["precision"] == "int8":
                    int8.append(row)
                else:
                    ms = float(row["ms"])
                    floats[network(row)] = min(ms, floats.get(network(row), ms))
    return [Pair(row["table"], row["device"], row["runtime"], row["model"], row["batch"], row["dims"],
                 floats[network(row)] / float(row["ms"])) for row in int8 if network(row) in floats]


class Program:
    """Runs the program once per device, runtime and network."""

    def __init__(self, program, models, folder):
        self.program, self.models, self.folder, self.known = program, models, folder, {}

    def device(self, name, share):
        """Returns the file of the device; with a share, without its calibration but for that."""
        path = DEVICES / f"{name}.json"
        device = json.loads(path.read_text())
        if share is None or device["architecture"].startswith(GPU):
            return path
        shares = {"basis": "int8_product", "ncnn": {"int8_product": share}}
        path = self.folder / f"{name}-{share}.json"
        path.write_text(json.dumps(device | {"calibration": shares}))
        return path

    def gain(self, pair, share=None):
        key = pair.device, pair.runtime, pair.model, pair.batch, pair.dims, share
        if key not in self.known:
            dims = [word for dim in pair.dims.split() for word in ("--dim", dim)]
            result = subprocess.run(
                [self.program, self.models / pair.model, "--batch", pair.batch, *dims, "--runtime",
                 pair.runtime, "--precision", "int8", "--device", self.device(pair.device, share),
                 "--format", "json"], stdout=subprocess.PIPE, check=True)
            self.known[key] = json.loads(result.stdout)["measure"]["quantization"]["gain"]
        return self.known[key]

    def right(self, pairs, share=None):
        return sum((self.gain(pair, share) > 1) == (pair.gain > 1) for pair in pairs)


def half(pair):
    return hashlib.sha256(pair.device.encode()).digest()[0] % 2


def held_out(program, pairs):
    """Returns the number of right signs where each half takes the best share of the other one."""
    halves = [[pair for pair in pairs if half(pair) == i] for i in range(2)]
    total = 0
    for mine, other in (halves, halves[::-1]):
        share = max(CANDIDATES, key=lambda share: program.right(other, share))
        total += program.right(mine, share)
    return total


def main():
    program, models, *paths = sys.argv[1:]
    pairs = pairs_of(paths)
    print("pairs                  n  this program  boards held out  always faster  never faster")
    with tempfile.TemporaryDirectory() as folder:
        run = Program(program, pathlib.Path(models), pathlib.Path(folder))
        for runtime in sorted({pair.runtime for pair in pairs}) + [""]:
            mine = [pair for pair in pairs if runtime in ("", pair.runtime)]
            faster = sum(pair.gain > 1 for pair in mine)
            shares = (run.right(mine), held_out(run, mine), faster, len(mine) - faster)
            words = [f"{100 * n / len(mine):.1f} %" for n in shares]
            print(f"{runtime or 'all':18}{len(mine):6}{words[0]:>14}{words[1]:>17}{words[2]:>15}{words[3]:>14}")


if __name__ == "__main__":
    main()
