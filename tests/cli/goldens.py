# SPDX-License-Identifier: Apache-2.0
"""The version of the program in goldens: 0.1.0, whatever the program prints."""
import functools
import json
import re
import subprocess

VERSION = "0.1.0"


@functools.lru_cache(maxsize=None)
def version_pattern(program):
    done = subprocess.run([program, "--version", "--json"], capture_output=True, check=True, text=True)
    return re.compile(r'(costmodel |"version": ?")' + re.escape(json.loads(done.stdout)["version"]))


def with_fixed_version(program, text):
    return version_pattern(program).sub(rf"\g<1>{VERSION}", text)
