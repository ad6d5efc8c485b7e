# SPDX-License-Identifier: Apache-2.0
"""Runs the program: ``python -m onnx_costmodel MODEL.onnx``."""
import os
import sys
from typing import NoReturn

from ._program import program


def main() -> NoReturn:
    path = program()
    os.execv(path, ["costmodel", *sys.argv[1:]])


if __name__ == "__main__":
    main()
