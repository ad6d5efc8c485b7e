# SPDX-License-Identifier: Apache-2.0
"""Other FLOP counters side by side: what each counts for a model, and why it differs from the file."""
from __future__ import annotations

import contextlib
import html
import importlib
import importlib.util
import io
import pathlib
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, Callable, Iterator, Mapping, NamedTuple, Sequence

from ._api import profile
from ._export import export
from ._record import Record, Rows
from ._reports import Profile

if TYPE_CHECKING:
    import pandas

RECURRENT = ("LSTM", "GRU", "RNN")
PRODUCTS = ("MatMul", "Gemm", "Einsum", "Attention")


class Reason(NamedTuple):
    """A part of a difference."""

    amount: int | None  # in the counter's unit: its total minus ours; None: not known
    text: str


class Count(NamedTuple):
    """The result of a counter."""

    counter: str
    unit: str
    total: int | None  # None: it failed
    here: int | None  # by the convention of the same unit and rules
    convention: str
    reasons: list[Reason]

    @property
    def difference(self) -> int | None:
        """total - here."""
        return None if self.total is None or self.here is None else self.total - self.here

    @property
    def unexplained(self) -> int | None:
        """The part of the difference that no reason explains; None if a reason has no amount."""
        if self.difference is None or any(reason.amount is None for reason in self.reasons):
            return None
        return self.difference - sum(reason.amount or 0 for reason in self.reasons)

    @property
    def why(self) -> str:
        """One line."""
        if self.difference == 0:
            return "equal"
        parts = [reason.text if reason.amount is None else f"{reason.text} ({reason.amount:+,d})"
                 for reason in self.reasons if reason.amount != 0]
        if self.unexplained:
            parts.append(f"not explained ({self.unexplained:+,d})")
        return "; ".join(parts)


class Facts(NamedTuple):
    """What a model contains that counters treat differently."""

    module: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    profiles: dict[str, Profile]  # by convention
    attention_macs: int  # products of two activations
    pooled: int  # inputs of adaptive average pools, which the exporter writes as ReduceMean
    pools: int  # their outputs
    conv_biases: int  # outputs of convolutions with a bias
    linear_macs: int  # products of Linear modules
    weighted_macs: int  # products with weights, other than convolutions
    has_attention: bool  # a MultiheadAttention


def _flops(one: Profile, ops: Sequence[str]) -> int:
    return sum(row.flops or 0 for row in one.operators if row.op in ops)


@contextlib.contextmanager
def _fast_path(enabled: bool) -> Iterator[None]:
    import torch  # pylint: disable=import-outside-toplevel

    before = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(enabled)
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(before)


def _by_torch(facts: Facts) -> tuple[int, list[Reason]]:
    import torch  # pylint: disable=import-outside-toplevel
    from torch.utils.flop_counter import FlopCounterMode  # pylint: disable=import-outside-toplevel

    totals = []
    for enabled in (True, False):
        counter = FlopCounterMode(display=False)
        with _fast_path(enabled), counter, torch.no_grad():
            facts.module(*facts.args, **facts.kwargs)
        totals.append(counter.get_total_flops())
    return totals[0], [Reason(totals[0] - totals[1], "in eval mode without gradients, MultiheadAttention takes a fast path whose products "
                                      "FlopCounterMode does not see")]


def _by_fvcore(facts: Facts) -> tuple[int, list[Reason]]:
    nn = importlib.import_module("fvcore.nn")
    inputs = facts.args or tuple(facts.kwargs.values())
    counted = nn.FlopCountAnalysis(facts.module, inputs)
    counted.unsupported_ops_warnings(False)
    counted.uncalled_modules_warnings(False)
    counted.tracer_warnings("none")
    total = counted.total()
    reasons = []
    unknown = counted.unsupported_ops()
    if "aten::scaled_dot_product_attention" in unknown:
        reasons.append(Reason(-facts.attention_macs, "scaled_dot_product_attention is unknown to fvcore"))
    return total, reasons + [Reason(facts.pooled, "the file has ReduceMean for adaptive pools")]


