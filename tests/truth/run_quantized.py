#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks one transformer layer that was exported, optimized and quantized in eight ways (models/quantized/).
Every file must have the MACs, FLOPs and parameters that were counted by hand, except for DIFFERENCES and
MORE_PARAMS, and the integer MACs of INTEGERS. A row that is no longer needed is a fault.

`costmodel quantize` must predict the bytes of SIZES from encoder.onnx within 0.1 %.

    run_quantized.py --costmodel PROGRAM
"""
import argparse
import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "models" / "quantized"
TOKENS, WIDTH, HEADS, INNER = 16, 32, 4, 64

# Projections of queries, keys and values, output projection; two layers of the MLP;
# each head's scores and their product with the values.
MACS = (TOKENS * WIDTH * 3 * WIDTH + TOKENS * WIDTH * WIDTH + 2 * TOKENS * WIDTH * INNER
        + 2 * TOKENS * TOKENS * WIDTH)
# 2 per MAC, 1 per score for softmax, 5 per element of two LayerNorms, 1 per element of the GELU.
FLOPS = 2 * MACS + HEADS * TOKENS * TOKENS + 2 * 5 * TOKENS * WIDTH + TOKENS * INNER

# Weights and biases of the projections and the MLP, without the bias of the output projection,
# which is 0 and omitted; and one scale and shift for both LayerNorms, which are equal and merged.
PARAMS = 4 * WIDTH * WIDTH + 2 * WIDTH * INNER + 3 * WIDTH + INNER + WIDTH + 2 * WIDTH

# Quantized weights make their products integer; quantized activations make those of attention
# integer.
WEIGHED = MACS - 2 * TOKENS * TOKENS * WIDTH
INTEGERS = {
    "encoder.onnx": 0,
    "encoder_optimized.onnx": 0,
    "encoder_runtime.onnx": 0,
    "encoder_dynamic.onnx": WEIGHED,
    "encoder_dynamic_runtime.onnx": WEIGHED,
    "encoder_static.onnx": MACS,
    "encoder_qlinear.onnx": MACS,
    "encoder_int4.onnx": 0,
}

# file -> formats: ONNX Runtime leaves the Gemm of the output projection as it is. quantize_dynamic has one
# scale per weight.
SIZES = {
    "encoder_int4.onnx": ("--quantize=int4:g32", "--quantize=*out_proj*=fp32"),
    "encoder_dynamic.onnx": ("--quantize=int8:t",),
}

# file -> (additional FLOPs, reason)
GELU = "the parts of the GELU are quantized one by one, which is no GELU any more"
DIFFERENCES = {
    "encoder_static.onnx": (-TOKENS * INNER, GELU),
    "encoder_qlinear.onnx": (-TOKENS * INNER, GELU),
}


MORE_PARAMS = {
    "encoder_static.onnx": (WIDTH, "the merged shift was quantized twice, by the scale of each use"),
}


def totals(program, path):
    out = subprocess.run([program, str(path), "--format", "json"], check=True,
                         capture_output=True, text=True).stdout
    report = json.loads(out)
    return report["totals"], report["coverage"]


def sizes(program, path, *options):
    out = subprocess.run([program, "quantize", str(path), "--format", "json", *options], check=True,
                         capture_output=True, text=True).stdout
    return json.loads(out)["llm"]


def faults(program, path):
    if path.name in SIZES:
        stored = sizes(program, path)["stored_bytes"]
        predicted = sizes(program, FOLDER / "encoder.onnx", *SIZES[path.name])["quantized_bytes"]
        if abs(predicted / stored - 1) > 0.001:
            yield f"{predicted} bytes predicted, {stored} stored"
    found, coverage = totals(program, path)
    more = DIFFERENCES.get(path.name, (0, ""))[0]
    if coverage["unknown_ops"] or coverage["unknown_shapes"]:
        yield f"not all is known: {coverage}"
    params = PARAMS + MORE_PARAMS.get(path.name, (0, ""))[0]
    if found["params"] != params:
        yield f"{found['params']} params, {params} on paper"
    if found["macs"] != MACS:
        yield f"{found['macs']} MACs, {MACS} on paper"
    if found["int_macs"] != INTEGERS[path.name]:
        yield f"{found['int_macs']} MACs of integers, {INTEGERS[path.name]} on paper"
    if found["int_ops"] != 2 * INTEGERS[path.name]:
        yield f"{found['int_ops']} operations on integers, 2 a MAC on paper"
    if found["flops"] != FLOPS + more:
        yield f"{found['flops']} FLOPs, {FLOPS + more} on paper"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costmodel", required=True)
    program = parser.parse_args().costmodel
    paths = sorted(FOLDER.glob("*.onnx"))
    n_faults = 0
    for path in paths:
        wrong = list(faults(program, path))
        n_faults += len(wrong)
        why = "; ".join(table[path.name][1] for table in (DIFFERENCES, MORE_PARAMS)
                        if path.name in table)
        print(f"{path.name}: {'; '.join(wrong) or 'pass'}{f' ({why})' if why else ''}")
    if [path.name for path in paths] != sorted(INTEGERS):
        print(f"files are {[path.name for path in paths]}, {sorted(INTEGERS)} wanted")
        n_faults += 1
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
