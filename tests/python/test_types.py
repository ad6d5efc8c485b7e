#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Types of the package onnx_costmodel: mypy finds each typing error, and accepts right uses.

Skipped (exit status 77) without mypy.
"""
import os
import pathlib
import re
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent
RIGHT = """
import onnx_costmodel as cm

p = cm.profile("m.onnx", batch=3, device="h200", memory_curve=True, value={"shape": "1,3"}, times=["a", "b"])
macs: int | None = p.totals.macs
seq: int | None = p.options.dims.seq
shapes: list[list[int | None] | None] = [value.shape for value in p.modules["layer1"].outputs]
rows: int = len(cm.profile("m.onnx", batch=[1, 2]).sweep)
change = cm.diff("a.onnx", "b.onnx").totals["macs"].change
passes: bool = cm.check("m.onnx", limits=["macs <= +1%"]).ok
kv = cm.llm("m.onnx", prompt=[128, 256], device=["h200", "l40s"], parallel={"tp": 2})
text: str = p.render("markdown", depth=2)
low: int | None = cm.device_memory("m.onnx", optimizer="sgd").low_bytes
flops: int | None = cm.conventions("m.onnx")["fvcore"]
"""
WRONG = """
import onnx_costmodel as cm

p = cm.profile("m.onnx")
cm.profile("m.onnx", bath=3)
cm.profile("m.onnx", device=5)
cm.profile("m.onnx", memory_curves=True)
p.totals.mcas
p.modules["layer1"].params_
p.memory.peak_bytes
p.to_pandas("foo")
cm.check("m.onnx", limit=["macs <= 1"])
cm.sweep("m.onnx", devices=["h200"])
cm.diff("a.onnx", "b.onnx").totals.macs.chnge
"""


def errors(text):
    """Returns the lines that mypy --strict reports, without those of the package's optional imports."""
    from mypy import api
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "use.py"
        path.write_text(text, encoding="utf-8")
        os.environ["MYPYPATH"] = str(SOURCE / "python")
        output, _, _ = api.run(["--strict", "--ignore-missing-imports", "--python-version", "3.11", "--cache-dir", folder,
                                str(path)])
    found = re.findall(r"use\.py:(\d+): error: (.*)", output)
    others = re.findall(r".*onnx_costmodel/.*: error: .*", output)
    return sorted({int(line) for line, _ in found}), others, output


class Types(unittest.TestCase):
    def test_right_uses_are_accepted(self):
        self.assertEqual(errors(RIGHT)[:2], ([], []), errors(RIGHT)[2])

    def test_each_typing_error_is_found(self):
        lines, _, output = errors(WRONG)
        wrong = [number for number, line in enumerate(WRONG.splitlines(), 1) if line and not line.startswith(("import", "p = "))]
        self.assertEqual(len(wrong), 10)
        self.assertEqual(lines, wrong, output)


if __name__ == "__main__":
    try:
        import mypy  # noqa: F401
    except ImportError as fault:
        print(f"skipped: {fault}")
        sys.exit(77)
    sys.argv = [argument for argument in sys.argv if not argument.startswith("--costmodel")][:1]
    unittest.main()
