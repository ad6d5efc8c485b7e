#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes the networks and operators of published GPU times as ONNX files without weights, and the
times as rows of one format.

usage: times_models.py --measured FOLDER -o FOLDER [--only TABLE]

Needs onnx, scipy, timm, torch, torchvision and transformers. The models go to FOLDER/models, the
rows of a table to FOLDER/rows_TABLE.csv. A row of mode "backward" is the time of forward and
backward.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import collections
import csv
import dataclasses
import functools
import lzma
import math
import tempfile
import warnings
from pathlib import Path

import onnx
import timm
import torch
import torchvision
import transformers
from timm.models import byobnet, efficientnet, mobilenetv3, resnest, resnet, resnetv2
from timm.models._efficientnet_blocks import SqueezeExcite
from torch import nn
from torchvision.models import detection

Mode = torch.onnx.TrainingMode
OPSET, KEPT = 17, 64  # tensors of at most KEPT elements keep their values
Net = collections.namedtuple("Net", "build inputs tf32", defaults=(False,))
Table = collections.namedtuple("Table", "title file nets mode prefix")
Row = collections.namedtuple("Row", "table device runtime precision model batch dims mode ms "
                             "held_key")


# --- networks ----------------------------------------------------------------------------------

def net(build, *size, **options):
    """Returns a network of images: the name of a network of timm, or a function."""
    if isinstance(build, str):
        build = functools.partial(timm.create_model, build)
    size = size or (224,)
    return Net(functools.partial(build, **options), {"": torch.zeros(2, 3, size[0], size[-1])})


def residual(layers, **options):
    return net(resnet.ResNet, block=resnet.Bottleneck, layers=layers, **options)


def resnext(layers, cardinality, width, **options):
    return residual(layers, cardinality=cardinality, base_width=width, **options)


DEEP = {"stem_type": "deep", "stem_width": 32, "avg_down": True}  # Paddle's "vd"
SE = {"block_args": {"attn_layer": "se"}}


def scaled(generate, width):
    return net(lambda: generate("", width, pretrained=False))


def mobilenet_v2(width):
    return net(torchvision.models.MobileNetV2, width_mult=width)


def mobilenet_v3_small(width):
    """Paddle's: its head has 1280 channels."""
    def build():
        model = timm.create_model("mobilenetv3_small_" + width)
        model.conv_head = nn.Conv2d(model.conv_head.in_channels, 1280, 1)
        model.classifier = nn.Linear(1280, 1000)
        return model
    return net(build)


def replaced(model, kind, new):
    """Replaces each module of a kind by new(module)."""
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, kind):
                setattr(module, name, new(child))
    return model


def shufflenet(*widths, activation=nn.ReLU):
    return net(lambda: replaced(torchvision.models.ShuffleNetV2([4, 8, 4], list(widths)), nn.ReLU,
                                lambda _: activation()))


def squeezed(name, new, *size):
    """EfficientNet with another squeeze-and-excitation."""
    return net(lambda: replaced(timm.create_model(name), SqueezeExcite, new), *size)


def wide(module):
    return SqueezeExcite(module.conv_reduce.in_channels, rd_ratio=0.25, act_layer=nn.SiLU)


def repvgg(name, groups=None):
    """RepVGG with its branches merged."""
    def build():
        config = byobnet.model_cfgs[name]
        if groups:
            config = dataclasses.replace(config, blocks=byobnet._rep_vgg_bcfg(
                d=(4, 6, 16, 1), wf=(2, 2, 2, 4), groups=groups))
        return timm.utils.model.reparameterize_model(byobnet.ByobNet(config))
    return net(build)


def xception(middle, entry=1):
    """Xception with a number of middle blocks, and of blocks per step of the entry."""
    def build():
        model = timm.create_model("legacy_xception")
        block = type(model.block5)
        if entry == 2:
            model.block2 = nn.Sequential(block(128, 256, 2, 1), block(256, 256, 2, 2))
            model.block3 = nn.Sequential(block(256, 728, 2, 1), block(728, 728, 2, 2))
        model.block11 = nn.Sequential(model.block11, *(
            block(728, 728, 3, 1) for _ in range(middle - 8)))
        return model
    return net(build, 299)


