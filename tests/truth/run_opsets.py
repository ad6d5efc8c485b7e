#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks that files of the same model, at any opset and from either exporter, have the same MACs, the same
total in each convention, and the same module classes. The convention onnx-tool, which counts the
nodes of the file, is left out. Prints
`model, files, verdict`.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import subprocess
import tempfile
from collections import defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import tables
from run_truth import WORKERS, unpack

TIMEOUT = 300  # seconds
SEES_NODES = ("onnx-tool",)
FOLDERS = ("classification", "custom", "resnet50")
EXPORTERS = tables.HERE / "exporters"  # one model of both exporters of PyTorch 2; make_zoo.py
# Files whose totals are also compared with the reference's ds_flops, and the difference.
JUDGED = {"vit_b_16": 0, "swin_t": 0, "convnext_tiny": 0,
          "bert_mini": 3 * 4 * 64 * 64}  # Tensor.softmax is invisible to DeepSpeed
# torch.utils.flop_counter on the module of make_zoo.py.
ZOO = {"torch": 622592}

Seen = namedtuple("Seen", "model totals classes")


def program(model):
    """Returns the variant: folded BatchNorm, unfolded, and training are different programs."""
    if not has_batch_norms(model):
        return "one"
    if model.variant.startswith("train"):
        return "trains"
    return "as written" if "unfolded" in model.variant or "nofold" in model.variant else "folded"


def has_batch_norms(model):
    return model.name != "zoo" and any(row.cls.startswith("BatchNorm") for row in tables.rows(model.name, 1).values())


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    return json.loads(done.stdout)


def ask(costmodel, folder, model):
    bound = ["--batch", "1"] + [word for dim in model.dims for word in ("--dim", dim)]
    asked = [str(folder / model.path), "--format", "json", *bound]
    modules = run([costmodel, *asked])["modules"]
    listed = run([costmodel, "conventions", *asked])["conventions"]
    totals = {row["name"]: row["flops"] for row in listed if row["name"] not in SEES_NODES}
    return Seen(model, totals, {m["path"]: m["class"] for m in modules if m["class_known"]})


def faults(name, seen):
    """Compares with the first file; modules that only one file has are not compared."""
    first = seen[0]
    for other in seen[1:]:
        for convention, total in first.totals.items():
            if other.totals[convention] != total:
                yield (f"{convention}: {total} in {first.model.path}, "
                       f"{other.totals[convention]} in {other.model.path}")
        for path in first.classes.keys() & other.classes.keys():
            if first.classes[path] != other.classes[path]:
                yield (f"{path}: {first.classes[path]} in {first.model.path}, "
                       f"{other.classes[path]} in {other.model.path}")
    for convention, want in judged(name).items():
        if first.totals[convention] != want:
            yield f"{convention}: {first.totals[convention]}, the reference has {want}"


def judged(name):
    if name == "zoo":
        return ZOO
    if name not in JUDGED:
        return {}
    truth = {row["model"]: row["ds_flops_b1"] for row in tables.read_csv("models_truth.csv")}
    return {"deepspeed": int(truth[name]) + JUDGED[name]}


def zoo():
    files = sorted(EXPORTERS.glob("*.onnx"))
    return [tables.Model(str(file), "", "zoo", file.stem.split("__")[1],
                         int(file.stem.rpartition("op")[2]), []) for file in files]


def check(costmodel, folder, chosen):
    with ThreadPoolExecutor(WORKERS) as pool:
        found = list(pool.map(lambda model: ask(costmodel, folder, model), chosen + zoo()))
    groups = defaultdict(list)
    for seen in found:
        groups[seen.model.name, program(seen.model)].append(seen)
    n_faults = 0
    for (name, kind), seen in groups.items():
        wrong = list(faults(name, seen))
        n_faults += len(wrong)
        opsets = ", ".join(str(o) for o in sorted({s.model.opset for s in seen}))
        print(f"{name} ({kind}), {len(seen)} files of opsets {opsets}, "
              f"{'fail' if wrong else 'pass'}")
        for fault in wrong:
            print(f"    {fault}")
    print(f"{len(found)} files, {len(groups)} programs, {n_faults} faults")
    return 1 if n_faults or not found else 0


def main():
    parser = argparse.ArgumentParser(description="check that one model is one cost")
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--models", help="a folder with the models, already unpacked")
    parser.add_argument("--only", default="*", help="files to check: folder/name pattern")
    options = parser.parse_args()
    chosen = [m for m in tables.models() if m.folder in FOLDERS and tables.has_truth(m, 1)
              and fnmatchcase(m.path, options.only)]
    if options.models:
        return check(options.costmodel, Path(options.models), chosen)
    with tempfile.TemporaryDirectory(prefix="costmodel-opsets-") as folder:
        unpack(tables.HERE / "models.tar.xz", Path(folder))
        return check(options.costmodel, Path(folder), chosen)


if __name__ == "__main__":
    sys.exit(main())
