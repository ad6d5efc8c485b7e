#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Measures what PyTorch saves and computes in a training step: the reference of run_training.py.

    training_truth.py measure FILE.csv     writes tests/truth/training_truth.csv anew
    training_truth.py curve FILE.csv       writes tests/truth/training_curve.csv anew
    training_truth.py export FOLDER        exports the models that are made here, in training mode

Saved bytes are those of the storages that autograd saves (torch.autograd.graph.saved_tensors_hooks),
by the ATen operator that wrote them last; each storage counts once, parameters and buffers do not.
FLOPs are those of torch.utils.flop_counter, separately for forward and backward. The peak is the largest
sum of storages alive after an operator, without parameters, buffers and workspaces. The curve has this sum after
each operator, by phase and operator, in order. Attention is computed
by its plain formula (SDPBackend.MATH), as the exporter writes it. Needs PyTorch and torchvision; no test
runs this script. The file states the versions.
"""
import copy
import csv
import sys
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path

import torch
import torchvision
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.autograd.graph import saved_tensors_hooks
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import make_models
from training_cases import CASES, CURVE_CASES, CURVES, OPTIMIZERS

FIELDS = ("case", "quantity", "operator", "value", "torch")
OPSET = 17  # LayerNormalization is one operator, GELU is five


class Encoder(nn.Module):
    """nn.TransformerEncoder with an embedding, learned positions, and a head on the mean."""

    def __init__(self, words=200, width=128, heads=4, layers=2, length=32, classes=10):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Parameter(torch.randn(1, length, width))
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, dropout=0.1,
                                           activation="gelu", batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, words):
        return self.head(self.encoder(self.words(words) + self.positions).mean(1))


class Block(nn.Module):
    """A decoder's block, written out: queries, keys and values are one product."""

    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.wide = nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)
        self.register_buffer("mask", torch.ones(length, length).tril() == 0)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).split(width, 2)
        q, k, v = (part.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
                   for part in parts)
        scores = q @ k.transpose(2, 3) * (width // self.heads) ** -0.5
        scores = scores.masked_fill(self.mask, float("-inf"))
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(batch, length, width)
        x = x + self.out(mixed)
        return x + self.narrow(nn.functional.gelu(self.wide(self.norm2(x))))


class Decoder(nn.Module):
    """A small GPT-2 without dropout and without a bias of the head."""

    def __init__(self, words=200, width=96, heads=4, layers=2, length=24):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads, length) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, words):
        places = torch.arange(words.shape[1])
        x = self.words(words) + self.positions(places)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


# Exported here: file -> (model, an input).
EXPORTS = {
    "train_encoder.onnx": (Encoder, lambda n: torch.randint(200, (n, 32))),
    "train_decoder.onnx": (Decoder, lambda n: torch.randint(200, (n, 24))),
    "train_mobilenet_v2.onnx": (torchvision.models.mobilenet_v2,
                                lambda n: torch.randn(n, 3, 96, 96)),
}

# file in models/ -> (model, an input)
MODELS = {
    "pointnet.onnx": (make_models.PointNet, lambda n: torch.randn(n, 3, 1024)),
    "resnet50.onnx": (torchvision.models.resnet50, lambda n: torch.randn(n, 3, 224, 224)),
    **EXPORTS,
}


class Writers(TorchDispatchMode):
    """Records which operator wrote each storage last."""

    def __init__(self):
        super().__init__()
        self.writer = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        values = result if isinstance(result, (tuple, list)) else (result,)
        returns = function._schema.returns
        for i, value in enumerate(values):
            alias = returns[min(i, len(returns) - 1)].alias_info
            if isinstance(value, torch.Tensor) and (alias is None or alias.is_write):
                self.writer[value.untyped_storage()._cdata] = function._schema.name[6:]
        return result


class Alive(TorchDispatchMode):
    """Records the most bytes of storages alive after an operator, without those of `own`."""

    def __init__(self, own, sample):
        super().__init__()
        self.own, self.storages, self.peak, self.sums = own, {}, 0, []
        self.note(sample)

    def note(self, tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in self.own:
            self.storages[storage._cdata] = (StorageWeakRef(storage), storage.nbytes())

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for value in result if isinstance(result, (tuple, list)) else (result,):
            if isinstance(value, torch.Tensor):
                self.note(value)
        self.storages = {k: v for k, v in self.storages.items() if not v[0].expired()}
        self.sums.append((function._schema.name[6:], sum(size for _, size in self.storages.values())))
        self.peak = max(self.peak, self.sums[-1][1])
        return result


def storages(module):
    return {tensor.untyped_storage()._cdata
            for tensor in list(module.parameters()) + list(module.buffers())}


def total(outputs):
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    return sum(output.sum() for output in outputs)


def kept(module, sample):
    """Returns ATen operator -> bytes that it wrote and that autograd saves."""
    own, found, alive = storages(module), {}, []
    writers = Writers()

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            alive.append(storage)
            found[storage._cdata] = (writers.writer.get(storage._cdata, "input"), storage.nbytes())
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor), writers:
        outputs = module(sample)
    by_writer = Counter()
    for writer, size in found.values():
        by_writer[writer] += size
    del outputs
    return by_writer


