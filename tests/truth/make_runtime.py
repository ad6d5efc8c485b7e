#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs single nodes of the domains of ONNX Runtime in ONNX Runtime and writes tests/ops/runtime_cases.txt,
in the notation of tests/ops/op_harness.h. It needs the Python packages onnx and onnxruntime;
the test ops.runtime, which compares the rules with the file, needs neither.

    make_runtime.py FILE     updates the outputs and the origin of each row

A row is `op | attributes | inputs | outputs | inferred | origin`. The origin of the outputs:

    ran     dtypes and dims of the outputs of the CPU kernel
    schema  no CPU kernel, but the runtime's shape inference accepts these outputs and rejects
            others
    text    neither: from the operator's documentation. These rows are written by hand.

`inferred` is the result of the shape rule if some dims are data-dependent; empty: all dims.
"""
import argparse
import re
import sys

import numpy
import onnx
import onnxruntime
from onnx import helper

NAMES = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
         "string": 8, "bool": 9, "float16": 10, "double": 11, "uint32": 12, "uint64": 13,
         "bfloat16": 16, "float8e4m3fn": 17, "uint4": 21, "int4": 22}
OF_NUMBER = {number: name for name, number in NAMES.items()}


def words(text):
    """Splits the text at blanks outside of brackets."""
    return re.findall(r"(?:\[[^]]*\]|\{[^}]*\}|[^ ])+", text)


def tensor(word):
    """Returns (element type, dims, numpy array) of "float[2,3]={..}!"."""
    name, dims, rest = re.fullmatch(r"(\w+)\[([^]]*)\](.*)", word).groups()
    shape = [int(d) for d in dims.split(",") if d]
    dtype = helper.tensor_dtype_to_np_dtype(NAMES[name])
    array = numpy.ones(shape, dtype) if name != "string" else numpy.full(shape, "a", object)
    value = re.match(r"=\{([^}]*)\}", rest)
    if value:
        items = [v for v in value[1].split(",") if v]
        make = str if name == "string" else float if "float" in name else int
        array = numpy.array([make(v) for v in items], dtype).reshape(shape)
    elif rest.startswith("=*"):
        array = numpy.full(shape, float(rest[2:].rstrip("!")), dtype)
    return NAMES[name], shape, array


def scalar(text):
    if re.fullmatch(r"-?\d+", text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def attribute(word):
    name, value = word.split("=", 1)
    if value.startswith("["):
        return name, [scalar(v) for v in value[1:-1].split(",") if v]
    return name, scalar(value)


def model(op, attributes, inputs, outputs):
    """Returns a model of this node alone with the declared `outputs`, and its inputs."""
    domain, name, _ = re.fullmatch(r"(?:(.*):)?(\w+)-(\d+)", op).groups()
    operands = [None if w == "-" else tensor(w) for w in words(inputs)]
    names = ["" if o is None else f"i{n}" for n, o in enumerate(operands)]
    results = ["" if w == "-" else f"o{n}" for n, w in enumerate(outputs)]
    node = helper.make_node(name, names, results, domain=domain or "",
                            **dict(attribute(w) for w in words(attributes)))
    declared = [helper.make_tensor_value_info(r, *tensor(w)[:2]) if "[" in w and "?" not in w
                else onnx.ValueInfoProto(name=r) for r, w in zip(results, outputs) if r]
    taken = [helper.make_tensor_value_info(n, *o[:2]) for n, o in zip(names, operands)
             if o is not None]
    graph = helper.make_graph([node], "node", taken, declared)
    opsets = [helper.make_opsetid("", 21)] + [
        helper.make_opsetid(d, 1) for d in ("com.microsoft", "com.microsoft.nchwc")]
    feed = {n: o[2] for n, o in zip(names, operands) if o is not None}
    return helper.make_model(graph, opset_imports=opsets, ir_version=10), feed


def type_and_dims(value):
    dtype = "string" if value.dtype == object else OF_NUMBER[
        helper.np_dtype_to_tensor_dtype(value.dtype)]
    return f"{dtype}[{','.join(str(d) for d in value.shape)}]"


def run(row, outputs):
    """Returns (outputs, None), or (None, message of the runtime)."""
    made, feed = model(*row[:3], outputs)
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.strict_shape_type_inference", "1")
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(made.SerializeToString(), options,
                                               providers=["CPUExecutionProvider"])
        found = iter(session.run(None, feed))
        return [w if w == "-" else type_and_dims(next(found)) for w in outputs], None
    except Exception as error:  # pylint: disable=broad-except
        return None, str(error)


def others(outputs):
    """Returns the outputs with one dim of the first one changed."""
    first = re.sub(r"(\d+)\]", lambda m: f"{int(m[1]) + 1}]", outputs[0], count=1)
    return [first, *outputs[1:]]


def lacks_kernel(message):
    """Returns True if shape inference accepted the types, but no kernel could run."""
    return any(text in message for text in (
        "Could not find an implementation", "Failed to find kernel", "InsertedPrecisionFreeCast",
        "Exception during initialization", "past_key->DataRaw() == present_key->DataRaw()"))


def origin(row):
    """Returns (outputs, origin); exits if the runtime disagrees."""
    outputs = words(row[3])
    found, message = run(row, ["x" if w != "-" else w for w in outputs])
    if found:
        return found, "ran"
    if not lacks_kernel(message) and "type inference failed" not in message:
        sys.exit(f"{row[0]} {row[2]}: {message}")
    _, message = run(row, outputs)
    if not lacks_kernel(message):
        sys.exit(f"{row[0]} {row[2]}: {message}")
    _, message = run(row, others(outputs))
    return outputs, "text" if lacks_kernel(message) else "schema"


def fits(inferred, real):
    return all(t in ("?", r) for t, r in zip(re.split(r"[\[\],]", inferred),
                                             re.split(r"[\[\],]", real), strict=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    lines = []
    for line in open(args.file, encoding="utf-8").read().splitlines():
        if not line or line.startswith("#"):
            lines.append(line)
            continue
        row = [cell.strip() for cell in line.split("|")] + ["", "", ""]
        if args.only in row[0]:
            outputs, row[5] = origin(row)
            row[3] = " ".join(outputs)
            if row[4] and not all(map(fits, words(row[4]), outputs)):
                sys.exit(f"{row[0]}: inferred {row[4]}, is {row[3]}")
        lines.append(" | ".join(row[:6]))
    lines[1] = f"# onnxruntime {onnxruntime.__version__}, written by tests/truth/make_runtime.py"
    with open(args.file, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
