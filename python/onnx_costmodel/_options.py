# SPDX-License-Identifier: Apache-2.0
"""The options of the program as keyword arguments. Written by tools/python_types: do not edit."""
# pylint: disable=line-too-long
from __future__ import annotations

import os
from typing import Mapping, Sequence, TypedDict

LISTS = frozenset({"batch", "columns", "context", "device", "precision", "prompt"})  # several values are separated by commas


class ProfileOptions(TypedDict, total=False):
    """Options of ``costmodel profile``."""

    value: Mapping[str, str] | Sequence[str]  # elements of an input
    trip_count: Mapping[str, int] | Sequence[str]  # trip count of a Loop with a data-dependent exit
    op_costs: str | os.PathLike[str] | Sequence[str]
    mode: str  # mode of BatchNormalization, Dropout, ...
    convention: str  # FLOP-counting convention, the first is the default
    strict: bool  # refuse models with unknown operators, opsets or shapes
    explain: str | Sequence[str]  # print how the costs of a node
    optimizer: str  # add a training step
    as_exported: bool  # profile the step of the file as it is
    freeze: str | Sequence[str]  # parameters or modules that are not trained
    trainable: str | Sequence[str]  # the only parameters or modules that are trained
    shard: str  # divide the step over GPUs
    checkpoint: str | Sequence[str]
    micro_batches: int  # forward and backward passes of a step, each with an N-th of the batch
    module_source: str  # use only this source to recover the module hierarchy
    group: str
    schedule: str  # execution order of the nodes
    memory_alignment: int  # alignment of arena offsets in bytes, a power of two
    memory_limit: str | int  # report whether the model fits in SIZE
    memory_curve: bool  # report the live bytes at each node
    memory_plan: bool
    measure: str | bool  # measure each distinct layer on
    device: str  # model each layer's time with the roofline of a device
    backend: str  # take times from this backend, with these settings
    precision: str | Sequence[str]  # precision of floats, for bytes, times and limits
    amp: bool  # short for --precision amp
    runtime: str  # with --device, the program whose time is modelled
    layout: str  # image layout
    autotune: int
    no_cache: bool  # do not read or write the cache of measured times
    times: str | os.PathLike[str] | Sequence[str]
    sample_bytes: str | int  # stored size of one input sample
    price: float  # price of the device per hour
    watts: float  # power of the device
    end_to_end: bool


class CheckOptions(TypedDict, total=False):
    """Options of ``costmodel check``."""

    config: str | os.PathLike[str]  # check the models of this file
    allow_incomplete: bool  # check the known costs of a model with unknown operators or shapes
    fail_ambiguous: bool  # exit with status 1 instead of 3 if measured times overlap
    reason: str  # reason for the update, recorded in the baseline
    value: Mapping[str, str] | Sequence[str]  # elements of an input
    trip_count: Mapping[str, int] | Sequence[str]  # trip count of a Loop with a data-dependent exit
    op_costs: str | os.PathLike[str] | Sequence[str]
    mode: str  # mode of BatchNormalization, Dropout, ...
    convention: str  # FLOP-counting convention, the first is the default
    strict: bool  # refuse models with unknown operators, opsets or shapes
    optimizer: str  # add a training step
    as_exported: bool  # profile the step of the file as it is
    freeze: str | Sequence[str]  # parameters or modules that are not trained
    trainable: str | Sequence[str]  # the only parameters or modules that are trained
    shard: str  # divide the step over GPUs
    checkpoint: str | Sequence[str]
    micro_batches: int  # forward and backward passes of a step, each with an N-th of the batch
    module_source: str  # use only this source to recover the module hierarchy
    group: str
    schedule: str  # execution order of the nodes
    memory_alignment: int  # alignment of arena offsets in bytes, a power of two
    measure: str | bool  # measure each distinct layer on
    device: str  # model each layer's time with the roofline of a device
    backend: str  # take times from this backend, with these settings
    precision: str | Sequence[str]  # precision of floats, for bytes, times and limits
    amp: bool  # short for --precision amp
    runtime: str  # with --device, the program whose time is modelled
    layout: str  # image layout
    autotune: int
    no_cache: bool  # do not read or write the cache of measured times
    times: str | os.PathLike[str] | Sequence[str]
    history: str | os.PathLike[str]  # append the costs to FILE, a line for each model and batch


class LlmOptions(TypedDict, total=False):
    """Options of ``costmodel llm``."""

    prompt: int | Sequence[int]  # tokens of the prompt
    new: int  # tokens to generate
    chunk: int  # prefill in chunks of N tokens
    source: int  # tokens of the source of an encoder-decoder
    logits: str  # logits of prefill
    memory_limit: str | int  # memory of one GPU, as 80GB or 24GiB
    reserve: float  # share of the memory that is not used
    arena: str | int  # memory for activations
    context: int | Sequence[int]  # contexts of the table of capacity
    kv_dtype: str  # format of keys and values
    kv_policy: str
    price: float  # price of one GPU per hour
    watts: float  # power of one GPU
    device: str | Sequence[str]  # model the times on a device
    runtime: str  # runtime whose kernels are modelled


class QuantizeOptions(TypedDict, total=False):
    """Options of ``costmodel quantize``."""

    device: str  # model the times of products on a device
    runtime: str  # runtime whose kernels are modelled


class ConventionsOptions(TypedDict, total=False):
    """Options of ``costmodel conventions``."""

    value: Mapping[str, str] | Sequence[str]  # elements of an input
    trip_count: Mapping[str, int] | Sequence[str]  # trip count of a Loop with a data-dependent exit
    op_costs: str | os.PathLike[str] | Sequence[str]
    mode: str  # mode of BatchNormalization, Dropout, ...


class SweepOptions(TypedDict, total=False):
    """Options of ``costmodel sweep``."""

    device: str | Sequence[str]  # devices to model
    precision: str | Sequence[str]  # precisions of floats
    measure: str | bool  # also measure each model on this machine, one at a time, on
    backend: str  # as --measure, with this backend and these settings
    convention: str  # FLOP-counting convention, the first is the default
    mode: str  # mode of BatchNormalization, Dropout, ...
    optimizer: str  # add a training step, as of profile, with one of these optimizers
    amp: bool  # short for --precision amp
    runtime: str  # runtime of the modelled devices, as of profile
    shard: str  # run part I of N
    retry: bool  # run combinations that failed again, and all of models whose file changed
    no_cache: bool  # measure all layers again, do not use the cache of measured times


class FitOptions(TypedDict, total=False):
    """Options of ``costmodel fit``."""

    runtime: str  # runtime of the measurements
    basis: str  # what was measured, for reports
