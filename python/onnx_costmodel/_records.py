# SPDX-License-Identifier: Apache-2.0
"""The JSON reports of the program as objects.

Every key of the JSON is an attribute, also keys that are newer than this file. The annotations
below cover what most users need; ``costmodel schema profile`` describes all keys. An unknown
value is None, never 0.
"""
from __future__ import annotations

import html
import os
import pathlib
import tempfile
from typing import (TYPE_CHECKING, Any, Callable, ClassVar, Generic, Iterator, Sequence, TypeVar,
                    overload)

from ._program import CostmodelError, arguments, run
from ._sources import as_file, dump

if TYPE_CHECKING:
    import pandas


class Record:
    """An object of a report: ``record.macs`` or ``record["macs"]``.

    A key that is a keyword of Python has an underscore as an attribute: ``module.class_``.
    """

    _nested: ClassVar[dict[str, type[Record]]] = {}  # classes of the objects in a key

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def __getitem__(self, key: str) -> Any:
        kind = self._nested.get(key, Record)
        value = self._document[key]
        if isinstance(value, dict):
            return kind(value)
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return Rows(value, kind)
        return Rows(value, kind) if value == [] and key in self._nested else value

    def __getattr__(self, name: str) -> Any:
        key = name[:-1] if name.endswith("_") else name
        if name.startswith("_") or key not in self._document:
            raise AttributeError(f"{type(self).__name__} has no '{name}'; it has "
                                 f"{', '.join(self.keys())}" if not name.startswith("_") else name)
        value = self[key]
        self.__dict__[name] = value
        return value

    def keys(self) -> list[str]:
        """Returns the keys of the JSON object."""
        return list(self._document)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of a key, or `default` if the report does not have it."""
        return self[key] if key in self._document else default

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON object."""
        return self._document

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __contains__(self, key: object) -> bool:
        return key in self._document

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._document]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._document == other._document

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        plain = {key: value for key, value in self._document.items()
                 if not isinstance(value, (dict, list))}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in plain.items())})"


R = TypeVar("R", bound=Record)