def inception_v1():
    """The first GoogLeNet: 5 x 5 convolutions, local response norms, no batch norms."""
    model = torchvision.models.GoogLeNet(aux_logits=False, init_weights=False)
    for module in model.modules():
        if isinstance(module, type(model.inception3a)):
            conv = module.branch3[1].conv
            module.branch3[1].conv = nn.Conv2d(conv.in_channels, conv.out_channels, 5, padding=2)
    model.maxpool1 = nn.Sequential(model.maxpool1, nn.LocalResponseNorm(5))
    model.maxpool2 = nn.Sequential(nn.LocalResponseNorm(5), model.maxpool2)
    return replaced(model, nn.BatchNorm2d, lambda _: nn.Identity())


class Sum(nn.Module):
    """Adds a scaled branch; a dense branch concatenates the outputs of its convolutions."""

    def __init__(self, scale, *branch, dense=False):
        super().__init__()
        self.scale, self.branch, self.dense = scale, nn.ModuleList(branch), dense

    def forward(self, x):
        parts = [x]
        for module in self.branch:
            y = module(torch.cat(parts, 1) if self.dense else parts[-1])
            parts.append(nn.functional.leaky_relu(y, 0.2) if self.dense else y)
        return parts[-1] * self.scale + x


def esrgan():
    """RRDBNet: images four times larger."""
    def conv(inputs, outputs):
        return nn.Conv2d(inputs, outputs, 3, padding=1)

    def dense():
        return Sum(0.2, *(conv(64 + 32 * i, 32 if i < 4 else 64) for i in range(5)), dense=True)

    blocks = [Sum(0.2, dense(), dense(), dense()) for _ in range(23)]
    up = [nn.Sequential(nn.Upsample(scale_factor=2), conv(64, 64), nn.LeakyReLU(0.2))
          for _ in range(2)]
    return nn.Sequential(conv(3, 64), Sum(1, *blocks, conv(64, 64)), *up, conv(64, 64),
                         nn.LeakyReLU(0.2), conv(64, 3))


class Detector(nn.Module):
    """Backbone and heads of a detector, with a fixed number of regions."""

    def __init__(self, detector, regions=0):
        super().__init__()
        self.model = detector(weights=None, weights_backbone=None, num_classes=81)
        self.register_buffer("regions", torch.tensor([[0, 8., 8., 120., 120.]]).repeat(regions, 1))

    def forward(self, image):
        features = list(self.model.backbone(image).values())
        if not len(self.regions):
            return tuple(self.model.head(features).values())
        scores, boxes = self.model.rpn.head(features)
        pooled = torchvision.ops.roi_align(features[0], self.regions, 7, 0.25, 2)
        found = self.model.roi_heads.box_predictor(self.model.roi_heads.box_head(pooled))
        return (*scores, *boxes, *found)


def normed(inputs, outputs, size=3, separable=False, dilation=1):
    """A convolution with norm and rectifier; a separable one is two of them."""
    if separable:
        return nn.Sequential(nn.Conv2d(inputs, inputs, size, groups=inputs, dilation=dilation,
                                       padding=dilation * (size // 2), bias=False),
                             nn.BatchNorm2d(inputs), nn.ReLU(), normed(inputs, outputs, 1))
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False),
                         nn.BatchNorm2d(outputs), nn.ReLU())


def resized(x, like):
    return nn.functional.interpolate(x, size=like.shape[2:], mode="bilinear")


class DeepLab(nn.Module):
    """DeepLabV3+ with separable convolutions."""

    def __init__(self):
        super().__init__()
        self.backbone = timm.create_model("resnet50c", features_only=True, output_stride=8,
                                          out_indices=(1, 4))
        self.pool, self.low = normed(2048, 512, 1), normed(256, 48, 1)
        self.aspp = nn.ModuleList([normed(2048, 512, 1), *(
            normed(2048, 512, separable=True, dilation=d) for d in (12, 24, 36))])
        self.join = normed(5 * 512, 512)
        self.head = nn.Sequential(normed(560, 512, separable=True),
                                  normed(512, 512, separable=True), nn.Conv2d(512, 19, 1))

    def forward(self, image):
        low, high = self.backbone(image)
        pooled = resized(self.pool(high.mean((2, 3), keepdim=True)), high)
        high = self.join(torch.cat([pooled, *(branch(high) for branch in self.aspp)], 1))
        return resized(self.head(torch.cat([resized(high, low), self.low(low)], 1)), image)


