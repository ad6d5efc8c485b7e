# SPDX-License-Identifier: Apache-2.0
"""The reports: the objects of the JSON documents with their formats."""
from __future__ import annotations

import html
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Callable, Literal, Sequence, overload

from ._plots import Plot, Plots
from ._program import CostmodelError, arguments, run
from ._record import Record, Rows
from ._schema import (DiffFields, LlmFields, LlmSweepFields, ProfileFields, SweepFields,
                      VerdictFields)
from ._sources import as_file, dump

if TYPE_CHECKING:
    import pandas


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


def _table(caption: str, first: str, rows: Sequence[tuple[str, dict[str, Any]]]) -> str:
    """Returns a table of HTML: a row (markup of its name, figures) each, with the columns that have values."""
    columns = [column for column in _COLUMNS if any(row.get(column[0]) is not None for _, row in rows)]
    head = "".join(f"<th>{title}</th>" for title in [first, *(title for _, title, _ in columns)])
    body = "".join(f"<tr><td style='text-align:left'>{name}</td>" + "".join(
        f"<td>{show(row.get(key))}</td>" for key, _, show in columns) + "</tr>" for name, row in rows)
    return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


class Profile(ProfileFields):
    """Costs of a model (schema costmodel/profile/2, docs/json.md)."""

    # the HTML report, with memory curves, at other batches
    _pages: Callable[[int | Sequence[int] | None], str] | None = None

    @property
    def plot(self) -> Plots:
        """Pictures for a notebook: ``p.plot.memory()``, ``.roofline()``, ``.timeline()``, ..."""

        def page(sizes: int | Sequence[int] | None) -> str:
            if self._pages is not None:
                return self._pages(self.options.batch if sizes is None else sizes)
            if sizes is not None:
                raise ValueError("a Profile that was not made from a model has one batch")
            return self.to_html()

        return Plots(page)

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

    def to_pandas(self, rows: Literal["modules", "nodes", "operators"] = "modules") -> pandas.DataFrame:
        """Returns a data frame of "modules", "nodes" or "operators". Requires pandas."""
        tables: dict[str, Rows[Any]] = {"modules": self.modules, "nodes": self.nodes, "operators": self.operators}
        if rows not in tables:
            raise ValueError(f"no table {rows!r}: the tables are {', '.join(tables)}")
        return tables[rows].to_pandas()

    def _repr_html_(self) -> str:
        """Returns a table of the model and of the modules with the most MACs, down to depth 2."""
        inner = [m for m in self._document["modules"] if 0 < m["depth"] <= 2 and m.get("macs")]
        inner.sort(key=lambda module: module["macs"], reverse=True)
        rows = [("<b>all</b>", self._document["totals"])]
        rows += [(f"{html.escape(m['path'])} <i>{html.escape(m['class'])}</i>", m) for m in inner[:_HTML_ROWS]]
        batch = self.options.batch
        caption = html.escape(self.model.path) + ("" if batch is None else f", batch {batch}")
        return _table(caption, "module", rows)

    def __repr__(self) -> str:
        figures = ", ".join(f"{title} {show(self.totals.get(key))}" for key, title, show in _COLUMNS
                            if key in self.totals)
        return f"<Profile of {self.model.path}: {figures}>"


class Sweep(SweepFields):
    """Costs at several batches (schema costmodel/sweep/2, docs/json.md)."""

    _pages: Callable[[int | Sequence[int] | None], str] | None = None  # the HTML report

    def scaling(self, height: int = 640) -> Plot:
        """Returns a picture of time, samples per second and memory by batch."""
        if self._pages is None:
            raise ValueError("a Sweep of several models has no picture by batch")
        return Plot(self._pages([row["batch"] for row in self._document["sweep"]]), "sweep", height)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per batch. Requires pandas."""
        return self.sweep.to_pandas()

    def _repr_html_(self) -> str:
        return _table(html.escape(str(self.get("model", ""))), "batch",
                      [(str(row["batch"]), row) for row in self._document["sweep"]])


class Comparison(Sequence[Profile]):
    """Profiles of several models with the same options."""

    def __init__(self, profiles: Sequence[tuple[str, Profile]]) -> None:
        self._profiles = list(profiles)

    @overload
    def __getitem__(self, index: int | str) -> Profile: ...
    @overload
    def __getitem__(self, index: slice) -> list[Profile]: ...

    def __getitem__(self, index: int | str | slice) -> Profile | list[Profile]:
        if isinstance(index, str):
            return dict(self._profiles)[index]
        if isinstance(index, slice):
            return [profile for _, profile in self._profiles[index]]
        return self._profiles[index][1]

    def __len__(self) -> int:
        return len(self._profiles)

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row per model: its name, the totals, and the memory of inference and training."""
        return [{"model": name, **profile.totals.to_dict(),
                 "required_bytes": profile.memory.required_bytes,
                 **({"device_memory_bytes": profile.device_memory.bytes} if "device_memory" in profile else {})}
                for name, profile in self._profiles]

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per model. Requires pandas."""
        return Rows(self.rows(), Record).to_pandas()

    def _repr_html_(self) -> str:
        return _table("", "model", [(html.escape(row["model"]), row) for row in self.rows()])

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(name for name, _ in self._profiles)}>"


class Diff(DiffFields):
    """Differences between two profiles (schema costmodel/diff/2, docs/json.md)."""

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


class Verdict(VerdictFields):
    """Result of a check against limits (schema costmodel/check/2, docs/json.md)."""

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


class Llm(LlmFields):
    """Costs of serving a language model (schema costmodel/llm/1)."""


class LlmSweep(LlmSweepFields):
    """Costs of serving a language model by combination (schema costmodel/llm-sweep/1)."""

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with a row per combination. Requires pandas."""
        return self.rows.to_pandas()


def of_schema(document: dict[str, Any]) -> Record:
    """Returns the object of a JSON report, by its schema; a plain Record if there is no class."""
    kinds: dict[str, type[Record]] = {"profile": Profile, "sweep": Sweep, "diff": Diff,
                                      "check": Verdict, "llm": Llm, "llm-sweep": LlmSweep}
    return kinds.get(document["schema"].split("/")[1], Record)(document)
