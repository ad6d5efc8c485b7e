#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Profiles models in PyTorch on the CPU, imports the traces with --times and compares the module of each operator
with the module that the trace names (nn.Module events of with_modules), which the import does not read.

    run_torch_trace.py --costmodel PROGRAM [--keep FOLDER] [--trim FILE] [NAME...]

- at least 99 % of the time is placed;
- the layers sum up to the durations of the operators that Python calls, within 1 us a layer, and the whole run is
  the median of the steps after the first;
- at least 95 % of the time of convolutions and matrix products is in the right module.
An nn.Module event has the class and a number, "nn.Module: Conv2d_7": the modules of a class are numbered in the
order of their first call, as forward hooks see it.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import statistics
import subprocess
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

SKIPPED = 77
STEPS = 4
ROOT = Path(__file__).resolve().parent.parent.parent
sys.path += [str(ROOT / "tools"), str(ROOT / "tests" / "truth")]
try:
    import torch
    import torchvision
    import nets
    from make_models import PointNet
    from make_torch_exports import GPT
    from torch.profiler import ProfilerActivity, profile, schedule
except ImportError as error:
    print(f"skipped: the Python packages torch, torchvision, onnx and onnxruntime are required: {error}")
    sys.exit(SKIPPED)

IMAGE = (1, 3, 224, 224)
MODELS = [  # the exported file, its options, the module, its inputs
    ("resnet50.onnx", [], torchvision.models.resnet50, lambda: (torch.randn(IMAGE),)),
    ("torch/resnet50_dynamo.onnx", [], torchvision.models.resnet50, lambda: (torch.randn(IMAGE),)),
    ("torch/resnet50_torchscript.onnx", [], torchvision.models.resnet50, lambda: (torch.randn(IMAGE),)),
    ("torch/pointnet_dynamo.onnx", ["--batch", "2"], PointNet, lambda: (torch.randn(2, 3, 1024),)),
    ("torch/pointnet_torchscript.onnx", ["--batch", "2"], PointNet, lambda: (torch.randn(2, 3, 1024),)),
    ("torch/vit_b_16_dynamo.onnx", [], torchvision.models.vit_b_16, lambda: (torch.randn(IMAGE),)),
    ("torch/gpt_dynamo.onnx", [], GPT, lambda: (torch.randint(0, 1000, (1, 64)),)),
    ("torch/gpt_torchscript.onnx", [], GPT, lambda: (torch.randint(0, 1000, (1, 64)),)),
    ("bert_mini.onnx", ["--dim", "seq=64"], nets.BertMini, lambda: nets.bert_inputs(1)),
    ("siamese.onnx", [], nets.Siamese, lambda: nets.pair(1)),
    ("gpt_mini_tied.onnx", ["--dim", "seq=128"], nets.GptMini, lambda: (torch.randint(0, 100, (1, 128)),)),
    ("lstm.onnx", ["--dim", "seq=40"], nets.Rnn, lambda: (torch.randn(1, 40, 64),)),
    ("unet.onnx", ["--dim", "h=128", "--dim", "w=128"], nets.UNet, lambda: (torch.randn(1, 3, 128, 128),)),
    ("odd_conv.onnx", [], nets.OddConv, lambda: (torch.randn(1, 16, 37, 41),)),
]
PRODUCTS = ("aten::conv", "aten::linear", "aten::matmul", "aten::addmm", "aten::mm", "aten::bmm",
            "aten::scaled_dot_product_attention", "aten::_native_multi_head_attention")


def record(module, inputs, path, with_shapes=True):
    """Profiles a few steps; returns the path of each module by its name in the trace."""
    names, seen, hooks = {}, defaultdict(dict), []
    for name, child in module.named_modules():
        def hook(called, _inputs, name=name):
            known = seen[type(called).__name__]
            key = known.setdefault(id(called), f"nn.Module: {type(called).__name__}_{len(known)}")
            names[key] = name
        hooks.append(child.register_forward_pre_hook(hook))
    module.eval()
    with torch.no_grad():
        module(*inputs)
        for hook in hooks:
            hook.remove()
        with profile(activities=[ProfilerActivity.CPU], record_shapes=with_shapes, with_stack=True, with_modules=True,
                     schedule=schedule(wait=0, warmup=1, active=STEPS),
                     on_trace_ready=lambda done: done.export_chrome_trace(str(path))) as profiler:
            for _ in range(STEPS + 1):
                module(*inputs)
                profiler.step()
    return names


def trim(path, trimmed):
    """Writes what the import reads of three steps: operators that Python calls, and those directly inside them."""
    trace = json.loads(Path(path).read_text(encoding="utf-8"))
    steps, _ = calls(trace)
    kept, around = [], []
    for event in sorted((e for e in trace["traceEvents"] if e["ph"] == "X"), key=lambda e: (e["ts"], -e["dur"])):
        if event["ts"] >= steps[2]["ts"] + steps[2]["dur"] or event["cat"] not in ("cpu_op", "user_annotation"):
            continue
        while around and event["ts"] >= around[-1]["ts"] + around[-1]["dur"]:
            around.pop()
        if len([e for e in around if e["cat"] == "cpu_op"]) < 2:
            dims = event["args"].get("Input Dims")
            kept.append({"ph": "X", "cat": event["cat"], "name": event["name"], "tid": 1,
                         "ts": round(event["ts"] - steps[0]["ts"], 3), "dur": event["dur"],
                         "args": {} if dims is None else {"Input Dims": dims}})
        around.append(event)
    lines = ",\n".join(json.dumps(event) for event in kept)
    Path(trimmed).write_text(f'{{"schemaVersion": 1, "record_shapes": 1, "traceEvents": [\n{lines}\n]}}\n', encoding="utf-8")