class TextDetector(nn.Module):
    """DBNet: ResNet-18, a feature pyramid, and the map of probabilities."""

    def __init__(self):
        super().__init__()
        self.backbone = timm.create_model("resnet18", features_only=True, out_indices=(1, 2, 3, 4))
        self.lateral = nn.ModuleList(normed(64 << i, 256, 1) for i in range(4))
        self.smooth = nn.ModuleList(normed(256, 64) for _ in range(4))
        self.head = nn.Sequential(normed(256, 64), nn.ConvTranspose2d(64, 64, 2, 2),
                                  nn.BatchNorm2d(64), nn.ReLU(), nn.ConvTranspose2d(64, 1, 2, 2),
                                  nn.Sigmoid())

    def forward(self, image):
        levels = [layer(x) for layer, x in zip(self.lateral, self.backbone(image))]
        for i in (2, 1, 0):
            levels[i] = levels[i] + nn.functional.interpolate(levels[i + 1], scale_factor=2)
        parts = [resized(layer(x), levels[0]) for layer, x in zip(self.smooth, levels)]
        return self.head(torch.cat(parts, 1))


def tokens(batch, length):
    return {"input_ids": torch.ones(batch, length, dtype=torch.int64)}


def pixels(batch, height, width):
    return {"pixel_values": torch.zeros(batch, 3, height, width)}


def bert_large(kind):
    config = transformers.BertConfig(hidden_size=1024, intermediate_size=4096, num_hidden_layers=24,
                                     num_attention_heads=16, attn_implementation="eager")
    return Net(lambda: kind(config), tokens(2, 512))


def detr():
    return transformers.DetrForObjectDetection(transformers.DetrConfig(
        use_timm_backbone=True, use_pretrained_backbone=False, backbone="resnet50",
        attn_implementation="eager"))


def mask2former():
    backbone = transformers.SwinConfig(out_features=["stage1", "stage2", "stage3", "stage4"],
                                       attn_implementation="eager")
    return transformers.Mask2FormerForUniversalSegmentation(
        transformers.Mask2FormerConfig(backbone_config=backbone, num_labels=133, num_queries=100))


def owlvit():
    return transformers.OwlViTForObjectDetection(
        transformers.OwlViTConfig(attn_implementation="eager"))


