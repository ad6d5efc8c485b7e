# SPDX-License-Identifier: Apache-2.0
"""
PyTorch sources of the nets that tools are run on: torchvision's, and the small ones of models/
and custom/ written anew from their tables in per_module/ (same modules, parameters and MACs).

Needs PyTorch and torchvision; imported by make_conventions.py alone.
"""
import importlib
import math
import sys
from pathlib import Path

import torch
import torchvision
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval

sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))


def pointnet():
    """Returns the net that models/pointnet.onnx was exported from."""
    return importlib.import_module("make_models").PointNet()


def gpt():
    """Returns the net that models/torch/gpt_*.onnx were exported from."""
    return importlib.import_module("make_torch_exports").GPT()


class BertMini(nn.Module):
    def __init__(self, layers=3, width=128, heads=4):
        super().__init__()
        self.heads = heads
        self.word, self.seg = nn.Embedding(2000, width), nn.Embedding(2, width)
        self.pos, self.ln = nn.Embedding(128, width), nn.LayerNorm(width)
        for name in "qkvo":
            setattr(self, name, nn.ModuleList(nn.Linear(width, width) for _ in range(layers)))
        self.f1 = nn.ModuleList(nn.Linear(width, 4 * width) for _ in range(layers))
        self.f2 = nn.ModuleList(nn.Linear(4 * width, width) for _ in range(layers))
        self.l1 = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.l2 = nn.ModuleList(nn.LayerNorm(width) for _ in range(layers))
        self.pooler = nn.Linear(width, width)

    def split(self, x):
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def attend(self, i, x, mask):
        q, k, v = (self.split(m[i](x)) for m in (self.q, self.k, self.v))
        weights = (q @ k.transpose(-1, -2) / math.sqrt(q.size(-1)) + mask).softmax(-1)
        return self.o[i]((weights @ v).transpose(1, 2).reshape(x.shape))

    def forward(self, ids, mask, types):
        positions = torch.arange(ids.size(1)).unsqueeze(0)
        x = self.ln(self.word(ids) + self.seg(types) + self.pos(positions))
        bias = (1.0 - mask[:, None, None, :].float()) * -10000.0
        for i in range(len(self.q)):
            x = self.l1[i](x + self.attend(i, x, bias))
            x = self.l2[i](x + self.f2[i](F.gelu(self.f1[i](x))))
        return x, torch.tanh(self.pooler(x[:, 0]))


class CausalAttn(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.register_buffer("mask", torch.tril(torch.ones(length, length))[None, None])

    def forward(self, x):
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2)
                   for t in self.c_attn(x).split(width, dim=2))
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(q.size(-1))
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        return self.c_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, length, width))


class GptBlock(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.ln_1, self.attn = nn.LayerNorm(width), CausalAttn(width, heads, length)
        self.ln_2 = nn.LayerNorm(width)
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(width, 4 * width), "act": nn.GELU(),
                                  "c_proj": nn.Linear(4 * width, width)})

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp["c_proj"](self.mlp["act"](self.mlp["c_fc"](self.ln_2(x))))


class GptMini(nn.Module):
    def __init__(self, layers=4, width=192, heads=6, length=256, words=1024):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(words, width), nn.Embedding(length, width)
        self.h = nn.ModuleList(GptBlock(width, heads, length) for _ in range(layers))
        self.ln_f = nn.LayerNorm(width)
        self.lm_head = nn.Linear(width, words, bias=False)
        self.lm_head.weight = self.wte.weight

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.size(1)).unsqueeze(0))
        for block in self.h:
            x = block(x)
        return self.lm_head(self.ln_f(x))


class Enc(nn.Module):
    def __init__(self, width=256, words=1000):
        super().__init__()
        self.emb, self.pos = nn.Embedding(words, width), nn.Parameter(torch.zeros(1, 512, width))
        layer = nn.TransformerEncoderLayer(width, 8, 1024, activation="gelu", batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 4)
        self.head = nn.Linear(width, words)

    def forward(self, ids):
        return self.head(self.enc(self.emb(ids) + self.pos[:, :ids.size(1)]))


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(64, 128, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.rnn(x)[0][:, -1])


