#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs the real tools on the nets of nets.py and writes their counts: conventions.csv.

usage: make_conventions.py --models DIR [--only NET] [--tool TOOL] [--output FILE]

Needs torch, torchvision, onnx, fvcore, ptflops, thop, onnx-tool, deepspeed and torchinfo from
PyPI; no test needs them. DeepSpeed installs without CUDA:
`DS_BUILD_OPS=0 pip install --no-build-isolation deepspeed` if torch, wheel and setuptools are installed.
DIR is the unpacked models.tar.xz. onnx-tool reads files; the other tools watch the PyTorch net run on
the CPU: in eval mode, and in training mode if the net has BatchNorms and the tool keeps the mode.
Each count runs in a process of its own, since DeepSpeed and ptflops leave torch patched.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import contextlib
import csv
import importlib.metadata
import inspect
import io
import logging
import multiprocessing
import os
import warnings
from pathlib import Path

os.environ["DS_ACCELERATOR"] = "cpu"

import torch

import nets
import tables

REPO = Path(__file__).resolve().parents[2]
BATCH = 1
FIELDS = ("model", "form", "file", "tool", "version", "batch", "unit", "total")
EXACT = 2**53  # above, a double does not represent every integer


def deepspeed(net, inputs):
    from deepspeed.profiling.flops_profiler import FlopsProfiler
    profiler = FlopsProfiler(net)
    profiler.start_profile()
    net(*inputs)
    return profiler.get_total_flops()


def torch_counter(net, inputs):
    from torch.utils.flop_counter import FlopCounterMode
    with FlopCounterMode(display=False) as counter:
        net(*inputs)
    return counter.get_total_flops()


def fvcore(net, inputs):
    from fvcore.nn import FlopCountAnalysis
    return FlopCountAnalysis(net, inputs).total()


def fvcore_activations(net, inputs):
    from fvcore.nn import ActivationCountAnalysis
    return ActivationCountAnalysis(net, inputs).total()


def ptflops(backend):
    def ask(net, inputs):
        from ptflops import get_model_complexity_info
        names = list(inspect.signature(net.forward).parameters)
        given = dict(zip(names, inputs))
        return get_model_complexity_info(net, (1,), as_strings=False, print_per_layer_stat=False,
                                         input_constructor=lambda _: given, backend=backend)[0]
    return ask


def thop(net, inputs):
    from thop import profile
    return profile(net, inputs=inputs, verbose=False)[0]


def torchinfo(net, inputs):
    from torchinfo import summary
    return summary(net, input_data=list(inputs), verbose=0).total_output_bytes


def onnx_tool(path, model):
    import onnx
    import onnx_tool as tool
    proto = onnx.load(str(path), load_external_data=False)
    fill(onnx, proto)
    graph = tool.Model(proto, {"verbose": False}).graph
    graph.shape_infer(onnx_inputs(proto, model))
    graph.profile()
    return graph.macs[0]


def fill(onnx, proto):
    """Adds contents to the tensors without data; their values change no count."""
    tensors = list(proto.graph.initializer)
    tensors += [a.t for node in proto.graph.node for a in node.attribute if a.type == a.TENSOR]
    for tensor in tensors:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            size = {entry.key: int(entry.value) for entry in tensor.external_data
                    if entry.key == "length"}["length"]
            del tensor.external_data[:]
            tensor.data_location = onnx.TensorProto.DEFAULT
            tensor.raw_data = bytes(size)


def batch_of(model):
    """Returns the batch of a file; 1 if it is symbolic."""
    return 32 if "b32" in model.variant.split("_") else 1


def onnx_inputs(proto, model):
    import numpy
    import onnx
    weights = {tensor.name for tensor in proto.graph.initializer}
    sizes = dict(dim.split("=") for dim in model.dims)
    given = {}
    for value in proto.graph.input:
        kind = value.type.tensor_type
        dims = [d.dim_value or int(sizes.get(d.dim_param, BATCH)) for d in kind.shape.dim]
        if value.name not in weights:
            given[value.name] = numpy.ones(
                dims, dtype=onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type))
    return given


