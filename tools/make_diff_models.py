#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes models/diff/, and PyTorch's counts of the changes.

usage: make_diff_models.py FOLDER

resnet50_wide.onnx is torchvision's ResNet-50 whose third stage is 320 wide inside its blocks and
not 256; pointnet_renamed.onnx is PointNet whose transform.feature_transform is called
transform.feature_tnet. They are exported like models/resnet50.onnx and pointnet.onnx by
make_models.py, but by the TorchScript exporter of PyTorch 2.15, torchvision 0.29.
FOLDER/truth.csv, kept as tests/truth/diff_truth.csv, has the parameters and MACs of every module
of all four models: each parameter counts once, and MACs are half the FLOPs of
torch.utils.flop_counter at batch 1.
"""
import csv
import sys
import tempfile
import warnings
from pathlib import Path

import torch
import torchvision
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from make_models import (OPSET, POINTS, PointNet, Transform, strip_file, transformed,
                         without_equal_tensors)


class RenamedTransform(Transform):
    """The same model with one attribute renamed."""

    def __init__(self):
        super().__init__()
        self.feature_tnet = self.feature_transform
        del self.feature_transform

    def forward(self, x):
        matrix3x3 = self.input_transform(x)
        x = F.relu(self.bn1(self.conv1(transformed(x, matrix3x3))))
        matrix64x64 = self.feature_tnet(x)
        x = F.relu(self.bn2(self.conv2(transformed(x, matrix64x64))))
        x = self.bn3(self.conv3(x))
        return torch.flatten(F.max_pool1d(x, int(x.size(-1))), 1), matrix3x3, matrix64x64


def renamed_pointnet():
    net = PointNet()
    net.transform = RenamedTransform()
    return net


def wide_resnet50():
    net = torchvision.models.resnet50()
    net.inplanes, net.base_width = 512, 80
    net.layer3 = net._make_layer(torchvision.models.resnet.Bottleneck, 256, 6, stride=2)
    return net


def export(net, sample, path, outputs):
    torch.onnx.export(
        net, (sample,), str(path), dynamo=False, opset_version=OPSET, do_constant_folding=False,
        training=torch.onnx.TrainingMode.PRESERVE, input_names=["input"], output_names=outputs,
        dynamic_axes={name: {0: "batch"} for name in ["input"] + outputs})
    strip_file(path)
    print(path.name, path.stat().st_size, "bytes")


def truth(net, sample):
    """Returns (path, parameters, MACs) of every module; unused modules have 0 MACs."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        net(sample)
    flops = {name.partition(".")[2]: sum(counts.values())
             for name, counts in counter.get_flop_counts().items() if name != "Global"}
    for path, module in net.named_modules():
        yield path, sum(p.numel() for p in module.parameters()), flops.get(path, 0) // 2


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    image, cloud = torch.randn(2, 3, 224, 224), torch.randn(2, 3, POINTS)
    classes, clouds = ["output"], ["logprobs", "matrix3x3", "matrix64x64"]
    models = {
        "resnet50": (torchvision.models.resnet50(), image, classes),
        "resnet50_wide": (wide_resnet50(), image, classes),
        "pointnet": (PointNet(), cloud, clouds),
        "pointnet_renamed": (renamed_pointnet(), cloud, clouds),
    }
    rows = []
    for name, (net, sample, outputs) in models.items():
        net = without_equal_tensors(net).eval()
        rows += [(name, *row) for row in truth(net, sample[:1])]
        if "_" not in name:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / f"{name}.onnx"
            export(net.train(name.startswith("pointnet")), sample, path, outputs)
            (folder / path.name).write_bytes(path.read_bytes())
    with open(folder / "truth.csv", "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("model", "module", "params", "macs"))
        writer.writerows(rows)


if __name__ == "__main__":
    main()
