# SPDX-License-Identifier: Apache-2.0
"""PyTorch models become ONNX files without weights.

The parameters of a model on the device ``meta`` are replaced by fake tensors on the CPU while it is
exported: the graph is complete, the weights exist nowhere. Axes whose size may change are symbolic:
``batch``, and for models of Hugging Face ``seq``, ``past`` and ``total``.
"""
from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import warnings
from typing import Any, Callable, Iterator, Mapping, NamedTuple

from ._program import CostmodelError

LARGEST_KEPT = 1 << 16  # bytes of an initializer that may decide a shape
LARGEST_FOLDED = 1 << 10  # bytes of constants that are folded in a model without weights
MISSING = "weights.bin"  # external data that is not written: the program does not read weights
SIGNATURE = "pkg.torch.export.ExportedProgram.graph_signature"  # of the exporter: names of the parameters
MANY = 500_000_000  # parameters of a model whose export reports its progress
BATCH, SEQ, PAST = 3, 11, 13  # sizes of the inputs that this module makes
SIZES = {"batch": 1, "seq": 128}  # by default, of a model of Hugging Face
SIZES_WITH_CACHE = {"batch": 1, "seq": 1, "past": 2047, "total": 2048}


class Inputs(NamedTuple):
    """Arguments of a module."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    shapes: Any  # dynamic_shapes of torch.onnx.export; None: all sizes are fixed
    sizes: dict[str, int]  # of the symbolic axes, if the user gives no others
    may_be_fixed: bool  # the user gave the tensors, so their sizes are right if the exporter cannot change them


def is_torch_model(model: Any) -> bool:
    """Returns True for a torch.nn.Module or torch.export.ExportedProgram."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, (torch.nn.Module, torch.export.ExportedProgram))


def _is_of(library: str, kind: str, value: Any) -> bool:
    module = sys.modules.get(library)
    return module is not None and isinstance(value, getattr(module, kind))


def _tensors(module: Any) -> Iterator[tuple[dict[str, Any], str, Any]]:
    """Yields the dict, the name and the value of each parameter and buffer."""
    for part in module.modules():
        for tensors in (part._parameters, part._buffers):  # pylint: disable=protected-access
            yield from ((tensors, name, tensor) for name, tensor in list(tensors.items())
                        if tensor is not None)


@contextlib.contextmanager
def _with_cache(module: Any, cache: bool) -> Iterator[None]:
    """Sets whether a model of Hugging Face returns its cache, if it has one."""
    configs = {id(part.config): part.config for part in module.modules()
               if getattr(getattr(part, "config", None), "use_cache", None) is not None}
    before = [(config, config.use_cache) for config in configs.values()]
    for config, _ in before:
        config.use_cache = cache
    try:
        yield
    finally:
        for config, use_cache in before:
            config.use_cache = use_cache


@contextlib.contextmanager
def _fake_weights(module: Any) -> Iterator[Any]:
    """Replaces the parameters and buffers by fake tensors on the CPU; shared ones stay shared.

    Yields the FakeTensorMode.
    """
    import torch  # pylint: disable=import-outside-toplevel
    from torch._subclasses.fake_tensor import FakeTensorMode  # pylint: disable=import-outside-toplevel

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    before = list(_tensors(module))
    fakes: dict[int, Any] = {}
    for tensors, name, tensor in before:
        if tensor.is_meta and id(tensor) not in fakes:
            with mode:
                fake = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
            fakes[id(tensor)] = (torch.nn.Parameter(fake, requires_grad=False)
                                 if isinstance(tensor, torch.nn.Parameter) else fake)
        tensors[name] = fakes.get(id(tensor), tensor)
    try:
        yield mode
    finally:
        for tensors, name, tensor in before:
            tensors[name] = tensor


def _map(value: Any, of_tensor: Callable[..., Any], *others: Any) -> Any:
    """Applies a function to each tensor of nested arguments, and to those in its place in `others`."""
    import torch  # pylint: disable=import-outside-toplevel
    from torch.utils import _pytree  # pylint: disable=import-outside-toplevel

    if isinstance(value, torch.Tensor):
        return of_tensor(value, *others)
    if isinstance(value, Mapping):
        return {key: _map(item, of_tensor, *(other[key] for other in others))
                for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_map(item, of_tensor, *rest) for item, *rest in zip(value, *others)]
    node = _pytree.SUPPORTED_NODES.get(type(value))  # of a cache
    if node is None:
        return None
    return _map(node.flatten_fn(value)[0], of_tensor, *(node.flatten_fn(other)[0] for other in others))


