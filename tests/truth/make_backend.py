#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Writes onnx_backend.tar.xz: the backend tests of the installed `onnx` package, each model with the
contents of its small inputs and the dtypes and dims of its recorded outputs. The output types that
the files declare are removed, so that the program has to infer them.

    make_backend.py FOLDER      writes FOLDER/onnx_backend.tar.xz

cases.json has an object per line: "model"; "opsets"; "operators" of the graph; "inputs": the text of
--value for each input of at most MOST elements; "shapes": the text of --input for each input with free
dims; "outputs" by name: {"dtype", "dims"}, or {"sequence": [the same for each element]}, or
{"optional": the same for its element, or null}.
"""
import argparse
import io
import json
import pathlib
import tarfile

import numpy
import onnx
import onnx.backend.test
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases

MOST = 64
SUITES = ("pytorch-converted", "pytorch-operator", "simple")


def dtype_name(array):
    if array.dtype == object or array.dtype.kind in "US":
        return "string"
    number = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    return onnx.TensorProto.DataType.Name(number).lower()


def describe(value):
    """Returns the entry in "outputs" of a recorded result."""
    if value is None:
        return {"optional": None}
    if isinstance(value, onnx.TensorProto):
        kind = onnx.TensorProto.DataType.Name(value.data_type).lower()
        return {"dtype": kind, "dims": list(value.dims)}
    if isinstance(value, (list, tuple)):
        return {"sequence": [describe(element) for element in value]}
    array = numpy.asarray(value)
    return {"dtype": dtype_name(array), "dims": list(array.shape)}


def escape(text):
    return text.replace("\\", "\\\\").replace(",", "\\,")


def value_text(value):
    """Returns the text for --value, or None if the value has none."""
    if value is None or isinstance(value, (list, tuple)):
        return None
    if isinstance(value, onnx.TensorProto):
        value = numpy_helper.to_array(value)
    array = numpy.asarray(value)
    kind = dtype_name(array)
    if array.size > MOST:
        return None
    if kind == "string":
        words = [w.decode() if isinstance(w, bytes) else str(w) for w in array.flatten()]
        return ",".join(escape(w) for w in words)
    if kind == "bool":
        return ",".join("true" if v else "false" for v in array.flatten())
    if kind.startswith(("int", "uint")):
        return ",".join(str(int(v)) for v in array.flatten())
    if kind in ("float", "double", "float16", "bfloat16"):
        return ",".join(repr(float(v)) for v in array.flatten())
    return None


def proto_value(path, type_proto):
    data = path.read_bytes()
    kind = type_proto.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if kind == "optional_type":
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(onnx.TensorProto.FromString(data))


def proper_inputs(model):
    constants = {c.name for c in model.graph.initializer}
    return [i for i in model.graph.input if i.name not in constants]


def package_cases():
    """Yields (suite, name, model, inputs by name, outputs by name) of all tests."""
    for case in collect_testcases(None):
        inputs, outputs = case.data_sets[0]
        # inputs without data are not in the graph's list of inputs
        names = [i.name for i in case.model.graph.input]
        yield ("node", case.name, case.model, dict(zip(names, inputs)),
               dict(zip([o.name for o in case.model.graph.output], outputs)))
    folder = pathlib.Path(onnx.backend.test.__file__).parent / "data"
    for suite in SUITES:
        for place in sorted((folder / suite).iterdir()):
            model = onnx.load(place / "model.onnx")
            data = place / "test_data_set_0"
            read = lambda what, infos: {
                info.name: proto_value(data / f"{what}_{i}.pb", info.type)
                for i, info in enumerate(infos) if (data / f"{what}_{i}.pb").exists()}
            yield (suite, place.name, model, read("input", proper_inputs(model)),
                   read("output", model.graph.output))


def silence(graph):
    """Removes the declared types of the outputs."""
    del graph.value_info[:]
    for output in graph.output:
        output.ClearField("type")


def is_free(info):
    """Returns True if the file leaves a dim of the tensor, or its rank, to the caller."""
    if info.type.WhichOneof("value") != "tensor_type":
        return False
    tensor = info.type.tensor_type
    return not tensor.HasField("shape") or any(
        d.WhichOneof("value") != "dim_value" for d in tensor.shape.dim)


def shape_text(value):
    dims = value.dims if isinstance(value, onnx.TensorProto) else numpy.asarray(value).shape
    return "x".join(str(d) for d in dims)


def case_row(path, model, inputs, outputs):
    tensors = {i.name for i in proper_inputs(model)
               if i.type.WhichOneof("value") == "tensor_type"}
    values = {name: value_text(value) for name, value in inputs.items() if name in tensors}
    return {
        "model": path,
        "opsets": {o.domain or "ai.onnx": o.version for o in model.opset_import},
        "operators": sorted({n.op_type for n in model.graph.node}),
        "inputs": {name: text for name, text in values.items() if text is not None},
        "shapes": {i.name: shape_text(inputs[i.name]) for i in proper_inputs(model)
                   if is_free(i) and i.name in inputs},
        "outputs": {name: describe(value) for name, value in outputs.items() if name},
    }


def add_file(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def make(path):
    """Writes the archive; returns the number of models."""
    rows = []
    with tarfile.open(path, "w:xz") as archive:
        for suite, name, model, inputs, outputs in package_cases():
            row = case_row(f"{suite}/{name}.onnx", model, inputs, outputs)
            silence(model.graph)
            add_file(archive, row["model"], model.SerializeToString())
            rows.append(row)
        lines = ",\n".join(json.dumps(row) for row in rows)
        text = (f'{{"onnx": "{onnx.__version__}", "license": "Apache-2.0", "cases": [\n'
                f'{lines}\n]}}\n')
        add_file(archive, "cases.json", text.encode())
    return len(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    print(f"{make(folder / 'onnx_backend.tar.xz')} models of onnx {onnx.__version__}")


if __name__ == "__main__":
    main()
