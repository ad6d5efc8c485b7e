#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes the networks of ncnn's benchmark as ONNX models, to compare times with. Their weights are in
an external file that need not exist.

usage: ncnn_models.py FOLDER OUTPUT

FOLDER holds the layer lists: benchmark/models/*.param of Tencent/ncnn. Where a list states the shape
of a result, it is compared. An int8 list has the layers of the float one. The selection of boxes,
the last layer of detectors, is left out.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import math
from pathlib import Path

import models

GELU_OPSET = 20  # the first one with Gelu
ABSENT = -233    # ncnn's value of a parameter that follows from others
LISTS = -23300   # of a key with several values
SHAPES = 30      # a list: rank, width, height and channels of each result
SIZES = {"FastestDet": 352, "vision_transformer": 384}  # of benchncnn.cpp: absent from the lists
ACTIVATIONS = {1: "Relu", 2: "LeakyRelu", 3: "Clip", 4: "Sigmoid", 5: "Mish", 6: "HardSwish"}
BINARY, ELTWISE = ("Add", "Sub", "Mul", "Div", "Max", "Min"), ("Mul", "Add", "Max")
PERMUTATIONS = {2: {1: (1, 0)},  # by rank and order: the source of each axis
                3: {1: (0, 2, 1), 2: (1, 0, 2), 3: (1, 2, 0), 4: (2, 0, 1), 5: (2, 1, 0)}}


def parameters(words):
    """Returns the values of `key=value` and `key=count,value,value` by key."""
    found = {}
    for word in words:
        key, _, values = word.partition("=")
        values = [float(v) if "." in v or "e" in v else int(v) for v in values.split(",")]
        if int(key) <= LISTS:
            found[LISTS - int(key)] = values[1:]
        else:
            found[int(key)] = values[0]
    return found


class Value:
    """A result: its name in the model, and its dims without the batch, which ncnn does not have."""

    def __init__(self, name, dims):
        self.name, self.dims = name, list(dims)


class Layer:
    """Adds the nodes of one layer to a graph."""

    def __init__(self, graph, name, words):
        self.graph, self.name, self.p = graph, name, parameters(words)

    def node(self, op, dims, *inputs, **attributes):
        names = (i.name if isinstance(i, Value) else i for i in inputs)
        return Value(self.graph.node(f"/{self.name}", op, *names, dims=(1, *dims), **attributes),
                     dims)

    def weight(self, part, *dims):
        return self.graph.weight(f"{self.name}.{part}", *dims)

    def weights(self, out, *dims):
        """Returns the weight and, if the layer has one, the bias."""
        bias = [self.weight("bias", out)] if self.p.get(5 if 6 in self.p else 1) else []
        return [self.weight("weight", *dims), *bias]

    def integers(self, part, *values):
        return self.graph.integers(f"{self.name}.{part}{len(self.graph.nodes)}", *values)

    def reshape(self, x, dims):
        if list(dims) == x.dims:
            return x
        return self.node("Reshape", dims, x, self.integers("shape", 1, *dims))

    def dims(self):
        return [self.p[key] for key in (2, 1, 0) if key in self.p]

    def activated(self, x):
        return self.node(ACTIVATIONS[self.p[9]], x.dims, x) if self.p.get(9) else x

    def window(self, x, first, pads):
        """Returns height and width of a window's results, and its attributes. `first` has the keys
        of kernel, dilation (0: none) and stride, `pads` those of left, top, right and bottom."""
        p, out, before, after = self.p, [], [], []
        kernel, dilation, stride = ([p.get(10 + key, p.get(key, 1)), p.get(key, 1)] if key else
                                    [1, 1] for key in first)
        left = p.get(pads[0], 0)
        ends = [(p.get(pads[1], left), p.get(pads[3], p.get(pads[1], left))),
                (left, p.get(pads[2], left))]
        mode = p.get(5, 0) if not first[1] else 1  # of Pooling: 0 rounds up, 2 and 3 are SAME
        for size, k, d, s, (start, end) in zip(x.dims[1:], kernel, dilation, stride, ends):
            reach = d * (k - 1) + 1
            if start == ABSENT or mode > 1:
                out.append(math.ceil(size / s))
                total = max((out[-1] - 1) * s + reach - size, 0)
                start, end = total // 2, total - total // 2
            else:
                steps = (size + start + end - reach) / s
                out.append((math.ceil(steps) if mode == 0 else math.floor(steps)) + 1)
                end += max((out[-1] - 1) * s + reach - size - start - end, 0)
            before.append(start)
            after.append(end)
        return out, {"kernel_shape": kernel, "strides": stride, "pads": before + after,
                     **({"dilations": dilation} if first[1] else {})}


def convolution(layer, x):
    p, channels, group = layer.p, x.dims[0], layer.p.get(7, 1)
    out, window = layer.window(x, (1, 2, 3), (4, 14, 15, 16))
    weights = layer.weights(p[0], p[0], channels // group, *window["kernel_shape"])
    return layer.activated(layer.node("Conv", (p[0], *out), x, *weights, group=group, **window))


def deconvolution(layer, x):
    p, group = layer.p, layer.p.get(7, 1)
    kernel, stride, pad = p[1], p.get(3, 1), p.get(4, 0)
    out = [(size - 1) * stride + kernel - 2 * pad for size in x.dims[1:]]
    weights = layer.weights(p[0], x.dims[0], p[0] // group, kernel, kernel)
    return layer.activated(layer.node("ConvTranspose", (p[0], *out), x, *weights, group=group,
                                      kernel_shape=[kernel] * 2, strides=[stride] * 2,
                                      pads=[pad] * 4))


def flatten(layer, x):
    return layer.reshape(x, [math.prod(x.dims)])


def inner_product(layer, x):
    out, size = layer.p[0], layer.p[2]
    weights = layer.weights(out, out, size // out)
    return layer.activated(layer.node("Gemm", [out], flatten(layer, x), *weights, transB=1))


def pooling(layer, x):
    p, kind = layer.p, "Average" if layer.p.get(0) else "Max"
    if p.get(4):
        y = layer.node(f"Global{kind}Pool", (x.dims[0], 1, 1), x)
        return layer.reshape(y, x.dims[:1])
    out, window = layer.window(x, (1, 0, 2), (3, 13, 14, 15))
    return layer.node(f"{kind}Pool", (x.dims[0], *out), x, **window)


def binary(layer, x, y):
    if len(y.dims) == 1:  # one value for each channel
        y = layer.reshape(y, [*y.dims, *[1] * (len(x.dims) - 1)])
    dims = [max(pair) for pair in zip(x.dims, y.dims)]
    return layer.node(BINARY[layer.p.get(0, 0)], dims, x, y)


def concat(layer, *parts):
    axis, dims = layer.p.get(0, 0) % len(parts[0].dims), list(parts[0].dims)
    dims[axis] = sum(part.dims[axis] for part in parts)
    return layer.node("Concat", dims, *parts, axis=axis + 1)


def cut(layer, x, *bounds):
    """Returns a slice of x; each bound is an axis, a start and an end."""
    dims = list(x.dims)
    for axis, start, end in bounds:
        dims[axis] = min(end, dims[axis]) - start
    starts, ends = ([bound[i] for bound in bounds] for i in (1, 2))
    return layer.node("Slice", dims, x, layer.integers("starts", *starts),
                      layer.integers("ends", *ends),
                      layer.integers("axes", *(axis + 1 for axis, _, _ in bounds)))


def split(layer, x):
    axis, at, parts, wanted = layer.p.get(1, 0), 0, [], layer.p[0]
    for i, length in enumerate(wanted):
        if length == ABSENT:
            length = (x.dims[axis] - at) // (len(wanted) - i)
        parts.append(cut(layer, x, (axis, at, at + length)))
        at += length
    return parts


def crop(layer, x):
    p = layer.p
    if 11 in p:
        return cut(layer, x, *zip(p[11], p[9], p[10]))
    return cut(layer, x, *((axis, p.get(2 - axis, 0), p.get(2 - axis, 0) + p[5 - axis])
                            for axis in range(3)))


def padding(layer, x):
    before = [layer.p.get(key, 0) for key in (7, 0, 2)]
    after = [layer.p.get(key, 0) for key in (8, 1, 3)]
    return layer.node("Pad", [sum(each) for each in zip(x.dims, before, after)], x,
                      layer.integers("pads", 0, *before, 0, *after))


def permute(layer, x):
    order = PERMUTATIONS[len(x.dims)][layer.p[0]]
    return layer.node("Transpose", [x.dims[i] for i in order], x,
                      perm=[0, *(i + 1 for i in order)])


def reshape(layer, x):
    dims = layer.dims()
    rest = math.prod(x.dims) // math.prod(dim for dim in dims if dim != -1)
    return layer.reshape(x, [rest if dim == -1 else dim for dim in dims])


def shuffle(layer, x):
    (channels, *size), groups = x.dims, layer.p.get(0, 1)
    groups = [channels // groups, groups] if layer.p.get(1) else [groups, channels // groups]
    y = layer.node("Transpose", groups[::-1] + size, layer.reshape(x, groups + size),
                   perm=[0, 2, 1, 3, 4])
    return layer.reshape(y, x.dims)


def interpolation(layer, x):
    dims = [x.dims[0], *(int(x.dims[key] * layer.p[key]) for key in (1, 2))]
    return layer.node("Resize", dims, x, "", "", layer.integers("sizes", 1, *dims))


def reduction(layer, x):
    axes = layer.p[3]
    return layer.node("ReduceMean", [1 if i in axes else dim for i, dim in enumerate(x.dims)], x,
                      layer.integers("axes", *(i + 1 for i in axes)), keepdims=1)


def prior_boxes(layer, x, _):
    p = layer.p  # boxes of a pixel: one of each size, one between two sizes, two of each ratio
    boxes = len(p[0]) + len(p.get(1, [])) + 2 * len(p.get(2, [])) * len(p[0])
    dims = (2, math.prod(x.dims[1:]) * boxes * 4)
    return Value(layer.weight("boxes", 1, *dims), dims)


def gemm(layer, x):
    out, into = layer.p[8], layer.p[9]
    return Value(layer.graph.linear(f"/{layer.name}", x.name, into, out, True), [*x.dims[:-1], out])


def attention(layer, q, k, v):
    """Adds the attention of models.py, with its four matrix products of weights."""
    (tokens, width), heads, g = q.dims, layer.p[1], layer.graph
    scope = f"/{layer.name}"
    parts = [g.linear(f"{scope}/{n}", x.name, width, width, True)
             for n, x in (("q", q), ("k", k), ("v", v))]
    y = models.attention(g, scope, *parts, layer.integers("split", 1, tokens, heads, -1),
                         layer.integers("joined", 1, tokens, width), g.scalar(f"{scope}.scale"))
    return Value(g.linear(f"{scope}/out", y, width, width, True), q.dims)


LAYERS = {
    "Convolution": convolution, "ConvolutionDepthWise": convolution,
    "DeconvolutionDepthWise": deconvolution, "InnerProduct": inner_product, "Pooling": pooling,
    "Flatten": flatten,
    "Eltwise": lambda layer, x, y: layer.node(ELTWISE[layer.p.get(0, 0)], x.dims, x, y),
    "BinaryOp": binary, "Concat": concat, "Slice": split, "Crop": crop, "Padding": padding,
    "Permute": permute, "Reshape": reshape, "ShuffleChannel": shuffle, "Interp": interpolation,
    "Reduction": reduction, "PriorBox": prior_boxes, "Gemm": gemm, "MultiHeadAttention": attention,
    "MemoryData": lambda layer: Value(layer.weight("data", 1, *layer.dims()), layer.dims()),
    "Softmax": lambda layer, x: layer.node("Softmax", x.dims, x, axis=layer.p.get(0, 0) + 1),
    "ReLU": lambda layer, x: layer.node("LeakyRelu" if layer.p.get(0) else "Relu", x.dims, x),
    "Swish": lambda layer, x: layer.node("Mul", x.dims, x, layer.node("Sigmoid", x.dims, x)),
    "LRN": lambda layer, x: layer.node("LRN", x.dims, x, size=layer.p.get(1, 5)),
    "BatchNorm": lambda layer, x: layer.node("BatchNormalization", x.dims, x, *(
        layer.weight(part, x.dims[0]) for part in ("scale", "bias", "mean", "var"))),
    "LayerNorm": lambda layer, x: layer.node("LayerNormalization", x.dims, x, *(
        layer.weight(part, layer.p[0]) for part in ("scale", "bias")), axis=-1),
    "GELU": lambda layer, x: layer.node("Gelu", x.dims, x),
    **{op: lambda layer, x, op=op: layer.node(op, x.dims, x)
       for op in ("HardSwish", "HardSigmoid", "Sigmoid")},
}


def convert(file):
    graph, blobs, inputs, used = models.Graph(file.stem), {}, [], set()
    for line in file.read_text().splitlines()[2:]:
        kind, name, reads, writes, *words = line.split()
        reads, end = int(reads), int(reads) + int(writes)
        operands, results = [blobs[blob] for blob in words[:reads]], words[reads:end]
        layer = Layer(graph, name, words[end:])
        if kind == "Noop" or kind.endswith("DetectionOutput"):
            continue
        if kind == "Input":
            made = Value(results[0], layer.dims() or [3, *[SIZES[file.stem]] * 2])
            inputs.append((made.name, (1, *made.dims)))
        else:
            used.update(value.name for value in operands)
            made = operands * len(results) if kind == "Split" else LAYERS[kind](layer, *operands)
        made = made if isinstance(made, list) else [made]
        for value, (rank, *dims) in zip(made, zip(*[iter(layer.p.get(SHAPES, []))] * 4)):
            if value.dims != dims[:rank][::-1]:
                sys.exit(f"{file.name}, {name}: has the dims {value.dims}, but the list {dims}")
        blobs.update(zip(results, made))
    outputs = {value.name: value for value in blobs.values() if value.name not in used}
    return graph.model(inputs, [(v.name, (1, *v.dims)) for v in outputs.values()], GELU_OPSET)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for file in Path(sys.argv[1]).glob("*.param"):
        Path(sys.argv[2], f"{file.stem}.onnx").write_bytes(convert(file))


if __name__ == "__main__":
    main()
