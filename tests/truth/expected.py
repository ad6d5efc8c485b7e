# SPDX-License-Identifier: Apache-2.0
"""
The expected result of a file: its reference, corrected for the exporter's changes.

The reference was counted on the PyTorch module. An export may be a different program, for example with
a BatchNorm folded into its convolution. Decomposed operations (a LayerNorm as arithmetic) are fused
patterns and need no correction. The exact size of each difference follows from the rows of the
reference; it is added to its module and to every module above. MACs are never corrected.
"""
import math
import re
from collections import defaultdict

import tables

SSDLITE = "ssdlite320_mobilenet_v3_large"

# FLOPs per sample that the reference counts, or omits, outside its leaves: (model, module) -> number.
# DeepSpeed counts functions that are called through their module (F.gelu), but no tensor methods.
FUNCTIONS = {
    ("bert_mini", ""): (3 * 4 * 64 * 64,),  # Tensor.softmax
    # F.gelu: the layer stored the function before DeepSpeed patched it
    ("transformer_encoder", r"enc\.layers\.\d+"): (128 * 1024,),
    ("gpt_mini_tied", r"h\.\d+\.attn"): (6 * 128 * 128,),  # Tensor.softmax
    ("fcn_resnet50", ""): (2 * 21 * 520 * 520,),  # F.interpolate: elements of the output
    (SSDLITE, "transform"): (3 * 320 * 320,),
}
# DeepSpeed counts F.interpolate as the product of `size`, without channels and batch.
FUNCTIONS_ONCE = {("fcn_resnet50", ""): -2 * 520 * 520, (SSDLITE, "transform"): -320 * 320}

# Parameters that constant folding made or cut: (model, variant, module) -> number.
POSITION_BIAS = 49 * 49 - 13 * 13  # a head's table of 13 x 13 offsets, spread over 49 x 49 pairs
FOLDED_PARAMS = {
    ("gpt_mini_tied", "b1|dyn", ""): 1024 * 192,  # a transposed copy of the tied head for MatMul
    ("transformer_encoder", "b1", ""): -(512 - 128) * 256,  # position table, cut to the length
    ("swin_t", "folded_.*", r"features\.1\.\d\.attn"): 3 * POSITION_BIAS,
    ("swin_t", "folded_.*", r"features\.3\.\d\.attn"): 6 * POSITION_BIAS,
    ("swin_t", "folded_.*", r"features\.5\.\d\.attn"): 12 * POSITION_BIAS,
    ("swin_t", "folded_.*", r"features\.7\.\d\.attn"): 24 * POSITION_BIAS,
}


class Correction:
    """Amounts to add to the rows of a reference: to a module, and to every module above it."""

    def __init__(self):
        self.flops = defaultdict(int)
        self.params = defaultdict(int)

    def add(self, path, flops=0, params=0):
        parts = path.split(".") if path else []
        for n in range(len(parts) + 1):
            above = ".".join(parts[:n])
            self.flops[above] += flops
            self.params[above] += params


def by_module(model, profile, known):
    """Returns the profile's nodes by the module in their names."""
    found = defaultdict(list)
    inlined = "functions" in model.variant  # nodes of a function body have the body's names
    for node in profile.nodes:
        path = node.module if inlined else tables.scope_path(node.name, known)
        found[path].append(node)
    return found


def has_op(nodes, op):
    return any(node.op == op for node in nodes)


def has_bias(nodes):
    return any(node.op in ("Conv", "ConvTranspose") and len([i for i in node.inputs if i]) > 2
               for node in nodes)


def correct_leaf(fix, row, nodes, trained):
    out = math.prod(row.outs[0]) * row.calls if row.outs else 0
    gained = has_bias(nodes) and row.flops == 2 * row.macs
    if row.cls.startswith("BatchNorm"):
        if not has_op(nodes, "BatchNormalization"):  # folded into the convolution before it
            fix.add(row.path, -row.flops, -row.own_params)
        elif trained:  # 5n; the reference ran in eval mode: 2n
            fix.add(row.path, row.flops * 3 // 2)
    elif row.cls.startswith("ConvTranspose"):
        # DeepSpeed divides by the groups twice, and takes the bias at the input's positions
        fix.add(row.path, 2 * row.macs + (out if has_bias(nodes) else 0) - row.flops)
    elif row.cls.startswith("Conv") and gained:  # the folded BatchNorm left a bias
        fix.add(row.path, out, row.outs[0][1])


def correct_pools(fix, profile, nodes):
    """A separate Pad before an AveragePool: the pool reads the padded input."""
    shapes = profile.shapes
    pads = {node.outputs[0]: node for node in profile.nodes if node.op == "Pad"}
    for path, inside in nodes.items():
        for node in inside:
            pad = pads.get(node.inputs[0]) if node.op == "AveragePool" else None
            if pad is not None:
                fix.add(path, math.prod(shapes[pad.outputs[0]])
                        - math.prod(shapes[pad.inputs[0]]))


def matching(rows, pattern):
    return [path for path in rows if re.fullmatch(pattern, path)]


def correct_functions(fix, model, rows, batch):
    for (name, pattern), numbers in FUNCTIONS.items():
        if name == model.name:
            for path in matching(rows, pattern):
                fix.add(path, sum(numbers) * batch)
    for (name, path), number in FUNCTIONS_ONCE.items():
        if name == model.name:
            fix.add(path, number)


def correction(model, profile, rows, nodes, batch, eval_truth):
    """`eval_truth`: the reference ran in eval mode, though the file may train."""
    fix = Correction()
    trained = profile.trains and eval_truth
    for row in rows.values():
        if row.leaf:
            correct_leaf(fix, row, nodes.get(row.path, []), trained)
    correct_pools(fix, profile, nodes)
    correct_functions(fix, model, rows, batch)
    for (name, variant, module), number in FOLDED_PARAMS.items():
        if name == model.name and re.fullmatch(variant, model.variant):
            for path in matching(rows, module):
                fix.add(path, params=number)
    return fix


def absent_reason(row, rows, nodes):
    """Returns why a module of the reference may be missing from a profile, or None."""
    below = [path for path in rows if path == row.path or path.startswith(row.path + ".")]
    if below != [row.path] or row.path in nodes:
        return None
    if row.cls.startswith("BatchNorm"):
        return "BatchNorm folded into the convolution before it"
    if row.cls in ("Dropout", "StochasticDepth", "Sequential"):
        return "a module that does nothing leaves neither node nor parameter"
    return None
