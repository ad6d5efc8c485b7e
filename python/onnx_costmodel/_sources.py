# SPDX-License-Identifier: Apache-2.0
"""The kinds of models: paths, profiles, onnx.ModelProto and torch.nn.Module become files."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import tempfile
from typing import Any, Iterator, Mapping, NamedTuple, Sequence

from ._export import LARGEST_KEPT, MISSING, export, is_torch_model


def _copy_fields(source: Any, target: Any, without: str) -> None:
    for field, value in source.ListFields():
        if field.name == without:
            continue
        if hasattr(value, "MergeFrom"):  # a message or a repeated field
            getattr(target, field.name).MergeFrom(value)
        else:
            setattr(target, field.name, value)


def _without_data(tensor: Any) -> Any:
    """Returns a tensor of the same name, type and shape whose data is in a missing file."""
    copy = type(tensor)()
    copy.name = tensor.name
    copy.data_type = tensor.data_type
    copy.dims.extend(tensor.dims)
    copy.data_location = type(tensor).EXTERNAL
    copy.external_data.add(key="location", value=MISSING)
    return copy


def _size(tensor: Any) -> int:
    fields = (tensor.float_data, tensor.int32_data, tensor.int64_data, tensor.double_data,
              tensor.uint64_data)
    return len(tensor.raw_data) + 4 * sum(len(field) for field in fields)


def strip(model: Any) -> Any:
    """Returns a copy of an onnx.ModelProto without its large weights."""
    copy = type(model)()
    _copy_fields(model, copy, "graph")
    _copy_fields(model.graph, copy.graph, "initializer")
    for tensor in model.graph.initializer:
        small = _size(tensor) <= LARGEST_KEPT
        copy.graph.initializer.append(tensor if small else _without_data(tensor))
    return copy


class File(NamedTuple):
    """A file with a model."""

    path: str
    name: str | None  # of the model, if the file is temporary
    sizes: Mapping[str, int] = {}  # of its symbolic dims, if the user gives no others

    def sizes_or(self, batch: int | Sequence[int] | None, dims: Mapping[str, int] | None) -> dict[str, Any]:
        """Returns the options --batch and --dim: the given sizes, and those of the file for others."""
        free = {name: size for name, size in self.sizes.items() if name not in (dims or {})}
        default = free.pop("batch", None)
        return {"batch": default if batch is None else batch, "dim": {**free, **(dims or {})}}


@contextlib.contextmanager
def as_file(model: Any, example_inputs: Any = None,
            export_options: Mapping[str, Any] | None = None) -> Iterator[File]:
    """Yields a file with the model."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        yield File(f"./{path}" if path == "-" or path.startswith("-") else path, None)
        return
    with tempfile.TemporaryDirectory(prefix="onnx_costmodel-") as folder:
        path = pathlib.Path(folder) / "model.onnx"
        if hasattr(model, "to_json"):  # Profile
            path = path.with_suffix(".json")
            path.write_text(model.to_json(), encoding="utf-8")
            yield File(str(path), model.model.path)
        elif hasattr(model, "SerializeToString") and hasattr(model, "graph"):
            path.write_bytes(strip(model).SerializeToString())
            yield File(str(path), model.graph.name or "model")
        elif is_torch_model(model):
            sizes = export(model, path, example_inputs, **(export_options or {}))
            yield File(str(path), type(model).__name__, sizes)
        else:
            raise TypeError("model must be a path, a Profile, an onnx.ModelProto, a torch.nn.Module "
                            f"or a torch.export.ExportedProgram, got {type(model).__name__}")


def dump(document: Mapping[str, Any]) -> str:
    """Returns a report as JSON text."""
    return json.dumps(document, ensure_ascii=False)
