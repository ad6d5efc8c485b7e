#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints kernel_truth.h: PyTorch's results for the kernels (test_kernels.c).

    make_kernel_truth.py > kernel_truth.h

Element i of operand k is ((37 i + 11 k) mod 101) / 101 + 1/4; index i is 7 i mod the size of the
axis. A result y is reduced to the sum of y[i] * (i mod 13 + 1), i in the order of its memory.
"""
import torch
import torch.nn.functional as F


def operand(k, *shape):
    n = torch.Size(shape).numel()
    i = torch.arange(n, dtype=torch.int64)
    return (((37 * i + 11 * k) % 101).double() / 101 + 0.25).float().reshape(shape)


def indices(dim, *shape):
    n = torch.Size(shape).numel()
    return (torch.arange(n) * 7 % dim).reshape(shape)


def check(y):
    y = y.contiguous().flatten().double()
    return float((y * (torch.arange(y.numel()) % 13 + 1)).sum())


def last(memory):
    """Returns the image [N,C,H,W] that is stored as `memory` [N,H,W,C]."""
    return memory.permute(0, 3, 1, 2)


def norm(x, dims, eps=1e-5):
    mean = x.mean(dims, keepdim=True)
    return (x - mean) / torch.sqrt(x.var(dims, unbiased=False, keepdim=True) + eps)


x4 = operand(0, 2, 8, 5, 40)
image = operand(0, 2, 8, 15, 13)
nhwc = operand(0, 2, 15, 13, 8)
scale, shift, mean, var = (operand(k, 8) for k in (1, 2, 3, 4))
rows = operand(0, 6, 100)
table = operand(0, 10, 6)
scattered = table.clone()
scattered[indices(10, 3, 1)[:, 0]] = operand(2, 3, 6)
elementwise = table.clone().scatter(0, indices(10, 1, 6), operand(2, 1, 6))

TRUTH = {
    "softmax_rows": F.softmax(x4, 3),
    "softmax_columns": F.log_softmax(x4, 1),
    "reduce_mean": x4.mean((2, 3)),
    "reduce_sum": x4.sum((0, 2)),
    "reduce_l2": x4.norm(dim=3),
    "reduce_all": x4.amax(),
    "layer": F.layer_norm(rows, (100,), operand(1, 100), operand(2, 100)),
    "rms": rows / torch.sqrt((rows * rows).mean(1, keepdim=True) + 1e-5) * operand(1, 100),
    "instance": F.instance_norm(image, weight=scale, bias=shift),
    "group": F.group_norm(image, 4, scale, shift),
    "group_last": F.group_norm(last(nhwc), 4, scale, shift).permute(0, 2, 3, 1),
    "batch": F.batch_norm(image, mean, var, scale, shift),
    "batch_last": F.batch_norm(last(nhwc), mean, var, scale, shift).permute(0, 2, 3, 1),
    "batch_training": norm(image, (0, 2, 3)) * scale.view(1, 8, 1, 1) + shift.view(1, 8, 1, 1),
    "pool_max": F.max_pool2d(image, 3, 2, 1),
    "pool_average": F.avg_pool2d(image, 3, 2, 1, count_include_pad=False),
    "pool_padding": F.avg_pool2d(image, 3, 2, 1),
    "pool_last": F.max_pool2d(last(nhwc), 3, 2, 1).permute(0, 2, 3, 1),
    "resample_linear": F.interpolate(image, (30, 20), mode="bilinear"),
    "resample_nearest": F.interpolate(image, (30, 20), mode="nearest-exact"),
    "transpose": image.permute(0, 2, 3, 1),
    "concat": torch.cat((image, operand(1, 2, 4, 15, 13)), 1),
    "gather_rows": table[indices(10, 2, 4)],
    "gather_elements": table.gather(1, indices(6, 10, 4)),
    "gather_runs": x4[indices(2, 3, 2)[:, 0], indices(8, 3, 2)[:, 1]],
    "scatter_runs": scattered,
    "scatter_elements": elementwise,
    "chain": F.gelu(image + operand(1, 8, 1, 1)) * operand(1, 8, 1, 1),
    "select": torch.where(image > 0.5, operand(1, 2, 8, 15, 13), operand(2, 1)),
    "cast_bf16": image.bfloat16(),
}

print("/* SPDX-License-Identifier: Apache-2.0 */")
print(f"/* Printed by make_kernel_truth.py with PyTorch {torch.__version__.split('+')[0]}. */")
print("static const struct {\n    const char *name;\n    double sum;\n} kernel_truth[] = {")
for name, y in TRUTH.items():
    print(f'    {{"{name}", {check(y):.9g}}},')
print("};")
