# SPDX-License-Identifier: Apache-2.0
"""Static cost analysis of ONNX models: parameters, MACs, FLOPs, memory and modelled times.

    import onnx_costmodel

    p = onnx_costmodel.profile("resnet50.onnx", batch=32, device="h200")
    p.totals.macs                     # 130853896192
    p.modules["layer1.0"].macs
    p.to_pandas("modules")

The package runs the program ``costmodel``, which it contains, and reads its JSON report.
"""
from ._api import (check, compare, conventions, device_memory, diff, fit, llm, profile, quantize, sweep,
                   version)
from ._counters import CounterComparison, compare_counters
from ._export import export
from ._plots import Plot, Plots
from ._program import CostmodelError, CostmodelWarning
from ._record import Map, Record, Rows
from ._reports import Comparison, Diff, Llm, LlmSweep, Profile, Sweep, Verdict
from ._schema import (Coverage, DeviceMemory, Diagnostic, LlmCapacity, LlmFigures, LlmPhase, LlmRow,
                      Memory, Metric, Model, Module, Node, Operator, Options, SweepRow, Totals,
                      Training, Value)

__all__ = [
    "Comparison", "CostmodelError", "CounterComparison", "CostmodelWarning", "Coverage", "DeviceMemory", "Diagnostic",
    "Diff", "Llm", "LlmCapacity", "LlmFigures", "LlmPhase", "LlmRow", "LlmSweep", "Map", "Memory",
    "Metric", "Model", "Module", "Node", "Operator", "Options", "Plot", "Plots", "Profile", "Record", "Rows", "Sweep",
    "SweepRow", "Totals", "Training", "Value", "Verdict", "check", "compare", "compare_counters", "conventions",
    "device_memory", "diff", "export", "fit", "llm", "profile", "quantize", "sweep", "version",
]
__version__ = version()