# The names of timm, with the size of the image; the parameters are the published ones within 2 %.
PADDLE = {
    "DLA34": "dla34", "DLA46_c": "dla46_c", "DLA60": "dla60", "DLA60x": "dla60x",
    "DLA102": "dla102", "DLA169": "dla169", "DPN68": "dpn68", "DPN92": "dpn92", "DPN107": "dpn107",
    "DeiT_base_distilled_patch16_224": "deit_base_distilled_patch16_224",
    "DeiT_base_patch16_224": "deit_base_patch16_224", "DenseNet201": "densenet201",
    "DenseNet264": net(torchvision.models.DenseNet, block_config=(6, 12, 64, 48)),
    "EfficientNetB0_small": squeezed("efficientnet_b0", lambda _: nn.Identity()),
    "EfficientNetB1": "efficientnet_b1 240", "EfficientNetB3": "efficientnet_b3 300",
    "GhostNet_x0_5": "ghostnet_050", "GhostNet_x1_0": "ghostnet_100",
    "GhostNet_x1_3": "ghostnet_130", "HRNet_W18_C": "hrnet_w18", "HRNet_W32_C": "hrnet_w32",
    "HRNet_W48_C": "hrnet_w48", "InceptionV3": "inception_v3 299",
    "InceptionV4": "inception_v4 299", "MixNet_L": "mixnet_l",
    "MobileNetV1_x0_25": scaled(efficientnet._gen_mobilenet_v1, 0.25),
    "MobileNetV1_x0_5": scaled(efficientnet._gen_mobilenet_v1, 0.5),
    "MobileNetV1_x0_75": scaled(efficientnet._gen_mobilenet_v1, 0.75),
    "MobileNetV2": mobilenet_v2(1), "MobileNetV2_x0_25": mobilenet_v2(0.25),
    "MobileNetV2_x0_5": mobilenet_v2(0.5), "MobileNetV2_x0_75": mobilenet_v2(0.75),
    "MobileNetV2_x2_0": mobilenet_v2(2), "MobileNetV3_large_x0_75": "mobilenetv3_large_075",
    "MobileNetV3_small_x0_5": mobilenet_v3_small("050"), "NextViT_base_224": "nextvit_base",
    "PPLCNet_x0_25": scaled(mobilenetv3._gen_lcnet, 0.25),
    "PPLCNet_x2_0": scaled(mobilenetv3._gen_lcnet, 2),
    "PPLCNet_x2_5": scaled(mobilenetv3._gen_lcnet, 2.5), "PVT_V2_B0": "pvt_v2_b0",
    "PVT_V2_B1": "pvt_v2_b1", "PVT_V2_B2": "pvt_v2_b2", "ReXNet_1_0": "rexnet_100",
    "ReXNet_1_5": "rexnet_150", "ReXNet_2_0": "rexnet_200", "RegNetX_200MF": "regnetx_002",
    "RegNetX_4GF": "regnetx_040", "RepVGG_A0": repvgg("repvgg_a0"),
    "RepVGG_B0": repvgg("repvgg_b0"), "RepVGG_B1": repvgg("repvgg_b1"),
    "RepVGG_B1g2": repvgg("repvgg_b1g4", 2), "RepVGG_B2g4": repvgg("repvgg_b2g4"),
    "RepVGG_B3": repvgg("repvgg_b3"), "Res2Net50_14w_8s": "res2net50_14w_8s",
    "Res2Net50_vd_26w_4s": "res2net50d", "ResNeSt50": "resnest50d",
    "ResNeSt50_fast_1s1x64d": net(resnet.ResNet, block=resnest.ResNestBottleneck, **DEEP,
                                  layers=[3, 4, 6, 3],
                                  block_args={"radix": 1, "avd": True, "avd_first": True}),
    "ResNeXt50_32x4d": "resnext50_32x4d", "ResNeXt50_64x4d": resnext([3, 4, 6, 3], 64, 4),
    "ResNeXt101_64x4d": resnext([3, 4, 23, 3], 64, 4),
    "ResNeXt101_vd_32x4d": resnext([3, 4, 23, 3], 32, 4, **DEEP),
    "ResNeXt101_vd_64x4d": resnext([3, 4, 23, 3], 64, 4, **DEEP),
    "ResNeXt152_64x4d": resnext([3, 8, 36, 3], 64, 4),
    "ResNeXt152_vd_64x4d": resnext([3, 8, 36, 3], 64, 4, **DEEP),
    "ResNeXt101_32x8d_wsl": resnext([3, 4, 23, 3], 32, 8),
    "ResNeXt101_32x16d_wsl": resnext([3, 4, 23, 3], 32, 16),
    "ResNeXt101_32x32d_wsl": resnext([3, 4, 23, 3], 32, 32),
    "ResNeXt101_32x48d_wsl": resnext([3, 4, 23, 3], 32, 48), "ResNet18": "resnet18",
    "ResNet34": "resnet34", "ResNet34_vd": "resnet34d", "ResNet50": "resnet50",
    "ResNet152": "resnet152", "ResNet152_vd": "resnet152d",
    "SENet154_vd": resnext([3, 8, 36, 3], 64, 4, **{**DEEP, "stem_width": 64}, **SE),
    "SE_ResNet50_vd": residual([3, 4, 6, 3], **DEEP, **SE),
    "SE_ResNeXt50_vd_32x4d": resnext([3, 4, 6, 3], 32, 4, **DEEP, **SE),
    "ShuffleNetV2_x0_33": shufflenet(24, 32, 64, 128, 512),
    "ShuffleNetV2_x1_5": shufflenet(24, 176, 352, 704, 1024),
    "ShuffleNetV2_swish": shufflenet(24, 116, 232, 464, 1024, activation=nn.SiLU),
    "SqueezeNet1_0": net(torchvision.models.squeezenet1_0),
    "SwinTransformer_base_patch4_window7_224": "swin_base_patch4_window7_224", "VGG19": "vgg19",
    "ViT_base_patch32_384": "vit_base_patch32_384 384", "Xception41": xception(8),
    "Xception41_deeplab": "xception41 299", "Xception65": xception(16),
    "Xception71": xception(16, 2), "alt_gvt_base": "twins_svt_base",
    "pcpvt_base": "twins_pcpvt_base",
}
TORCH7 = {
    "vgg19": "vgg19", "googlenet-v1": net(inception_v1), "resnet-18": "resnet18",
    "resnet-50": "resnet50", "resnet-101": "resnet101",
    "resnet-200": net(resnetv2.ResNetV2, layers=[3, 24, 36, 3],
                      conv_layer=timm.layers.create_conv2d, norm_layer=timm.layers.BatchNormAct2d),
}
EXAMPLES = {
    "efficientnet-b0": "efficientnet_b0", "efficientnet-b4": "efficientnet_b4 380",
    "efficientnet-widese-b0": squeezed("efficientnet_b0", wide),
    "efficientnet-widese-b4": squeezed("efficientnet_b4", wide, 380),
    "se-resnext101-32x4d": resnext([3, 4, 23, 3], 32, 4, **SE),
}
MMDEPLOY = {
    "SE-ResNet": residual([3, 4, 6, 3], **SE), "ESRGAN": net(esrgan, 32),
    "DBNet": net(TextDetector, 640), "DeepLabV3+": net(DeepLab, 512, 1024),
    "FCOS": net(Detector, 800, 1344, detector=detection.fcos_resnet50_fpn),
    "R-CNN": net(Detector, 800, 1344, detector=detection.fasterrcnn_resnet50_fpn, regions=1000),
}
HUGGING_FACE = {  # the image of the script has 640 x 480 pixels; two texts of 16 tokens
    "detr-resnet-50": Net(detr, pixels(2, 800, 1066), True),
    "resnet-50": net("resnet50")._replace(tf32=True),
    "mask2former-swin-tiny-coco-panoptic": Net(mask2former, pixels(2, 384, 384)),
    "owlvit-base-patch32": Net(owlvit, {**tokens(2, 16), **pixels(1, 768, 768)}),
}
NEUSIGHT = {"bert_large": bert_large(transformers.BertForSequenceClassification),
            "bert_large_train": bert_large(transformers.BertForPreTraining)}
