#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs models in OpenVINO's benchmark_app on the CPU, imports the counters with --times and compares the modules of each
layer with those of the nodes that the executable graph lists (originalLayersNames), which the import does not read.

    run_openvino.py --costmodel PROGRAM [--benchmark-app PROGRAM]

At least 99 % of the time is placed, and at least 95 % of the time of layers with listed nodes is in their modules.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

SKIPPED = 77
ROOT = Path(__file__).resolve().parent.parent.parent
MODELS = {  # file: options of benchmark_app, options of costmodel
    "resnet50.onnx": (["-shape", "[1,3,224,224]"], []),
    "torch/resnet50_torchscript.onnx": (["-shape", "[1,3,224,224]"], []),
    "torch/vit_b_16_dynamo.onnx": (["-shape", "[1,3,224,224]"], []),
    "pointnet_b32.onnx": ([], []),
    "bert_mini.onnx": (["-shape", "input0[1,64],input1[1,64],input2[1,64]"], ["--dim", "seq=64"]),
    "transformer_encoder_b1.onnx": ([], []),
}


def share_in_module(got, listed):
    """Returns the share of the time of layers whose listed nodes are in modules that have its time."""
    module_by_name = {node["name"]: node["module"] for node in got["nodes"]}
    module_by_index = {node["index"]: node["module"] for node in got["nodes"]}
    right = total = 0
    for layer in got["measure"]["primitives"]:
        truth = {module_by_name[name] for name in listed.get(layer["primitive"], []) if name in module_by_name}
        if truth:
            total += layer["median_ps"]
            right += layer["median_ps"] * (truth <= {module_by_index[i] for i in layer["nodes"]})
    return right / total


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--benchmark-app", default=shutil.which("benchmark_app"))
    arguments = parser.parse_args()
    try:
        import onnx
        from run_import import with_weights
    except ImportError as error:
        print(f"skipped: the Python packages onnx and onnxruntime are required: {error}")
        return SKIPPED
    if not arguments.benchmark_app:
        print("skipped: benchmark_app of the Python package openvino is required")
        return SKIPPED
    n_failed = 0
    for file, (shape, options) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "model.onnx"
            onnx.save(with_weights(ROOT / "models" / file), str(model))
            subprocess.run([arguments.benchmark_app, "-m", model, "-d", "CPU", "-niter", "5", "-nireq", "1", "-nstreams",
                            "1", "-hint", "none", "-infer_precision", "f32", "-report_type", "detailed_counters",
                            "-report_folder", folder, "-pc", "-exec_graph_path", Path(folder) / "graph.xml", *shape],
                           check=True, capture_output=True)
            graph = (Path(folder) / "graph.xml").read_text(encoding="utf-8")
            counters = Path(folder) / "benchmark_detailed_counters_report.csv"
            ran = subprocess.run([arguments.costmodel, ROOT / "models" / file, *options, "--times", counters, "--format",
                                  "json"], check=True, capture_output=True, text=True)
        found = re.findall(r'<layer id="\d+" name="([^"]*)".*?originalLayersNames="([^"]*)"', graph, re.DOTALL)
        got = json.loads(ran.stdout)
        placed = got["measure"]["placed_share"]
        share = share_in_module(got, {name: names.split(",") for name, names in found})
        is_right = placed >= 0.99 and share >= 0.95
        n_failed += not is_right
        print(f"{'' if is_right else 'FAIL '}{file:34} placed {100 * placed:6.2f} %, in the right module {100 * share:6.2f} %")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