class Rows(Sequence[R], Generic[R]):
    """A list of objects, by index or by name: ``modules[0]``, ``modules["layer1.0"]``.

    Modules are found by their path, nodes and values by their name, operators by their type.
    """

    def __init__(self, documents: list[dict[str, Any]], kind: Callable[[dict[str, Any]], R]) -> None:
        self._documents = documents
        self._kind = kind
        self._indices: dict[str, int] | None = None

    def _index(self) -> dict[str, int]:
        if self._indices is None:
            keys = ("path", "name", "op")
            self._indices = {}
            for i, document in enumerate(self._documents):
                name = next((document[key] for key in keys if key in document), None)
                if isinstance(name, str):
                    self._indices.setdefault(name, i)
        return self._indices

    @overload
    def __getitem__(self, index: int | str) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[R]: ...

    def __getitem__(self, index: int | str | slice) -> R | Rows[R]:
        if isinstance(index, slice):
            return Rows(self._documents[index], self._kind)
        if isinstance(index, str):
            index = self._index()[index]
        return self._kind(self._documents[index])

    def __contains__(self, item: object) -> bool:
        return item in self._index() if isinstance(item, str) else super().__contains__(item)

    def __len__(self) -> int:
        return len(self._documents)

    def names(self) -> list[str]:
        """Returns the paths or names by which the rows are found."""
        return list(self._index())

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame: a row for each object, a column for each number and text.

        Requires pandas. An unknown value is NA. Lists are left out.
        """
        import pandas as pd  # pylint: disable=import-outside-toplevel

        frame = pd.json_normalize(self._documents)
        lists = [name for name in frame if frame[name].map(lambda cell: isinstance(cell, list)).any()]
        return frame.drop(columns=lists).convert_dtypes()

    def __repr__(self) -> str:
        return f"Rows({len(self)}: {', '.join(repr(row) for row in self[:3])}, ...)"


class Value(Record):
    """A tensor: an input or output of a model, module or node."""

    name: str
    dtype: str | None
    shape: list[int | None] | None
    bytes: int | None  # as stored


class Diagnostic(Record):
    """A note or warning about the model."""

    severity: str  # "note", "warning", "error"
    code: str  # docs/errors.md
    message: str
    node: str | None
    hint: str | None


class Model(Record):
    """The file that was profiled."""

    _nested = {"inputs": Value, "outputs": Value}
    path: str
    producer: str
    ir_version: int
    opsets: Record  # version by domain: opsets["ai.onnx"]
    inputs: Rows[Value]
    outputs: Rows[Value]


class Options(Record):
    """Options of the profile."""

    batch: int | None  # None: the inputs have no batch axis
    dims: Record  # size by name of each symbolic dim
    convention: str
    mode: str


class Totals(Record):
    """Costs of the whole model."""

    params: int | None  # elements, each tensor once
    buffers: int | None  # elements of named tensors that are not learned
    macs: int | None  # multiply-accumulates
    flops: int | None  # FLOPs, by the convention
    bytes_read: int | None  # bytes
    bytes_written: int | None  # bytes
    weight_bytes: int | None  # bytes
    activation_bytes: int | None  # bytes, all node outputs
    peak_activation_bytes: int | None  # bytes, live at the same time
    latency_ps: int | None  # picoseconds; only with times
    lower_bound_ps: int | None  # picoseconds; only with modelled times


class Module(Record):
    """A module of the framework, with its children."""

    _nested = {"outputs": Value}
    path: str  # "layer1.0.conv1"; "" for the root
    name: str
    depth: int
    calls: int | None
    params: int | None  # elements
    macs: int | None  # multiply-accumulates
    flops: int | None  # FLOPs, by the convention
    weight_bytes: int | None  # bytes
    activation_bytes: int | None  # bytes
    parent: int | None  # index into modules
    children: list[int]  # indices into modules
    outputs: Rows[Value]
    latency_ps: int | None  # picoseconds; only with times
    lower_bound_ps: int | None  # picoseconds; only with modelled times


class Node(Record):
    """A node of the graph."""

    _nested = {"outputs": Value}
    index: int
    name: str
    op: str
    domain: str
    module: str | None  # path
    macs: int | None  # multiply-accumulates
    flops: int | None  # FLOPs, by the convention
    bytes_read: int | None  # bytes
    bytes_written: int | None  # bytes
    outputs: Rows[Value]
    latency_ps: int | None  # picoseconds; only with times
    lower_bound_ps: int | None  # picoseconds; only with modelled times


class Operator(Record):
    """Costs of all nodes of one operator."""

    op: str
    nodes: int
    macs: int | None  # multiply-accumulates
    flops: int | None  # FLOPs, by the convention
    bytes_read: int | None  # bytes
    bytes_written: int | None  # bytes


class Coverage(Record):
    """Operators and shapes that could not be analyzed."""

    nodes: int


class Memory(Record):
    """Peak memory and liveness."""

    peak_activation_bytes: int | None  # bytes
    peak_in_place_bytes: int | None  # bytes, if operators work in place
    arena_bytes: int | None  # bytes of the arena that holds all activations
    required_bytes: int | None  # bytes of weights and activations
    fit: Record | None  # only with memory_limit


class Training(Record):
    """One training step; only with an optimizer."""

    optimizer: str
    backward_macs: int | None  # multiply-accumulates
    iteration_flops: int | None  # FLOPs
    weight_bytes: int | None  # bytes
    gradient_bytes: int | None  # bytes
    optimizer_bytes: int | None  # bytes
    saved_bytes: int | None  # bytes, from forward to backward
    peak_bytes: int | None  # bytes


class DeviceMemory(Record):
    """Estimate of the device memory of a process that trains; only with an optimizer."""

    bytes: int | None  # sum of the parts
    low_bytes: int | None  # 9 of 10 processes need between low_bytes and high_bytes
    high_bytes: int | None
    parts: Rows[Record]  # with name, bytes and source


class TimeError(Record):
    """Error of the expected times of a modelled device (docs/times.md)."""

    latency_low_ps: int | None  # 8 of 10 measured times are between low and high
    latency_high_ps: int | None
    host_ps: int | None  # part of the latency in which the device waits for the host
    mostly: str  # what takes most of the time
    calibration: str  # what the device was fitted to


class Quantization(Record):
    """A quantized model compared with its float model on the same modelled device."""

    float_precision: str  # "fp16"
    float_latency_ps: int
    gain: float | None  # float latency / latency: below 1, int8 is slower
    verdict: str  # full sentences
    conversion_bytes: int | None
    conversion_ps: int | None
    regions: Rows[Record]  # with state, reason, first, last, latency_ps, float_latency_ps


class Measure(Record):
    """Times of a backend (docs/measuring.md)."""

    _nested = {"quantization": Quantization}
    quantization: Quantization | None


def _si(value: int | None, unit: str) -> str:
    """Formats a number with three significant digits: 14.1 GMACs."""
    if value is None:
        return "?"
    size = float(value)
    for prefix in ("", "k", "M", "G", "T", "P", "E"):
        if abs(size) < 999.5 or prefix == "E":
            digits = f"{size:.0f}" if not prefix else f"{size:#.3g}".rstrip(".")
            return f"{digits} {prefix}{unit}".rstrip()
        size /= 1000
    raise AssertionError


def _seconds(picoseconds: int | None) -> str:
    return _si(picoseconds, "ps") if picoseconds is None or picoseconds < 1000 else next(
        f"{picoseconds / scale:#.3g}".rstrip(".") + f" {unit}"
        for scale, unit in ((1e12, "s"), (1e9, "ms"), (1e6, "us"), (1e3, "ns"))
        if picoseconds >= scale)


_COLUMNS: tuple[tuple[str, str, Callable[[Any], str]], ...] = (
    ("params", "params", lambda value: _si(value, "")),
    ("macs", "MACs", lambda value: _si(value, "MACs")),
    ("flops", "FLOPs", lambda value: _si(value, "")),
    ("peak_activation_bytes", "peak activation", lambda value: _si(value, "B")),
    ("latency_ps", "latency", _seconds),
)
_HTML_ROWS = 12


class Profile(Record):
    """Costs of a model (schema costmodel/profile/2, docs/json.md)."""

    _nested = {"model": Model, "options": Options, "totals": Totals, "modules": Module,
               "nodes": Node, "operators": Operator, "coverage": Coverage, "memory": Memory,
               "training": Training, "device_memory": DeviceMemory, "time_error": TimeError,
               "measure": Measure, "diagnostics": Diagnostic}
    model: Model
    options: Options
    totals: Totals
    modules: Rows[Module]  # parents before children; [0] is the root
    nodes: Rows[Node]  # in the order of the file
    operators: Rows[Operator]
    coverage: Coverage
    memory: Memory
    training: Training  # only with an optimizer
    device_memory: DeviceMemory  # only with an optimizer
    time_error: TimeError  # only with a modelled device
    measure: Measure  # only with a backend
    diagnostics: Rows[Diagnostic]

    def to_json(self) -> str:
        """Returns the report as JSON text, which the program reads in place of a model."""
        return dump(self._document)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the report as JSON; ``profile(path)`` reads it."""
        pathlib.Path(path).write_text(self.to_json() + "\n", encoding="utf-8")

    def render(self, format: str = "text", **options: Any) -> str:
        """Returns the report in a format of the program, with its options (docs/formats.md):
        ``render("csv", rows="nodes", columns="name,macs")``."""
        # pylint: disable=redefined-builtin
        with tempfile.TemporaryDirectory(prefix="onnx_costmodel-") as folder:
            path = pathlib.Path(folder) / "profile.json"
            self.save(path)
            return run(["profile", str(path), f"--format={format}", *arguments(options)])[0]

    def to_text(self, **options: Any) -> str:
        """Returns the text report."""
        return self.render("text", **options)

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Returns the HTML report, and writes it to `path` if given.

        Raises CostmodelError if the program has no such format.
        """
        text = self.render("html")
        if path is not None:
            pathlib.Path(path).write_text(text, encoding="utf-8")
        return text

    def to_pandas(self, rows: str = "modules") -> pandas.DataFrame:
        """Returns a data frame of "modules", "nodes" or "operators". Requires pandas."""
        table: Rows[Record] = self[rows]
        return table.to_pandas()

    def _repr_html_(self) -> str:
        """Returns a table of the model and of the modules with the most MACs, down to depth 2."""
        columns = [column for column in _COLUMNS if column[0] in self._document["totals"]]
        inner = [m for m in self._document["modules"] if 0 < m["depth"] <= 2 and m.get("macs")]
        inner.sort(key=lambda module: module["macs"], reverse=True)
        rows = [("<b>all</b>", "", self._document["totals"])]
        rows += [(html.escape(m["path"]), html.escape(m["class"]), m) for m in inner[:_HTML_ROWS]]
        batch = self.options.batch
        caption = html.escape(self.model.path) + ("" if batch is None else f", batch {batch}")
        head = "".join(f"<th>{title}</th>" for title in
                       ["module", "class", *(title for _, title, _ in columns)])
        body = "".join(
            f"<tr><td style='text-align:left'>{path}</td><td style='text-align:left'>{kind}</td>"
            + "".join(f"<td>{show(figures.get(key))}</td>" for key, _, show in columns) + "</tr>"
            for path, kind, figures in rows)
        return (f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
                f"<tbody>{body}</tbody></table>")

    def __repr__(self) -> str:
        figures = ", ".join(f"{title} {show(self.totals.get(key))}" for key, title, show in _COLUMNS
                            if key in self.totals)
        return f"<Profile of {self.model.path}: {figures}>"


class SweepRow(Record):
    """Costs at one batch."""

    batch: int
    state: str  # "done", or why there are no costs
    problem: str
    macs: int | None  # multiply-accumulates
    flops: int | None  # FLOPs, by the convention
    peak_activation_bytes: int | None  # bytes
    required_bytes: int | None  # bytes of weights and activations
    latency_ps: int | None  # picoseconds; only with times


class Sweep(Record):
    """Costs at several batches (schema costmodel/sweep/2, docs/json.md)."""

    _nested = {"sweep": SweepRow, "diagnostics": Diagnostic}
    model: str
    convention: str
    sweep: Rows[SweepRow]  # one row per batch
    diagnostics: Rows[Diagnostic]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per batch. Requires pandas."""
        return self.sweep.to_pandas()

    def _repr_html_(self) -> str:
        rows = self._document["sweep"]
        columns = [column for column in _COLUMNS if any(row.get(column[0]) is not None for row in rows)]
        head = "".join(f"<th>{title}</th>" for title in ["batch", *(t for _, t, _ in columns)])
        body = "".join(f"<tr><td>{row['batch']}</td>" + "".join(
            f"<td>{show(row.get(key))}</td>" for key, _, show in columns) + "</tr>" for row in rows)
        return (f"<table><caption>{html.escape(self.model)}</caption><thead><tr>{head}</tr></thead>"
                f"<tbody>{body}</tbody></table>")


