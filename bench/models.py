#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes models for timing readers. They have the structure that exporters write, and their weights
are in an external file that need not exist.

usage: models.py NAME FILE

NAME is vgg16, vit (ViT-B/16), llama7b (32 layers of a decoder, 2048 tokens) or deep (20 000 nodes
in modules 20 deep). Shapes, operators, names and tensors are those of the published
architectures, so that the structure has about the size of an export.
"""
import sys

import wire

FLOAT, INT64 = 1, 7
INT, INTS = 2, 7  # kinds of attributes
IR_VERSION, OPSET = 8, 17
EXTERNAL = 1
BYTES_OF_FLOAT = 4


def attribute(name, value):
    if isinstance(value, list):
        return wire.message(5, wire.text(1, name), *(wire.integer(8, v % (1 << 64)) for v in value),
                            wire.integer(20, INTS))
    return wire.message(5, wire.text(1, name), wire.integer(3, value % (1 << 64)),
                        wire.integer(20, INT))


class Graph:
    """Nodes and tensors in the order of their creation; a value's name follows from its node."""

    def __init__(self, name):
        self.name, self.nodes, self.tensors, self.infos, self.offset = name, [], [], [], 0

    def weight(self, name, *dims):
        length = BYTES_OF_FLOAT
        for dim in dims:
            length *= dim
        entries = (("location", "weights.bin"), ("offset", str(self.offset)),
                   ("length", str(length)))
        self.offset += length
        self.tensors.append(wire.message(
            5, *(wire.integer(1, dim) for dim in dims), wire.integer(2, FLOAT), wire.text(8, name),
            *(wire.message(13, wire.text(1, k), wire.text(2, v)) for k, v in entries),
            wire.integer(14, EXTERNAL)))
        return name

    def integers(self, name, *values):
        data = b"".join(v.to_bytes(8, "little", signed=True) for v in values)
        self.tensors.append(wire.message(5, wire.integer(1, len(values)), wire.integer(2, INT64),
                                         wire.text(8, name), wire.message(9, data)))
        return name

    def scalar(self, name):
        """Adds the scalar 1.0, stored in the file itself."""
        self.tensors.append(wire.message(5, wire.integer(2, FLOAT), wire.text(8, name),
                                         wire.message(9, b"\x00\x00\x80\x3f")))
        return name

    def node(self, scope, op, *inputs, dims=None, **attributes):
        name = f"{scope}/{op}"
        output = f"{name}_output_{len(self.nodes)}"
        self.nodes.append(wire.message(
            1, *(wire.text(1, i) for i in inputs), wire.text(2, output), wire.text(3, name),
            wire.text(4, op), *(attribute(k, v) for k, v in attributes.items())))
        if dims:
            self.infos.append(self.info(13, output, dims))
        return output

    @staticmethod
    def info(field, name, dims, dtype=FLOAT):
        shape = wire.message(2, *(wire.message(1, wire.integer(1, dim)) for dim in dims))
        return wire.message(field, wire.text(1, name),
                            wire.message(2, wire.message(1, wire.integer(1, dtype), shape)))

    def model(self, inputs, outputs, opset=OPSET):
        graph = wire.message(7, *self.nodes, wire.text(2, self.name), *self.tensors,
                             *(self.info(11, *each) for each in inputs),
                             *(self.info(12, *each) for each in outputs), *self.infos)
        return (wire.integer(1, IR_VERSION) + wire.text(2, "models.py") + graph
                + wire.message(8, wire.integer(2, opset)))

    def linear(self, scope, x, into, out, bias=False):
        y = self.node(scope, "MatMul", x, self.weight(f"{scope[1:]}.weight", into, out))
        return self.node(scope, "Add", y, self.weight(f"{scope[1:]}.bias", out)) if bias else y


