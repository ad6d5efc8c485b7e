# SPDX-License-Identifier: Apache-2.0
"""The version of the wheel, for scikit-build-core: that which the program prints."""
import pathlib
import subprocess


def dynamic_metadata(field, settings=None):
    if field != "version" or settings:
        raise ValueError(f"only the version is provided, without settings; got {field}, {settings}")
    script = pathlib.Path(__file__).resolve().parent / "version"
    return subprocess.run(["sh", script], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
