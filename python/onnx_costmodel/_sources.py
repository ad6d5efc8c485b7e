# SPDX-License-Identifier: Apache-2.0
"""The kinds of models: paths, profiles, onnx.ModelProto and torch.nn.Module become files."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import sys
import tempfile
from typing import Any, Iterator, Mapping, Sequence

LARGEST_KEPT = 1 << 16  # bytes of an initializer that may decide a shape
MISSING = "weights.bin"  # external data that is not written: the program does not read weights


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


def _export(module: Any, inputs: Any, options: Mapping[str, Any], path: pathlib.Path) -> None:
    """Exports a torch.nn.Module in inference mode; large weights are not written."""
    import torch  # pylint: disable=import-outside-toplevel

    named = isinstance(inputs, Mapping)
    arguments: dict[str, Any] = {
        "args": () if named else inputs if isinstance(inputs, tuple) else (inputs,),
        "kwargs": dict(inputs) if named else None}
    training = module.training
    module.eval()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            exported = torch.onnx.export(module, **{"dynamo": True, "verbose": False, **arguments,
                                                    **options})
    finally:
        module.train(training)
    import onnx_ir  # of torch's exporter; pylint: disable=import-outside-toplevel

    for value in exported.model.graph.initializers.values():
        tensor = value.const_value
        if tensor is not None and tensor.nbytes > LARGEST_KEPT:
            value.const_value = onnx_ir.ExternalTensor(
                MISSING, None, None, dtype=tensor.dtype, shape=tensor.shape, name=value.name)
    onnx_ir.save(exported.model, path)


def _is_torch_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


@contextlib.contextmanager
def as_file(model: Any, example_inputs: Any = None,
            export_options: Mapping[str, Any] | None = None) -> Iterator[tuple[str, str | None]]:
    """Yields the path of a file with the model, and its name if that file is temporary."""
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        yield (f"./{path}" if path == "-" or path.startswith("-") else path), None
        return
    with tempfile.TemporaryDirectory(prefix="onnx_costmodel-") as folder:
        path = pathlib.Path(folder) / "model.onnx"
        if hasattr(model, "to_json"):  # Profile
            path = path.with_suffix(".json")
            path.write_text(model.to_json(), encoding="utf-8")
            yield str(path), model.model.path
        elif hasattr(model, "SerializeToString") and hasattr(model, "graph"):
            path.write_bytes(strip(model).SerializeToString())
            yield str(path), model.graph.name or "model"
        elif _is_torch_module(model):
            if example_inputs is None:
                raise TypeError("a torch.nn.Module requires example_inputs")
            _export(model, example_inputs, export_options or {}, path)
            yield str(path), type(model).__name__
        else:
            raise TypeError("model must be a path, a Profile, an onnx.ModelProto or a "
                            f"torch.nn.Module, got {type(model).__name__}")


def dump(document: Mapping[str, Any]) -> str:
    """Returns a report as JSON text."""
    return json.dumps(document, ensure_ascii=False)


def batches(batch: int | Sequence[int] | None) -> str | None:
    """Returns the value of --batch."""
    if batch is None or isinstance(batch, int):
        return None if batch is None else str(batch)
    return ",".join(str(one) for one in batch)
