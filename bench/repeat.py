#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Measures models twice with one backend and prints the ratio of the two sums of layer times.

usage: repeat.py --costmodel PROG [--backend SPEC] [--models FOLDER] [MODEL:BATCH ...]

Default models: PointNet at batch 32 and ResNet-50 at batch 1, which repeat within 10 % on an idle
machine. COSTMODEL_BACKEND_PATH is the search path of modules. The exit status is 1 if the two sums
differ by more than 10 %, or if less than 95 % of the MACs were measured. Run it on an idle machine.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import os
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODELS = ("pointnet.onnx:32", "resnet50.onnx:1")
MAX_RATIO = 1.10
LEAST_SHARE = 0.95
TIMED = ("measured", "proxy")


def jiffies():
    """Returns the jiffies of all processors since boot: total, and stolen by the host."""
    with open("/proc/stat", encoding="ascii") as file:
        numbers = [int(word) for word in file.readline().split()[1:]]
    return sum(numbers[:8]), numbers[7]


def measure(args, model, batch):
    before = jiffies()
    command = [args.costmodel, str(model), "--batch", batch, "--backend", args.backend,
               "--format", "json"]
    if not args.cache:
        command += args.fresh
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if not done.stdout:
        sys.exit(f"repeat: {' '.join(command)}: status {done.returncode}")
    after = jiffies()
    profile = json.loads(done.stdout)["measure"]
    if profile["problem"]:
        sys.exit(f"repeat: {profile['problem']}")
    profile["stolen"] = (after[1] - before[1]) / max(1, after[0] - before[0])
    return profile


def total(profile, key):
    return sum(p.get(key, 0) * len(p["nodes"]) for p in profile["primitives"]) / 1e12


def summarize(profile):
    macs = {row["state"]: row["macs"] for row in profile["states"]}
    timed = [p for p in profile["primitives"] if p["state"] in TIMED]
    return {"cold": total(profile, "median_ps"), "warm": total(profile, "warm_ps"),
            "share": sum(macs.get(s, 0) for s in TIMED) / max(1, sum(macs.values())),
            "primitives": len(timed),
            "unstable": sum(bool(p.get("unstable")) for p in timed),
            "stolen": profile["stolen"], "warning": profile.get("warning", "")}


def furthest(first, second, n):
    """Returns (difference in ms, ratio, primitive) of the n largest differences of the two sums."""
    later = {p["primitive"]: p for p in second["primitives"]}
    rows = []
    for p in first["primitives"]:
        other = later.get(p["primitive"], p)
        if p.get("median_ps") and other.get("median_ps"):
            rows.append(((other["median_ps"] - p["median_ps"]) * len(p["nodes"]) / 1e9,
                         other["median_ps"] / p["median_ps"], p["primitive"]))
    return sorted(rows, key=lambda row: -abs(row[0]))[:n]


def compare(args, name):
    path, _, batch = name.partition(":")
    model = args.models / path
    profiles = [measure(args, model, batch or "1") for _ in range(2)]
    runs = [summarize(profile) for profile in profiles]
    ratio = max(r["cold"] for r in runs) / min(r["cold"] for r in runs)
    print(f"{name}  {profiles[0]['device']}, {profiles[0]['version']}")
    print("  run  sum cold s  sum warm s  MACs measured  unstable   stolen by the host")
    for i, r in enumerate(runs):
        print(f"  {i + 1:3}  {r['cold']:10.6f}  {r['warm']:10.6f}  {r['share']:13.2%}  "
              f"{r['unstable']:3} of {r['primitives']:3}  {r['stolen']:.2%}")
        if r["warning"]:
            print(f"       {r['warning']}")
    held = ratio <= MAX_RATIO and all(r["share"] >= LEAST_SHARE for r in runs)
    print(f"  ratio {ratio:.4f}, {'held' if held else 'MISSED'}")
    for difference, factor, text in furthest(*profiles, 5):
        print(f"    {difference:+10.3f} ms  x {factor:.3f}  {text[:100]}")
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--backend", default="onednn", help="as --backend has it")
    parser.add_argument("--models", type=Path, default=HERE.parent / "models")
    parser.add_argument("--cache", action="store_true",
                        help="let the second run take what the first one kept")
    parser.add_argument("names", nargs="*", default=MODELS, metavar="MODEL:BATCH")
    args = parser.parse_args()
    # With a cache of results, the second run would repeat the times of the first.
    text = subprocess.run([args.costmodel, "--help"], stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    args.fresh = ["--no-cache"] if "--no-cache" in text else []
    print(f"load {os.getloadavg()[0]:.2f}")
    return 0 if all([compare(args, name) for name in args.names]) else 1


if __name__ == "__main__":
    sys.exit(main())