class Metric(Record):
    """A metric of both profiles."""

    old: int | None
    new: int | None
    change: int | None  # new - old; None if either is unknown


class Metrics(Record):
    """Metrics by name: ``totals.macs.change``."""

    def __getitem__(self, key: str) -> Metric:
        return Metric(self._document[key])


class DiffModule(Record):
    """A module of one or both profiles."""

    _nested = {"metrics": Metrics}
    status: str  # "same", "changed", "renamed", "added", "removed"
    path: str
    metrics: Metrics


class Diff(Record):
    """Differences between two profiles (schema costmodel/diff/2, docs/json.md)."""

    _nested = {"totals": Metrics, "modules": DiffModule}
    comparable: bool
    totals: Metrics  # totals.macs.change
    modules: Rows[DiffModule]

    _sides: tuple[Profile, Profile]

    def render(self, format: str = "text", **options: Any) -> str:
        """Returns the report in a format of ``costmodel diff``: text, json, markdown or html."""
        # pylint: disable=redefined-builtin
        with as_file(self._sides[0]) as old, as_file(self._sides[1]) as new:
            return run(["diff", f"--format={format}", *arguments(options), old.path, new.path])[0]

    def to_markdown(self) -> str:
        """Returns a report for a pull request comment."""
        return self.render("markdown")

    _repr_markdown_ = to_markdown