# Tools that do not change the mode of a net.
KEEP_MODE = ("deepspeed", "torch", "fvcore")

# Name in the table -> package, unit, function that runs the tool.
WATCHERS = {
    "deepspeed": ("deepspeed", "FLOPs", deepspeed),
    "torch": ("torch", "FLOP", torch_counter),
    "fvcore": ("fvcore", "flops", fvcore),
    "ptflops": ("ptflops", "MAC", ptflops("pytorch")),
    "ptflops-aten": ("ptflops", "MAC", ptflops("aten")),
    "thop": ("thop", "MACs", thop),
    "fvcore-activations": ("fvcore", "elements", fvcore_activations),
    "torchinfo": ("torchinfo", "bytes", torchinfo),
}


def watch(tool, name, form):
    """Returns the total of a net by a tool that watches it run."""
    torch.manual_seed(0)
    build, inputs = nets.NETS[name]
    net = build().train(form == "training")
    if form == "folded":
        net = nets.fold(net, inputs(BATCH))
    return WATCHERS[tool][2](net, inputs(batch_in(form)))


def batch_in(form):
    return 2 if form == "training" else BATCH  # one sample has no batch statistics


def forms(name, tool):
    """Yields the forms of a net: as written; if it has BatchNorms also folded, and in training."""
    yield ""
    if any(row.cls.startswith("BatchNorm") for row in truth_rows(name)):
        yield "folded"
        if tool in KEEP_MODE:
            yield "training"


def truth_rows(name):
    if name == "gpt":
        return ()  # it has no table, and no BatchNorms
    return tables.rows("pointnet_eval" if name == "pointnet" else name, 1).values()


def files(models):
    """Yields the files that onnx-tool reads: path and description."""
    for path in sorted((REPO / "models" / "torch").glob("*.onnx")):
        name = path.stem.rpartition("_")[0]
        yield path, tables.Model(f"models/torch/{path.name}", "models", name, "dyn", 20, [])
    for model in tables.models():
        yield models / model.path, model


def answer(pipe, question, arguments):
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            total = question(*arguments)
        exact = int(total)
        if exact != total or exact > EXACT:
            raise ValueError(f"{total!r} is not an exact integer")
        pipe.send((exact, None))
    except (Exception, SystemExit) as error:  # an error of a tool is its result
        pipe.send((None, f"{type(error).__name__}: {' '.join(str(error).split())[:100]}"))


def ask(question, *arguments):
    """Returns (total, None) or (None, reason), computed in a process of its own."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(
        target=answer, args=(there, question, arguments))
    child.start()
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None, "ended without an answer"
    finally:
        child.join()


def rows(options):
    for tool, (package, unit, _) in WATCHERS.items():
        for name, form in ((name, form) for name in nets.NETS for form in forms(name, tool)):
            if options.tool in (None, tool) and options.only in (None, name):
                yield (name, form, "", tool, package, batch_in(form), unit), ask(
                    watch, tool, name, form)
    for path, model in files(options.models):
        if options.tool in (None, "onnx-tool") and options.only in (None, model.name):
            yield (model.name, "", model.path, "onnx-tool", "onnx-tool", batch_of(model),
                   "MACs"), ask(onnx_tool, path, model)


def main():
    parser = argparse.ArgumentParser(description="write what the real tools count")
    parser.add_argument("--models", required=True, type=Path, help="models.tar.xz, unpacked")
    parser.add_argument("--output", default="conventions.csv", help="the table to write")
    parser.add_argument("--only", help="one net")
    parser.add_argument("--tool", help="one tool")
    options = parser.parse_args()
    with open(options.output, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        for (name, form, path, tool, package, batch, unit), (total, why) in rows(options):
            version = importlib.metadata.version(package)
            table.writerow((name, form, path, tool, version, batch, unit, total or why))
            file.flush()
            if total is None:
                print(f"{tool} on {path or name}: {why}", file=sys.stderr)


if __name__ == "__main__":
    main()
