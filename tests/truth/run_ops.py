#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Compares every operator row with ONNX's own schemas, at every version: those of the installed
`onnx` package and those of onnx_schemas.json. Faults are: an operator or version that no row describes
(a row may describe several versions with the same signature); a row whose `since` is not a version; a
difference in the number of operands or results; and a difference in the names, kinds, defaults of
attributes, or in whether they are required.

Rows of ONNX Runtime's own domains are compared with its schemas (runtime_schemas.json) in the same way.

    run_ops.py --costmodel PROGRAM [--only PATTERN]
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import json
import struct
import subprocess
from collections import defaultdict
from fnmatch import fnmatchcase

import schemas

OF_ONNX = ("ai.onnx", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")

# In the default domain, but produced by ONNX Runtime only.
NOT_OF_ONNX = {("ai.onnx", "SimplifiedLayerNormalization")}

# (operator, the version of ONNX) -> the reason for a difference
DIFFERENCES = {
}


def single(value):
    """Returns a float as ONNX stores it, in 32 bits."""
    return struct.unpack("f", struct.pack("f", value))[0] if isinstance(value, float) else value


def same_default(have, want):
    if isinstance(have, (int, float)) and isinstance(want, (int, float)):
        return single(float(have)) == single(float(want))
    return have == want


def attribute_faults(row, schema):
    have = {a["name"]: a for a in row["attributes"]}
    want = {a["name"]: a for a in schema["attributes"]}
    for name in sorted(want.keys() - have.keys()):
        yield f"attribute {name} is not in the row"
    for name in sorted(have.keys() - want.keys()):
        yield f"attribute {name} is in the row alone"
    for name in sorted(have.keys() & want.keys()):
        for key in ("kind", "required"):
            if have[name].get(key) != want[name].get(key):
                yield f"attribute {name}: {key} {have[name].get(key)}, ONNX {want[name].get(key)}"
        if not same_default(have[name].get("default"), want[name].get("default")):
            yield (f"attribute {name}: default {have[name].get('default')!r}, "
                   f"ONNX {want[name].get('default')!r}")


def signature_faults(row, schema):
    for key in ("inputs", "outputs"):
        if row[key] != schema[key]:
            yield f"{key} {row[key]}, ONNX {schema[key]}"
    yield from attribute_faults(row, schema)


def holding(rows, since):
    return max((r for r in rows if r["since"] <= since), key=lambda r: r["since"], default=None)


def operator_faults(rows, versions):
    """Yields (version, fault) of one operator."""
    if not rows:
        yield versions[0]["since"], "no row describes it"
        return
    known = {schema["since"] for schema in versions}
    for row in rows:
        if row["since"] not in known:
            yield row["since"], "a row begins where no version does"
    for schema in versions:
        row = holding(rows, schema["since"])
        # A deprecated version only removes the operator, unless a row describes it.
        if schema.get("deprecated") and (not row or row["since"] != schema["since"]):
            continue
        faults = signature_faults(row, schema) if row else ["no row describes it"]
        yield from ((schema["since"], fault) for fault in faults)


def compare(origin, wanted, rows, only):
    by_operator = defaultdict(list)
    for schema in wanted:
        if fnmatchcase(schema["operator"], only):
            by_operator[schema["domain"], schema["operator"]].append(schema)
    n_faults, needed = 0, set()
    for key, versions in sorted(by_operator.items()):
        for since, fault in operator_faults(rows[key], versions):
            if (key[1], since) in DIFFERENCES:
                needed.add((key[1], since))
                continue
            n_faults += 1
            print(f"    {key[0]} {key[1]}-{since}: {fault}")
    for key in sorted(rows.keys() - by_operator.keys() - NOT_OF_ONNX):
        if key[0] in OF_ONNX and fnmatchcase(key[1], only):
            n_faults += 1
            print(f"    {key[0]} {key[1]}: ONNX has no such operator")
    for key in DIFFERENCES.keys() - needed if only == "*" else ():
        n_faults += 1
        print(f"    {key[0]}-{key[1]}: the difference is not there any more")
    n_versions = sum(len(v) for v in by_operator.values())
    print(f"{origin}: {len(by_operator)} operators in {n_versions} versions, {n_faults} faults")
    return n_faults


def compare_runtime(origin, wanted, rows, only):
    schemas_of = {(s["domain"], s["operator"]): s for s in wanted}
    domains = {domain for domain, _ in schemas_of}
    described = {key: versions[0] for key, versions in rows.items() if key[0] in domains}
    n_faults = 0
    for key in sorted(schemas_of.keys() | described.keys()):
        if not fnmatchcase(key[1], only):
            continue
        if key not in schemas_of or key not in described:
            faults = ["no row describes it" if key in schemas_of else "it has no such operator"]
        else:
            faults = signature_faults(described[key], schemas_of[key])
        for fault in faults:
            n_faults += 1
            print(f"    {key[0]} {key[1]}: {fault}")
    print(f"{origin}: {len(described)} of {len(wanted)} operators, {n_faults} faults")
    return n_faults


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--only", default="*", help="pattern of operators")
    args = parser.parse_args()
    out = subprocess.run([args.costmodel, "ops", "--format", "json"], check=True,
                         capture_output=True, text=True).stdout
    rows = defaultdict(list)
    for row in json.loads(out)["rows"]:
        rows[row["domain"], row["operator"]].append(row)
    version, wanted = schemas.committed()
    n_faults = compare(f"onnx_schemas.json (onnx {version})", wanted, rows, args.only)
    found = schemas.installed()
    if found is None:
        print("the Python package onnx is not installed: the committed schemas alone")
    elif found[1] != wanted:
        n_faults += compare(f"installed onnx {found[0]}", found[1], rows, args.only)
    version, wanted = schemas.runtime()
    n_faults += compare_runtime(f"runtime_schemas.json (onnxruntime {version})", wanted, rows,
                                args.only)
    return 1 if n_faults else 0


if __name__ == "__main__":
    sys.exit(main())
