#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Prints peak, arena and their ratio for every model of models.tar.xz, at its own batch (1 if symbolic), the
peak with --schedule min-memory, and the ratio of each planner: `file, peak, in place, min-memory,
arena, ratio, by size, two ends, verdict`. Checks that the arena is at most 1.02 times the peak, except for
listed files; that live values do not overlap; and that every node runs after its operands.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import tables
from run_truth import WORKERS, unpack

LIMIT = 1.02
TIMEOUT = 300  # seconds

# Files that may exceed the limit: pattern -> (ratio, reason).
EXEMPTIONS = {}


def profile(program, folder, model, *more):
    command = [program, str(folder / model.path), "--format", "json", *more]
    for dim in model.dims:
        command += ["--dim", dim]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode not in (0, 3):  # 3: the totals leave something out
        done.check_returncode()
    return json.loads(done.stdout)


def fault_of_plan(found):
    """Returns two live values that overlap, or None. Models with bodies are skipped: bodies run before
    their node but follow it in the list."""
    if any(node["op"] in ("If", "Loop", "Scan") for node in found["nodes"]):
        return None
    alive = []
    for value in sorted(found["memory"]["plan"], key=lambda v: -1 if v["made"] is None else v["made"]):
        made = value["made"] or 0
        alive = [other for other in alive if other["last"] >= made]
        for other in alive:
            if (value["offset"] < other["offset"] + other["bytes"] and
                    other["offset"] < value["offset"] + value["bytes"]):
                return f"{value['value']} overlaps {other['value']}"
        alive.append(value)
    return None


def fault_of_schedule(found, ordered):
    """Returns a node that the order runs too early or twice, or None."""
    memory, order = ordered["memory"], ordered["memory"]["schedule"]
    place = {node: i for i, node in enumerate(order)}
    made = {output["name"]: node["index"] for node in ordered["nodes"] for output in node["outputs"]}
    if sorted(order) != list(range(len(ordered["nodes"]))):
        return "the order does not have each node once"
    for node in ordered["nodes"]:
        for name in node["inputs"]:
            if place[made.get(name, node["index"])] > place[node["index"]]:
                return f"{node['name']} runs before {name} is made"
    if memory["file_order_peak_bytes"] != found["memory"]["peak_activation_bytes"]:
        return "the peak in the order of the file is another"
    if memory["peak_activation_bytes"] > memory["file_order_peak_bytes"]:
        return "the order of the file has a lower peak"
    if memory["arena_bytes"] > LIMIT * memory["peak_activation_bytes"]:
        return f"in the order of min-memory above {LIMIT}"
    return None


def verdict(model, found, ordered):
    memory = found["memory"]
    peak, arena = memory["peak_activation_bytes"], memory["arena_bytes"]
    if arena is None or arena < peak:
        return "fail: no arena is below the peak"
    if arena != max(v["offset"] + v["bytes"] for v in memory["plan"]):
        return "fail: the arena does not end with its last value"
    if memory["peak_in_place_bytes"] > peak:
        return "fail: more in place than without"
    if memory["arena_in_place_bytes"] < memory["peak_in_place_bytes"]:
        return "fail: no arena in place is below the peak in place"
    if memory["arena_in_place_bytes"] > LIMIT * memory["peak_in_place_bytes"]:
        return f"fail: in place above {LIMIT}"
    if sum(live["bytes"] for live in memory["live_at_peak"]) != peak:
        return "fail: what is alive at the peak is not the peak"
    fault = fault_of_plan(found) or fault_of_schedule(found, ordered)
    if fault:
        return f"fail: {fault}"
    if arena <= LIMIT * peak:
        return "pass"
    for pattern, (ratio, why) in EXEMPTIONS.items():
        if fnmatchcase(model.path, pattern) and arena <= ratio * peak:
            return f"exempt: {why}"
    return f"fail: above {LIMIT}"


def check(model, found, ordered):
    memory = found["memory"]
    peak, arena = memory["peak_activation_bytes"], memory["arena_bytes"]
    least = ordered["memory"]["peak_activation_bytes"]
    outcome = verdict(model, found, ordered)
    ratios = [arena or 0] + list(memory.get("planners", {}).values())
    shown = ", ".join(f"{bytes_ / max(peak, 1):.4f}" for bytes_ in ratios)
    print(f"{model.path}, {peak}, {memory['peak_in_place_bytes']}, {least}, {arena}, {shown}, {outcome}")
    return outcome


def run(program, folder, chosen):
    with ThreadPoolExecutor(WORKERS) as pool:
        found = pool.map(lambda model: profile(program, folder, model, "--memory-plan"), chosen)
        ordered = pool.map(
            lambda model: profile(program, folder, model, "--schedule", "min-memory"), chosen)
        verdicts = [check(*three) for three in zip(chosen, found, ordered)]
    count = {kind: sum(s.startswith(kind) for s in verdicts) for kind in ("pass", "fail", "exempt")}
    print(f"{len(verdicts)} files: {count['pass']} pass, {count['fail']} fail, {count['exempt']} exempt")
    return 1 if count["fail"] or not verdicts else 0


def main():
    parser = argparse.ArgumentParser(description="print and check peak and arena of every model")
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--models", help="a folder with the models, already unpacked")
    parser.add_argument("--only", default="*", help="files to check: folder/name pattern")
    options = parser.parse_args()
    chosen = [m for m in tables.models() if fnmatchcase(m.path, options.only)]
    if options.models:
        return run(options.costmodel, Path(options.models), chosen)
    with tempfile.TemporaryDirectory(prefix="costmodel-memory-") as folder:
        unpack(tables.HERE / "models.tar.xz", Path(folder))
        return run(options.costmodel, Path(folder), chosen)


if __name__ == "__main__":
    sys.exit(main())
