# SPDX-License-Identifier: Apache-2.0
"""Static cost analysis of ONNX models: parameters, MACs, FLOPs, memory and modelled times.

    import onnx_costmodel

    p = onnx_costmodel.profile("resnet50.onnx", batch=32, device="h200")
    p.totals.macs                     # 130853896192
    p.modules["layer1.0"].macs
    p.to_pandas("modules")

The package runs the program ``costmodel``, which it contains, and reads its JSON report.
"""
from ._api import check, diff, llm, profile, version
from ._export import export
from ._program import CostmodelError, CostmodelWarning
from ._records import (Coverage, DeviceMemory, Diagnostic, Diff, Llm, LlmCapacity, LlmFigures,
                       LlmPhase, LlmRow, LlmSweep, Memory, Metric, Model, Module, Node, Operator,
                       Options, Profile, Record, Rows, Sweep, SweepRow, Totals, Training, Value,
                       Verdict)

__all__ = [
    "CostmodelError", "CostmodelWarning", "Coverage", "DeviceMemory", "Diagnostic", "Diff", "Llm",
    "LlmCapacity", "LlmFigures", "LlmPhase", "LlmRow", "LlmSweep", "Memory", "Metric", "Model",
    "Module", "Node", "Operator", "Options", "Profile", "Record", "Rows", "Sweep", "SweepRow",
    "Totals", "Training", "Value", "Verdict", "check", "diff", "export", "llm", "profile", "version",
]
__version__ = version()
