#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of unknown operators, for --op-costs, with the package `onnx`.

    make_custom_ops.py FILE.onnx

Two images go through the same vendor convolution; each pixel of one result is correlated with the 25
pixels around it in the other. Weights are external data in a file that does not exist.
"""
import sys

import onnx
from onnx import TensorProto, helper


def weight(name, dims):
    tensor = TensorProto(name=name, dims=dims, data_type=TensorProto.FLOAT,
                         data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="weights.bin")
    return tensor


def image(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 16, 32, 32])


def convolution(image_name, output):
    return helper.make_node("FancyConv", [image_name, "conv.weight", "conv.bias"], [output],
                            name=f"/conv/{output}", domain="com.acme", strides=[2, 2],
                            pads=[1, 1, 1, 1])


def make():
    nodes = [
        convolution("now", "a"),
        convolution("before", "b"),
        helper.make_node("Correlation", ["a", "b"], ["c"], name="/flow/Correlation",
                         domain="com.acme", radius=2),
        helper.make_node("Relu", ["c"], ["flow"], name="/flow/act/Relu"),
    ]
    output = helper.make_tensor_value_info("flow", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "custom", [image("now"), image("before")], [output],
                              [weight("conv.weight", [32, 16, 3, 3]), weight("conv.bias", [32])])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


if __name__ == "__main__":
    onnx.save(make(), sys.argv[1])
