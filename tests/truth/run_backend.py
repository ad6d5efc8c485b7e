#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares the inferred dtype and dims of every output with those recorded in ONNX's backend tests
(onnx_backend.tar.xz, see make_backend.py). The program gets each model and the contents of its small
inputs; the declared output types were removed from the files.

    run_backend.py --costmodel PROGRAM [--archive FILE] [--installed] [--withheld] [--only PATTERN]
                   [--verbose]

--withheld passes no contents of inputs: the upper bound of an output must not be below the recorded
dims, and its type must not be wrong. It may be unknown or rejected.

--installed uses the tests of the installed Python package onnx instead.

Prints how many outputs of each operator are right, bounded (a dim is unknown, and its upper bound is
not below the recorded dim), open (a type or dim is unknown) or wrong. Exits with 1 if an output is not
right and not in EXCEPTIONS, or is right and in EXCEPTIONS.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import pathlib
import subprocess
import tarfile
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase

from backend_exceptions import EXCEPTIONS

HERE = pathlib.Path(__file__).resolve().parent
WORKERS = 2
SKIPPED = 77
TIMEOUT = 120  # seconds for one file; a sanitized build is slow
RIGHT, BOUNDED, OPEN, WRONG = "right", "bounded", "open", "wrong"


def type_of(output):
    """Returns the type in the program's report in the form of cases.json; None is unknown."""
    dtype = output["dtype"]
    if not isinstance(dtype, dict):
        return {"dtype": dtype, "dims": output["shape"], "most": output.get("shape_upper_bound")}
    kind, element = next(iter(dtype.items()))
    return {kind: type_of(element) if element else None}


def judge_tensor(have, want):
    dims = have["dims"]
    if have["dtype"] is None or dims is None:
        known = have["dtype"] in (None, want["dtype"])
        return OPEN if known else WRONG
    if have["dtype"] != want["dtype"] or len(dims) != len(want["dims"]):
        return WRONG
    if any(h is not None and h != w for h, w in zip(dims, want["dims"])):
        return WRONG
    return judge_most(have["most"], want["dims"]) if None in dims else RIGHT


def judge_most(most, want):
    """Judges unknown dims by their upper bounds."""
    if any(m is not None and m < w for m, w in zip(most or (), want)):
        return WRONG
    return OPEN if most is None or None in most else BOUNDED


def common_dims(elements):
    """Returns the dims that all elements have in common; None if ranks differ."""
    if len({len(e["dims"]) for e in elements}) != 1:
        return None
    return [d[0] if len(set(d)) == 1 else None for d in zip(*(e["dims"] for e in elements))]


def judge_sequence(have, elements):
    """Compares the inferred type of a sequence, which must hold for all its elements."""
    if have is None:
        return OPEN
    if not elements:
        return RIGHT
    if "dtype" not in elements[0]:
        return judge(have, elements[0])
    want = {"dtype": elements[0]["dtype"], "dims": common_dims(elements)}
    if have.get("dtype", 0) == want["dtype"] and have["dims"] == want["dims"]:
        return RIGHT
    if have.get("dtype", 0) not in (None, want["dtype"]):
        return WRONG
    return OPEN if want["dims"] is None or have["dims"] is None else judge_tensor(have, want)


def judge(have, want):
    if "optional" in have and "optional" not in want:  # the recorded value is the content
        return judge(have["optional"], want) if have["optional"] else OPEN
    if want == {"optional": None}:
        return RIGHT if "optional" in have else OPEN
    if "sequence" in want:
        return judge_sequence(have["sequence"], want["sequence"]) if "sequence" in have else OPEN
    return judge_tensor(have, want) if "dtype" in have else WRONG


