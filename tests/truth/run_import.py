#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Profiles models in ONNX Runtime on the CPU, imports the profiles with --times and compares them with sums that
this script computes from the events itself. Weights, which the files lack, are random.

    run_import.py --costmodel PROGRAM [--keep FOLDER]

For each model, without optimizations, with basic and with all of them:
- at least 99 % of the time is assigned to nodes and modules;
- the time of the model is the sum of the medians of the layers over the runs after the first, within 1 us;
- without optimizations, the time of each node is that of its event;
- the times of nodes, and of layers that only a module has, sum up to the model;
- the shapes are those of the model, and a limit is not compared with the times at batch 2.
With all optimizations, each module of ResNet-50 has the time of the events whose names begin with the module's
scope; ONNX Runtime takes these names from nodes and values of the file.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

SKIPPED = 77
RUNS = 5
LEAST_PLACED = 0.99
TOLERANCE_US = 1.0
ROOT = Path(__file__).resolve().parent.parent.parent
try:
    import numpy
    import onnx
    import onnxruntime
    from onnx import helper, numpy_helper
except ImportError as error:
    print(f"skipped: the Python packages onnx, numpy and onnxruntime are required: {error}")
    sys.exit(SKIPPED)

MODELS = {  # file: symbolic dims
    "resnet50.onnx": {},
    "pointnet.onnx": {},
    "bert_mini.onnx": {"seq": 64},
    "torch/vit_b_16_dynamo.onnx": {},
    "torch/gpt_dynamo.onnx": {},
    "lstm.onnx": {"seq": 40},
    "loop_if.onnx": {},
    "pointnet_functions.onnx": {},
    "quantized/encoder_static.onnx": {},
    "quantized/encoder_qlinear.onnx": {},
    "quantized/encoder_dynamic.onnx": {},
}
LEVELS = {
    "off": onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "all": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
TYPES = {"tensor(float)": numpy.float32, "tensor(int64)": numpy.int64, "tensor(bool)": numpy.bool_}


def tensors(graph):
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t
            elif attribute.type == onnx.AttributeProto.GRAPH:
                yield from tensors(attribute.g)


def with_weights(path):
    """Returns the model with random weights in place of those in a missing file."""
    model = onnx.load(path, load_external_data=False)
    random = numpy.random.default_rng(1)
    for tensor in tensors(model.graph):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        values = random.standard_normal(list(tensor.dims)) * 0.02
        if "running_var" in tensor.name:
            values = numpy.abs(values) + 1
        dtype = helper.tensor_dtype_to_np_dtype(tensor.data_type)
        tensor.CopyFrom(numpy_helper.from_array(values.astype(dtype), tensor.name))
    return model


def profile(model, level, dims, folder):
    """Runs the model a few times; returns the path of the profile."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.enable_profiling = True
    options.profile_file_prefix = str(Path(folder) / "profile")
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feed = {}
    for value in session.get_inputs():
        shape = [dim if isinstance(dim, int) else dims.get(dim, 1) for dim in value.shape]
        feed[value.name] = numpy.ones(shape, TYPES[value.type])
    for _ in range(RUNS):
        session.run(None, feed)
    return session.end_profiling()


def own_times(events):
    """Returns the microseconds of each event of a node, without events that begin during it."""
    run = 0
    for event in events:
        event["run"] = run
        run += event["name"] == "model_run"
    nodes = sorted((e for e in events if e["cat"] == "Node"), key=lambda e: (e["ts"], -e["dur"]))
    own, open_events = [], []
    for event in nodes:
        while open_events and event["ts"] >= open_events[-1]["ts"] + open_events[-1]["dur"]:
            open_events.pop()
        if open_events:
            open_events[-1]["own"] -= event["dur"]
        event["own"] = event["dur"]
        open_events.append(event)
        own.append(event)
    return own


def medians(own):
    """Returns the median microseconds of each layer over the runs after the first."""
    sums = defaultdict(lambda: [0] * RUNS)
    for event in own:
        sums[event["name"].removesuffix("_kernel_time")][event["run"]] += event["own"]
    return {name: statistics.median(runs[1:]) for name, runs in sums.items()}


class Checker:
    def __init__(self, program):
        self.program, self.n_failed = program, 0

    def check(self, what, is_right):
        if not is_right:
            self.n_failed += 1
            print(f"FAIL {what}")

    def run(self, name, level, path, dims):
        arguments = [ROOT / "models" / name, "--times", path, "--format", "json"]
        for dim, size in dims.items():
            arguments += ["--dim", f"{dim}={size}"]
        ran = subprocess.run([self.program, *arguments], capture_output=True, text=True, check=False)
        if ran.returncode not in (0, 3):  # 3: an unknown trip count, so the totals leave something out
            self.check(f"{name} {level}: status {ran.returncode}: {ran.stderr}", False)
            return
        got = json.loads(ran.stdout)
        times = medians(own_times(json.loads(Path(path).read_text(encoding="utf-8"))))
        profiled = sum(times.values())
        total = got["totals"]["latency_ps"] / 1e6
        placed = got["measure"]["placed_share"]
        layers = got["measure"]["primitives"]
        states = defaultdict(int)
        for layer in layers:
            states[layer["state"]] += 1
        print(f"{name:32} {level:5} {total:12.1f} us, placed {100 * placed:6.2f} %, " +
              ", ".join(f"{n} {state}" for state, n in sorted(states.items())))
        self.check(f"{name} {level}: placed {placed}", placed >= LEAST_PLACED)
        self.check(f"{name} {level}: {total} us, the profile has {profiled}",
                   abs(total - profiled) <= TOLERANCE_US)
        sums = sum(node.get("latency_ps") or 0 for node in got["nodes"])
        sums += sum(layer["median_ps"] for layer in layers if not layer["nodes"])
        self.check(f"{name} {level}: nodes and layers sum up to {sums / 1e6} of {total} us",
                   abs(sums / 1e6 - total) <= TOLERANCE_US)
        self.check(f"{name} {level}: {got['measure'].get('other_shape')}", "other_shape" not in got["measure"])
        self.check_other_batch(name, level, arguments)
        if level == "off":
            self.check_nodes(name, got, times)
        if level == "all" and name == "resnet50.onnx":
            self.check_modules(name, got, times)

    def check_other_batch(self, name, level, arguments):
        command = [self.program, "check", *arguments, "--batch", "2", "--limit", "latency <= 1000s"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        because = json.loads(ran.stdout)["cases"][0]["findings"][0]["because"]
        self.check(f"{name} {level}: batch 2 has status {ran.returncode}: {because}",
                   ran.returncode == 3 and because.endswith(" in the model"))

    def check_nodes(self, name, got, times):
        nodes = defaultdict(float)
        for node in got["nodes"]:
            nodes[node["name"]] += (node.get("latency_ps") or 0) / 1e6
        shared = [key for key in times if key in nodes]
        self.check(f"{name}: few nodes are named: {len(shared)} of {len(times)}",
                   2 * len(shared) > len(times))
        for key in shared:
            # "X_DequantizeLinear/duplicated" adds to the time of X_DequantizeLinear.
            copies = sum(us for other, us in times.items() if other.startswith(key + "/duplicated"))
            self.check(f"{name}: {key} has {nodes[key]} us, its events {times[key] + copies}",
                       abs(nodes[key] - times[key] - copies) <= TOLERANCE_US)

    def check_modules(self, name, got, times):
        """Checks the stages layer1 ... layer4 and their blocks; the scope of layer1.0 is /layer1/layer1.0."""
        n = 0
        for module in got["modules"]:
            parts = module["path"].split(".")
            if not parts[0].startswith("layer") or len(parts) > 2:
                continue
            scope = f"/{parts[0]}/" + (f"{module['path']}/" if len(parts) == 2 else "")
            us = sum(us for key, us in times.items() if key.startswith(scope))
            self.check(f"{name}: {module['path']} has {module['latency_ps'] / 1e6} us, its events {us}",
                       abs(module["latency_ps"] / 1e6 - us) <= TOLERANCE_US)
            n += 1
        self.check(f"{name}: 20 stages and blocks, got {n}", n == 20)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--costmodel", required=True)
    arguments = parser.parse_args()
    checker = Checker(arguments.costmodel)
    for name, dims in MODELS.items():
        model = with_weights(ROOT / "models" / name).SerializeToString()
        for level, setting in LEVELS.items():
            with tempfile.TemporaryDirectory() as folder:
                checker.run(name, level, profile(model, setting, dims, folder), dims)
    if checker.n_failed > 0:
        print(f"{checker.n_failed} checks failed")
    return 1 if checker.n_failed > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
