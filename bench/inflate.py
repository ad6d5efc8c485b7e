#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Adds random weights to a model without weights, with the lengths recorded in the file.

usage: inflate.py MODEL FULL

Every tensor with external data becomes a tensor with `raw_data` in the file itself. The file then
has the size and structure of a complete model, for timing readers.
"""
import random
import sys

import wire

# message -> {field: message of the field}, along the paths to the tensors of a ModelProto
BELOW = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph"},
}
RAW_DATA, EXTERNAL_DATA, DATA_LOCATION = 9, 13, 14
BLOCK = random.Random(0).randbytes(1 << 20)


def payload(length):
    """Returns `length` bytes that are finite floats in every dtype: no byte is 0xff or 0x7f."""
    block = BLOCK.replace(b"\xff", b"\x3f").replace(b"\x7f", b"\x3f")
    return (block * (length // len(block) + 1))[:length]


def stated_length(entries):
    for entry in entries:
        pair = {field: body for field, _, body, _ in wire.fields(entry)}
        if pair.get(1) == b"length":
            return int(pair[2])
    return None


def fill(tensor):
    parts = list(wire.fields(tensor))
    entries = [body for field, _, body, _ in parts if field == EXTERNAL_DATA]
    length = stated_length(entries)
    if length is None:
        return tensor
    kept = [whole for field, _, _, whole in parts if field not in (EXTERNAL_DATA, DATA_LOCATION)]
    return b"".join(kept) + wire.message(RAW_DATA, payload(length))


def rewrite(data, kind):
    if kind == "tensor":
        return fill(data)
    out = []
    for field, wire_type, body, whole in wire.fields(data):
        below = BELOW[kind].get(field) if wire_type == wire.BYTES else None
        out.append(wire.message(field, rewrite(body, below)) if below else whole)
    return b"".join(out)


def inflate(source, target):
    with open(source, "rb") as file:
        data = rewrite(file.read(), "model")
    with open(target, "wb") as file:
        file.write(data)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    inflate(sys.argv[1], sys.argv[2])