def _widened(value: Any, batch: int) -> Any:
    """Repeats a tensor whose batch is 1: the exporter fixes sizes of 1."""
    import torch  # pylint: disable=import-outside-toplevel

    has_batch = isinstance(value, torch.Tensor) and value.dim() > 0 and value.shape[0] == batch == 1
    return value.expand(2, *value.shape[1:]).contiguous() if has_batch else value


def _of_module(given: Any) -> Inputs:
    """Returns the given arguments. Axis 0 of the tensors that have the size of the first one is the batch."""
    import torch  # pylint: disable=import-outside-toplevel

    args = () if isinstance(given, Mapping) else given if isinstance(given, tuple) else (given,)
    kwargs = dict(given) if isinstance(given, Mapping) else {}
    tensors = [each for each in (*args, *kwargs.values())
               if isinstance(each, torch.Tensor) and each.dim() > 0]
    if not tensors:
        return Inputs(args, kwargs, None, {}, True)
    batch = tensors[0].shape[0]

    def axes(tensor: Any) -> Any:
        return {0: "batch"} if tensor.dim() > 0 and tensor.shape[0] == batch else None

    shapes = _map(kwargs, axes) if kwargs else tuple(_map(args, axes))
    return Inputs(args, kwargs, shapes, {"batch": batch}, True)


def _made_inputs(module: Any) -> dict[str, Any]:
    """Returns inputs for a model of Hugging Face, by the name of its main input."""
    import torch  # pylint: disable=import-outside-toplevel

    config, name = module.config, module.main_input_name
    audio = {"input_values": (BATCH, 16000),
             "input_features": (BATCH, getattr(config, "num_mel_bins", 80),
                                2 * getattr(config, "max_source_positions", 1500))}
    if name == "pixel_values":
        size = getattr(config, "image_size", 224)
        sides = tuple(size) if isinstance(size, (list, tuple)) else (size, size)
        made = {name: torch.zeros(BATCH, getattr(config, "num_channels", 3), *sides, dtype=module.dtype)}
    elif name in audio:
        made = {name: torch.zeros(*audio[name], dtype=module.dtype)}
    elif name == "input_ids":
        made = {name: torch.ones(BATCH, SEQ, dtype=torch.int64)}
    else:
        raise CostmodelError(f"no example of the input {name} of {type(module).__name__} is known: "
                             "pass example_inputs", "export")
    if getattr(config, "is_encoder_decoder", False):
        made["decoder_input_ids"] = torch.ones(BATCH, SEQ, dtype=torch.int64)
    return made


def _of_hugging_face(module: Any, given: Any, cache: bool, mode: Any) -> Inputs:
    """Returns the inputs of a model of Hugging Face: those of a tokenizer, given ones, or made ones."""
    import torch  # pylint: disable=import-outside-toplevel

    if _is_of("transformers", "PreTrainedTokenizerBase", given):
        given = given(["an example", "an example"], return_tensors="pt")
    with mode or contextlib.nullcontext():
        kwargs = _made_inputs(module) if given is None else dict(given)
    sizes = dict(SIZES_WITH_CACHE if cache else SIZES)
    sizes["decoder_seq"] = sizes["seq"]

    def axes(tensor: Any) -> Any:
        if tensor.is_floating_point() or tensor.dim() != 2:
            return {0: "batch"} if tensor.dim() > 0 else None
        return {0: "batch", 1: "seq"}

    shapes = _map(kwargs, axes)
    if "decoder_input_ids" in shapes:
        shapes["decoder_input_ids"][1] = "decoder_seq"
    if not cache:
        used = {name for shape in shapes.values() for name in (shape or {}).values()}
        for key, shape in shapes.items() if given is not None else ():
            sizes.update({name: kwargs[key].shape[axis] for axis, name in (shape or {}).items()})
        return Inputs((), kwargs, shapes, {name: sizes[name] for name in sizes if name in used},
                      given is not None)

    from transformers.integrations import executorch  # pylint: disable=import-outside-toplevel

    with contextlib.suppress(ValueError):  # is registered
        executorch.register_dynamic_cache_export_support()

    def run(length: int) -> Any:
        """Returns the cache after `length` tokens."""
        return module(input_ids=torch.ones(BATCH, length, dtype=torch.int64)).past_key_values

    def grown(tensor: Any, longer: Any) -> dict[int, str]:
        changed = {axis: "past" for axis in range(tensor.dim()) if tensor.shape[axis] != longer.shape[axis]}
        return {0: "batch", **changed}

    with mode, torch.no_grad():
        past = run(PAST)
        shapes["past_key_values"] = _map(past, grown, run(PAST + 2))
        shapes["attention_mask"] = {0: "batch", 1: "total"}
        kwargs.update(input_ids=torch.ones(BATCH, SEQ, dtype=torch.int64), past_key_values=past,
                      attention_mask=torch.ones(BATCH, PAST + SEQ, dtype=torch.int64))
    return Inputs((), kwargs, shapes, dict(SIZES_WITH_CACHE), False)


