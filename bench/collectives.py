#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Fits the links of devices to measured collectives, and compares modelled times with the other half.

usage: collectives.py --program bench_collectives --rows FOLDER [--write]

FOLDER holds collectives.csv (NCCL; device, op_name, num_gpus, bytes, time_us) and expert_alltoall.csv
(DeepEP; device, nodes, tokens, top_k, experts, hidden, dispatch_us, combine_us). The constants of each link are
fitted to a random half of the rows of each device and operation and compared with the other half; five halves
are pooled. --write fits to all rows and writes the constants into devices/, also of devices with the same link.
Fails if a lower bound exceeds a measured time.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import collections
import csv
import json
import math
import random
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

DEVICES = Path(__file__).resolve().parent.parent / "devices"
FILES = {"h100_sxm": ["h100-sxm", "h200"], "a100_sxm": ["a100-80gb", "a100-40gb", "v100"],
         "l40s": ["l40s"], "gb200": ["gb200", "b200", "b300"]}
# Constants at which each fit starts, the same for all devices.
START = {"link": {"launch": 8e-6, "step": 6e-7, "share": 0.75, "fill": 3e-5, "in_network": 0.65, "contention": 2},
         "network": {"launch": 3e-5, "step": 3e-6, "share": 0.9, "contention": 1}}
OPS = {"all_reduce": "all_reduce", "all_gather": "all_gather", "reduce_scatter": "reduce_scatter",
       "alltoall": "all_to_all"}
GPUS = 8  # of a node of expert_alltoall.csv
NODE_LIMIT = 4  # nodes of a token: the test of DeepEP chooses 4 groups of experts
SEEDS = 5
PRIOR = 0.01  # weight of a change of a constant's logarithm by 1; errors of all rows have weight 1

Row = collections.namedtuple("Row", "device op line seconds")


