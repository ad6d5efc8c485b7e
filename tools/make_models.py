#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes models/pointnet.onnx, pointnet_b32.onnx and resnet50.onnx anew from PyTorch.

usage: make_models.py FOLDER

Needs PyTorch 1.13, torchvision 0.14 and onnx; on Debian 12 `apt install python3-torch
python3-torchvision python3-onnx`. No test runs this script. Weights are random; those larger than
LIMIT bytes are removed (marked as external data of a file that does not exist), because a static
analysis does not read them. models/MANIFEST.md describes how the files in the repository were made.
"""
import sys
from pathlib import Path

import onnx
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

LIMIT = 1024  # bytes that a tensor may keep: masks, statistics of small layers, scalars
OPSET = 13
POINTS = 1024
FLOATS = {onnx.TensorProto.FLOAT: 4, onnx.TensorProto.DOUBLE: 8, onnx.TensorProto.FLOAT16: 2}


class Tnet(nn.Module):
    """A k x k transform for each point cloud: shared MLP, max over points, MLP (Qi et al., 2016)."""

    def __init__(self, k):
        super().__init__()
        self.k = k
        self.conv1 = nn.Conv1d(k, 64, 1)
        self.conv2 = nn.Conv1d(64, 128, 1)
        self.conv3 = nn.Conv1d(128, 1024, 1)
        self.fc1 = nn.Linear(1024, 512)
        self.fc2 = nn.Linear(512, 256)
        self.fc3 = nn.Linear(256, k * k)
        for i, width in enumerate((64, 128, 1024, 512, 256), start=1):
            setattr(self, f"bn{i}", nn.BatchNorm1d(width))

    def forward(self, x):
        batch = x.size(0)
        for conv, norm in ((self.conv1, self.bn1), (self.conv2, self.bn2), (self.conv3, self.bn3)):
            x = F.relu(norm(conv(x)))
        x = torch.flatten(F.max_pool1d(x, int(x.size(-1))), 1)
        for dense, norm in ((self.fc1, self.bn4), (self.fc2, self.bn5)):
            x = F.relu(norm(dense(x)))
        identity = torch.eye(self.k).repeat(batch, 1, 1)
        return self.fc3(x).view(-1, self.k, self.k) + identity


def transformed(points, matrix):
    """Returns points [n, k, m] transformed by matrix [n, k, k]."""
    return torch.bmm(points.transpose(1, 2), matrix).transpose(1, 2)


class Transform(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_transform = Tnet(3)
        self.feature_transform = Tnet(64)
        self.conv1 = nn.Conv1d(3, 64, 1)
        self.conv2 = nn.Conv1d(64, 128, 1)
        self.conv3 = nn.Conv1d(128, 1024, 1)
        self.bn1 = nn.BatchNorm1d(64)
        self.bn2 = nn.BatchNorm1d(128)
        self.bn3 = nn.BatchNorm1d(1024)

    def forward(self, x):
        matrix3x3 = self.input_transform(x)
        x = F.relu(self.bn1(self.conv1(transformed(x, matrix3x3))))
        matrix64x64 = self.feature_transform(x)
        x = F.relu(self.bn2(self.conv2(transformed(x, matrix64x64))))
        x = self.bn3(self.conv3(x))
        return torch.flatten(F.max_pool1d(x, int(x.size(-1))), 1), matrix3x3, matrix64x64


class PointNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.transform = Transform()
        self.fc1 = nn.Linear(1024, 512)
        self.fc2 = nn.Linear(512, 256)
        self.fc3 = nn.Linear(256, classes)
        self.bn1 = nn.BatchNorm1d(512)
        self.bn2 = nn.BatchNorm1d(256)
        self.dropout = nn.Dropout(p=0.3)
        self.logsoftmax = nn.LogSoftmax(dim=1)

    def forward(self, x):
        x, matrix3x3, matrix64x64 = self.transform(x)
        x = F.relu(self.bn1(self.fc1(x)))
        x = F.relu(self.bn2(self.dropout(self.fc2(x))))
        return self.logsoftmax(self.fc3(x)), matrix3x3, matrix64x64


def without_equal_tensors(module):
    """Randomizes all tensors: the exporter merges equal ones, such as those of new BatchNorms."""
    with torch.no_grad():
        for tensor in list(module.parameters()) + list(module.buffers()):
            if tensor.is_floating_point():
                tensor.uniform_(0.5, 1.5)
    return module


def strip(tensor, offset):
    """Removes the bytes of a large float tensor; returns the offset of the next one."""
    size = FLOATS.get(tensor.data_type, 0)
    for dim in tensor.dims:
        size *= dim
    if size <= LIMIT:
        return offset
    for field in ("raw_data", "float_data", "double_data", "int32_data"):
        tensor.ClearField(field)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    for key, value in (("location", "weights.bin"), ("offset", offset), ("length", size)):
        tensor.external_data.add(key=key, value=str(value))
    return offset + -(-size // 64) * 64


def strip_file(path):
    model = onnx.load(str(path))
    offset = 0
    for tensor in model.graph.initializer:
        offset = strip(tensor, offset)
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                offset = strip(attribute.t, offset)
    onnx.save(model, str(path))


def export(module, sample, path, training, outputs, dynamic):
    """Exports without folding: BatchNorm stays a node (PRESERVE; EVAL would fuse it)."""
    preserve = torch.onnx.TrainingMode.PRESERVE
    module = without_equal_tensors(module).train(training)
    torch.onnx.export(
        module, sample, str(path), opset_version=OPSET, training=preserve,
        do_constant_folding=False, input_names=["input"], output_names=outputs,
        dynamic_axes={name: {0: "batch"} for name in ["input"] + outputs} if dynamic else None)
    strip_file(path)
    print(path, path.stat().st_size, "bytes")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    torch.manual_seed(0)
    clouds = ["logprobs", "matrix3x3", "matrix64x64"]
    export(PointNet(), torch.randn(2, 3, POINTS), folder / "pointnet.onnx", True, clouds, True)
    export(PointNet(), torch.randn(32, 3, POINTS), folder / "pointnet_b32.onnx", False, clouds,
           False)
    export(torchvision.models.resnet50(), torch.randn(1, 3, 224, 224), folder / "resnet50.onnx",
           False, ["output"], True)


if __name__ == "__main__":
    main()
