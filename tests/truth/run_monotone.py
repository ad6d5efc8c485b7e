#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Tests `BOUNDS` of the operators (ops/op.h): for models of ONNX's backend tests with one operator,
shrinks operands at random if their letters allow it, and checks that no output dim, MACs, FLOPs or
bytes grow.

    run_monotone.py --costmodel PROGRAM --bounds PROGRAM [--archive FILE] [--seed N] [--only OP]

Prints the numbers of operators and of shrunk models; exits with 1 if a result grew.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import pathlib
import random
import subprocess
import tarfile
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
WORKERS = 2
MODELS = 4  # per operator
TRIES = 3  # per model
FIGURES = ("macs", "int_macs", "flops", "int_ops", "bytes_read", "bytes_written")


def read_table(program):
    """Operator of ai.onnx -> its letters, if it has others than "-"."""
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: letters for name, letters in map(str.split, lines) if letters != "-"}


def profile(program, model, shapes, values):
    """Returns the dims of the outputs by name, and the totals; None if rejected."""
    command = [program, str(model), "--format", "json", "--convention", "exact"]
    for name, text in values.items():
        command += ["--value", f"{name}={text}"]
    for name, dims in shapes.items():
        command += ["--input", f"{name}={'x'.join(map(str, dims))}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        return None
    report = json.loads(done.stdout)
    outputs = {o["name"]: o["shape"] for o in report["model"]["outputs"]}
    return report, outputs, report["totals"]


def letter_of(letters, slot):
    return letters[min(slot, len(letters) - 1)]


def kept_values(report, letters, values):
    """Removes the contents of data inputs, which would all be folded."""
    types = {i["name"]: i for i in report["model"]["inputs"]}
    kept = {}
    for slot, name in enumerate(report["nodes"][0]["inputs"]):
        if name not in values:
            continue
        small = types[name]["dtype"] in ("int64", "int32") and len(types[name]["shape"]) < 2
        if letter_of(letters, slot) == "-" or (slot > 0 and small):
            kept[name] = values[name]
    return kept


def shrink(rng, report, letters, values):
    """Returns shapes and values for the operands, some of them smaller; None if none can shrink."""
    inputs = {i["name"]: i["shape"] for i in report["model"]["inputs"]}
    shapes, smaller, changed = {}, dict(values), False
    for slot, name in enumerate(report["nodes"][0]["inputs"]):
        letter = letter_of(letters, slot)
        dims = inputs.get(name)
        if letter == "-" or not dims:
            continue
        if name in values:
            numbers = values[name].split(",")
            at = rng.randrange(len(numbers))
            if letter in "vp" and numbers[at].isdigit() and int(numbers[at]) > 0:
                numbers[at] = str(rng.randrange(int(numbers[at])))
                smaller[name] = ",".join(numbers)
                changed = True
            continue
        at = rng.randrange(len(dims))
        if dims[at] and dims[at] > 0:
            size = rng.randrange(dims[at])
            # operands that share an axis must shrink together
            for other, others in inputs.items():
                if other not in values and others and rng.random() < 0.9:
                    shapes[other] = [size if d == dims[at] else d for d in shapes.get(other, others)]
            shapes[name] = [size if i == at else d
                            for i, d in enumerate(shapes.get(name, dims))]
            changed = True
    slots = {n: letter_of(letters, s)
             for s, n in enumerate(report["nodes"][0]["inputs"]) if n}
    shapes = {n: d for n, d in shapes.items() if slots.get(n, "-") != "-"}
    return (shapes, smaller) if changed else None


def grew(large, small, same_values):
    """Returns a description of the result that grew, or None."""
    for name, dims in small[1].items():
        before = large[1][name]
        if dims is None or before is None or len(dims) != len(before):
            continue
        if any(a is not None and b is not None and b > a for a, b in zip(before, dims)):
            return f"{name} {before} -> {dims}"
    for figure in FIGURES if same_values else ():
        a, b = large[2][figure], small[2][figure]
        if a is not None and b is not None and b > a:
            return f"{figure} {a} -> {b}"
    return None


def try_case(program, folder, case, letters, seed):
    """Returns [(model, fault or None)] for each accepted smaller model."""
    rng = random.Random(f"{seed} {case['model']}")
    model = folder / case["model"]
    large = profile(program, model, {}, case["inputs"])
    found = []
    if large is None or len(large[0]["nodes"]) != 1:
        return found
    values = kept_values(large[0], letters, case["inputs"])
    large = profile(program, model, {}, values)
    for _ in range(TRIES if large else 0):
        ways = shrink(rng, large[0], letters, values)
        small = ways and profile(program, model, *ways)
        if small:
            fault = grew(large, small, ways[1] == values)
            found.append(f"{case['model']} {ways}: {fault}" if fault else None)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--bounds", required=True)
    parser.add_argument("--archive", default=HERE / "onnx_backend.tar.xz")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="one operator")
    args = parser.parse_args()
    table = read_table(args.bounds)
    tried, faults, per_operator = Counter(), [], Counter()
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        with tarfile.open(args.archive) as archive:
            archive.extractall(folder)
        cases = []
        for case in json.loads((folder / "cases.json").read_text())["cases"]:
            operators = case["operators"]
            if len(operators) != 1 or operators[0] not in table or case["shapes"]:
                continue
            if args.only and operators[0] != args.only:
                continue
            per_operator[operators[0]] += 1
            if per_operator[operators[0]] <= MODELS:
                cases.append((operators[0], case))
        with ThreadPoolExecutor(WORKERS) as pool:
            runs = pool.map(lambda c: try_case(args.costmodel, folder, c[1], table[c[0]],
                                               args.seed), cases)
            for (operator, _), found in zip(cases, runs):
                tried[operator] += len(found)
                faults += [f for f in found if f]
    untried = sorted(set(table) - {o for o in tried if tried[o]})
    print(f"{len(table)} operators; {sum(tried.values())} smaller models of "
          f"{len(table) - len(untried)} operators, {len(faults)} grew")
    print("not tried:", ", ".join(untried))
    for fault in faults:
        print("   ", fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
