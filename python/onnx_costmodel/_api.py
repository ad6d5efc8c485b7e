# SPDX-License-Identifier: Apache-2.0
"""The commands of the program as functions."""
from __future__ import annotations

import functools
import os
import pathlib
import tempfile
from typing import Any, Mapping, Sequence, Union, cast, overload

from ._program import arguments, run, run_json
from ._records import Diff, Llm, LlmSweep, Profile, Sweep, Verdict, of_schema
from ._sources import as_file, batches

ModelLike = Union[str, "os.PathLike[str]", Any]  # or Profile, onnx.ModelProto, torch.nn.Module
OF_OUTPUT = {"format", "output"}


def _check_options(options: Mapping[str, Any]) -> None:
    for name in OF_OUTPUT & options.keys():
        raise TypeError(f"option {name} is not supported here: see Profile.render")


@functools.lru_cache(maxsize=None)
def version() -> str:
    """Returns the version of the program."""
    return run(["--version"])[0].split()[1]


@overload
def profile(model: ModelLike, *, batch: int | None = None, **options: Any) -> Profile: ...
@overload
def profile(model: ModelLike, *, batch: Sequence[int], **options: Any) -> Sweep: ...


def profile(model: ModelLike, *, batch: int | Sequence[int] | None = None,
            device: str | None = None, precision: str | None = None,
            dims: Mapping[str, int] | None = None,
            inputs: Mapping[str, Sequence[int]] | None = None, convention: str | None = None,
            optimizer: str | None = None, memory_limit: str | int | None = None,
            measure: str | bool | None = None, example_inputs: Any = None,
            export_options: Mapping[str, Any] | None = None, **options: Any) -> Profile | Sweep:
    """Computes the costs of a model without running it.

    Args:
        model: path of an ONNX file or of a profile in JSON, ``onnx.ModelProto``, or
            ``torch.nn.Module``, which is exported in inference mode without its weights.
        batch: batch size, also of models with a fixed batch; a sequence gives a Sweep.
        device: device whose times are modelled: ``"h200"``, or a file with a device description.
        precision: of bytes, times and limits: ``"fp32"``, ``"tf32"``, ``"fp16"``, ``"amp"``, ...
        dims: sizes of symbolic dims: ``{"seq": 128}``.
        inputs: full shapes of inputs: ``{"image": (1, 3, 224, 224)}``.
        convention: FLOP-counting convention: ``"deepspeed"`` (default), ``"torch"``, ``"fvcore"``, ...
        optimizer: adds a training step with ``"adamw"``, ``"sgd"``, ... (docs/training.md).
        memory_limit: bytes, or text such as ``"16GiB"``: fills ``memory.fit``.
        measure: measures the times on this machine: True or ``"cuda"``, or ``"cpu"``.
        example_inputs: arguments of a torch.nn.Module: a tensor, a tuple, or a mapping by name.
        export_options: further arguments of ``torch.onnx.export``.
        options: any other option of ``costmodel profile --help``: ``memory_curve=True`` is
            ``--memory-curve``, ``value={"shape": "1,3,-1"}`` is ``--value=shape=1,3,-1``.

    Raises:
        CostmodelError: the model is refused or an option is invalid; ``code`` is the diagnostic's.

    Warns:
        CostmodelWarning: totals leave something out, or the backend is unusable.
    """
    _check_options(options)
    with as_file(model, example_inputs, export_options) as file:
        given = {**file.sizes_or(batch, dims), "device": device, "precision": precision,
                 "input": inputs, "convention": convention, "optimizer": optimizer,
                 "memory_limit": memory_limit, "measure": measure, **options}
        document, _ = run_json(["profile", "--format=json", *arguments(given), "--", file.path])
    if file.name is not None and "model" in document:
        if isinstance(document["model"], dict):
            document["model"]["path"] = file.name
        else:
            document["model"] = file.name
    return cast(Union[Profile, Sweep], of_schema(document))


def diff(old: ModelLike, new: ModelLike, **options: Any) -> Diff:
    """Compares two models or profiles.

    Args:
        old, new: as `model` in `profile`.
        options: options of `profile`, for both models; a Profile keeps its own.

    Raises:
        CostmodelError: as in `profile`; code "compare": they have different options, for example batches.
    """
    sides = [side if isinstance(side, Profile) else profile(side, **options) for side in (old, new)]
    with as_file(sides[0]) as old_file, as_file(sides[1]) as new_file:
        document, _ = run_json(["diff", "--format=json", old_file.path, new_file.path])
    made = Diff(document)
    made._sides = (sides[0], sides[1])  # pylint: disable=protected-access
    return made