class Verdict(Record):
    """Result of a check against limits (schema costmodel/check/2, docs/json.md)."""

    model: str
    state: str  # worst state of a case: "pass", "ambiguous", "not-compared", "regression"
    regressions: int  # number of cases
    not_compared: int  # number of cases
    cases: Rows[Record]

    _status = 0
    _markdown = ""

    @property
    def ok(self) -> bool:
        """True if every limit is met."""
        return self._status == 0

    @property
    def status(self) -> int:
        """Exit status of ``costmodel check``: 0 pass, 1 regression, 3 not compared."""
        return self._status

    def raise_for_status(self) -> None:
        """Raises CostmodelError with code "regression" or "not-compared" unless every limit is met."""
        if not self.ok:
            raise CostmodelError(self._markdown, self.state, self._status)

    def to_markdown(self) -> str:
        """Returns a report for a pull request comment."""
        return self._markdown

    _repr_markdown_ = to_markdown


class LlmPhase(Record):
    """Prefill, a step of decode, or a whole generation."""

    name: str  # "prefill", "decode", "generate"
    batch: int  # sequences
    tokens: int  # new ones of each sequence
    past: int
    macs: int | None  # multiply-accumulates
    bytes: int | None  # of weights, keys and values, and states
    lower_bound_ps: int | None  # picoseconds; only with a device
    latency_ps: int | None  # picoseconds; only with a device


