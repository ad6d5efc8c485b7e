#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes models/torch/: the same four models by both exporters of current PyTorch.

usage: make_torch_exports.py FOLDER

NAME_dynamo.onnx is written by torch.onnx.export(..., dynamo=True), the default since 2.9, and
NAME_torchscript.onnx by dynamo=False, both with default options. gpt_onnxruntime.onnx is the
latter at batch 1, after onnxruntime's basic optimizations. Needs PyTorch 2.15, torchvision 0.29,
onnx, onnxscript and onnxruntime; no test runs this script. Weights are random, and removed as by
make_models.py. Some metadata that dynamo writes for each node is removed, too: the stack trace,
which contains paths of the machine; the line of FX; and in ViT-B/16 `namespace`, which repeats
the lists of scopes and classes.
"""
import sys
import tempfile
import warnings
from pathlib import Path

import onnx
import onnxruntime
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

from make_models import POINTS, PointNet, strip_file, without_equal_tensors

LENGTH = 64
VOCABULARY = 1000
NOTES_LEFT_OUT = {"pkg.torch.onnx.stack_trace", "pkg.torch.onnx.fx_node"}


class Block(nn.Module):
    """Attention and MLP, each after a LayerNorm; the MLP is a ModuleDict, which is never called."""

    def __init__(self, width, n_heads):
        super().__init__()
        self.n_heads = n_heads
        self.ln_1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({
            "c_fc": nn.Linear(width, 4 * width),
            "act": nn.GELU(),
            "c_proj": nn.Linear(4 * width, width),
            "drop": nn.Dropout(0.1),
        })

    def attend(self, x):
        heads = [part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)
                 for part in self.qkv(x).chunk(3, dim=-1)]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        return self.proj(mixed.transpose(1, 2).flatten(2))

    def forward(self, x):
        x = x + self.attend(self.ln_1(x))
        y = self.mlp["act"](self.mlp["c_fc"](self.ln_2(x)))
        return x + self.mlp["drop"](self.mlp["c_proj"](y))


class GPT(nn.Module):
    """A decoder whose head is tied to its embedding."""

    def __init__(self, width=128, n_layers=2, n_heads=4):
        super().__init__()
        self.wte = nn.Embedding(VOCABULARY, width)
        self.wpe = nn.Embedding(LENGTH, width)
        self.h = nn.ModuleList(Block(width, n_heads) for _ in range(n_layers))
        self.ln_f = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCABULARY, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(torch.arange(LENGTH))
        for block in self.h:
            x = block(x)
        return self.head(self.ln_f(x))


def without_notes(path, keys):
    model = onnx.load(str(path))
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if entry.key not in keys]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
    onnx.save(model, str(path))


def export(module, sample, path, dynamo):
    free = ({"dynamic_shapes": ({0: torch.export.Dim("batch")},), "external_data": False} if dynamo
            else {"dynamic_axes": {"input": {0: "batch"}}})
    torch.onnx.export(module, (sample,), str(path), dynamo=dynamo, input_names=["input"],
                      verbose=False, **free)
    vit = {"namespace"} if path.name.startswith("vit") else set()
    without_notes(path, NOTES_LEFT_OUT | vit)
    strip_file(path)
    print(path.name, path.stat().st_size, "bytes")


def optimize(module, sample, path):
    """Binds the batch, so that onnxruntime fuses products and sums."""
    exported = path.with_name("exported.onnx")
    torch.onnx.export(module, (sample,), str(exported), dynamo=False, input_names=["input"])
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(path)
    onnxruntime.InferenceSession(str(exported), options, providers=["CPUExecutionProvider"])
    strip_file(path)
    print(path.name, path.stat().st_size, "bytes")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    models = {
        "pointnet": (PointNet(), torch.randn(2, 3, POINTS)),
        "resnet50": (torchvision.models.resnet50(), torch.randn(2, 3, 224, 224)),
        "vit_b_16": (torchvision.models.vit_b_16(), torch.randn(2, 3, 224, 224)),
        "gpt": (GPT(), torch.randint(0, VOCABULARY, (2, LENGTH))),
    }
    for name, (module, sample) in models.items():
        module = without_equal_tensors(module).eval()
        for exporter in ("dynamo", "torchscript"):
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch) / f"{name}_{exporter}.onnx"
                export(module, sample, path, exporter == "dynamo")
                (folder / path.name).write_bytes(path.read_bytes())
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "gpt_onnxruntime.onnx"
        module, sample = models["gpt"]
        optimize(module, sample[:1], path)
        (folder / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    main()
