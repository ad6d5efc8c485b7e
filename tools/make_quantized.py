#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Makes models/quantized/: one transformer from PyTorch's exporter, and the same rewritten by ONNX
Runtime's optimizers and quantizers.

usage: make_quantized.py FOLDER

encoder.onnx            torch.onnx.export(..., dynamo=True), opset 18
encoder_optimized.onnx  onnxruntime.transformers.optimizer: SkipLayerNormalization, BiasGelu
encoder_runtime.onnx    the extended optimizations of a session: FusedMatMul, Gemm
encoder_dynamic.onnx    quantize_dynamic: MatMulInteger
encoder_dynamic_runtime.onnx  the same after the extended optimizations: DynamicQuantizeMatMul
encoder_static.onnx     quantize_static: QuantizeLinear and DequantizeLinear around float nodes
encoder_qlinear.onnx    the same as operators on integers: QLinearMatMul, QGemm, QLinearAdd
encoder_int4.onnx       MatMulNBitsQuantizer, blocks of 32 with zero points: MatMulNBits

Needs PyTorch 2.15, onnx, onnxscript and onnxruntime 1.31; no test runs this script. Weights are
random; metadata of the exporter is removed.
"""
import argparse
import logging
import pathlib
import warnings

import numpy
import onnx
import onnxruntime
import torch
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_dynamic, quantize_static)
from onnxruntime.quantization.matmul_nbits_quantizer import MatMulNBitsQuantizer
from onnxruntime.transformers import optimizer

LENGTH, WIDTH, HEADS, INNER = 16, 32, 4, 64


class Samples(CalibrationDataReader):
    """One calibration sample; the ranges do not matter."""

    def __init__(self, name):
        sample = numpy.random.default_rng(0).random((1, LENGTH, WIDTH), dtype=numpy.float32)
        self.left = iter([{name: sample}])

    def get_next(self):
        return next(self.left, None)


def export(path):
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, batch_first=True,
                                             activation="gelu")
    model = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False).eval()
    torch.onnx.export(model, (torch.randn(1, LENGTH, WIDTH),), path, opset_version=18,
                      dynamo=True, external_data=False)
    without_notes(path)


def without_notes(path):
    model = onnx.load(path)
    for node in model.graph.node:
        del node.metadata_props[:]
        node.doc_string = ""
    del model.graph.metadata_props[:]
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output,
                  *model.graph.initializer]:
        del value.metadata_props[:]
    onnx.save(model, path)


def run_optimizations(path, to):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(to)
    onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    plain = str(folder / "encoder.onnx")
    export(plain)
    name = onnx.load(plain).graph.input[0].name
    optimized = optimizer.optimize_model(plain, model_type="bert", num_heads=HEADS,
                                         hidden_size=WIDTH, opt_level=0)
    optimized.save_model_to_file(str(folder / "encoder_optimized.onnx"))
    run_optimizations(plain, folder / "encoder_runtime.onnx")
    dynamic = str(folder / "encoder_dynamic.onnx")
    quantize_dynamic(plain, dynamic, weight_type=QuantType.QInt8)
    run_optimizations(dynamic, folder / "encoder_dynamic_runtime.onnx")
    for file, form in (("encoder_static.onnx", QuantFormat.QDQ),
                       ("encoder_qlinear.onnx", QuantFormat.QOperator)):
        quantize_static(plain, str(folder / file), Samples(name), quant_format=form)
    quantizer = MatMulNBitsQuantizer(onnx.load(plain), block_size=32, is_symmetric=False)
    quantizer.process()
    onnx.save(quantizer.model.model, folder / "encoder_int4.onnx")


if __name__ == "__main__":
    main()