# PRESERVE keeps batch norms, EVAL merges them into convolutions, TRAINING computes their
# statistics and keeps dropout.
TABLES = {
    "paddle": Table("PaddleClas", "paddleclas", PADDLE, Mode.EVAL, ""),
    "mmdeploy": Table("mmdeploy", "mmdeploy", MMDEPLOY, Mode.EVAL, "mmdeploy_"),
    "neusight": Table("NeuSight networks", "neusight", NEUSIGHT, Mode.PRESERVE, "neusight_"),
    "examples": Table("DeepLearningExamples", "nvidia_examples", EXAMPLES, Mode.PRESERVE,
                      "examples_"),
    "hf": Table("Hugging Face", "hf_torch_compile", HUGGING_FACE, Mode.PRESERVE, "hf_"),
    "torch7": Table("Torch7", "cnn_benchmarks", TORCH7, Mode.TRAINING, "torch7_"),
    "neusight_ops": None,
}
DEVICES = {  # those that the tables name
    "v100": "v100", "t4": "t4", "T4": "t4", "V100": "v100", "A100": "a100-80gb", "DGX-1": "v100",
    "NVIDIA H100 80GB HBM3": "h100-sxm", "NVIDIA A100-PCIE-40GB": "a100-40gb",
    "NVIDIA A100 80GB PCIe": "a100-80gb", "NVIDIA L4": "l4", "Tesla T4": "t4",
    "Tesla V100-PCIE-32GB": "v100", "Tesla P100-PCIE-16GB": "p100", "Tesla P4": "p4",
    "AMD Instinct MI100": "mi100", "AMD Instinct MI210": "mi210", "AMD Instinct MI250": "mi250",
    "GeForce GTX 1080": "gtx-1080", "GeForce GTX 1080 Ti": "gtx-1080-ti",
    "GeForce GTX TITAN X": "gtx-titan-x", "TITAN X": "titan-x-pascal",
}
RUNTIMES = {"TensorRT": "tensorrt", "torch.compile": "torch-compile", "cuDNN": "torch-eager",
            "eager": "torch-eager", "PyTorch": "torch-eager"}