def read_rows(folder):
    with open(folder / "collectives.csv", newline="") as file:
        for row in csv.DictReader(file):
            op = OPS[row["op_name"]]
            yield Row(row["device"], op, f"{op} {row['num_gpus']} {row['bytes']}", float(row["time_us"]) / 1e6)
    with open(folder / "expert_alltoall.csv", newline="") as file:
        for row in csv.DictReader(file):
            hidden = int(row["hidden"])
            # Dispatch: fp8 and a scale of 4 bytes for each 128 elements; combine: bf16.
            for op, size in (("dispatch", hidden + hidden // 128 * 4), ("combine", 2 * hidden)):
                line = (f"{op} {row['nodes']} {GPUS} {row['tokens']} {size} {row['experts']} {row['top_k']} "
                        f"{NODE_LIMIT}")
                yield Row(row["device"], op, line, float(row[f"{op}_us"]) / 1e6)


def model(args, device, rows):
    """Returns (expected, bound) of each row, in seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(device, file)
        file.flush()
        text = "".join(f"0 {row.line}\n" for row in rows)
        result = subprocess.run([args.program, file.name], input=text, stdout=subprocess.PIPE, check=True,
                                universal_newlines=True)
    return [tuple(map(float, line.split()[:2])) for line in result.stdout.splitlines()]


def errors(args, device, rows):
    return [abs(expected / row.seconds - 1) for row, (expected, _) in zip(rows, model(args, device, rows))]


def minimise(cost, start, steps):
    """Nelder and Mead."""
    n = len(start)
    points = [list(start)] + [[v + 0.3 * (i == k) for i, v in enumerate(start)] for k in range(n)]
    ranked = sorted((cost(p), p) for p in points)
    for _ in range(steps):
        worst = ranked[-1][1]
        middle = [sum(p[i] for _, p in ranked[:-1]) / n for i in range(n)]

        def at(factor):
            point = [m + factor * (m - w) for m, w in zip(middle, worst)]
            return cost(point), point

        best = at(1)
        if best[0] < ranked[0][0]:
            best = min(best, at(2))
        elif best[0] >= ranked[-2][0]:
            best = min(best, at(-0.5))
        if best[0] < ranked[-1][0]:
            ranked[-1] = best
        else:
            nearest = ranked[0][1]
            ranked = [ranked[0]] + [(cost(p), p) for p in ([(a + b) / 2 for a, b in zip(nearest, q)]
                                                           for _, q in ranked[1:])]
        ranked.sort()
    return ranked[0][1]


def fit(args, device, kind, rows):
    """Returns a copy of the device with the constants of its "link" or "network" fitted to the rows."""
    device = json.loads(json.dumps(device))
    link = device[kind]
    keys = [key for key in START[kind] if key in link]
    start = [math.log(START[kind][key]) for key in keys]

    def constants(point):
        return {key: min(math.exp(value), 1 if key == "share" else math.inf) for key, value in zip(keys, point)}

    def cost(point):
        link.update(constants(point))
        ratios = [expected / row.seconds for row, (expected, _) in zip(rows, model(args, device, rows))]
        return (sum(abs(math.log(ratio)) for ratio in ratios) / len(rows) +
                PRIOR * sum((a - b) ** 2 for a, b in zip(point, start)))

    point = minimise(cost, minimise(cost, start, args.steps), args.steps)
    link.update((key, float(f"{value:.3g}")) for key, value in constants(point).items())
    return device


def halves(rows, seed):
    """Splits the rows of each operation at random."""
    dice = random.Random(seed)
    fitted, other = [], []
    for op in sorted({row.op for row in rows}):
        of_op = [row for row in rows if row.op == op]
        dice.shuffle(of_op)
        fitted += of_op[:len(of_op) // 2]
        other += of_op[len(of_op) // 2:]
    return fitted, other


def quantiles(values):
    ordered = sorted(values)
    return f"{statistics.median(ordered):6.1%} {ordered[int(0.9 * len(ordered))]:6.1%}"


def write_constants(name, kind, fitted):
    """Replaces the constants in the text of a device file, which keeps its layout."""
    file = DEVICES / f"{name}.json"
    text = file.read_text()
    first = text.index(f'"{kind}": {{')
    last = text.index("\n  \"", first)
    part = text[first:last]
    for key in START[kind]:
        if key in fitted[kind]:
            part = re.sub(rf'("{key}": )[^,}}]+', lambda match, key=key: f"{match[1]}{fitted[kind][key]}", part)
    file.write_text(text[:first] + part + text[last:])


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().split("\n\n")[0])
    parser.add_argument("--program", required=True, help="bench_collectives")
    parser.add_argument("--rows", required=True, type=Path, help="folder of the measured times")
    parser.add_argument("--steps", type=int, default=250, help="of each search")
    parser.add_argument("--write", action="store_true", help="fit to all rows and write the device files")
    args = parser.parse_args()
    rows = list(read_rows(args.rows))
    above = 0
    pooled = []
    print(f"{'':24} rows   unseen half: median, p90   all rows, fitted: median, p90")
    for name, files in FILES.items():
        device = json.loads((DEVICES / f"{files[0]}.json").read_text())
        for kind, ops in (("link", set(OPS.values())), ("network", {"dispatch", "combine"})):
            own = [row for row in rows if row.device == name and row.op in ops]
            if not own:
                continue
            unseen = collections.defaultdict(list)
            for seed in range(SEEDS):
                fitted, other = halves(own, seed)
                of_half = fit(args, device, kind, fitted)
                for row, error in zip(other, errors(args, of_half, other)):
                    unseen[row.op].append(error)
            device = fit(args, device, kind, own)
            every = errors(args, device, own)
            pooled += sum(unseen.values(), [])
            for op in sorted(unseen):
                seen = [error for row, error in zip(own, every) if row.op == op]
                print(f"{name:9} {op:14} {len(seen):4}   {quantiles(unseen[op])}               {quantiles(seen)}")
            print(f"{name:9} {'all':14} {len(own):4}   {quantiles(sum(unseen.values(), []))}"
                  f"               {quantiles(every)}")
            ratios = [bound / row.seconds for row, (_, bound) in zip(own, model(args, device, own))]
            above += sum(ratio > 1 for ratio in ratios)
            print(f"{name:9} bound / measured: at most {max(ratios):.3f}")
            if args.write:
                for file in files if kind == "link" else files[:2]:
                    write_constants(file, kind, device)
    print(f"{'all':24} {len(rows):4}   {quantiles(pooled)}")
    print(f"{above} bounds above the measured time")
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
