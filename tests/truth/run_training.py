#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares training steps with PyTorch, operator by operator: `case, quantity, operator, ours, PyTorch,
verdict`. The reference is training_truth.csv, measured by training_truth.py. DIFFERENCES lists all
differences, to the byte and with their reasons.
"""
import argparse
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

from training_cases import CASES, CURVES, OPTIMIZERS

HERE = Path(__file__).resolve().parent
TIMEOUT = 300  # seconds

# PyTorch's operator names -> ONNX's.
ATEN = {
    "convolution": "Conv", "convolution_backward": "Conv", "native_batch_norm": "BatchNormalization",
    "relu": "Relu", "relu_": "Relu", "hardtanh_": "Clip", "max_pool2d_with_indices": "MaxPool",
    "addmm": "products", "mm": "products", "bmm": "products", "Gemm": "products",
    "MatMul": "products", "_log_softmax": "LogSoftmax", "_softmax": "Softmax",
    "_safe_softmax": "Softmax", "native_layer_norm": "LayerNormalization", "add": "Add",
    "gelu": "Gelu", "mean": "mean", "GlobalAveragePool": "mean", "ReduceMean": "mean",
}

# Operators that correspond to several operators of the other side: case -> names that are summed
# under another name, on both sides.
SUMMED = {
    # dropout on the CPU is a Mul by noise, which a Div has scaled
    "pointnet": {"mul": "Dropout", "div_": "Dropout"},
    # ReLU6 works in place, on a copy of the normalization's output
    "mobilenet_v2": {"mul": "Dropout", "div_": "Dropout", "clone": "BatchNormalization"},
    # queries and keys are scaled by Mul; rows of a product with a bias are saved as a view of it or
    # as a transposed copy; the copy of a layer's normalized rows is saved by the next layer
    "encoder": {"mul": "Dropout", "div_": "Dropout", "Mul": "Dropout", "_unsafe_view": "rows",
                "clone": "rows", "Add": "rows", "Reshape": "rows", "LayerNormalization": "rows"},
    # GELU is decomposed; its last node is a Mul
    "decoder": {"Mul": "Gelu", "_unsafe_view": "rows", "Add": "rows", "Reshape": "rows"},
}

NOISE = "dropout on the CPU keeps noise of 4 bytes an element, on a GPU a mask of 1 as we count it"

# case -> (operator, bytes that PyTorch keeps there beyond ours, why)
DIFFERENCES = {
    "pointnet": [("Dropout", 3 * 4 * 256, NOISE)],
    "mobilenet_v2": [("Dropout", 3 * 2 * 1280, NOISE)],
    "encoder": [
        # two layers: weights of attention, its result, two dropouts of the feed-forward layer
        ("Dropout", 3 * 2 * (4 * 4 * 32 * 32 + 4 * 32 * (128 + 256 + 128)), NOISE),
        ("rows", 2 * 2 * 4 * 4 * 32 * 128,
         "nn.MultiheadAttention copies queries, keys and values in one piece, by contiguous() that "
         "leaves no node; the values are kept as a view of it, and the other two thirds with them"),
    ],
    "decoder": [("arange", 8 * 24, "the positions are a constant of the file")],
}


# case -> bytes that PyTorch saves beyond ours under torch.autocast; NOISE is a mask on CUDA
AUTOCAST = {
    # rows, as above in 16 bits; and attention with dropout is one operator of autocast, all in 16 bits
    "encoder": 2 * 2 * 4 * 4 * 32 * 128,
    "decoder": 8 * 24,
}


# The same model as exported with folded norms, which must be restored: file -> case
FOLDED = {"torch/resnet50_dynamo.onnx": "resnet50", "torch/resnet50_torchscript.onnx": "resnet50"}


def profile(program, case, optimizer, *options):
    file, batch, frozen = CASES[FOLDED.get(case, case)]
    file = case if case in FOLDED else file
    command = [program, str(HERE.parents[1] / "models" / file), "--batch", str(batch), "--format",
               "json", "--optimizer", optimizer, "--convention", "torch", *options]
    for pattern in frozen:
        command += ["--freeze", pattern]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=True)
    return json.loads(done.stdout)


def renamed(counts, case):
    found = Counter()
    for op, n in counts.items():
        name = ATEN.get(op, op)
        found[SUMMED.get(case, {}).get(name, name)] += n
    return found


def kept(found, case):
    """Returns saved bytes by the operator that produced them; the rest are inputs."""
    counts = Counter()
    for node in found["nodes"]:
        counts[node["op"]] += node["training"]["saved_bytes"]
    counts["input"] = found["training"]["saved_bytes"] - sum(counts.values())
    return renamed(counts, case)


def forward_flops(found, case):
    counts = Counter()
    for node in found["nodes"]:
        counts[node["op"]] += node["flops"]
    return renamed(counts, case)


def groups(found, node):
    arguments = next(m["arguments"] for m in found["modules"] if m["path"] == node["module"])
    given = re.search(r"groups=(\d+)", arguments)
    return int(given.group(1)) if given else 1


def backward_flops(found, case):
    """
    torch.utils.flop_counter counts the weight gradient of a grouped convolution like that of a full
    one, which is `groups` times too much.
    """
    counts = Counter()
    for node in found["nodes"]:
        counts[node["op"]] += 2 * node["training"]["backward_macs"]
        if node["op"] == "Conv":
            counts["Conv"] += 2 * node["macs"] * (groups(found, node) - 1)
    return renamed(counts, case)


# The peak differs from PyTorch's: PyTorch sums gradients into a third buffer, ReLU works in place,
# joins the gradients of a split, and dropout's input and noise are alive together with its mask.
# Tolerance of the ratio:
PEAK = {"encoder": (0.76, 1.01), "decoder": (0.955, 1.01), None: (0.975, 1.01)}


def compare_peak(case, found, truth, failures):
    ours = found["training"]["peak_bytes"] - found["training"]["weight_bytes"]
    least, most = PEAK.get(case, PEAK[None])
    verdict = "pass" if least * truth <= ours <= most * truth else "fail"
    print(f"{case}, peak_bytes, , {ours}, {truth}, {verdict}: {ours / truth:.3f} of it")
    failures += [verdict] * (verdict == "fail")


def compare(case, quantity, ours, truth, failures):
    truth = renamed(truth, case)
    for op in sorted(set(ours) | set(truth)):
        if ours[op] == truth[op] == 0:
            continue
        verdict = "pass" if ours[op] == truth[op] else "fail"
        print(f"{case}, {quantity}, {op}, {ours[op]}, {truth[op]}, {verdict}")
        failures += [verdict] * (verdict == "fail")


def check(program, case, truth, failures):
    found = profile(program, case, OPTIMIZERS[0])
    bytes_kept = kept(found, case)
    total = sum(bytes_kept.values())
    for op, n, why in DIFFERENCES.get(case, ()):
        print(f"{case}, saved_bytes, {op}, {n:+} in PyTorch: {why}")
        bytes_kept[op] += n
    compare(case, "saved_bytes", bytes_kept, truth["saved_bytes"], failures)
    compare(case, "forward_flops", forward_flops(found, case), truth["forward_flops"], failures)
    compare(case, "backward_flops", backward_flops(found, case), truth["backward_flops"], failures)
    compare_peak(case, found, truth["peak_bytes"][""], failures)
    amp = profile(program, case, OPTIMIZERS[0], "--precision", "amp")["training"]
    compare(case, "autocast_saved_bytes", Counter({"": amp["saved_bytes"] + AUTOCAST.get(case, 0)}),
            truth["autocast_saved_bytes"], failures)
    for quantity in ("learned", "gradient_bytes"):
        compare(case, quantity, Counter({"": found["training"][quantity]}), truth[quantity], failures)
    states = Counter({name: profile(program, case, name)["training"]["optimizer_bytes"]
                      for name in OPTIMIZERS})
    compare(case, "optimizer_bytes", states, truth["optimizer_bytes"], failures)
    print(f"{case}: {total} bytes saved, {sum(truth['saved_bytes'].values())} in PyTorch")


# Part of the peak by which the bytes at a position may differ from those that PyTorch has alive after the
# operator. ReLU works in place there.
CURVE = {("forward", "Relu"): 0.03, None: 0.0005}


def alive(found):
    """Returns (phase, operator) -> bytes at each position of the curve, without weights."""
    curve = found["training"]["curve"]
    change = [0] * (len(curve["order"]) + 1)
    for tensors in curve["tensors"]:
        for first, last, size in zip(tensors["from"], tensors["to"], tensors["bytes"]):
            change[first] += size
            change[last + 1] -= size
    sums, now = defaultdict(list), 0
    for i, node in enumerate(curve["order"]):
        now += change[i]
        sums["forward" if i < curve["forward"] else "backward", found["nodes"][node]["op"]].append(now)
    return sums


def compare_curves(program, failures):
    with open(HERE / "training_curve.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    curves = {case: profile(program, case, "sgd", "--memory-curve") for case in {row["case"] for row in rows}}
    for row in rows:
        found = curves[row["case"]]
        key = (row["phase"], CURVES[row["phase"]][row["operator"]])
        ours, theirs = alive(found)[key], [int(size) for size in row["bytes"].split()]
        peak = found["training"]["peak_bytes"]
        most = max(abs(a - b) for a, b in zip(ours, theirs)) / peak
        verdict = "pass" if len(ours) == len(theirs) and most <= CURVE.get(key, CURVE[None]) else "fail"
        print(f"{row['case']}, alive in {key[0]}, {key[1]}, {len(ours)}, {len(theirs)}, {verdict}: "
              f"differs by at most {most:.5f} of the peak")
        failures += [verdict] * (verdict == "fail")


def read_truth():
    truth = defaultdict(lambda: defaultdict(Counter))
    with open(HERE / "training_truth.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            truth[row["case"]][row["quantity"]][row["operator"]] = int(row["value"])
    return truth


def main():
    parser = argparse.ArgumentParser(description="compare training steps with PyTorch's")
    parser.add_argument("--costmodel", required=True, help="the program")
    options = parser.parse_args()
    truth, failures = read_truth(), []
    for case in [*CASES, *FOLDED]:
        check(options.costmodel, case, truth[FOLDED.get(case, case)], failures)
    compare_curves(options.costmodel, failures)
    print(f"{len(CASES) + len(FOLDED)} cases, {len(failures)} figures differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