def _without_sdpa(module: Any, stack: contextlib.ExitStack) -> bool:
    """Makes a model of Hugging Face write the products of attention, until the stack ends.

    torch 2.15 cannot export some calls of scaled_dot_product_attention, such as those of T5. Returns False if the
    model has none.
    """
    if (not _is_of("transformers", "PreTrainedModel", module)
            or module.config._attn_implementation != "sdpa"):  # pylint: disable=protected-access
        return False
    module.set_attn_implementation("eager")
    stack.callback(module.set_attn_implementation, "sdpa")
    return True


def _arguments(module: Any, given: Any, cache: bool, mode: Any) -> Inputs:
    if _is_of("transformers", "PreTrainedModel", module) and (cache or not isinstance(given, tuple)):
        return _of_hugging_face(module, given, cache, mode)
    if given is None:
        raise TypeError("a torch.nn.Module requires example_inputs")
    return _of_module(given)


def _to_mode(value: Any, mode: Any) -> Any:
    """Replaces tensors on the device meta by fake tensors on the CPU."""
    import torch  # pylint: disable=import-outside-toplevel

    if isinstance(value, torch.Tensor) and value.is_meta:
        with mode:
            return torch.empty(value.shape, dtype=value.dtype)
    if isinstance(value, Mapping):
        return {key: _to_mode(item, mode) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_to_mode(item, mode) for item in value])
    return value


def _fold(model: Any) -> None:
    """Folds the constants of shape arithmetic, as the exporter does for models with weights."""
    from onnx_ir.passes import common  # pylint: disable=import-outside-toplevel
    from onnxscript.optimizer import fold_constants  # pylint: disable=import-outside-toplevel

    common.InlinePass()(model)
    disabled = logging.root.manager.disable
    logging.disable(max(disabled, logging.WARNING))  # a warning for each weight without contents
    try:
        fold_constants(model, input_size_limit=LARGEST_FOLDED, output_size_limit=LARGEST_FOLDED)
    finally:
        logging.disable(disabled)
    for run in (common.RemoveUnusedNodesPass(), common.CommonSubexpressionEliminationPass(),
                common.RemoveUnusedNodesPass()):
        run(model)


def _record_sizes(model: Any, parameters: Mapping[str, Any]) -> None:
    """Adds the number of elements of each parameter to the exporter's list of their names.

    Names of one tensor, such as those of a tied head, have 0 after the first.
    """
    props = model.graph.metadata_props
    lines = props.get(SIGNATURE, "").split("\n")
    seen = set()
    for i, line in enumerate(lines):
        found = re.search(": PARAMETER target='([^']*)'$", line)
        parameter = parameters.get(found[1]) if found else None
        if parameter is not None:
            lines[i] = f"{line} numel={0 if id(parameter) in seen else parameter.numel()}"
            seen.add(id(parameter))
    props[SIGNATURE] = "\n".join(lines)


def _drop_weights(model: Any) -> bool:
    """Makes large and fake initializers external data. Returns True if one was fake."""
    import onnx_ir  # of torch's exporter; pylint: disable=import-outside-toplevel
    from torch._subclasses.fake_tensor import FakeTensor  # pylint: disable=import-outside-toplevel

    any_fake = False
    for value in model.graph.initializers.values():
        tensor = value.const_value
        raw = getattr(tensor, "raw", None)
        is_fake = isinstance(raw, FakeTensor) or bool(getattr(raw, "is_meta", False))
        any_fake = any_fake or is_fake
        if tensor is not None and (is_fake or tensor.nbytes > LARGEST_KEPT):
            value.const_value = onnx_ir.ExternalTensor(
                MISSING, None, None, dtype=tensor.dtype, shape=tensor.shape, name=value.name)
    return any_fake