def vgg16():
    g = Graph("vgg16")
    x, channels, index, size = "input", 3, 0, 224
    for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
        scope = f"/features/features.{index}"
        if width == 0:
            size //= 2
            x = g.node(scope, "MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
            index += 1
            continue
        w = g.weight(f"features.{index}.weight", width, channels, 3, 3)
        x = g.node(scope, "Conv", x, w, g.weight(f"features.{index}.bias", width),
                   kernel_shape=[3, 3], pads=[1, 1, 1, 1], dims=(1, width, size, size))
        x = g.node(f"/features/features.{index + 1}", "Relu", x)
        channels, index = width, index + 2
    x = g.node("/", "Flatten", x, axis=1)
    for at, into, out in ((0, 25088, 4096), (3, 4096, 4096), (6, 4096, 1000)):
        x = g.node(f"/classifier/classifier.{at}", "Gemm", x,
                   g.weight(f"classifier.{at}.weight", out, into),
                   g.weight(f"classifier.{at}.bias", out), transB=1)
        if out == 4096:
            x = g.node(f"/classifier/classifier.{at + 1}", "Relu", x)
    return g.model([("input", (1, 3, 224, 224))], [(x, (1, 1000))])


def attention(g, scope, q, k, v, shape, out, scale):
    """Adds attention over q, k and v, tensors [1, tokens, heads * width]."""
    heads = [g.node(scope, "Transpose", g.node(scope, "Reshape", x, shape), perm=perm)
             for x, perm in ((q, [0, 2, 1, 3]), (k, [0, 2, 3, 1]), (v, [0, 2, 1, 3]))]
    scores = g.node(scope, "Mul", g.node(scope, "MatMul", *heads[:2]), scale)
    x = g.node(scope, "MatMul", g.node(scope, "Softmax", scores, axis=-1), heads[2])
    return g.node(scope, "Reshape", g.node(scope, "Transpose", x, perm=[0, 2, 1, 3]), out)


def vit():
    tokens, width, heads = 197, 768, 12
    g = Graph("vit_b_16")
    split, joined = g.integers("split", 0, 0, heads, -1), g.integers("joined", 0, 0, width)
    rows, scale = g.integers("rows", 1, width, -1), g.scalar("scale")
    x = g.node("/conv_proj", "Conv", "input", g.weight("conv_proj.weight", width, 3, 16, 16),
               g.weight("conv_proj.bias", width), kernel_shape=[16, 16], strides=[16, 16])
    x = g.node("/encoder", "Transpose", g.node("/encoder", "Reshape", x, rows), perm=[0, 2, 1])
    x = g.node("/encoder", "Concat", g.weight("class_token", 1, 1, width), x, axis=1)
    x = g.node("/encoder", "Add", x, g.weight("encoder.pos_embedding", 1, tokens, width))

    def norm(scope, x):
        return g.node(scope, "LayerNormalization", x, g.weight(f"{scope[1:]}.weight", width),
                      g.weight(f"{scope[1:]}.bias", width), axis=-1, dims=(1, tokens, width))

    for layer in range(12):
        scope = f"/encoder/layers/encoder_layer_{layer}"
        y = norm(f"{scope}/ln_1", x)
        q, k, v = (g.linear(f"{scope}/self_attention/{n}_proj", y, width, width, True)
                   for n in "qkv")
        y = attention(g, f"{scope}/self_attention", q, k, v, split, joined, scale)
        x = g.node(scope, "Add", x,
                   g.linear(f"{scope}/self_attention/out_proj", y, width, width, True))
        y = g.linear(f"{scope}/mlp/0", norm(f"{scope}/ln_2", x), width, 4 * width, True)
        gelu = f"{scope}/mlp/1"
        e = g.node(gelu, "Erf", g.node(gelu, "Div", y, scale))
        y = g.node(gelu, "Mul", g.node(gelu, "Mul", y, g.node(gelu, "Add", e, scale)), scale)
        x = g.node(scope, "Add", x, g.linear(f"{scope}/mlp/3", y, 4 * width, width, True))
    x = g.node("/", "Gather", norm("/encoder/ln", x), g.integers("first", 0), axis=1)
    x = g.linear("/heads/head", x, width, 1000, True)
    return g.model([("input", (1, 3, 224, 224))], [(x, (1, 1, 1000))])


def llama7b():
    tokens, width, hidden, heads, vocabulary = 2048, 4096, 11008, 32, 32000
    g = Graph("llama7b")
    split, joined = g.integers("split", 1, tokens, heads, -1), g.integers("joined", 1, tokens, -1)
    half, end, last = g.integers("half", 64), g.integers("end", 1 << 31), g.integers("last", -1)
    zero, one, two = g.integers("zero", 0), g.scalar("one"), g.scalar("two")
    cos, sin = g.weight("cos", 1, tokens, heads, 128), g.weight("sin", 1, tokens, heads, 128)

    def norm(scope, x):
        square = g.node(scope, "ReduceMean", g.node(scope, "Pow", x, two), axes=[-1], keepdims=1)
        root = g.node(scope, "Sqrt", g.node(scope, "Add", square, one))
        y = g.node(scope, "Mul", x, g.node(scope, "Reciprocal", root))
        return g.node(scope, "Mul", g.weight(f"{scope[1:]}.weight", width), y,
                      dims=(1, tokens, width))

    def rotate(scope, x):
        x = g.node(scope, "Reshape", x, split)
        left = g.node(scope, "Slice", x, zero, half, last)
        right = g.node(scope, "Neg", g.node(scope, "Slice", x, half, end, last))
        turned = g.node(scope, "Mul", g.node(scope, "Concat", right, left, axis=-1), sin)
        return g.node(scope, "Reshape",
                      g.node(scope, "Add", g.node(scope, "Mul", x, cos), turned), joined)

    x = g.node("/model/embed_tokens", "Gather",
               g.weight("model.embed_tokens.weight", vocabulary, width), "input_ids")
    for layer in range(32):
        scope = f"/model/layers.{layer}"
        y = norm(f"{scope}/input_layernorm", x)
        q, k, v = (g.linear(f"{scope}/self_attn/{n}_proj", y, width, width) for n in "qkv")
        q, k = rotate(f"{scope}/self_attn", q), rotate(f"{scope}/self_attn", k)
        y = attention(g, f"{scope}/self_attn", q, k, v, split, joined, one)
        x = g.node(scope, "Add", x, g.linear(f"{scope}/self_attn/o_proj", y, width, width))
        y = norm(f"{scope}/post_attention_layernorm", x)
        gate = g.linear(f"{scope}/mlp/gate_proj", y, width, hidden)
        gate = g.node(f"{scope}/mlp/act_fn", "Mul", gate,
                      g.node(f"{scope}/mlp/act_fn", "Sigmoid", gate))
        y = g.node(f"{scope}/mlp", "Mul", gate, g.linear(f"{scope}/mlp/up_proj", y, width, hidden))
        x = g.node(scope, "Add", x, g.linear(f"{scope}/mlp/down_proj", y, hidden, width))
    x = g.linear("/lm_head", norm("/model/norm", x), width, vocabulary)
    return g.model([("input_ids", (1, tokens), INT64)], [(x, (1, tokens, vocabulary))])


def deep(nodes=20000, depth=20):
    """A binary tree of modules: the parts of a path are the bits of the leaf's number."""
    g = Graph("deep")
    x = "input"
    for i in range(nodes):
        parts = (f"container{i >> (depth - 1 - bit) & 1}" for bit in range(depth))
        x = g.node("/" + "/".join(parts), "Relu", x)
    return g.model([("input", (1, 64))], [(x, (1, 64))])


MODELS = {"vgg16": vgg16, "vit": vit, "llama7b": llama7b, "deep": deep}


def write(name, target):
    with open(target, "wb") as file:
        file.write(MODELS[name]())


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in MODELS:
        sys.exit(__doc__)
    write(sys.argv[1], sys.argv[2])
