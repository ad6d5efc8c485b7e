# SPDX-License-Identifier: Apache-2.0
"""The commands of the program as functions."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, Sequence, Union, cast, overload

from ._program import arguments, run, run_json
from ._reports import Comparison, Diff, Llm, LlmSweep, Profile, Sweep, Verdict, of_schema
from ._schema import DeviceMemory
from ._sources import as_file

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import (CheckOptions, ConventionsOptions, FitOptions, LlmOptions, ProfileOptions,
                           QuantizeOptions, SweepOptions)

ModelLike = Union[str, "os.PathLike[str]", Any]  # or Profile, onnx.ModelProto, a model of PyTorch
OF_OUTPUT = {"format", "output"}


def _check_options(options: Mapping[str, Any]) -> None:
    for name in OF_OUTPUT & options.keys():
        raise TypeError(f"option {name} is not supported here: see Profile.render")


@functools.lru_cache(maxsize=None)
def version() -> str:
    """Returns the version of the program."""
    return run(["--version"])[0].split()[1]


@overload
def profile(model: ModelLike, *, batch: int | None = None, dims: Mapping[str, int] | None = None,
            inputs: Mapping[str, Sequence[int]] | None = None, example_inputs: Any = None,
            export_options: Mapping[str, Any] | None = None,
            **options: Unpack[ProfileOptions]) -> Profile: ...
@overload
def profile(model: ModelLike, *, batch: Sequence[int], dims: Mapping[str, int] | None = None,
            inputs: Mapping[str, Sequence[int]] | None = None, example_inputs: Any = None,
            export_options: Mapping[str, Any] | None = None,
            **options: Unpack[ProfileOptions]) -> Sweep: ...


def profile(model: ModelLike, *, batch: int | Sequence[int] | None = None,
            dims: Mapping[str, int] | None = None,
            inputs: Mapping[str, Sequence[int]] | None = None, example_inputs: Any = None,
            export_options: Mapping[str, Any] | None = None,
            **options: Unpack[ProfileOptions]) -> Profile | Sweep:
    """Computes the costs of a model without running it.

    Args:
        model: path of an ONNX file or of a profile in JSON, ``onnx.ModelProto``, or a model of PyTorch, which is
            exported in inference mode without its weights (see `export`).
        batch: batch size, also of models with a fixed batch; a sequence gives a Sweep.
        dims: sizes of symbolic dims: ``{"seq": 128}``.
        inputs: full shapes of inputs: ``{"image": (1, 3, 224, 224)}``.
        example_inputs, export_options: inputs and further arguments of `export`.
        options: the options of ``costmodel profile --help``, among them
            device: device whose times are modelled: ``"h200"``, or a file with a device description;
            precision: of bytes, times and limits: ``"fp32"``, ``"tf32"``, ``"fp16"``, ``"amp"``, ...;
            convention: FLOP-counting convention: ``"deepspeed"`` (default), ``"torch"``, ``"fvcore"``, ...;
            optimizer: adds a training step with ``"adamw"``, ``"sgd"``, ... (docs/training.md);
            memory_limit: bytes, or text such as ``"16GiB"``: fills ``memory.fit``;
            measure: measures the times on this machine: True or ``"cuda"``, or ``"cpu"``.
            ``memory_curve=True`` is ``--memory-curve``, ``value={"shape": "1,3,-1"}`` is ``--value=shape=1,3,-1``.

    Raises:
        CostmodelError: the model is refused or an option is invalid; ``code`` is the diagnostic's.

    Warns:
        CostmodelWarning: totals leave something out, or the backend is unusable.
    """
    _check_options(options)

    def page(sizes: int | Sequence[int] | None) -> str:
        with as_file(model, example_inputs, export_options) as again:
            given = {**again.sizes_or(sizes, dims), "input": inputs, **options}
            return run(["profile", "--format=html", *arguments(given), "--", again.path])[0]

    with as_file(model, example_inputs, export_options) as file:
        given = {**file.sizes_or(batch, dims), "input": inputs, **options}
        document, _ = run_json(["profile", "--format=json", *arguments(given), "--", file.path])
    if file.name is not None and "model" in document:
        if isinstance(document["model"], dict):
            document["model"]["path"] = file.name
        else:
            document["model"] = file.name
    made = cast(Union[Profile, Sweep], of_schema(document))
    made._pages = page  # pylint: disable=protected-access
    return made


def device_memory(model: ModelLike, *, optimizer: str = "adamw", batch: int | None = None,
                  **options: Any) -> DeviceMemory:
    """Estimates the device memory of a process that trains a model (docs/memory.md).

    Args:
        model, batch, options: as in `profile`.
        optimizer: of the training step.

    Raises:
        CostmodelError: as in `profile`.
    """
    return profile(model, optimizer=optimizer, batch=batch, **options).device_memory


def compare(models: Sequence[ModelLike] | Mapping[str, ModelLike], **options: Any) -> Comparison:
    """Profiles several models with the same options.

    Args:
        models: as `model` in `profile`, or a mapping by name.
        options: as in `profile`; ``batch`` is one size.

    Raises:
        CostmodelError: as in `profile`.
    """
    named = models.items() if isinstance(models, Mapping) else ((None, model) for model in models)
    profiles = [(name, profile(model, **options)) for name, model in named]
    return Comparison([(one.model.path if name is None else name, one) for name, one in profiles])


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
          batch: int | Sequence[int] | None = None, dims: Mapping[str, int] | None = None,
          inputs: Mapping[str, Sequence[int]] | None = None, example_inputs: Any = None,
          export_options: Mapping[str, Any] | None = None, **options: Unpack[CheckOptions]) -> Verdict:
    """Checks the costs of a model against limits (docs/gate.md).

    Args:
        model, batch, dims, inputs, example_inputs, export_options: as in `profile`.
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
            given = {**file.sizes_or(batch, dims), "input": inputs, "baseline": baseline, "budget": budget,
                     "limit": list(limits), **options}
            document, status = run_json(["check", "--format=json", *arguments(given),
                                         f"--report=markdown={report}", "--", file.path], strict=True)
        made = Verdict({**document, "model": file.name or document["model"]})
        made._status = status  # pylint: disable=protected-access
        made._markdown = report.read_text(encoding="utf-8")  # pylint: disable=protected-access
    return made


