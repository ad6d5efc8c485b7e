#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Prints how far above the most bytes alive at one step the arenas of given lifetimes are.

usage: planner.py --costmodel PROGRAM FILE.csv...

A file has the columns `lower`, `upper` and `size`: a buffer of `size` bytes is alive from time
`lower` until before `upper`. Rows with different values in an optional column `instance` are
separate. The hard instances of MiniMalloc (github.com/google/minimalloc) are such files. Each
instance becomes an ONNX model: a node per time at which a buffer begins, which reads the buffers
that end before the next one does.
"""
import argparse
import bisect
import csv
import json
import subprocess
import tempfile
import time
from pathlib import Path

import wire

UINT8 = 2
IR_VERSION, OPSET = 8, 17


def instances(path):
    """Returns {name: [(lower, upper, size)]}."""
    found = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            buffer = tuple(int(row[key]) for key in ("lower", "upper", "size"))
            found.setdefault(row.get("instance", path.stem), []).append(buffer)
    return found


def value_info(name, size):
    tensor = wire.message(1, wire.integer(1, UINT8),
                          wire.message(2, wire.message(1, wire.integer(1, size))))
    return wire.text(1, name) + wire.message(2, tensor)


def model(buffers):
    begins = sorted({lower for lower, _, _ in buffers})
    nodes = [([], []) for _ in begins]
    for i, (lower, upper, _) in enumerate(buffers):
        first, last = begins.index(lower), bisect.bisect_left(begins, upper) - 1
        nodes[first][1].append(f"b{i}")
        if last > first:
            nodes[last][0].append(f"b{i}")
    parts = [wire.message(1, *(wire.text(1, name) for name in inputs),
                          *(wire.text(2, name) for name in outputs), wire.text(4, "Step"),
                          wire.text(7, "bench")) for inputs, outputs in nodes]
    infos = [wire.message(13, value_info(f"b{i}", size)) for i, (_, _, size) in enumerate(buffers)]
    domains = (("", OPSET), ("bench", 1))
    return wire.integer(1, IR_VERSION) + wire.message(7, *parts, wire.text(2, "g"), *infos) + b"".join(
        wire.message(8, wire.text(1, domain), wire.integer(2, version)) for domain, version in domains)


def main():
    parser = argparse.ArgumentParser(description="print arenas of given lifetimes")
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE.csv")
    options = parser.parse_args()
    print("instance, buffers, most alive, arena, ratio, by size, two ends, seconds")
    with tempfile.TemporaryDirectory(prefix="costmodel-planner-") as folder:
        target = Path(folder) / "model.onnx"
        for name, buffers in (each for path in options.files for each in instances(path).items()):
            target.write_bytes(model(buffers))
            start = time.monotonic()
            done = subprocess.run([options.costmodel, target, "--format", "json"], check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            seconds = time.monotonic() - start
            memory = json.loads(done.stdout)["memory"]
            peak = memory["peak_activation_bytes"]
            ratios = [memory["arena_bytes"], *memory["planners"].values()]
            print(f"{name}, {len(buffers)}, {peak}, {memory['arena_bytes']}, "
                  + ", ".join(f"{size / peak:.4f}" for size in ratios) + f", {seconds:.2f}")


if __name__ == "__main__":
    main()
