#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Prints how far estimates of device memory are from measured training processes.

usage: memory.py --costmodel PROGRAM --models DIR MEASURED.csv [--split SEED] [--mlps MLPS.csv]
                 [--xmem XMEM.csv]

MEASURED.csv (may be .xz) has the columns `model`, `batch`, `measured_mib` and `fake_last`; DIR has
MODEL.onnx, exported without weights. `device_memory` is compared, beside FakeTensor's estimate of
the same run and the exact sum of tensors (training.peak_bytes). Nothing is downloaded.

MLPS.csv has multilayer perceptrons in the columns `model`, `layers`, `batch` and `measured_mib`;
the script writes them as ONNX files. XMEM.csv has the columns `model`, `optimizer`, `batch`,
`measured_bytes`, `xmem_bytes` and `dnnmem_bytes`; rows of which DIR has no model are left out.
"""
import argparse
import ast
import collections
import csv
import json
import lzma
import random
import re
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import models
import wire

MIB = 1 << 20
OPTIMIZER = "adam"
SATURATED = 39500  # MiB: the GPUs have 40 GiB
LIMITS = ("40GiB", "39.5GiB")
FAKE_TO_MIB = 1.024  # fake_last is in thousandths of GiB: times 2^30 / 1000 it is a whole number
SMALLEST_FAMILY = 3
WORST = 10
SPLITS = 20  # of which intervals are fitted
FAMILIES = (  # the first that a name matches
    ("ResNet", r"(eca_|se|sk|gc|cs|eca|legacy_se|wide_|t)*(resne|res2ne|botnext)"),
    ("RegNet", "regnet"),
    ("EfficientNet, MobileNet",
     "(tf_)?(efficientnet|mobilenet|(sem)?nasnet|lcnet|hardcore|rexnet|repghost|ghostnet|mixnet|tinynet)"),
    ("VGG, RepVGG", "vgg|repvgg|mobileone"),
    ("hierarchical transformer",
     "swin|pvt|davit|focalnet|maxx?vit|coatnet|coat|levit|tiny_vit|nest|hiera|vitamin|efficientvit"),
    ("vision transformer", "vit|deit|beit|cait|eva|volo|flexivit|xcit"),
    ("convolution and mixer", "convnext|convformer|caformer|poolformer|fastvit|repvit|efficientformer"
                              "|mixer|resmlp|convmixer|gmlp"),
    ("NFNet", "(dm_|eca_)?(nfnet|nf_)"),
)
# ONNX operators of the layers, and the opset that has them all
LAYERS = {"ReLU": "Relu", "Softmax": "Softmax", "SiLU": "Swish", "SELU": "Selu", "Mish": "Mish",
          "Softplus": "Softplus", "LeakyReLU": "LeakyRelu", "GELU": "Gelu", "ELU": "Elu",
          "Tanh": "Tanh", "Sigmoid": "Sigmoid"}
OPSET = 24
BOOL = 9

Row = collections.namedtuple("Row", "model batch measured ours low high fake tensors context")


def table(path):
    opened = lzma.open if path.suffix == ".xz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def measurements(path):
    """
    Returns {model: ({batch: row}, first batch that ran out of memory or None)}. From the first batch
    on that did not measure more than a smaller one, rows are left out; the process ran out of memory
    there unless a larger batch did measure more.
    """
    by_model = collections.defaultdict(dict)
    for row in table(path):
        by_model[row["model"]][int(row["batch"])] = row
    found = {}
    for model, by_batch in by_model.items():
        values = [(batch, float(row["measured_mib"])) for batch, row in sorted(by_batch.items())]
        good, failed, highest, is_good = {}, None, 0, True
        for i, (batch, value) in enumerate(values):
            is_good = is_good and highest < value <= SATURATED
            if is_good:
                good[batch] = by_batch[batch]
            if failed is None and not any(highest < later <= SATURATED for _, later in values[i:]):
                failed = batch
            if value > SATURATED:
                failed = failed or batch
            else:
                highest = max(highest, value)
        found[model] = good, failed
    return found


def profile(program, path, *arguments, optimizer=OPTIMIZER):
    done = subprocess.run([program, path, "--optimizer", optimizer, "--format", "json", *arguments],
                          check=False, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def context_of(memory):
    return next(part["bytes"] for part in memory["parts"] if part["name"] == "context")


def estimate(program, path, model, row):
    result = profile(program, path, "--batch", row["batch"])
    memory = result["device_memory"]
    sizes = [size / MIB for size in (memory["bytes"], memory["low_bytes"], memory["high_bytes"])]
    fake = float(row.get("fake_last") or "nan") * FAKE_TO_MIB
    return Row(model, int(row["batch"]), float(row["measured_mib"]), *sizes, fake,
               result["training"]["peak_bytes"] / MIB, context_of(memory) / MIB)


def quantile(values, part):
    values = sorted(values)
    return values[min(len(values) - 1, int(part * len(values)))]


def errors(rows, what):
    """Median and 90th percentile of the relative error, in percent."""
    found = [abs(what(row) / row.measured - 1) * 100 for row in rows if what(row) == what(row)]
    return f"{statistics.median(found):.1f}, {quantile(found, 0.9):.1f}" if found else ""


def summary(rows):
    bias = statistics.median(row.ours / row.measured - 1 for row in rows) * 100
    inside = sum(row.low <= row.measured <= row.high for row in rows) / len(rows) * 100
    return (f"{len(rows)} | {errors(rows, lambda row: row.ours)} | {bias:+.1f} | {inside:.0f} "
            f"| {errors(rows, lambda row: row.fake)} | {errors(rows, lambda row: row.tensors)} "
            f"| {errors(rows, lambda row: row.tensors + row.context)}")


def print_groups(title, groups):
    print(f"\n| {title} | rows | device_memory, % | bias | within the interval, % | FakeTensor, % "
          "| tensors, % | tensors and context, % |")
    print("|---|---|---|---|---|---|---|---|")
    for name, rows in groups.items():
        if rows:
            print(f"| {name} | {summary(rows)} |")


def family(model):
    return next((name for name, pattern in FAMILIES if re.match(pattern, model)), "other")


def by_family(rows):
    members = collections.defaultdict(set)
    for row in rows:
        members[family(row.model)].add(row.model)
    groups = {name: [] for name, _ in FAMILIES if len(members[name]) >= SMALLEST_FAMILY}
    groups["other"] = []
    for row in rows:
        groups.get(family(row.model), groups["other"]).append(row)
    return {f"{name} ({len({row.model for row in rows})})": rows for name, rows in groups.items() if rows}


def by_batch(rows):
    groups = collections.defaultdict(list)
    for row in sorted(rows, key=lambda row: row.batch):
        groups[row.batch].append(row)
    return groups


def halves(rows, seed):
    names = sorted({row.model for row in rows})
    random.Random(seed).shuffle(names)
    first = set(names[:len(names) // 2])
    return {"first half": [row for row in rows if row.model in first],
            "second half": [row for row in rows if row.model not in first]}


def print_intervals(rows, seed):
    """Prints how many measurements of the second half an interval contains that is fitted to the first."""
    inside = []
    for each in range(seed, seed + SPLITS):
        first, second = ([row.measured / row.ours for row in half] for half in halves(rows, each).values())
        low, high = quantile(first, 0.05), quantile(first, 0.95)
        inside.append(sum(low <= ratio <= high for ratio in second) / len(second) * 100)
    print(f"\n{SPLITS} intervals fitted to one half contain {min(inside):.0f} to {max(inside):.0f} %, "
          f"median {statistics.median(inside):.0f} %, of the other")


def print_limits(program, failures, pool):
    """Prints how often a batch "fits" at which, or above which, the process ran out of memory."""
    print(f"\n{len(failures)} networks ran out of memory at some batch")
    for limit in LIMITS:
        fits = list(pool.map(lambda item: profile(program, item[1], "--memory-limit", limit)["memory"]["fit"],
                             failures))
        for key in ("largest_batch", "confident_batch"):
            wrong = [f"{path.stem} {fit[key]}, failed at {failed}"
                     for (failed, path), fit in zip(failures, fits) if (fit[key] or 0) >= failed]
            print(f"{limit}, {key}: {len(wrong)} fit although they failed" + "".join(f"\n  {w}" for w in wrong))


def perceptron(row):
    """Returns the ONNX file of the layers (kind, outputs, parameters) of a row."""
    graph, value = models.Graph("mlp"), "x"
    size = first = int(re.search(r"input:(\d+)", row["model"])[1])
    for i, (kind, outputs, _) in enumerate(ast.literal_eval(row["layers"])):
        def weight(name, *dims, at=i):
            return graph.weight(f"{at}.{name}", *dims)
        if kind == "linear":
            value = graph.node(f"{i}", "Gemm", value, weight("weight", outputs, size),
                               weight("bias", outputs), transB=1)
            size = outputs
        elif kind == "batch_normalization":
            names = ("weight", "bias", "running_mean", "running_var")
            value = graph.node(f"{i}", "BatchNormalization", value, *(weight(n, size) for n in names))
        elif kind == "dropout":
            graph.tensors.append(wire.message(5, wire.integer(2, BOOL), wire.text(8, f"{i}.training"),
                                              wire.message(9, b"\x01")))
            value = graph.node(f"{i}", "Dropout", value, graph.scalar(f"{i}.ratio"), f"{i}.training")
        elif kind == "PReLU":
            value = graph.node(f"{i}", "PRelu", value, weight("weight", 1))
        elif kind != "Identity":
            value = graph.node(f"{i}", LAYERS[kind], value)
    return graph.model([("x", (1, first))], [(value, (1, size))], OPSET)


def print_perceptrons(program, rows, pool):
    with tempfile.TemporaryDirectory(prefix="costmodel-memory-") as folder:
        def run(item):
            path = Path(folder) / f"{item[0]}.onnx"
            path.write_bytes(perceptron(item[1]))
            return estimate(program, path, item[1]["model"], item[1])
        found = list(pool.map(run, enumerate(row for row in rows if row["layers"])))
    print_groups("multilayer perceptrons", {"all": found})


def print_xmem(program, folder, rows):
    print("\n| network, optimizer, batch | measured, MiB | without context | with context | tensors | xMem | DNNMem |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        path = folder / f"{row['model']}.onnx"
        if not path.exists():
            continue
        result = profile(program, path, "--batch", row["batch"], optimizer=row["optimizer"].lower())
        memory, measured = result["device_memory"], int(row["measured_bytes"])
        sizes = (memory["bytes"] - context_of(memory), memory["bytes"], result["training"]["peak_bytes"],
                 int(row["xmem_bytes"]), int(row["dnnmem_bytes"]))
        print(f"| {row['model']}, {row['optimizer'].lower()}, {row['batch']} | {measured / MIB:,.0f} | "
              + " | ".join(f"{(size / measured - 1) * 100:+.1f} %" for size in sizes) + " |")


def main():
    parser = argparse.ArgumentParser(description="compare estimates of device memory with measurements")
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--models", required=True, type=Path, help="folder of MODEL.onnx")
    parser.add_argument("--split", type=int, metavar="SEED", help="also print two random halves of the networks")
    parser.add_argument("--mlps", type=Path, help="measurements of multilayer perceptrons")
    parser.add_argument("--xmem", type=Path, help="measurements of xMem")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("measured", type=Path, metavar="MEASURED.csv")
    options = parser.parse_args()
    runs, failures = [], []
    for model, (good, failed) in sorted(measurements(options.measured).items()):
        path = options.models / f"{model}.onnx"
        if not path.exists():
            continue
        runs += [(path, model, row) for row in good.values()]
        failures += [(failed, path)] if failed else []
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = list(pool.map(lambda run: estimate(options.costmodel, *run), runs))
        print(f"{len({row.model for row in rows})} networks, {len(rows)} runs; median and 90th percentile")
        print_groups("family (networks)", {**by_family(rows), "**all**": rows})
        print_groups("batch", by_batch(rows))
        if options.split is not None:
            print_groups(f"split {options.split}", halves(rows, options.split))
            print_intervals(rows, options.split)
        print("\nlargest deviations: measured, estimated, MiB")
        for row in sorted(rows, key=lambda row: -abs(row.ours / row.measured - 1))[:WORST]:
            print(f"  {row.model} {row.batch}: {row.measured:.0f}, {row.ours:.0f}")
        print_limits(options.costmodel, failures, pool)
        if options.mlps:
            print_perceptrons(options.costmodel, table(options.mlps), pool)
        if options.xmem:
            print_xmem(options.costmodel, options.models, table(options.xmem))


if __name__ == "__main__":
    main()