def llm(model: ModelLike, *, batch: int | Sequence[int] | None = None,
        parallel: str | Mapping[str, int] | Sequence[str | Mapping[str, int]] | None = None,
        quantize: str | Mapping[str, str] | Sequence[str] | None = None,
        dims: Mapping[str, int] | None = None, example_inputs: Any = None,
        export_options: Mapping[str, Any] | None = None,
        **options: Unpack[LlmOptions]) -> Llm | LlmSweep:
    """Computes what serving a language model costs (docs/llm.md).

    Args:
        model: as in `profile`.
        batch: sequences that are decoded together, or several numbers of them.
        parallel: GPUs that divide the model: ``{"tp": 2, "pp": 1}`` or ``"tp=2"``, or a list.
        quantize: format of weights: ``"int4:g128"``, or ``{"*mlp*": "fp8"}``.
        dims: sizes of symbolic dims that are neither batch nor tokens.
        example_inputs, export_options: as in `profile`.
        options: the options of ``costmodel llm --help``, among them
            device: as in `profile`; several devices, prompts or divisions give an LlmSweep;
            prompt: tokens of the prompt of each sequence;
            new: tokens to generate;
            memory_limit: memory of one GPU: bytes, or text such as ``"80GB"``;
            kv_dtype: format of keys and values: ``"fp8"``, ...

    Raises:
        CostmodelError: as in `profile`, or the model is not a language model.
    """
    _check_options(options)
    divisions = [parallel] if isinstance(parallel, (str, Mapping)) else list(parallel or ())
    given = {"batch": batch, "dim": dims, "quantize": quantize, **options,
             "parallel": [one if isinstance(one, str) else
                          ",".join(f"{key}={n}" for key, n in one.items()) for one in divisions]}
    with as_file(model, example_inputs, export_options) as file:
        document, _ = run_json(["llm", "--format=json", *arguments(given), "--", file.path])
    for one in document.get("rows", [document]):
        one["model"] = file.name or one["model"]
    return cast(Union[Llm, LlmSweep], of_schema(document))


