#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares ONNX Runtime's time of whole models on the CPU with costmodel's measurement.

usage: runtime.py --costmodel PROG [--threads N] [--runs N] [MODEL:BATCH ...]

Requires the packages onnx, numpy and onnxruntime; without them it prints a message and exits with
0. The models get random weights. ONNX Runtime is timed before and after costmodel, each time as the
median of N runs after N warm-up runs. The time of the unoptimised graph is compared with the sum of
layers of `--runtime eager`, that of the optimised graph with the sum of `--runtime compiled`.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import os
import platform
import statistics
import subprocess
import time
from pathlib import Path

MODELS = ("torch/pointnet_torchscript.onnx:32", "resnet50.onnx:1", "train_mobilenet_v2.onnx:1")
HERE = Path(__file__).resolve().parent


def packages():
    try:
        import numpy
        import onnx
        import onnxruntime
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(0)
    return numpy, onnx, onnxruntime


def tensors(onnx, graph):
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t


def with_weights(numpy, onnx, path):
    """Adds random weights that keep the magnitude of activations (no denormals or overflow)."""
    model = onnx.load(path, load_external_data=False)
    random = numpy.random.default_rng(0)
    for tensor in tensors(onnx, model.graph):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        dims = list(tensor.dims)
        kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
        fan = max(1, int(numpy.prod(dims[1:])) if len(dims) > 1 else 1)
        values = random.uniform(0.5, 1.5, dims) if len(dims) < 2 else \
            random.standard_normal(dims) / fan ** 0.5
        del tensor.external_data[:]
        tensor.ClearField("data_location")
        tensor.raw_data = values.astype(kind).tobytes()
    return model.SerializeToString()


def feeds(numpy, session, batch):
    random = numpy.random.default_rng(1)
    values = {}
    for want in session.get_inputs():
        dims = [d if isinstance(d, int) else batch for d in want.shape]
        if "int" in want.type:
            values[want.name] = random.integers(0, 2, dims).astype(numpy.int64)
        else:
            values[want.name] = random.uniform(0.25, 1.25, dims).astype(numpy.float32)
    return values


def time_runtime(modules, model, batch, args, optimised):
    """Returns the median time of ONNX Runtime, ms."""
    numpy, _, onnxruntime = modules
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = args.threads
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else \
        level.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    values = feeds(numpy, session, batch)
    times = []
    for _ in range(2 * args.runs):
        begin = time.perf_counter()
        session.run(None, values)
        times.append(time.perf_counter() - begin)
    return statistics.median(times[args.runs:]) * 1e3


def time_costmodel(args, path, batch, runtime):
    """Returns the sum of layers with cold and with warm caches, in ms, and the JSON section."""
    text = subprocess.run([args.costmodel, "--help"], stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    command = [args.costmodel, str(path), "--batch", str(batch), "--backend",
               f"onednn:threads={args.threads}", "--format", "json"]
    command += [option for option in ("--no-cache",) if option in text]
    command += ["--runtime", runtime] if "--runtime" in text else []
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if not done.stdout:
        sys.exit(f"runtime: {' '.join(command)}: status {done.returncode}")
    result = json.loads(done.stdout)
    latency = [node.get("latency_ps") or 0 for node in result["nodes"]]
    cold = warm = 0
    for primitive in result["measure"]["primitives"]:
        mine = sum(latency[node] for node in primitive["nodes"]) / 1e9
        cold += mine
        if primitive.get("median_ps"):
            warm += mine * (primitive.get("warm_ps") or 0) / primitive["median_ps"]
    return cold, warm, result["measure"]


def compare(modules, model, path, batch, args, optimised):
    """Prints a row: ONNX Runtime before and after costmodel, to show how stable the machine is."""
    before = time_runtime(modules, model, batch, args, optimised)
    cold, warm, measure = time_costmodel(args, path, batch, "compiled" if optimised else "eager")
    after = time_runtime(modules, model, batch, args, optimised)
    print(f"| {path.stem} | {batch} | {'optimised' if optimised else 'as it is'} "
          f"| {before:.2f} | {after:.2f} | {cold:.2f} | {warm:.2f} "
          f"| {cold / statistics.mean((before, after)):.2f} | {measure['version']} |", flush=True)


def rows(modules, args, name):
    path, _, batch = name.partition(":")
    path = HERE.parent / "models" / path  # an absolute path stays as it is
    batch = int(batch or 1)
    model = with_weights(modules[0], modules[1], path)
    for optimised in (False, True):
        compare(modules, model, path, batch, args, optimised)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("names", nargs="*", default=MODELS, metavar="MODEL:BATCH")
    args = parser.parse_args()
    modules = packages()
    print(f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {args.threads} threads, "
          f"ONNX Runtime {modules[2].__version__}, load {os.getloadavg()[0]:.2f}; milliseconds\n")
    print("| model | batch | graph | runtime before | after | sum of layers, cold | warm "
          "| cold / runtime | costmodel by |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in args.names:
        rows(modules, args, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