def ask(program, folder, case, withheld):
    """Returns [(output, verdict, type that the program inferred)]."""
    command = [program, str(folder / case["model"]), "--format", "json"]
    for name, text in () if withheld else case["inputs"].items():
        command += ["--value", f"{name}={text}"]
    for name, text in case["shapes"].items():
        command += ["--input", f"{name}={text}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return [(name, WRONG, "still running") for name in case["outputs"]]
    if withheld and done.returncode in (1, 2):
        return [(name, OPEN, "refused") for name in case["outputs"]]
    if done.returncode not in (0, 3):
        message = (done.stderr.strip().splitlines() or ["no message"])[0]
        return [(name, WRONG, f"status {done.returncode}: {message}")
                for name in case["outputs"]]
    outputs = {o["name"]: o for o in json.loads(done.stdout)["model"]["outputs"]}
    verdicts = []
    for name, want in case["outputs"].items():
        have = type_of(outputs[name])
        verdicts.append((name, judge(have, want), have))
    return verdicts


def family(case):
    """Returns the only operator of the file, or "several operators"."""
    operators = case["operators"]
    return operators[0] if len(operators) == 1 else "several operators"


class Tally:
    def __init__(self, verbose, withheld):
        self.verbose = verbose
        self.withheld = withheld
        self.counts = defaultdict(Counter)
        self.faults = []
        self.needed = set()

    def take(self, case, name, verdict, have):
        key = (pathlib.PurePath(case["model"]).stem, name)
        self.counts[family(case)][verdict] += 1
        if verdict == RIGHT or (self.withheld and verdict != WRONG):
            return
        rule = next((r for r in EXCEPTIONS if fnmatchcase(key[0], r[0]) and
                     fnmatchcase(name, r[1]) and r[2] == verdict), None)
        if rule:
            self.needed.add(rule)
        else:
            self.faults.append(f"{case['model']} {name}: {verdict}: {have}, "
                               f"recorded {case['outputs'][name]}")

    def print(self):
        for operator, count in sorted(self.counts.items()):
            if self.verbose or count[RIGHT] != sum(count.values()):
                print(f"{operator:28} {count[RIGHT]:4} right {count[BOUNDED]:4} bounded "
                      f"{count[OPEN]:4} open {count[WRONG]:4} wrong")
        total = sum(self.counts.values(), Counter())
        print(f"{sum(total.values())} outputs: {total[RIGHT]} right, {total[BOUNDED]} bounded, "
              f"{total[OPEN]} open, "
              f"{total[WRONG]} wrong; {len(self.needed)} exceptions, "
              f"{len(self.faults)} faults")


def make_installed(path):
    """Returns False if the package onnx is not installed."""
    try:
        import make_backend
    except ImportError:
        return False
    make_backend.make(path)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--archive", default=HERE / "onnx_backend.tar.xz")
    parser.add_argument("--installed", action="store_true",
                        help="the tests of the installed onnx; status 77 where there is none")
    parser.add_argument("--withheld", action="store_true",
                        help="of models that want values of inputs, without them")
    parser.add_argument("--only", default="*", help="pattern of models, without folders")
    parser.add_argument("--verbose", action="store_true", help="operators without faults too")
    args = parser.parse_args()
    tally = Tally(args.verbose, args.withheld)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        if args.installed and not make_installed(folder / "installed.tar.xz"):
            print("skipped: the Python package onnx is not installed")
            return SKIPPED
        if args.installed:
            args.archive = folder / "installed.tar.xz"
        with tarfile.open(args.archive) as archive:
            archive.extractall(folder)
        data = json.loads((folder / "cases.json").read_text())
        cases = [c for c in data["cases"]
                 if fnmatchcase(pathlib.PurePath(c["model"]).stem, args.only) and
                 (c["inputs"] or not args.withheld)]
        with ThreadPoolExecutor(WORKERS) as pool:
            for case, verdicts in zip(cases, pool.map(
                    lambda c: ask(args.costmodel, folder, c, args.withheld), cases)):
                for verdict in verdicts:
                    tally.take(case, *verdict)
    tally.print()
    if args.only == "*" and not args.withheld:
        tally.faults += [f"the exception {rule} is not needed" for rule in EXCEPTIONS
                         if rule not in tally.needed]
    for fault in tally.faults:
        print("   ", fault)
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
