# SPDX-License-Identifier: Apache-2.0
"""Runs the program: ``python -m onnx_costmodel MODEL.onnx``."""
import os
import subprocess
import sys
from typing import NoReturn

from ._program import program


def main() -> NoReturn:
    path = program()
    if os.name == "nt":  # execv would return to the shell at once
        sys.exit(subprocess.call([path, *sys.argv[1:]]))
    os.execv(path, ["costmodel", *sys.argv[1:]])


if __name__ == "__main__":
    main()
