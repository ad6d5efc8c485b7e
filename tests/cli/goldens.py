# SPDX-License-Identifier: Apache-2.0
"""Runs the program, directly or through another (wine, qemu), and gives its output the version 0.1.0, that of the
goldens, whatever the program prints."""
import functools
import json
import re
import subprocess
import tempfile

VERSION = "0.1.0"


def output_of(command, **more):
    """Returns (status, standard output, standard error). Reads files, not pipes, which servers of wine keep open."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        done = subprocess.run(command, stdout=out, stderr=err, check=False, **more)
        for file in (out, err):
            file.seek(0)
        return done.returncode, *(file.read().decode(errors="backslashreplace") for file in (out, err))


@functools.lru_cache(maxsize=None)
def version_pattern(command):
    _, text, _ = output_of([*command, "--version", "--json"])
    return re.compile(r'(costmodel |"version": ?")' + re.escape(json.loads(text)["version"]))


def with_fixed_version(text, *command):
    return version_pattern(command).sub(rf"\g<1>{VERSION}", text)
