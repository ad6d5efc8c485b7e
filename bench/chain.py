#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes an ONNX model that is a chain of N nodes, to see how the time of the analysis grows with N.

usage: chain.py N FILE

The nodes form blocks of ten, in modules as an exporter names them: nine Relu, then an Add of the
block's input, so that values live as long as in a residual network.
"""
import sys

import wire

BLOCK = 10
DIMS = (1, 64, 56, 56)
FLOAT = 1
IR_VERSION, OPSET = 8, 17


def value_info(name):
    dims = [wire.message(1, wire.integer(1, dim)) for dim in DIMS]
    tensor = wire.message(1, wire.integer(1, FLOAT), wire.message(2, *dims))
    return wire.text(1, name) + wire.message(2, tensor)


def node(name, op, inputs, output):
    return wire.message(1, *(wire.text(1, i) for i in inputs), wire.text(2, output),
                        wire.text(3, name), wire.text(4, op))


def chain(length):
    parts, previous, entry = [], "input", "input"
    for i in range(length):
        block, place = divmod(i, BLOCK)
        joins = place == BLOCK - 1
        scope = f"/block{block}/" + ("Add" if joins else f"relu{place}/Relu")
        output = f"v{i}"
        parts.append(node(scope, "Add" if joins else "Relu",
                          (previous, entry) if joins else (previous,), output))
        previous = output
        entry = output if joins else entry
    graph = wire.message(7, *parts, wire.text(2, "chain"), wire.message(11, value_info("input")),
                         wire.message(12, value_info(previous)))
    return (wire.integer(1, IR_VERSION) + wire.text(2, "chain.py") + graph
            + wire.message(8, wire.integer(2, OPSET)))


def write(length, target):
    with open(target, "wb") as file:
        file.write(chain(length))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(int(sys.argv[1]), sys.argv[2])