def _by_ptflops(facts: Facts) -> tuple[int, list[Reason]]:
    import torch  # pylint: disable=import-outside-toplevel

    class Whole(torch.nn.Module):  # type: ignore[misc]
        """ptflops gives one tensor, or keywords, which its rules of layers do not see."""

        def __init__(self) -> None:
            super().__init__()
            self.module = facts.module

        def forward(self, _: Any) -> Any:
            return self.module(*facts.args, **facts.kwargs)

    counted, _ = importlib.import_module("ptflops").get_model_complexity_info(
        Whole(), (1,), input_constructor=lambda _: torch.zeros(1), as_strings=False,
        print_per_layer_stat=False, backend="pytorch", verbose=False)
    here = facts.profiles["ptflops"]
    macs = {row.op: row.macs or 0 for row in here.operators}
    twice = _flops(here, ("Relu", "PRelu", "Elu", "Gelu", "MaxPool", "AveragePool", "Resize"))
    own = [Reason(facts.linear_macs - facts.weighted_macs, "F.linear outside of Linear is not seen"),
           Reason(-facts.attention_macs, "scaled_dot_product_attention is unknown to ptflops")]
    if facts.has_attention:
        own = [Reason(None, "MultiheadAttention is counted by a formula of ptflops")]
    return counted, [
        *own, Reason(twice + 2 * facts.pooled, "activations and pools count twice, as modules and as the functions that they call"),
        Reason(facts.conv_biases - (_flops(here, ("Conv",)) - macs.get("Conv", 0)),
               "the exporter gives each convolution a bias")]


def _by_thop(facts: Facts) -> tuple[int, list[Reason]]:
    counted, _ = importlib.import_module("thop").profile(facts.module, inputs=facts.args or tuple(facts.kwargs.values()),
                                                         verbose=False)
    return int(counted), [Reason(facts.pooled + facts.pools, "the file has ReduceMean for adaptive pools"),
                          Reason(facts.linear_macs - _flops(facts.profiles["thop"], PRODUCTS),
                                 "thop counts modules: products in functions are left out")]


def _by_calflops(facts: Facts) -> tuple[int, list[Reason]]:
    with contextlib.redirect_stdout(io.StringIO()):
        _, macs, _ = importlib.import_module("calflops").calculate_flops(
            facts.module, args=list(facts.args), kwargs=dict(facts.kwargs), output_as_string=False,
            print_results=False)
    return macs, _of_deepspeed(facts, "calflops")


def _by_deepspeed(facts: Facts) -> tuple[int, list[Reason]]:
    profiler = importlib.import_module("deepspeed.profiling.flops_profiler")
    _, macs, _ = profiler.get_model_profile(facts.module, args=list(facts.args), kwargs=dict(facts.kwargs),
                                            print_profile=False, as_string=False, warm_up=0)
    knows_attention = hasattr(getattr(profiler, "profiler", None), "_attn_flops_compute")  # older versions do not
    return macs, _of_deepspeed(facts, "DeepSpeed", knows_attention)


def _of_deepspeed(facts: Facts, name: str, knows_attention: bool = False) -> list[Reason]:
    recurrent = sum(row.macs or 0 for row in facts.profiles["macs"].operators if row.op in RECURRENT)
    attention = 0 if knows_attention else -facts.attention_macs
    return [Reason(attention, f"scaled_dot_product_attention is unknown to {name}"),
            Reason(-recurrent, f"recurrent layers have no MACs in {name}")]


def _by_torchinfo(facts: Facts) -> tuple[int, list[Reason]]:
    seen = importlib.import_module("torchinfo").summary(
        facts.module, input_data=list(facts.args) or dict(facts.kwargs), verbose=0)
    return seen.total_mult_adds, [Reason(None, "torchinfo multiplies the parameters of a layer, with those of norms and biases, "
                                               "by the positions of its output (Linear: by the batch); products without "
                                               "parameters are left out")]


class Counter(NamedTuple):
    """A counter of another package."""

    name: str
    package: str
    unit: str
    convention: str
    run: Callable[[Facts], tuple[int, list[Reason]]]


COUNTERS = (
    Counter("FlopCounterMode", "torch", "FLOPs", "torch", _by_torch),
    Counter("fvcore", "fvcore", "MACs", "fvcore", _by_fvcore),
    Counter("ptflops", "ptflops", "MACs", "ptflops", _by_ptflops),
    Counter("thop", "thop", "MACs", "thop", _by_thop),
    Counter("calflops", "calflops", "MACs", "macs", _by_calflops),
    Counter("DeepSpeed", "deepspeed", "MACs", "macs", _by_deepspeed),
    Counter("torchinfo", "torchinfo", "mult-adds", "macs", _by_torchinfo),
)