def calls(trace):
    """Returns the steps, and the operators that Python calls, each with its step and its innermost nn.Module."""
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    steps = sorted((e for e in events if e["name"].startswith("ProfilerStep#")), key=lambda e: e["ts"])
    found, around = [], []
    for event in sorted((e for e in events if e.get("cat") in ("cpu_op", "python_function")),
                        key=lambda e: (e["ts"], -e["dur"])):
        while around and event["ts"] >= around[-1]["ts"] + around[-1]["dur"]:
            around.pop()
        if event["cat"] == "cpu_op" and all(e["cat"] != "cpu_op" for e in around):  # all are of ATen here
            event["module"] = next((e["name"] for e in reversed(around) if e["name"].startswith("nn.Module: ")), None)
            event["step"] = next((i for i, s in enumerate(steps) if s["ts"] <= event["ts"] < s["ts"] + s["dur"]), -1)
            found.append(event)
        around.append(event)
    return steps, found


def layer_names(operators):
    """Yields each operator of the steps after the first with the name of its layer."""
    counts = defaultdict(int)
    for event in operators:
        if event["step"] < 1:
            continue
        flat = [dims for entry in event["args"].get("Input Dims", []) for dims in
                (entry if entry and isinstance(entry[0], list) else [entry]) if dims]
        key = " ".join([event["name"], *map(str, flat[:3])])
        counts[key, event["step"]] += 1
        n = counts[key, event["step"]]
        yield event, key if n == 1 else f"{key} #{n}"


class Checker:
    def __init__(self, program, verbose):
        self.program, self.verbose, self.n_failed = program, verbose, 0

    def check(self, what, is_right):
        if not is_right:
            self.n_failed += 1
            print(f"FAIL {what}")

    def run(self, file, options, names, path):
        command = [self.program, ROOT / "models" / file, *options, "--times", path, "--format", "json"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            self.check(f"{file}: status {ran.returncode}: {ran.stderr}", False)
            return
        got = json.loads(ran.stdout)
        steps, operators = calls(json.loads(Path(path).read_text(encoding="utf-8")))
        layers = {layer["primitive"]: layer for layer in got["measure"]["primitives"]}
        times, modules = defaultdict(lambda: [0] * STEPS), {}
        for event, key in layer_names(operators):
            times[key][event["step"]] += event["dur"]
            modules[key] = event
        sums = {key: statistics.median(values[1:]) for key, values in times.items()}
        self.check(f"{file}: layers {set(sums) ^ set(layers)}", set(sums) == set(layers))
        total = got["totals"]["latency_ps"] / 1e6
        self.check(f"{file}: {total} us, the trace has {sum(sums.values())}",
                   abs(total - sum(sums.values())) <= len(sums))
        run_us = statistics.median(step["dur"] for step in steps[1:])
        self.check(f"{file}: a run of {got['measure']['run_ps']} ps, the trace has {run_us} us",
                   abs(got["measure"]["run_ps"] / 1e6 - run_us) <= 1)
        placed = got["measure"]["placed_share"]
        self.check(f"{file}: placed {placed}", placed >= 0.99)
        self.check(f"{file}: {got['measure'].get('other_shape')}", "other_shape" not in got["measure"])
        self.check_modules(file, got, sums, modules, names)

    def check_modules(self, file, got, sums, events, names):
        module_of = {node["index"]: node["module"] for node in got["nodes"]}
        shares = {}
        for label, is_product in (("products", True), ("others", False)):
            right = total = 0
            for layer in got["measure"]["primitives"]:
                event = events[layer["primitive"]]
                if event["name"].startswith(PRODUCTS) != is_product or event["module"] is None:
                    continue
                truth = names[event["module"]]
                us = sums[layer["primitive"]]
                total += us
                if layer["nodes"]:
                    is_right = truth in {module_of[i] for i in layer["nodes"]}
                else:  # a folded normalization, for example, counts for a module around it
                    path = got["modules"][layer["import"]["module"]]["path"]
                    is_right = layer["state"] == "copy" and (path == "" or f"{truth}.".startswith(f"{path}."))
                right += us * is_right
                if self.verbose and not is_right:
                    print(f"    {layer['primitive']} {us} us of {truth}: {layer['state']}, "
                          f"{[got['nodes'][i]['name'] for i in layer['nodes']]}")
            shares[label] = right / total if total else 1
        print(f"{file:34} {sum(sums.values()):12.1f} us, in the right module: products {100 * shares['products']:6.2f} %, "
              f"others {100 * shares['others']:6.2f} %")
        self.check(f"{file}: {shares['products']} of the time of products is in the right module",
                   shares["products"] >= 0.95)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--keep", type=Path, help="writes the traces to this folder")
    parser.add_argument("--trim", type=Path, help="writes a part of the last trace to this file, for tests/cli/imports")
    parser.add_argument("--verbose", action="store_true", help="lists operators in a wrong module")
    parser.add_argument("names", nargs="*", help="only models whose file contains one of these")
    arguments = parser.parse_args()
    checker = Checker(arguments.costmodel, arguments.verbose)
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        for file, options, make, inputs in MODELS:
            if arguments.names and not any(name in file for name in arguments.names):
                continue
            path = folder / (file.replace("/", "_") + ".json")
            names = record(make(), inputs(), path)
            if arguments.trim:
                trim(path, arguments.trim)
            checker.run(file, options, names, path)
    print(f"{checker.n_failed} failed")
    sys.exit(1 if checker.n_failed else 0)


if __name__ == "__main__":
    main()