class Block(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.c1, self.n1 = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)
        self.c2, self.n2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs)

    def forward(self, x):
        return F.relu(self.n2(self.c2(F.relu(self.n1(self.c1(x))))))


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.d1, self.d2, self.d3 = Block(3, 32), Block(32, 64), Block(64, 128)
        self.pool = nn.MaxPool2d(2)
        self.u2, self.b2 = nn.ConvTranspose2d(128, 64, 2, 2), Block(128, 64)
        self.u1, self.b1 = nn.ConvTranspose2d(64, 32, 2, 2), Block(64, 32)
        self.out = nn.Conv2d(32, 2, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        y = self.b2(torch.cat([self.u2(self.d3(self.pool(b))), b], 1))
        return self.out(self.b1(torch.cat([self.u1(y), a], 1)))


class GNRes(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Conv2d(3, 64, 3, 2, 1)
        self.n1, self.n2 = nn.GroupNorm(8, 64), nn.GroupNorm(8, 64)
        self.c1, self.c2 = nn.Conv2d(64, 64, 3, padding=1), nn.Conv2d(64, 64, 3, padding=1)
        self.inorm = nn.InstanceNorm2d(64, affine=True)
        self.up, self.out = nn.Upsample(scale_factor=2), nn.Conv2d(64, 3, 3, padding=1)

    def forward(self, x):
        x = self.inp(x)
        y = self.c2(F.silu(self.n2(self.c1(F.silu(self.n1(x))))))
        return self.out(self.up(self.inorm(y + x)))


class OddConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.dw = nn.Conv2d(16, 32, (3, 5), (2, 1), (1, 2), groups=16)
        self.gr = nn.Conv2d(32, 48, 3, padding=2, dilation=(2, 3), groups=4, bias=False)
        self.same = nn.Conv2d(48, 48, 4, padding=2)
        self.tr = nn.ConvTranspose2d(48, 24, (3, 4), (2, 3), (1, 0), (1, 2), 3, dilation=(1, 2))
        self.pr, self.mx = nn.PReLU(24), nn.MaxPool2d(3, 2, 1, ceil_mode=True)
        self.avg = nn.AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)
        self.ps, self.aap = nn.PixelShuffle(2), nn.AdaptiveAvgPool2d(1)
        self.head = nn.Linear(6, 5, bias=False)

    def forward(self, x):
        x = self.pr(self.tr(self.same(self.gr(self.dw(x)))))
        return self.head(torch.flatten(self.aap(self.ps(self.avg(self.mx(x)))), 1))


class Conv13(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.t1 = nn.Conv1d(8, 16, 7, 2, 6, 2), nn.ConvTranspose1d(16, 8, 4, 2, 1)
        self.c3, self.t3 = nn.Conv3d(8, 12, 3, padding=1), nn.ConvTranspose3d(12, 4, 2, 2)
        self.bn = nn.BatchNorm3d(4)

    def forward(self, x):
        return self.bn(self.t3(self.c3(self.t1(self.c1(x)).view(-1, 8, 4, 4, 6))))


class Siamese(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                                 nn.Linear(1152, 16))

    def forward(self, a, b):
        return (self.net(a) - self.net(b)).pow(2).sum(1)


def images(size=224):
    return lambda batch: (torch.randn(batch, 3, size, size),)


def floats(*shape):
    return lambda batch: (torch.randn(batch, *shape),)


def tokens(length, words):
    return lambda batch: (torch.randint(0, words, (batch, length)),)


def bert_inputs(batch):
    ones = torch.ones(batch, 64, dtype=torch.long)
    return (torch.randint(0, 2000, (batch, 64)), ones, ones)


def pair(batch):
    return (torch.randn(batch, 1, 28, 28), torch.randn(batch, 1, 28, 28))


def vision(name, **options):
    return lambda: getattr(torchvision.models, name)(weights=None, **options)


def fcn():
    return torchvision.models.segmentation.fcn_resnet50(
        weights=None, weights_backbone=None, aux_loss=True)


def fold(net, inputs):
    """Folds each BatchNorm that reads a convolution's output into the convolution, as exporters do."""
    made, pairs, names = {}, [], {module: name for name, module in net.named_modules()}

    def watch(module, given, result):
        if isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
            made[id(result)] = module, result  # kept alive, so that no other object gets its id
        elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            if id(given[0]) in made:
                pairs.append((made[id(given[0])][0], module))

    hooks = [module.register_forward_hook(watch) for module in names]
    net(*inputs)
    for hook in hooks:
        hook.remove()
    for conv, norm in pairs:
        fused = fuse_conv_bn_eval(conv, norm)
        conv.weight, conv.bias = fused.weight, fused.bias
        parent, _, last = names[norm].rpartition(".")
        setattr(net.get_submodule(parent), last, nn.Identity())
    return net


# Name of a row of models_truth.csv (PointNet: models/) -> function that builds it, and its inputs.
NETS = {
    "resnet18": (vision("resnet18"), images()),
    "resnet50": (vision("resnet50"), images()),
    "mobilenet_v2": (vision("mobilenet_v2"), images()),
    "squeezenet1_0": (vision("squeezenet1_0"), images()),
    "shufflenet_v2_x1_0": (vision("shufflenet_v2_x1_0"), images()),
    "efficientnet_b0": (vision("efficientnet_b0"), images()),
    "densenet121": (vision("densenet121"), images()),
    "googlenet": (vision("googlenet", aux_logits=False, init_weights=False), images()),
    "inception_v3": (vision("inception_v3", aux_logits=False, init_weights=False), images(299)),
    "convnext_tiny": (vision("convnext_tiny"), images()),
    "swin_t": (vision("swin_t"), images()),
    "vit_b_16": (vision("vit_b_16"), images()),
    "r3d_18": (lambda: torchvision.models.video.r3d_18(weights=None), floats(3, 16, 112, 112)),
    "fcn_resnet50": (fcn, images(520)),
    "pointnet": (pointnet, floats(3, 1024)),
    "gpt": (gpt, tokens(64, 1000)),
    "bert_mini": (BertMini, bert_inputs),
    "gpt_mini_tied": (GptMini, tokens(128, 1024)),
    "transformer_encoder": (Enc, tokens(128, 1000)),
    "lstm_bi2": (Rnn, floats(40, 64)),
    "unet_convtranspose": (UNet, floats(3, 128, 128)),
    "groupnorm_resblock": (GNRes, floats(3, 64, 64)),
    "odd_conv": (OddConv, floats(16, 37, 41)),
    "conv1d_3d": (Conv13, floats(8, 96)),
    "siamese_shared": (Siamese, pair),
}