def autocast_bytes(module, sample):
    """Returns the bytes that autograd saves under torch.autocast for CUDA, of fake tensors: no GPU runs."""
    meta = copy.deepcopy(module).to("meta")
    with FakeTensorMode(allow_non_fake_inputs=True), torch.device("cuda"):
        fake = meta.to_empty(device="cuda").train()
        own, found = storages(fake), {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            if storage._cdata not in own:
                found[storage._cdata] = (storage.nbytes(), tensor)
            return tensor

        torch.set_autocast_enabled("cuda", True)
        torch.autocast_increment_nesting()  # keeps the cache of weights
        with saved_tensors_hooks(pack, lambda tensor: tensor):
            fake(torch.empty(sample.shape, dtype=sample.dtype))
        torch.autocast_decrement_nesting()
        torch.clear_autocast_cache()
        torch.set_autocast_enabled("cuda", False)
    return sum(size for size, _ in found.values())


def flops(module, sample):
    with FlopCounterMode(display=False) as forward:
        loss = total(module(sample))
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    return [{str(op).removeprefix("aten."): n for op, n in mode.get_flop_counts()["Global"].items()}
            for mode in (forward, backward)]


def step(module, sample):
    """Returns what was alive, and the number of operators in forward."""
    module.zero_grad()
    with Alive(storages(module), sample) as alive:
        outputs = module(sample)
        n_forward = len(alive.sums)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        torch.autograd.backward(outputs, [torch.ones_like(output) for output in outputs])
    return alive, n_forward


def optimizers(module):
    """Returns name -> bytes of its states after a step, without the counters of steps."""
    learned = [p for p in module.parameters() if p.grad is not None]
    matrices = [p for p in learned if p.dim() == 2]
    others = [p for p in learned if p.dim() != 2]
    optim = torch.optim
    made = ([optim.SGD(learned, lr=0)], [optim.SGD(learned, lr=0, momentum=0.9)],
            [optim.Adam(learned, lr=0)], [optim.AdamW(learned, lr=0)], [optim.Adagrad(learned, lr=0)],
            [optim.RMSprop(learned, lr=0)], [optim.Adafactor(learned, lr=0)],
            [make(part, lr=0) for make, part in ((optim.Muon, matrices), (optim.AdamW, others)) if part])
    for name, parts in zip(OPTIMIZERS, made):
        for optimizer in parts:
            optimizer.step()
        yield name, sum(value.numel() * value.element_size() for optimizer in parts
                        for state in optimizer.state.values() for key, value in state.items()
                        if isinstance(value, torch.Tensor) and key != "step")


def curve(case):
    file, batch, _ = CASES[case]
    make, sample = MODELS[file]
    torch.manual_seed(0)
    with sdpa_kernel(SDPBackend.MATH):
        alive, n_forward = step(make().train(), sample(batch))
    found = {}
    for i, (operator, size) in enumerate(alive.sums):
        found.setdefault(("forward" if i < n_forward else "backward", operator), []).append(str(size))
    for phase, operators in CURVES.items():
        for operator in operators:
            if (phase, operator) in found:
                yield phase, operator, " ".join(found[phase, operator])


def measure(case):
    file, batch, frozen = CASES[case]
    make, sample = MODELS[file]
    torch.manual_seed(0)
    module = make().train()
    for name, parameter in module.named_parameters():
        parameter.requires_grad_(not any(fnmatchcase(name, pattern) for pattern in frozen))
    with sdpa_kernel(SDPBackend.MATH):
        for writer, size in sorted(kept(module, sample(batch)).items()):
            yield "saved_bytes", writer, size
        for phase, counts in zip(("forward", "backward"), flops(module, sample(batch))):
            for op, n in sorted(counts.items()):
                yield f"{phase}_flops", op, n
        yield "peak_bytes", "", step(module, sample(batch))[0].peak
        yield "autocast_saved_bytes", "", autocast_bytes(module, sample(batch))
    learned = [p for p in module.parameters() if p.requires_grad]
    yield "learned", "", sum(p.numel() for p in learned)
    yield "gradient_bytes", "", sum(p.grad.numel() * p.grad.element_size() for p in learned)
    for name, size in optimizers(module):
        yield "optimizer_bytes", name, size


def export(folder):
    for name, (make, sample) in EXPORTS.items():
        torch.manual_seed(0)
        path = Path(folder) / name
        module = make_models.without_equal_tensors(make()).train()
        with sdpa_kernel(SDPBackend.MATH):
            torch.onnx.export(
                module, (sample(2),), str(path), dynamo=False, opset_version=OPSET,
                training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                input_names=["input"], output_names=["output"],
                dynamic_axes={"input": {0: "batch"}, "output": {0: "batch"}})
        make_models.strip_file(path)
        print(path, path.stat().st_size, "bytes")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("measure", "curve", "export"):
        sys.exit(__doc__)
    if sys.argv[1] == "export":
        return export(sys.argv[2])
    with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if sys.argv[1] == "curve":
            writer.writerow(("case", "phase", "operator", "bytes", "torch"))
            writer.writerows((case, *row, torch.__version__) for case in CURVE_CASES for row in curve(case))
            return None
        writer.writerow(FIELDS)
        for case in CASES:
            for row in measure(case):
                writer.writerow((case, *row, torch.__version__))


if __name__ == "__main__":
    main()
