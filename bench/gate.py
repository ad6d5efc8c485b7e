#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Counts the instructions of fixed runs of the release build and compares them with the record.

usage: gate.py --costmodel PROGRAM --compiler NAME [--update]

Wall time on a shared machine is unreliable; callgrind's instruction counts are reproducible. The
record, instructions.json, names the compiler, machine, C library and valgrind that made it. The
exit status is 77 if one of them differs, 1 if a run takes over 3 % more instructions. --update
writes the record.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import chain
import models

HERE = Path(__file__).resolve().parent
RECORD = HERE / "instructions.json"
MOST = 1.03
SKIPPED = 77
RUNS = {
    "pointnet, text": ("models/pointnet.onnx", "--batch", "32"),
    "resnet50, json": ("models/resnet50.onnx", "--batch", "32", "--format", "json"),
    "resnet50, modelled times": ("models/resnet50.onnx", "--batch", "8", "--device", "h200"),
    "resnet50, training": ("models/resnet50.onnx", "--batch", "8", "--optimizer", "adam"),
    "vit, text": ("{work}/vit.onnx",),
    "llama7b, text": ("{work}/llama7b.onnx",),
    "chain of 5000, text": ("{work}/chain.onnx",),
}


def count(program, arguments):
    """Returns the instructions of a run. The environment is fixed, because libc reads it."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program,
               *arguments]
    done = subprocess.run(command, cwd=HERE.parent, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False,
                          env={"PATH": os.environ["PATH"], "LC_ALL": "C"})
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"gate: {' '.join(arguments)}: status {done.returncode}\n{done.stderr}")
    return int(found[1])


def count_all(program):
    with tempfile.TemporaryDirectory(dir="/tmp") as work:
        models.write("vit", f"{work}/vit.onnx")
        models.write("llama7b", f"{work}/llama7b.onnx")
        chain.write(5000, f"{work}/chain.onnx")
        return {name: count(program, [each.format(work=work) for each in arguments])
                for name, arguments in RUNS.items()}


def maker(compiler):
    valgrind = subprocess.run(["valgrind", "--version"], capture_output=True, text=True,
                              check=True).stdout.strip()
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        wide = " with AVX2" if " avx2 " in file.read() else ""  # libc has code of its own for it
    return {"compiler": compiler, "machine": platform.machine() + wide,
            "libc": " ".join(platform.libc_ver()), "valgrind": valgrind}


def compare(record, counts):
    worst = 0
    for name, now in counts.items():
        then = record["runs"].get(name)
        if then is None:
            print(f"{name:28}{now:>14,}  not on record: --update")
            worst = 1
            continue
        late = now > then * MOST
        print(f"{name:28}{now:>14,}{now / then - 1:>+9.2%}{'  TOO MANY' if late else ''}")
        worst = max(worst, late)
    if worst:
        print(f"gate: more than {MOST - 1:.0%} above {RECORD.name}; if the change is worth it: "
              "gate.py --update")
    return int(worst)


def main():
    parser = argparse.ArgumentParser(description="compare instruction counts with the record")
    parser.add_argument("--costmodel", required=True, type=Path, help="of a release build")
    parser.add_argument("--compiler", required=True, help="that made it: 'GNU 12.2.0'")
    parser.add_argument("--update", action="store_true", help="write the record")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        print("gate: there is no valgrind to count with")
        return SKIPPED
    made_by = maker(options.compiler)
    program = options.costmodel.resolve()
    if options.update:
        record = {"made_by": made_by, "runs": count_all(program)}
        RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
        return 0
    record = json.loads(RECORD.read_text(encoding="utf-8"))
    if record["made_by"] != made_by:
        print(f"gate: the record was made by {record['made_by']}, this is {made_by}: "
              "nothing to compare")
        return SKIPPED
    return compare(record, count_all(program))


if __name__ == "__main__":
    sys.exit(main())