def quantize(model: ModelLike, *, batch: int | None = None, dims: Mapping[str, int] | None = None,
             example_inputs: Any = None, export_options: Mapping[str, Any] | None = None,
             **options: Unpack[QuantizeOptions]) -> Llm:
    """Computes what smaller formats of the weights save: ``result.llm.quantization``.

    Args:
        model, batch, dims, example_inputs, export_options: as in `profile`.
        options: the options of ``costmodel quantize --help``: ``device`` models the times of products.

    Raises:
        CostmodelError: as in `profile`.
    """
    _check_options(options)
    with as_file(model, example_inputs, export_options) as file:
        given = {**file.sizes_or(batch, dims), **options}
        document, _ = run_json(["quantize", "--format=json", *arguments(given), "--", file.path])
    return Llm({**document, "model": file.name or document["model"]})


def conventions(model: ModelLike, *, batch: int | None = None, dims: Mapping[str, int] | None = None,
                inputs: Mapping[str, Sequence[int]] | None = None, example_inputs: Any = None,
                export_options: Mapping[str, Any] | None = None,
                **options: Unpack[ConventionsOptions]) -> dict[str, int | None]:
    """Returns the FLOPs of a model by each counting convention (docs/conventions.md).

    Args:
        model, batch, dims, inputs, example_inputs, export_options: as in `profile`.
        options: any other option of ``costmodel conventions --help``.

    Raises:
        CostmodelError: as in `profile`.
    """
    _check_options(options)
    with as_file(model, example_inputs, export_options) as file:
        given = {**file.sizes_or(batch, dims), "input": inputs, **options}
        document, _ = run_json(["conventions", "--format=json", *arguments(given), "--", file.path])
    return {row["name"]: row["flops"] for row in document["conventions"]}


def sweep(models: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], *,
          batch: int | Sequence[int] | None = None, dims: Mapping[str, int | Sequence[int]] | None = None,
          folder: str | os.PathLike[str] | None = None, **options: Unpack[SweepOptions]) -> Sweep:
    """Profiles models for all combinations of batches, precisions, devices and sizes (docs/cluster.md).

    Args:
        models: paths of ONNX files.
        batch, dims: one size or several.
        folder: where results are kept, so that a run that was ended continues; default: nowhere.
        options: the options of ``costmodel sweep --help``, among them ``device`` and ``precision``, each one
            name or several.

    Returns:
        A row per combination; one that failed has its message in ``problem``.

    Raises:
        CostmodelError: a file cannot be read, or an option is invalid.
    """
    _check_options(options)
    paths = [models] if isinstance(models, (str, os.PathLike)) else list(models)
    sizes = [f"{name}={','.join(map(str, size if isinstance(size, (list, tuple)) else [size]))}"
             for name, size in (dims or {}).items()]
    with tempfile.TemporaryDirectory(prefix="onnx_costmodel-") as temporary:
        results = os.fspath(folder or pathlib.Path(temporary) / "results")
        run(["sweep", *arguments({"batch": batch, "dim": sizes, **options}), f"--output={results}", "--",
             *(os.fspath(path) for path in paths)])
        document, _ = run_json(["merge", "--format=json", "--", results])
    return Sweep(document)


def fit(device: str | os.PathLike[str], times: str | os.PathLike[str], *,
        models: str | os.PathLike[str] = ".", **options: Unpack[FitOptions]) -> Any:
    """Fits a modelled device to measured times (docs/times.md).

    Args:
        device: built-in name, or a file with a device description.
        times: CSV file with the columns model, node, batch, precision, layout, seconds.
        models: folder of the models.
        options: the options of ``costmodel fit --help``.

    Returns:
        The value of ``calibration`` for the device's file, to be written as JSON.

    Raises:
        CostmodelError: a file is refused.
    """
    _check_options(options)
    given = {"models": models, **options}
    text, _ = run(["fit", *arguments(given), "--", os.fspath(device), os.fspath(times)])
    return cast("dict[str, Any]", json.loads(text))
