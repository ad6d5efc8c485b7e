#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares `costmodel conventions` with the counts of the real tools: conventions.csv.

usage: run_conventions.py --costmodel PROGRAM [--source REPO] [--models DIR] [--only PATTERN]
                          [--all]

Checks every file of models/ and models.tar.xz with a net of conventions.csv, each tool to the integer;
differences must be listed in known_differences.py. Prints
`file, convention, verdict` for every failure (--all: for everything) and a summary; exits with 1 if
a number differs in another way, or if a known difference no longer occurs.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import subprocess
import tempfile
from collections import Counter, namedtuple
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path

import tables
from known_differences import DIFFERENCES
from run_truth import TIMEOUT, WORKERS, unpack

LEAST = 8  # nets that each tool must have been compared on
REPO = Path(__file__).resolve().parents[2]

# models/<file>: the net, and the sizes of its symbolic dims when the tools were run.
CARRIED = {
    "bert_mini.onnx": ("bert_mini", ["seq=64"]),
    "gpt_mini_tied.onnx": ("gpt_mini_tied", ["seq=128"]),
    "lstm.onnx": ("lstm_bi2", ["seq=40"]),
    "odd_conv.onnx": ("odd_conv", []),
    "pointnet.onnx": ("pointnet", []),
    "pointnet_b32.onnx": ("pointnet", []),
    "pointnet_functions.onnx": ("pointnet", []),
    "resnet50.onnx": ("resnet50", []),
    "siamese.onnx": ("siamese_shared", []),
    "transformer_encoder.onnx": ("transformer_encoder", ["seq=128"]),
    "transformer_encoder_b1.onnx": ("transformer_encoder", []),
    "unet.onnx": ("unet_convtranspose", ["h=128", "w=128"]),
    "torch/gpt_dynamo.onnx": ("gpt", []),
    "torch/gpt_torchscript.onnx": ("gpt", []),
    "torch/pointnet_dynamo.onnx": ("pointnet", []),
    "torch/pointnet_torchscript.onnx": ("pointnet", []),
    "torch/resnet50_dynamo.onnx": ("resnet50", []),
    "torch/resnet50_torchscript.onnx": ("resnet50", []),
    "torch/vit_b_16_dynamo.onnx": ("vit_b_16", []),
    "torch/vit_b_16_torchscript.onnx": ("vit_b_16", []),
}
CARRIED_FOLDED = ("unet.onnx", "torch/pointnet_*", "torch/resnet50_*")

# `form`: form of the net in the file (see conventions.csv); None: no tool counted that net at this
# size.
File = namedtuple("File", "path where net dims batch form")


def folded(model):
    """Returns True if the exporter folded BatchNorms; the tools were run on such a net, too."""
    parts = model.variant.split("_")
    if model.folder == "variants":
        return "functions" not in parts
    if "folded" not in parts and parts[0] not in ("b1", "dyn"):
        return False
    rows = tables.rows(tables.truth_name(model, 1), 1).values()
    return any(row.cls.startswith("BatchNorm") for row in rows)


def carried():
    for name, (net, dims) in CARRIED.items():
        form = "folded" if any(fnmatchcase(name, kind) for kind in CARRIED_FOLDED) else ""
        yield File(f"models/{name}", REPO / "models" / name, net, dims, 1, form)


def archived(folder, nets):
    for model in tables.models():
        if model.name in nets:
            batch = 32 if "b32" in model.variant.split("_") else 1
            form = None
            if batch == 1 and tables.has_truth(model, 1):
                form = "folded" if folded(model) else ""
            yield File(model.path, folder / model.path, model.name, model.dims, batch, form)


def preferred(model):
    """Returns a sort key: the largest file has the net's own operators (kept BatchNorms, newest opset)."""
    return not folded(model), model.opset, model.path


def file_of(net):
    """Returns the archive's best file of a net, or None."""
    models = [m for m in tables.models() if m.name == net and tables.has_truth(m, 1)
              and m.folder != "variants" and "b32" not in m.variant and "train" not in m.variant]
    return max(models, key=preferred, default=None)


def trained(folder, nets):
    """Yields a file, at batch 2, of each net that tools counted in training at batch 2."""
    for model in map(file_of, sorted(nets)):
        if not folded(model):
            yield File(model.path, folder / model.path, model.name, model.dims, 2, "training")


