#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Tests `--annotate` on the models of the repository: without its entries the annotated file equals the
original, annotating twice changes nothing, both files have the same profile, and the entries of nodes
add up to those of the model. If the onnx package is installed (otherwise this part is skipped with a
note), its checker must accept the file, and ONNX Runtime must run it if the file contains its weights.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PREFIX = "costmodel."
SUMMED = ("macs", "int_macs", "flops", "int_ops", "bytes_read", "bytes_written", "activation_bytes")
FREE = {"bert_mini": ["seq=16"], "gpt_mini_tied": ["seq=16"], "lstm": ["seq=16"],
        "llama_3_1_8b": ["sequence_length=1", "past_sequence_length=7", "total_sequence_length=8"],
        "transformer_encoder": ["seq=16"], "unet": ["h=64", "w=64"]}
FUNCTIONS = "pointnet_functions"
BYTES = 2
# kind of message -> {field: kind of the message in it}
NODES_IN = {"model": {7: "graph", 25: "function"}, "graph": {1: "node"}, "node": {5: "attribute"},
            "attribute": {6: "graph", 11: "graph"}, "function": {7: "node", 11: "attribute"}}
ENTRIES_IN = {"model": 14, "node": 9}


def read_varint(data, at):
    number = shift = 0
    while True:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 128:
            return number, at


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def fields(data):
    """Yields (number, contents or None, the field's bytes)."""
    at = 0
    while at < len(data):
        start, body = at, None
        key, at = read_varint(data, at)
        if key & 7 == BYTES:
            length, at = read_varint(data, at)
            body = data[at:at + length]
            at += length
        elif key & 7 == 0:
            _, at = read_varint(data, at)
        else:
            at += {1: 8, 5: 4}[key & 7]
        yield key >> 3, body, data[start:at]


def entry_of(body):
    found = {number: text.decode() for number, text, _ in fields(body)}
    return found.get(1, ""), found.get(2, "")


def strip(kind, data, found):
    """Returns the message without our entries; appends them to `found` as (kind, {key: value})."""
    out, ours = [], {}
    for number, body, whole in fields(data):
        child = NODES_IN.get(kind, {}).get(number)
        if child:
            body = strip(child, body, found)
            whole = varint(number << 3 | BYTES) + varint(len(body)) + body
        if number == ENTRIES_IN.get(kind) and entry_of(body)[0].startswith(PREFIX):
            key, value = entry_of(body)
            ours[key[len(PREFIX):]] = value
            continue
        out.append(whole)
    if kind in ENTRIES_IN:
        found.append((kind, ours))
    return b"".join(out)


def profile(costmodel, model, extra):
    run = subprocess.run([costmodel, model, "--format", "json", *extra], capture_output=True,
                         text=True, timeout=300)
    if run.returncode not in (0, 3):
        raise RuntimeError(run.stderr)
    return run.stdout


def check_sums(name, report, found, failures):
    """Checks the totals of the model, and that nodes add up to them unless the file has functions."""
    model = [entries for kind, entries in found if kind == "model"][0]
    nodes = [entries for kind, entries in found if kind == "node"]
    for key in (*SUMMED, "params", "buffers", "weight_bytes", "peak_activation_bytes"):
        value = report["totals"].get(key, report["memory"].get(key))
        if model.get(key) != str(value):
            failures.append(f"{name}: the model has {key} {model.get(key)}, expected {value}")
    if name == FUNCTIONS or any("calls" in entries for entries in nodes):
        return
    for key in SUMMED:
        total = sum(int(entries[key]) for entries in nodes
                    if entries and entries[key] != "unknown")
        if total != report["totals"][key]:
            failures.append(f"{name}: nodes sum to {key} {total}, want {report['totals'][key]}")


def check(costmodel, path, folder, failures):
    name = path.stem
    extra = [part for dim in FREE.get(name, []) for part in ("--dim", dim)]
    once, twice = folder / "once.onnx", folder / "twice.onnx"
    first = profile(costmodel, path, [*extra, "--annotate", once])
    again = profile(costmodel, once, [*extra, "--annotate", twice])
    if once.read_bytes() != twice.read_bytes():
        failures.append(f"{name}: annotated twice it is another file")
    report = json.loads(first)
    other = json.loads(again)
    report["model"].pop("path"), other["model"].pop("path")
    for root in (report["modules"][0], other["modules"][0]):  # it is named after the file
        root.pop("name"), root.pop("class")
    if report != other:
        failures.append(f"{name}: annotated it has another profile")
    found, none = [], []
    stripped = strip("model", once.read_bytes(), found)
    if stripped != strip("model", path.read_bytes(), none):
        failures.append(f"{name}: without its entries it is not the original")
    check_sums(name, report, found, failures)
    return once


def check_onnx(onnx, path, annotated, failures):
    """Returns True if ONNX Runtime has run the file, too."""
    before = onnx.load(path, load_external_data=False)
    after = onnx.load(annotated, load_external_data=False)
    for tensor, other in zip(before.graph.initializer, after.graph.initializer, strict=True):
        if tensor.SerializeToString() != other.SerializeToString():
            failures.append(f"{path.stem}: weight {tensor.name} has changed")
    if any(tensor.data_location == onnx.TensorProto.EXTERNAL for tensor in after.graph.initializer):
        return False
    try:
        onnx.checker.check_model(before)
    except onnx.checker.ValidationError:
        return False  # operators of ONNX Runtime's own, before as after
    onnx.checker.check_model(after)
    try:
        import onnxruntime
    except ImportError:
        return False
    onnxruntime.InferenceSession(annotated, providers=["CPUExecutionProvider"])
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--costmodel", required=True)
    args = parser.parse_args()
    try:
        import onnx
    except ImportError:
        onnx = None
    failures, ran = [], 0
    paths = sorted(ROOT.glob("models/**/*.onnx"))
    with tempfile.TemporaryDirectory() as folder:
        for path in paths:
            annotated = check(args.costmodel, path, Path(folder), failures)
            if onnx:
                ran += check_onnx(onnx, path, annotated, failures)
    print("\n".join(failures))
    print(f"{len(paths)} models, {len(failures)} failures; " +
          (f"onnx {onnx.__version__} took them, ONNX Runtime ran {ran}" if onnx
           else "not checked by onnx, which is not installed"))
    return 1 if failures or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
