#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares two exports of each model in models/torch: NAME_dynamo.onnx, by PyTorch's current exporter,
and NAME_torchscript.onnx, and for GPT also the latter after onnxruntime's optimizations. Module
trees, and the class (if both files have it), calls, parameters and MACs of each module must be equal.
DIFFERENCES lists differences in the files themselves; a row that is no longer needed is a fault.

The classes, calls and MACs of the current exporter's files must also equal those that PyTorch counted
in the model itself (per_module/). Metadata names the classes, so all of them are compared.

    run_exporters.py --costmodel PROGRAM [--models FOLDER]
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# name in the tables -> one file, the other, the reference's name for the first or None
PAIRS = {
    "pointnet": ("pointnet_dynamo", "pointnet_torchscript", "pointnet_eval"),
    "resnet50": ("resnet50_dynamo", "resnet50_torchscript", "resnet50"),
    "vit_b_16": ("vit_b_16_dynamo", "vit_b_16_torchscript", "vit_b_16"),
    "gpt": ("gpt_dynamo", "gpt_torchscript", None),
    "gpt, optimized": ("gpt_onnxruntime", "gpt_torchscript", None),
}
FIGURES = ("calls", "params", "macs")

FOLDED = "dynamo folds a BatchNorm into the Linear before it, TorchScript only into a convolution"
FEWER_IN_TNET = "1,536 fewer without bn4 and bn5"
SUBCLASS = "an MLPBlock is a Sequential, which is what its numbered children tell"
NOT_CALLED = "attention uses its weights and never calls it: no node is noted as in it"
MASK = "onnxruntime folds the causal mask into 4,096 numbers that are added, as a table is"
TIED = "TorchScript transposed the tied weight into a second initializer of 128,000"

# (model, path of the module, quantity) -> (first file, other file, reason)
DIFFERENCES = {
    ("pointnet", "transform.input_transform.bn4", "module"): (False, True, FOLDED),
    ("pointnet", "transform.input_transform.bn5", "module"): (False, True, FOLDED),
    ("pointnet", "transform.feature_transform.bn4", "module"): (False, True, FOLDED),
    ("pointnet", "transform.feature_transform.bn5", "module"): (False, True, FOLDED),
    ("pointnet", "bn1", "module"): (False, True, FOLDED),
    ("pointnet", "bn2", "module"): (False, True, FOLDED),
    ("pointnet", "transform.input_transform", "params"):
        (799113, 800649, FEWER_IN_TNET),
    ("pointnet", "transform.feature_transform", "params"):
        (1853376, 1854912, FEWER_IN_TNET),
    ("pointnet", "transform", "params"): (2793161, 2796233, "the sum of the two"),
    ("pointnet", "", "params"): (3451859, 3456467, "the same, and 1,536 fewer of bn1 and bn2"),
    **{("vit_b_16", f"encoder.layers.encoder_layer_{i}.mlp", "class"):
        ("MLPBlock", "Sequential", SUBCLASS) for i in range(12)},
    ("gpt", "", "params"): (532992, 660992, TIED),
    ("gpt, optimized", "h.0", "params"): (202368, 198272, MASK),
    ("gpt, optimized", "h.1", "params"): (202368, 198272, MASK),
    ("gpt, optimized", "h", "params"): (404736, 396544, "the two masks"),
    ("gpt, optimized", "", "params"): (669184, 660992, "the two masks"),
}


# (model, path, quantity) -> (have, reference, reason)
UNTRUE = {
    ("vit_b_16", f"encoder.layers.encoder_layer_{i}.self_attention.out_proj", "class"):
        ("out_proj", "NonDynamicallyQuantizableLinear", NOT_CALLED) for i in range(12)
}


def read_truth(name):
    if name is None:
        return {}
    with open(ROOT / "tests" / "truth" / "per_module" / f"{name}.csv", newline="") as file:
        return {row["path"].replace("(root)", ""): row for row in csv.DictReader(file)}


def profile(program, path):
    done = subprocess.run([program, path, "--batch", "1", "--format", "json"], check=True,
                          capture_output=True, text=True)
    modules = json.loads(done.stdout)["modules"]
    return {module["path"]: module for module in modules}


def differences(first, second):
    """Yields (path, quantity, first file, second file)."""
    for path in dict.fromkeys([*first, *second]):
        if path not in first or path not in second:
            yield path, "module", path in first, path in second
            continue
        one, other = first[path], second[path]
        if one["class_known"] and other["class_known"] and one["class"] != other["class"]:
            yield path, "class", one["class"], other["class"]
        for figure in FIGURES:
            if one[figure] != other[figure]:
                yield path, figure, one[figure], other[figure]


def order_of_children(modules, both):
    return [path for path in modules if path in both]


def check(model, pair):
    faults = []
    met = set()
    for path, what, one, other in differences(*pair):
        row = DIFFERENCES.get((model, path, what))
        met.add((model, path, what))
        if row is None or row[:2] != (one, other):
            faults.append(f"{model}, {path or 'the model'}: {what} is {one} in the first "
                          f"file, {other} in the other")
    for key, row in DIFFERENCES.items():
        if key[0] == model and key not in met:
            faults.append(f"{model}, {key[1]}: {key[2]} is the same, though '{row[2]}'")
    both = set(pair[0]) & set(pair[1])
    if order_of_children(pair[0], both) != order_of_children(pair[1], both):
        faults.append(f"{model}: modules are in a different order")
    return faults, len(both)


def against_truth(model, modules, truth):
    """Returns the faults of the file's modules, and the number of modules compared."""
    faults = []
    met = set()
    both = [path for path in modules if path in truth]
    for path in both:
        row = truth[path]
        have = {"class": modules[path]["class"], "calls": modules[path]["calls"],
                "macs": modules[path]["macs"]}
        want = {"class": row["class"], "calls": int(row["calls"]), "macs": int(row["macs_b1"])}
        for what in have:
            if have[what] == want[what]:
                continue
            met.add((model, path, what))
            if UNTRUE.get((model, path, what), ())[:2] != (have[what], want[what]):
                faults.append(f"{model}, {path or 'the model'}: {what} is {have[what]}, "
                              f"in PyTorch {want[what]}")
    for key, row in UNTRUE.items():
        if key[0] == model and key not in met:
            faults.append(f"{model}, {key[1]}: {key[2]} is the truth's, though '{row[2]}'")
    return faults, len(both)


def main():
    parser = argparse.ArgumentParser(description="compare the exports of one model")
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--models", default=ROOT / "models" / "torch", type=pathlib.Path)
    options = parser.parse_args()
    faults = []
    for model, (first, second, truth) in PAIRS.items():
        pair = [profile(options.costmodel, options.models / f"{name}.onnx")
                for name in (first, second)]
        found, n = check(model, pair)
        untrue, n_true = against_truth(model, pair[0], read_truth(truth))
        faults += found + untrue
        print(f"{model}: {n} modules in both files, {n_true} compared with PyTorch itself")
    for fault in faults:
        print(fault)
    print(f"{len(faults)} faults, {len(DIFFERENCES) + len(UNTRUE)} differences in the "
          "files")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
