# SPDX-License-Identifier: Apache-2.0
"""The start of the tests in this folder: the package, and the modules that a test needs."""
import argparse
import importlib
import os
import pathlib
import sys
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77


def take_program():
    """Sets $COSTMODEL_PROGRAM from --costmodel PROGRAM, with the package of this tree; returns the other arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--costmodel")
    options, rest = parser.parse_known_args()
    if options.costmodel:
        os.environ["COSTMODEL_PROGRAM"] = str(pathlib.Path(options.costmodel).resolve())
        sys.path.insert(0, str(SOURCE / "python"))
    return rest


def run(names, rest):
    """Runs the tests of the main module; `names` are its globals, which receive `cm`. Returns the exit status."""
    names["cm"] = importlib.import_module("onnx_costmodel")
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


def run_with_torch(names):
    """As `run`, with torch and what its exporter requires; returns SKIPPED without them."""
    rest = take_program()
    try:
        for name in ("torch", "onnxscript", "onnx"):
            names[name] = importlib.import_module(name)
    except ImportError as fault:
        print(f"skipped: {fault}")
        return SKIPPED
    return run(names, rest)