def ask(program, file):
    """Returns the program's counts by convention."""
    mode = "training" if file.form == "training" else "inference"
    command = [program, "conventions", str(file.where), "--format", "json", "--batch",
               str(file.batch), "--mode", mode]
    for dim in file.dims:
        command += ["--dim", dim]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    if done.returncode != 0:
        return {}
    return {row["name"]: row["flops"] for row in json.loads(done.stdout)["conventions"]}


def known_of(file, tool):
    """Returns the known differences of the file, and those of its net for tools that watch it run."""
    return [known for known in DIFFERENCES if known.tool == tool
            and (known.net == file.net and tool != "onnx-tool" or fnmatchcase(file.path, known.net))]


class Checks:
    def __init__(self, every):
        self.every = every
        self.needed = set()
        self.count = Counter()
        self.nets = {}

    def say(self, file, tool, kind, text):
        self.count[kind] += 1
        if kind in ("fail", "stopped") or self.every:
            print(f"{file.path}{' in training' if file.form == 'training' else ''}, {tool}, {text}")

    def check(self, file, tool, have, want):
        self.nets.setdefault(tool, set()).add(file.net)
        if have is None:
            self.say(file, tool, "fail", "fail: the program gives no number")
            return
        known = known_of(file, tool)
        reasons = "; ".join(f"{k.amount:+} {k.reason}" for k in known)
        if want - have != file.batch * sum(k.amount for k in known):
            self.say(file, tool, "fail", f"fail: have {have}, want {want} ({want - have:+}); "
                     f"known: {reasons or 'none'}")
            return
        self.needed.update(known)
        self.say(file, tool, "known" if known else "equal", f"{want}: {reasons or 'equal'}")

    def check_file(self, file, said, numbers):
        if not said:
            self.say(file, "all", "fail", "fail: the program stopped")
        for (net, form, path, tool), total in numbers.items():
            asked = path == file.path and file.form != "training" if path else form == file.form
            if tool not in said or net != file.net or not asked:
                continue
            if not total.isdigit():
                self.say(file, tool, "stopped", f"the tool stopped: {total}")
            else:
                self.check(file, tool, said[tool], int(total))

    def stale(self):
        """Returns the known differences that no file shows any more."""
        return [row for row in DIFFERENCES if row not in self.needed]

    def report(self, n_files, whole):
        stale = self.stale() if whole else []
        for row in stale:
            print(f"{row.net}, {row.tool}, fail: never needed: {row.amount:+} {row.reason}")
        few = [tool for tool, nets in self.nets.items() if whole and len(nets) < LEAST]
        print(", ".join(f"{tool} {len(nets)} nets" for tool, nets in self.nets.items()))
        count = self.count
        print(f"{n_files} files: {count['equal']} equal to the integer, {count['known']} by known "
              f"differences, {count['fail'] + len(stale)} fail; {count['stopped']} times the tool "
              "stopped")
        return 1 if count["fail"] or stale or few or not count["equal"] else 0


def run(options, folder):
    numbers = {(row["model"], row["form"], row["file"], row["tool"]): row["total"]
               for row in tables.read_csv("conventions.csv")}
    nets = {net for (net, *_), total in numbers.items() if total.isdigit()}
    training = {net for net, form, *_ in numbers if form == "training"}
    files = [f for f in [*carried(), *archived(folder, nets), *trained(folder, training)]
             if fnmatchcase(f.path, options.only)]
    checks = Checks(options.all)
    with ThreadPoolExecutor(WORKERS) as pool:
        answers = pool.map(lambda file: ask(options.costmodel, file), files)
        for file, said in zip(files, answers):
            checks.check_file(file, said, numbers)
    return checks.report(len(files), options.only == "*")


def main():
    parser = argparse.ArgumentParser(description="compare conventions with the real tools")
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--source", help="the repository: its tests/truth/models.tar.xz is used")
    parser.add_argument("--models", help="a folder with the models, already unpacked")
    parser.add_argument("--only", default="*", help="files to check: folder/name pattern")
    parser.add_argument("--all", action="store_true", help="name what is equal, too")
    options = parser.parse_args()
    if options.models:
        return run(options, Path(options.models))
    truth = Path(options.source) / "tests" / "truth" if options.source else tables.HERE
    with tempfile.TemporaryDirectory(prefix="costmodel-conventions-") as folder:
        unpack(truth / "models.tar.xz", Path(folder))
        return run(options, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