class LlmCapacity(Record):
    """How many sequences of a length fit."""

    context: int  # tokens of each sequence
    sequences: int | None
    tokens_per_s: int | None  # at most
    expected_tokens_per_s: int | None


class LlmFigures(Record):
    """Figures of one GPU, and of one sequence where stated (docs/llm.md)."""

    _nested = {"phases": LlmPhase, "capacity": LlmCapacity}
    params: int | None  # learned elements
    active_params: int | None  # with the experts that a token chooses
    stored_bytes: int | None  # of weights and other stored tensors
    kv_bytes_per_token: int | None  # of layers whose cache grows with the context
    kv_bytes_per_token_window: int | None  # of layers with a window
    state_bytes_per_sequence: int | None  # constant; None: not in the file
    request_sequences: int | None  # of prompt + new tokens that fit; only with a memory limit
    longest_context: int | None  # tokens of one sequence that fits
    phases: Rows[LlmPhase]
    capacity: Rows[LlmCapacity]


class Llm(Record):
    """Costs of serving a language model (schema costmodel/llm/1)."""

    _nested = {"llm": LlmFigures}
    model: str
    device: str | None
    weight_dtype: str  # "bf16", "int4", ...
    kv_dtype: str
    llm: LlmFigures


class LlmRow(Record):
    """A combination of prompt, batch, device and division."""

    device: str | None
    tp: int
    pp: int
    ep: int
    prompt: int
    batch: int
    request_sequences: int | None  # that fit
    prefill_ps: int | None  # expected; only with a device
    decode_ps: int | None
    expected_tokens_per_s: int | None


class LlmSweep(Record):
    """Costs of serving a language model by combination (schema costmodel/llm-sweep/1)."""

    _nested = {"rows": LlmRow}
    rows: Rows[LlmRow]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per combination. Requires pandas."""
        return self.rows.to_pandas()


def of_schema(document: dict[str, Any]) -> Record:
    """Returns the object of a JSON report, by its schema; a plain Record if there is no class."""
    kinds: dict[str, type[Record]] = {"profile": Profile, "sweep": Sweep, "diff": Diff,
                                      "check": Verdict, "llm": Llm, "llm-sweep": LlmSweep}
    return kinds.get(document["schema"].split("/")[1], Record)(document)
