#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Peak, arena and their ratio of every model of models.tar.xz, at its own batch (1 where that is
free): `file, peak, arena, ratio, verdict`. No arena may be more than 1.02 times the peak, below
which none can be, unless the file is let off by name.
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

# Files that may be above the limit: pattern -> (ratio, why).
EXEMPTIONS = {}


def memory(program, folder, model):
    command = [program, str(folder / model.path), "--format", "json"]
    for dim in model.dims:
        command += ["--dim", dim]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    return json.loads(done.stdout)["memory"]


def verdict(model, peak, arena):
    if arena is None or arena < peak:
        return "fail: no arena is below the peak"
    if arena <= LIMIT * peak:
        return "pass"
    for pattern, (ratio, why) in EXEMPTIONS.items():
        if fnmatchcase(model.path, pattern) and arena <= ratio * peak:
            return f"exempt: {why}"
    return f"fail: above {LIMIT}"


def check(program, folder, model):
    found = memory(program, folder, model)
    peak, arena = found["peak_activation_bytes"], found["arena_bytes"]
    said = verdict(model, peak, arena)
    print(f"{model.path}, {peak}, {arena}, {(arena or 0) / max(peak, 1):.4f}, {said}", flush=True)
    return said


def run(program, folder, chosen):
    with ThreadPoolExecutor(WORKERS) as pool:
        said = list(pool.map(lambda model: check(program, folder, model), chosen))
    count = {kind: sum(s.startswith(kind) for s in said) for kind in ("pass", "fail", "exempt")}
    print(f"{len(said)} files: {count['pass']} pass, {count['fail']} fail, {count['exempt']} exempt")
    return 1 if count["fail"] or not said else 0


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
