#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes the files of this folder: one model, exported by both exporters of PyTorch. Made with
PyTorch 2.15 and onnx 1.23; stack traces are removed. No test runs this script.
"""
import onnx
import torch
from torch import nn
from torch.nn import functional as F

KEPT = ("name_scopes", "class_hierarchy", "namespace")


class RMSNorm(nn.Module):
    """RMSNorm as in LLaMA."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        h = x.to(torch.float32)
        h = h * torch.rsqrt(h.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * h.to(x.dtype)


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        x = F.scaled_dot_product_attention(q, k, v)
        return self.out(x.transpose(1, 2).reshape(b, n, c))


class Zoo(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.conv = nn.Conv2d(3, size, 4, stride=4)
        self.group = nn.GroupNorm(4, size)
        self.silu = nn.SiLU()
        self.hard = nn.Hardswish()
        self.mish = nn.Mish()
        self.six = nn.ReLU6()
        self.norm = nn.LayerNorm(size)
        self.attention = Attention(size, 4)
        self.root = RMSNorm(size)
        self.up = nn.Linear(size, 32)
        self.gelu = nn.GELU()
        self.down = nn.Linear(32, size)
        self.tanh = nn.GELU("tanh")

    def forward(self, x):
        x = self.hard(self.silu(self.group(self.conv(x))))
        x = self.six(self.mish(x)).flatten(2).transpose(1, 2)
        x = x + self.attention(self.norm(x))
        x = x + self.down(self.gelu(self.up(self.root(x))))
        return self.tanh(x)


def strip(thing):
    if hasattr(thing, "doc_string"):
        thing.doc_string = ""
    kept = [(p.key, p.value) for p in thing.metadata_props if p.key.split(".")[-1] in KEPT]
    del thing.metadata_props[:]
    for key, value in kept:
        thing.metadata_props.add(key=key, value=value)


def export(model, image, exporter, opset):
    file = f"zoo__{exporter}__op{opset}.onnx"
    options = {"external_data": False} if exporter == "dynamo" else {}
    torch.onnx.export(model, image, file, opset_version=opset, dynamo=exporter == "dynamo",
                      **options)
    made = onnx.load(file)
    graph = made.graph
    for thing in [made, graph, *graph.node, *graph.value_info, *graph.input, *graph.output,
                  *graph.initializer]:
        strip(thing)
    onnx.save(made, file)


def main():
    model, image = Zoo().eval(), torch.randn(1, 3, 32, 32)
    for exporter, opsets in (("torchscript", (14, 17, 20)), ("dynamo", (18, 20, 23))):
        for opset in opsets:
            export(model, image, exporter, opset)


if __name__ == "__main__":
    main()