PRECISIONS = {"fp32": "fp32", "fp16": "fp16", "int8": "int8", "TF32": "tf32", "FP32": "fp32",
              "Mixed": "amp"}
MODES = {"inference": "inference", "training": "backward", "forward+backward": "backward"}


# --- files of models ---------------------------------------------------------------------------

class Call(nn.Module):
    """Calls a network with named inputs, or one without a name, and returns plain tensors."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *inputs):
        named = dict(zip(self.names, inputs))
        output = self.model(*inputs) if "" in named else self.model(**named)
        return output.to_tuple() if hasattr(output, "to_tuple") else output


def distinct(model):
    """Makes the values of parameters differ, or the exporter merges the equal ones."""
    tensors = [*model.parameters(), *(b for name, b in model.named_buffers() if "running" in name)]
    with torch.no_grad():
        for index, tensor in enumerate(tensors):
            tensor.view(-1)[0] = 1 + 1e-3 * index


def empty(tensor):
    """Makes a tensor external data that need not exist."""
    kind, name, dims = tensor.data_type, tensor.name, list(tensor.dims)
    tensor.Clear()
    tensor.data_type, tensor.name = kind, name
    tensor.dims.extend(dims)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")


def export(path, spec, mode):
    """Writes a network with a free batch."""
    model = spec.build().train(mode == Mode.TRAINING)
    distinct(model)
    names = [name or "image" for name in spec.inputs]
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model.onnx")
        torch.onnx.export(Call(model, list(spec.inputs)), tuple(spec.inputs.values()), file,
                          dynamo=False, opset_version=OPSET, do_constant_folding=False,
                          training=mode, input_names=names,
                          dynamic_axes={name: {0: "batch"} for name in names})
        proto = onnx.load(file, load_external_data=False)
    for tensor in proto.graph.initializer:
        if math.prod(tensor.dims) > KEPT:
            empty(tensor)
    del proto.graph.value_info[:]
    path.write_bytes(proto.SerializeToString())


# --- rows --------------------------------------------------------------------------------------

def read(path):
    with (lzma.open if path.suffix == ".xz" else open)(path, "rt", newline="") as file:
        return list(csv.DictReader(file))


def named(values, text):
    return next((value for name, value in values.items() if name in text), None)


def networks(name, measured, folder):
    """Yields the rows of a table and writes its networks."""
    table = TABLES[name]
    for row in read(measured / f"latency_gpu_{table.file}.csv"):
        device = DEVICES.get(row["device"].replace("_", " "))
        mode, runtime = MODES.get(row["mode"]), named(RUNTIMES, row["runtime"])
        precision = named(PRECISIONS, row["precision"])
        key = row["model"].removesuffix("_ssld").replace("/", " ").split()[-1]
        key += "_train" * (row["mode"] == "training")
        # DPN.md gives the times of fp16 as those of fp32.
        if not all((device, mode, runtime, precision, key in table.nets)) or "DPN" in row["source"]:
            continue
        spec = table.nets[key]
        if isinstance(spec, str):
            model, *size = spec.split()
            spec = net(model, *map(int, size))
        if spec.tf32 and device.startswith("a100"):
            precision = "tf32"  # PyTorch's default for convolutions
        path = folder / "models" / f"{table.prefix}{key}.onnx"
        if not path.exists():
            export(path, spec, Mode.TRAINING if key.endswith("_train") else table.mode)
        yield Row(f"{table.title} {device} {precision}", device, runtime, precision, path.name,
                  row["batch"], "", mode, row["ms"], key.removesuffix("_train"))


# --- operators of NeuSight -----------------------------------------------------------------------

OPERATORS = {"add": "Add", "addu": "Add", "mul": "Mul", "mulu": "Mul", "pow": "Pow", "powu": "Pow",
             "div": "Div", "divu": "Div", "relu": "Relu", "gelu": "Gelu", "tanh": "Tanh",
             "softmax": "Softmax", "ln": "LayerNormalization", "bmm": "MatMul", "linear": "Gemm"}
SAMPLES = {"bmm": 350, "linear": 300, "softmax": 200, "ln": 200}  # per device; others: 45


def tensors(op, shape):
    """Returns the shapes of inputs, parameters and output; n is the reduced dim of products."""
    if op == "bmm":
        b, m, n, k = shape
        return [(b, m, n), (b, n, k)], [], (b, m, k)
    if op == "linear":
        b, m, n, k = shape
        return [(b * m, n)], [(k, n), (k,)], (b * m, k)
    scalar = [()] if op[-1] == "u" and op[:-1] in OPERATORS else []  # addu: x + number
    parameters = [shape[-1:]] * 2 if op == "ln" else scalar
    return [shape] * (2 if f"{op}u" in OPERATORS else 1), parameters, shape


def write_operators(path, op, shapes):
    """Writes a model of independent operators."""
    nodes, inputs, outputs, weights = [], [], [], []
    for shape in shapes:
        name = "x".join(map(str, shape))
        x, parameters, y = tensors(op, shape)
        xs = [f"{name}.x{i}" for i in range(len(x))]
        ws = [f"{name}.w{i}" for i in range(len(parameters))]
        nodes.append(onnx.helper.make_node(OPERATORS[op], xs + ws, [name], name,
                                           **({"transB": 1} if op == "linear" else {})))
        for tensor, dims, values in [*((t, d, inputs) for t, d in zip(xs, x)), (name, y, outputs)]:
            values.append(onnx.helper.make_tensor_value_info(tensor, 1, dims))
        for tensor, dims in zip(ws, parameters):
            weights.append(onnx.TensorProto(name=tensor, data_type=1, dims=dims,
                                            float_data=[] if dims else [0.5]))
            if dims:
                empty(weights[-1])
    path.write_bytes(onnx.helper.make_model(
        onnx.helper.make_graph(nodes, op, inputs, outputs, weights),
        opset_imports=[onnx.helper.make_opsetid("", 20)]).SerializeToString())


def sampled(rows, count):
    """Returns rows evenly spaced by the size of the problem."""
    rows = sorted(rows, key=lambda row: (math.prod(row[0]), row))
    return [rows[i * len(rows) // count] for i in range(count)] if len(rows) > count else rows


def operators(_, measured, folder):
    groups, shapes = collections.defaultdict(list), collections.defaultdict(set)
    for row in read(measured / "ops_gpu_neusight.csv.xz"):
        shape = tuple(int(row[key]) for key in "bmnk" if row[key])
        groups[DEVICES[row["device"]], row["op"]].append((shape, row["ms"]))
    for (device, op), rows in sorted(groups.items()):
        for shape, ms in sampled(rows, SAMPLES.get(op, 45)):
            shapes[op].add(shape)
            name = "x".join(map(str, shape))
            yield Row(f"NeuSight {op} {device}", device, "torch-eager", "fp32",
                      f"neusight_{op}.onnx", "", f"node={name}", "inference", ms, f"{op} {name}")
    for op, distinct_shapes in shapes.items():
        write_operators(folder / "models" / f"neusight_{op}.onnx", op, sorted(distinct_shapes))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--measured", required=True, type=Path)
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--only", choices=TABLES)
    args = parser.parse_args()
    warnings.filterwarnings("ignore")
    timm.layers.set_fused_attn(False)
    (args.output / "models").mkdir(parents=True, exist_ok=True)
    for name in [args.only] if args.only else TABLES:
        with open(args.output / f"rows_{name}.csv", "w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(Row._fields)
            for row in (networks if TABLES[name] else operators)(name, args.measured, args.output):
                writer.writerow(row)
                file.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