def check(model: ModelLike, *, baseline: str | os.PathLike[str] | Profile | None = None,
          budget: str | os.PathLike[str] | None = None, limits: Sequence[str] = (),
          example_inputs: Any = None, export_options: Mapping[str, Any] | None = None,
          **options: Any) -> Verdict:
    """Checks the costs of a model against limits (docs/gate.md).

    Args:
        model: as in `profile`.
        baseline: file of ``costmodel check --update-baseline``, or a Profile.
        budget: file with limits.
        limits: limits such as ``"macs <= 4.1G"``, ``"layer1.*: flops <= +0%"``; default: no cost may
            increase over the baseline.
        options: any other option of ``costmodel check --help``.

    Raises:
        CostmodelError: as in `profile`. A regression is a Verdict that is not ``ok``.
    """
    _check_options(options)
    with tempfile.TemporaryDirectory(prefix="onnx_costmodel-") as folder:
        report = pathlib.Path(folder) / "report.md"
        if isinstance(baseline, Profile):
            baseline.save(pathlib.Path(folder) / "baseline.json")
            baseline = pathlib.Path(folder) / "baseline.json"
        with as_file(model, example_inputs, export_options) as file:
            given = {"baseline": baseline, "budget": budget, "limit": list(limits), **options,
                     **file.sizes_or(options.get("batch"), options.get("dim"))}
            document, status = run_json(["check", "--format=json", *arguments(given),
                                         f"--report=markdown={report}", "--", file.path])
        made = Verdict({**document, "model": file.name or document["model"]})
        made._status = status  # pylint: disable=protected-access
        made._markdown = report.read_text(encoding="utf-8")  # pylint: disable=protected-access
    return made


def llm(model: ModelLike, *, device: str | Sequence[str] | None = None,
        prompt: int | Sequence[int] | None = None, new: int | None = None,
        batch: int | Sequence[int] | None = None,
        parallel: str | Mapping[str, int] | Sequence[str | Mapping[str, int]] | None = None,
        memory_limit: str | int | None = None, kv_dtype: str | None = None,
        quantize: str | Mapping[str, str] | Sequence[str] | None = None,
        dims: Mapping[str, int] | None = None, example_inputs: Any = None,
        export_options: Mapping[str, Any] | None = None, **options: Any) -> Llm | LlmSweep:
    """Computes what serving a language model costs (docs/llm.md).

    Args:
        model: as in `profile`.
        device: as in `profile`. Several devices, prompts or divisions give an LlmSweep.
        prompt: tokens of the prompt of each sequence.
        new: tokens to generate.
        batch: sequences that are decoded together, or several numbers of them.
        parallel: GPUs that divide the model: ``{"tp": 2, "pp": 1}`` or ``"tp=2"``, or a list.
        memory_limit: memory of one GPU: bytes, or text such as ``"80GB"``.
        kv_dtype: format of keys and values: ``"fp8"``, ...
        quantize: format of weights: ``"int4:g128"``, or ``{"*mlp*": "fp8"}``.
        dims: sizes of symbolic dims that are neither batch nor tokens.
        example_inputs, export_options: as in `profile`.
        options: any other option of ``costmodel llm --help``.

    Raises:
        CostmodelError: as in `profile`, or the model is not a language model.
    """
    _check_options(options)
    divisions = [parallel] if isinstance(parallel, (str, Mapping)) else list(parallel or ())
    given = {"device": device if device is None or isinstance(device, str) else ",".join(device),
             "prompt": batches(prompt), "new": new, "batch": batches(batch),
             "parallel": [one if isinstance(one, str) else
                          ",".join(f"{key}={n}" for key, n in one.items()) for one in divisions],
             "memory_limit": memory_limit, "kv_dtype": kv_dtype, "quantize": quantize, "dim": dims,
             **options}
    with as_file(model, example_inputs, export_options) as file:
        document, _ = run_json(["llm", "--format=json", *arguments(given), "--", file.path])
    for one in document.get("rows", [document]):
        one["model"] = file.name or one["model"]
    return cast(Union[Llm, LlmSweep], of_schema(document))