def _translate(model: Any, inputs: Inputs, options: Mapping[str, Any]) -> tuple[Any, dict[str, int]]:
    """Runs the exporter; if it cannot keep the batch symbolic, runs it with fixed sizes.

    Returns the exported program, and the sizes of its symbolic axes.
    """
    import torch  # pylint: disable=import-outside-toplevel

    batch = inputs.sizes.get("batch", 0)
    symbolic = {"args": tuple(_widened(each, batch) for each in inputs.args),
                "kwargs": {key: _widened(each, batch) for key, each in inputs.kwargs.items()} or None,
                "dynamic_shapes": inputs.shapes}
    try:
        return torch.onnx.export(model, **{**symbolic, **options}), inputs.sizes
    except Exception as fault:  # pylint: disable=broad-exception-caught
        if not inputs.may_be_fixed or inputs.shapes is None or "dynamic_shapes" in options:
            raise
        logging.getLogger(__package__).info("fixed batch: %s", fault)
        fixed = {"args": inputs.args, "kwargs": inputs.kwargs or None}
        return torch.onnx.export(model, **{**fixed, **options}), {}


def export(model: Any, path: str | os.PathLike[str], example_inputs: Any = None, *,
           cache: bool = False, **options: Any) -> dict[str, int]:
    """Exports a PyTorch model as an ONNX file without weights, in inference mode.

    Args:
        model: ``torch.nn.Module``, also with parameters on the device ``meta``;
            ``transformers.PreTrainedModel``; or ``torch.export.ExportedProgram``.
        path: file to write.
        example_inputs: a tensor, a tuple, or a mapping by name; for a model of Hugging Face also a
            tokenizer, or None: then they are made from its configuration.
        cache: the model of Hugging Face reads and returns the keys and values of earlier tokens.
        options: arguments of ``torch.onnx.export``.

    Returns:
        Default sizes of the symbolic axes, for example ``{"batch": 1, "seq": 128}``.

    Raises:
        CostmodelError: the exporter failed; code "export".
    """
    import onnx_ir  # of torch's exporter; pylint: disable=import-outside-toplevel
    import torch  # pylint: disable=import-outside-toplevel

    inputs = Inputs((), {}, None, {}, False)
    is_module = isinstance(model, torch.nn.Module)
    training = is_module and model.training
    parameters = dict(model.named_parameters(remove_duplicate=False) if is_module else model.named_parameters())
    tensors = [tensor for _, _, tensor in _tensors(model)] if is_module else list(model.state_dict.values())
    is_meta = any(tensor.is_meta for tensor in tensors)
    options = {"dynamo": True, "verbose": sum(tensor.numel() for tensor in tensors) > MANY,
               **({"optimize": False} if is_meta else {}), **options}
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        try:
            mode = stack.enter_context(_fake_weights(model)) if is_module and (is_meta or cache) else None
            if is_module:
                model.eval()
                stack.callback(model.train, training)
                stack.enter_context(_with_cache(model, cache))
                inputs = _arguments(model, _to_mode(example_inputs, mode), cache, mode)
            with warnings.catch_warnings(), mode or contextlib.nullcontext():
                warnings.simplefilter("ignore")
                try:
                    exported, sizes = _translate(model, inputs, options)
                except Exception:  # pylint: disable=broad-exception-caught
                    if not is_module or not _without_sdpa(model, stack):
                        raise
                    exported, sizes = _translate(model, inputs, options)
            _record_sizes(exported.model, parameters)
            if _drop_weights(exported.model) and "optimize" in options:
                _fold(exported.model)
        except (CostmodelError, TypeError):
            raise
        except Exception as fault:
            cause: BaseException = fault
            while cause.__cause__ is not None:
                cause = cause.__cause__
            first = (str(cause).strip().splitlines() or [""])[0]
            raise CostmodelError(f"{type(model).__name__} cannot be exported: "
                                 f"{type(cause).__name__}: {first}", "export") from fault
    onnx_ir.save(exported.model, path)
    return sizes