class CounterComparison(Sequence[Count]):
    """Results of the installed counters; in a notebook a table."""

    def __init__(self, counts: Sequence[Count], not_installed: Sequence[str]) -> None:
        self._counts = list(counts)
        self.not_installed = list(not_installed)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):
            return next(count for count in self._counts if count.counter == index)
        return self._counts[index]

    def __len__(self) -> int:
        return len(self._counts)

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row per counter."""
        return [{"counter": one.counter, "unit": one.unit, "total": one.total, "here": one.here,
                 "convention": one.convention, "difference": one.difference, "why": one.why}
                for one in self._counts]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per counter. Requires pandas."""
        return Rows(self.rows(), Record).to_pandas()

    def __repr__(self) -> str:
        shown = [[f"{value:,}" if isinstance(value, int) else "failed" if value is None else value
                  for value in row.values()] for row in self.rows()]
        table = [list(self.rows()[0]) if shown else [], *shown]
        widths = [max(map(len, column)) for column in zip(*table)]
        return "\n".join("  ".join(cell.rjust(width) if i in (2, 3, 5) else cell.ljust(width)
                                   for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in table)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(repr(self))}</pre>"


def _hooked(module: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[int, int, int, int]:
    """Runs a module; returns pooled, pools, conv_biases and linear_macs of Facts."""
    import torch  # pylint: disable=import-outside-toplevel

    pooled = pools = biases = linear = 0

    def count(part: Any, given: Any, made: Any) -> None:
        nonlocal pooled, pools, biases, linear
        if isinstance(part, (torch.nn.AdaptiveAvgPool1d, torch.nn.AdaptiveAvgPool2d)):
            pooled += given[0].numel()
            pools += made.numel()
        elif isinstance(part, torch.nn.Linear):
            linear += made.numel() * part.in_features
        elif part.bias is not None:
            biases += made.numel()

    kinds = (torch.nn.Linear, torch.nn.AdaptiveAvgPool1d, torch.nn.AdaptiveAvgPool2d, torch.nn.Conv1d, torch.nn.Conv2d,
             torch.nn.Conv3d)
    hooks = [part.register_forward_hook(count) for part in module.modules() if isinstance(part, kinds)]
    try:
        with torch.no_grad():
            module(*args, **kwargs)
    finally:
        for hook in hooks:
            hook.remove()
    return pooled, pools, biases, linear


def _find_facts(module: Any, inputs: Any) -> Facts:
    named = isinstance(inputs, Mapping)
    args = () if named else inputs if isinstance(inputs, tuple) else (inputs,)
    kwargs = dict(inputs) if named else {}
    with tempfile.TemporaryDirectory(prefix="onnx_costmodel-") as folder:
        path = pathlib.Path(folder) / "model.onnx"
        sizes = export(module, path, inputs, optimize=False)  # nothing is folded
        batch = sizes.pop("batch", None)
        profiles = {convention: profile(path, batch=batch, dims=sizes, convention=convention)
                    for convention in {counter.convention for counter in COUNTERS}}
    products = [node for node in profiles["macs"].nodes if node.op in PRODUCTS]
    attention = sum(node.macs or 0 for node in products if not node.params and not node.buffers)
    weighted = sum(node.macs or 0 for node in products) - attention
    pooled, pools, biases, linear = _hooked(module, args, kwargs)
    import torch  # pylint: disable=import-outside-toplevel

    has_attention = any(isinstance(part, torch.nn.MultiheadAttention) for part in module.modules())
    reduced = any(row.op == "ReduceMean" for row in profiles["macs"].operators)
    return Facts(module, args, kwargs, profiles, attention, pooled if reduced else 0, pools if reduced else 0,
                 biases, linear, weighted, has_attention)


def compare_counters(model: Any, inputs: Any) -> CounterComparison:
    """Runs the FLOP counters that are installed on a PyTorch model, and explains each difference.

    The model runs with its weights, in inference mode. Each counter is compared with its own convention
    (docs/conventions.md) on the exported graph, in which nothing is folded.

    Args:
        model: ``torch.nn.Module`` with weights.
        inputs: a tensor, a tuple, or a mapping by name.

    Raises:
        CostmodelError: the model cannot be exported.
    """
    training = model.training
    model.eval()
    counts = []
    try:
        facts = _find_facts(model, inputs)
        installed = [one for one in COUNTERS if importlib.util.find_spec(one.package) is not None]
        for counter in installed:
            here = facts.profiles[counter.convention].totals.flops
            with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
                warnings.simplefilter("ignore")
                try:
                    total, reasons = counter.run(facts)
                    counts.append(Count(counter.name, counter.unit, int(total), here, counter.convention,
                                        [reason for reason in reasons if reason.amount != 0]))
                except Exception as fault:  # pylint: disable=broad-exception-caught
                    first = (str(fault).strip().splitlines() or [type(fault).__name__])[0]
                    counts.append(Count(counter.name, counter.unit, None, here, counter.convention,
                                        [Reason(None, f"{counter.name} failed: {first}")]))
    finally:
        model.train(training)
    return CounterComparison(counts, [one.name for one in COUNTERS if one not in installed])
