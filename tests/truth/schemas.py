#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The signatures of all operators that ONNX defines, at every version, as plain data:

    {"domain", "operator", "since", "inputs": [least, most or null], "outputs": the same,
     "attributes": [{"name", "kind", "required", "default"}], "deprecated"}

`installed()` takes them from the installed `onnx` package, `committed()` from onnx_schemas.json,
which this script writes (only then it needs the package). `runtime()` returns those of the domains
that ONNX Runtime defines, from runtime_schemas.json:

    schemas.py > onnx_schemas.json
    schemas.py --runtime > runtime_schemas.json
"""
import json
import pathlib
import sys

RUNTIME_DOMAINS = ("com.microsoft", "com.microsoft.nchwc")
RUNTIME = pathlib.Path(__file__).resolve().parent / "runtime_schemas.json"
FILE = pathlib.Path(__file__).resolve().parent / "onnx_schemas.json"
VARIADIC = 2**31 - 1
# Kinds of attributes that the program stores by name only.
OTHER = ("sparse_tensor", "sparse_tensors", "type_proto", "type_protos")


def _count(number):
    return None if number == VARIADIC else number


def _default(attribute):
    """Returns the default if it is a single value, else None."""
    value = attribute.default_value
    kind = attribute.type.name
    if kind not in ("INT", "FLOAT", "STRING") or value.type == 0:
        return None
    return {"INT": value.i, "FLOAT": value.f, "STRING": value.s.decode()}[kind]


def _attribute(attribute):
    kind = attribute.type.name.lower()
    row = {"name": attribute.name, "kind": "other" if kind in OTHER else kind}
    if attribute.required:
        row["required"] = True
    if _default(attribute) is not None:
        row["default"] = _default(attribute)
    return row


def _schema(schema):
    row = {
        "domain": schema.domain or "ai.onnx", "operator": schema.name,
        "since": schema.since_version,
        "inputs": [schema.min_input, _count(schema.max_input)],
        "outputs": [schema.min_output, _count(schema.max_output)],
        "attributes": [_attribute(schema.attributes[name]) for name in sorted(schema.attributes)],
    }
    if schema.deprecated:
        row["deprecated"] = True
    return row


def installed():
    """Returns (version of the package, signatures), or None if the package is not installed."""
    try:
        import onnx
        import onnx.defs
    except ImportError:
        return None
    rows = [_schema(s) for s in onnx.defs.get_all_schemas_with_history()]
    return onnx.__version__, sorted(rows, key=lambda r: (r["domain"], r["operator"], r["since"]))


def committed():
    data = json.loads(FILE.read_text())
    return data["onnx"], data["schemas"]


def runtime():
    data = json.loads(RUNTIME.read_text())
    return data["onnxruntime"], data["schemas"]


def _runtime_default(attribute):
    import onnx
    value = onnx.AttributeProto.FromString(attribute._default_value)
    return {value.INT: value.i, value.FLOAT: value.f, value.STRING: value.s.decode()}.get(
        value.type)


def _runtime_attribute(name, attribute):
    row = {"name": name, "kind": str(attribute.type).rsplit(".", maxsplit=1)[-1].lower()}
    if attribute.required:
        row["required"] = True
    elif _runtime_default(attribute) is not None:
        row["default"] = _runtime_default(attribute)
    return row


def installed_runtime():
    """Returns (version of the package, signatures)."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state
    rows = [{
        "domain": schema.domain, "operator": schema.name, "since": schema.since_version,
        "inputs": [schema.min_input, _count(schema.max_input)],
        "outputs": [schema.min_output, _count(schema.max_output)],
        "attributes": [_runtime_attribute(*item) for item in sorted(schema.attributes.items())],
    } for schema in onnxruntime_pybind11_state.get_all_operator_schema()
        if schema.domain in RUNTIME_DOMAINS]
    return onnxruntime.__version__, sorted(
        rows, key=lambda r: (r["domain"], r["operator"], r["since"]))


def write(package, license_name, found):
    version, rows = found
    lines = ",\n".join(json.dumps(row) for row in rows)
    print(f'{{"{package}": "{version}", "license": "{license_name}", "schemas": [\n{lines}\n]}}')


def main():
    if sys.argv[1:] == ["--runtime"]:
        return write("onnxruntime", "MIT", installed_runtime())
    found = installed()
    if found is None:
        sys.exit("schemas.py: requires the Python package onnx")
    return write("onnx", "Apache-2.0", found)


if __name__ == "__main__":
    main()
