# SPDX-License-Identifier: Apache-2.0
"""The objects of the JSON reports (docs/json-reference.md). Written by tools/python_types: do not edit."""
# pylint: disable=missing-class-docstring,line-too-long
from __future__ import annotations

from typing import Any

from ._record import Map, Record, Rows, map_of


class Tool(Record):
    """program that wrote the file."""

    name: str
    version: str


class Value(Record):
    """A tensor or another ONNX value."""

    name: str  # empty for an omitted optional output
    dtype: Any
    shape: list[int | None] | None
    shape_upper_bound: list[int | None]
    bytes: int | None


class Options(Record):
    """Options of the profile."""

    _nested = {"dims": Map, "trip_counts": Map}
    batch: int | None  # profiled batch size; None if the inputs have no batch axis
    dims: Map[int | None]  # value of each symbolic dim that was bound, by name
    trip_counts: Map[int | None]  # trip counts set with --trip-count, by Loop
    counting: int | None
    precision: str | None
    file_precision: str | None  # precision of most floats in the file: fp32, fp16 or bf16
    convention: str  # FLOP counting convention: deepspeed or another value of --convention
    mode: str  # model (the mode that each node specifies), training or inference
    schedule: str  # execution order of the nodes: file or min-memory
    module_source: str  # the only module source used; empty: all sources in turn
    group: str  # expression by which modules were grouped; empty: none
    given: str | None  # input shapes and input values set by the user: x=1x3x64x64 k=2,2


class Totals(Record):
    """Figures of the whole model."""

    params: int | None  # elements of learned tensors, each tensor counted once
    buffers: int | None
    macs: int | None  # multiply-adds
    int_macs: int | None  # multiply-adds of integers, included in macs
    flops: int | None  # FLOPs by the convention; exact excludes integer operations
    int_ops: int | None  # integer operations by convention exact, for every convention
    bytes_read: int | None  # bytes of the operands of the nodes
    bytes_written: int | None  # bytes of the outputs of the nodes
    weight_bytes: int | None  # stored size of params and buffers, each tensor counted once
    activation_bytes: int | None
    latency_ps: int | None
    lower_bound_ps: int | None
    peak_activation_bytes: int | None  # peak of live activation bytes; as in memory
    arena_bytes: int | None  # size of the arena that holds all activations; as in memory
    framework_params: int | None
    framework_unknown: list[str]
    upper_bound: list[str]
    partial: list[str]


class Step(Record):
    """A share of a training step."""

    backward_macs: int | None  # MACs of all required gradients
    saved_bytes: int | None  # outputs saved for backward, bytes; None if the operator is unknown


class Achieved(Record):
    """Work divided by time; for a module, sums over its nodes."""

    flops_per_s: int | None  # FLOPs per second, by convention exact
    bytes_per_s: int | None  # bytes read and written per second
    roofline: float | None
    limited_by: str


class Node(Record):
    """A node. params, buffers and weight_bytes are those of its operands: a weight that two no."""

    _nested = {"outputs": Value, "training": Step}
    index: int | None  # index in nodes
    name: str  # empty if the node has no name
    op: str  # operator type: Conv
    domain: str  # operator domain; empty for ai.onnx
    module: str | None  # path of the module that contains the node
    inputs: list[str]  # names of values; empty for an omitted operand
    outputs: Rows[Value]  # outputs of the node
    macs: int | None  # multiply-adds
    flops: int | None  # FLOPs by the convention; exact excludes integer operations
    bytes_read: int | None  # bytes of the operands of the nodes
    bytes_written: int | None  # bytes of the outputs of the nodes
    params: int | None  # elements of learned tensors, each tensor counted once
    buffers: int | None
    int_macs: int | None  # multiply-adds of integers, included in macs
    int_ops: int | None  # integer operations by convention exact, for every convention
    weight_bytes: int | None  # stored size of params and buffers, each tensor counted once
    activation_bytes: int | None
    latency_ps: int | None
    lower_bound_ps: int | None
    upper_bound: list[str]
    training: Step  # its share of a training step
    kernel: int | None


class FusedPattern(Record):
    """Nodes that an exporter wrote for one operation."""

    name: str  # class as printed by the framework: LayerNorm, GELU, Conv+BN
    op: str  # operator whose cost function is used: LayerNormalization
    module: str | None  # path of the module of its last node
    last: int | None  # index of the node that computes the result
    nodes: list[int]  # indices of all its nodes, ascending
    foldable: bool


class Description(Record):
    """A custom operator from an --op-costs file."""

    op: str  # domain::Type
    digest: str  # hash of the described outputs and costs; notes and whitespace are ignored
    replaces: bool  # true: replaces a built-in operator


class Incomplete(Record):
    """Nodes whose costs sums leave out, as a whole or in part."""

    unknown_operators: int | None  # their operator is unknown
    unknown_shapes: int | None  # an operand or output has an unknown shape without an upper bound
    unknown_trip_counts: int | None
    unknown_gradients: int | None  # the gradient of their operator is unknown: backward is left out


class Rebatched(Record):
    """A constant that contained the batch size of the file."""

    node: str  # name of the node that uses the constant
    op: str  # its type
    input: str  # name of the constant
    what: str  # role of the constant: target (of a reshape), repeats, dims
    axis: int | None  # index of the changed element, or axis of the tensor
    from_: int | None  # old value
    to: int | None  # new value
    node_index: int | None  # index into nodes


class Diagnostic(Record):
    """A note or a warning."""

    severity: str  # severity
    code: str  # code of the message, see docs/errors.md
    message: str  # one line
    node: str | None  # name of the node; None if the message is not about a node
    hint: str | None  # how to fix it; None: none
    place: str  # location, one line per level, outermost first


class Fit(Record):
    """Whether required_bytes is within a limit."""

    limit_bytes: int | None  # the limit, bytes
    fits: bool  # true if required_bytes of the profiled batch is within the limit
    largest_batch: int | None
    largest_bytes: int | None  # required_bytes at that batch; None if not determined
    next_bytes: int | None
    confident_batch: int | None
    search: str
    why: str  # reason for fixed


class Weights(Record):
    """Weights of one element type that the file stores in one way."""

    dtype: str  # element type
    storage: str
    tensors: int | None  # number of distinct tensors
    elements: int | None  # number of elements
    bytes: int | None  # stored size; a packed 4-bit element takes half a byte


class Live(Record):
    """A value that is live at the peak."""

    value: str  # name
    bytes: int | None  # size
    module: str | None  # path of the module that computes it; empty for an input


class Curve(Record):
    """Live bytes while a node runs."""

    node: int | None  # index into nodes
    bytes: int | None  # live bytes while the node runs


class Placed(Record):
    """The offset of a value in the arena."""

    value: str  # name
    offset: int | None  # offset in the arena, bytes
    bytes: int | None  # size
    made: int | None  # index of the node that computes it; None for an input
    last: int | None  # index of the last node that reads it


class Losses(Record):
    """Parts of an expected time."""

    launch_ps: int | None  # kernel launches
    traffic_ps: int | None
    utilization_ps: int | None
    bound_ps: int | None  # the lower bound


class StepTensors(Record):
    """Tensors of one kind that are alive for a part of a training step: lists of equal length.."""

    kind: str
    nodes: list[int]
    from_: list[int]  # first positions at which they are alive
    to: list[int]  # last positions
    bytes: list[int]  # sizes


class MemoryPart(Record):
    """A part of the device memory, when most bytes are allocated."""

    name: str  # weights, saved activations, allocator, context, …
    bytes: int | None  # size, rounded as the allocator does
    source: str  # where the number comes from: the file, a rule, a replay, a fit or a measurement


class Price(Record):
    """Price and energy of 1000 samples."""

    price: float | None  # at the price of --price; None without it, or without times
    least_price: float | None  # at the lower bound of the time
    joules: float | None  # if the device always draws the power of --watts
    least_joules: float | None  # at the lower bound of the time


class TimeError(Record):
    """Error of the expected times of a modelled device."""

    latency_low_ps: int | None
    latency_high_ps: int | None  # see latency_low_ps
    iteration_low_ps: int | None  # the same of iteration_ps of training
    iteration_high_ps: int | None  # see iteration_low_ps
    host_ps: int | None
    mostly: str
    calibration: str
    times: int | None  # number of measured times of the calibration
    median_error: float | None
    p90_error: float | None  # its 90th percentile
    coverage: float | None  # share of these times within their interval


class Term(Record):
    """One term of a cost: factor * count."""

    factor: int | None  # factor
    of: str  # what is counted: MACs, input elements
    count: int | None  # count
    of_integers: bool  # true: a term of int_ops, not of flops


class ExplainedTime(Record):
    """How a modelled device runs a node."""

    latency_ps: int | None  # expected time of one run
    compute_ps: int | None  # arithmetic; overlaps with memory_ps
    memory_ps: int | None  # memory traffic
    extra_ps: int | None  # kernels around it: casts, changes of layout, quantization
    launch_ps: int | None  # launches
    launches: int | None  # number of launches; 0: part of another node's kernel
    host_ps: int | None  # time in which the host launches them
    tile_m: int | None  # rows of a tile; None if the product is not cut into tiles
    tile_n: int | None  # columns of a tile
    splits: int | None  # parts of the sum
    tiles: int | None  # number of tiles
    waves: int | None  # waves of tiles: each multiprocessor computes one tile per wave
    memory_bytes: int | None  # bytes from and to memory
    cache_bytes: int | None  # bytes from and to the last-level cache
    bandwidth_share: float | None  # share of the peak bandwidth
    rate: str  # peak rate of the arithmetic: matrix_fp16
    rate_share: float | None  # share of this rate that the arithmetic reaches
    limited_by: str  # as in achieved
    without_ps: int | None  # expected time without the part that limits it
    next: str  # what then limits it


class ExplainedBy(Record):
    """The result of one convention."""

    _nested = {"terms": Term}
    convention: str  # name
    unit: str  # unit as printed by the tool of this convention
    flops: int | None  # FLOPs of all runs
    int_ops: int | None  # operations on integers, by exact
    terms: Rows[Term]  # terms of one run of a node; missing for a module


class State(Record):
    """Nodes by the state of their time."""

    state: str  # as in primitives; view: no work
    nodes: int | None  # number of nodes
    macs: int | None  # MACs of these nodes


class Ceilings(Record):
    """Peak rates of the device; None if not measured."""

    _nested = {"flops_per_s": Map}
    state: str  # measured; published rates of a modelled device; invented by a table
    copy_bytes_per_s: int | None  # bandwidth of a large copy, bytes read plus bytes written
    floor_ps: int | None  # time of the smallest primitive
    flops_per_s: Map[int | None]


class EndToEnd(Record):
    """All measured nodes, run as one network."""

    state: str  # as in primitives
    median_ps: int | None  # warm median; this and the quartiles are None if not timed
    q1_ps: int | None  # first quartile
    q3_ps: int | None  # third quartile
    samples: int | None  # number of samples
    sum_cold_ps: int | None  # sum of the cold medians of the included nodes
    sum_warm_ps: int | None  # sum of the warm medians of the included nodes
    nodes: int | None  # number of included nodes
    macs: int | None  # MACs of these nodes
    reason: str  # why there is no time


class QuantizedRegion(Record):
    """Nodes one after the other, of which the products are all on 8-bit integers or all on flo."""

    state: str  # int8 or float
    reason: str  # why it stays in float, or is slower than in float; empty: neither
    module: int | None  # index of the smallest module with all its nodes
    first: int | None  # index of the first node
    last: int | None  # index of the last node
    latency_ps: int | None  # sum over its nodes
    float_latency_ps: int | None  # the same in the float model


class Untimed(Record):
    """Nodes of one operator that have no time, by reason."""

    op: str  # NonZero, com.microsoft::Gelu
    reason: str  # why there is no time
    nodes: int | None  # number of nodes
    macs: int | None  # MACs of these nodes


class Limiter(Record):
    """Nodes by the resource that limits their speed."""

    limited_by: str  # as in achieved
    nodes: int | None  # number of nodes
    latency_ps: int | None  # latency of these nodes


class Clocks(Record):
    """Clocks, temperature and power of a device."""

    unit_mhz: int | None  # clock of the multiprocessors
    unit_most_mhz: int | None  # maximum clock of the multiprocessors
    memory_mhz: int | None  # clock of the memory
    temperature_c: int | None  # temperature of the device
    power_mw: int | None  # power draw
    throttle: str  # reason for throttling; empty: not throttled


class KernelRun(Record):
    """A kernel that ran on the device; 0 if a figure is unknown."""

    name: str  # name of the kernel
    calls: int | None  # launches in one execution of the primitive
    grid: list[int | None]  # grid size, blocks
    block: list[int | None]  # block size, threads
    registers: int | None  # registers per thread
    shared_bytes: int | None  # shared memory per block
    tensor_cores: str  # yes, no, unknown
    rule: str  # rule that decided tensor_cores
    blocks_per_unit: float | None  # blocks of the grid divided by the number of multiprocessors
    occupancy: float | None  # resident threads divided by the maximum, for a grid of this size
    theoretical_occupancy: float | None
    unit_efficiency: float | None
    time_ps: int | None
    share: float | None


class Import(Record):
    """How the times of a layer were imported; present only if they were."""

    expected_ps: int | None
    lower_bound_ps: int | None
    mean_ps: int | None  # mean over the runs that median_ps is the median of
    module: int | None  # of a layer without nodes: index of the module that has its time; else None
    inside: list[int]  # of an opaque block: indices of its nodes, which have no time of their own


class KernelRow(Record):
    """A row of the kernel table."""

    name: str  # name of the kernel, or description of a primitive
    primitive: int | None
    tensor_cores: str  # yes, no, unknown
    rule: str  # rule that decided tensor_cores
    calls: int | None  # calls in one forward pass
    total_ps: int | None  # time of all calls
    mean_ps: int | None  # mean time of a call
    min_ps: int | None
    max_ps: int | None  # time of the longest call, likewise
    blocks_per_unit: float | None  # mean weighted by time
    occupancy: float | None  # mean weighted by time
    theoretical_occupancy: float | None  # mean weighted by time
    unit_efficiency: float | None  # mean weighted by time


class Advice(Record):
    """A possible optimization, or a change without which the model does not run."""

    rule: str  # R3: docs/measuring.md
    name: str  # channels-last
    text: str  # finding and recommendation, in sentences
    gain_ps: int | None
    nodes: list[int]  # indices of the affected nodes
    modules: list[int]  # indices of the modules that contain these nodes


class InputLink(Record):
    """A kind of storage or network."""

    name: str  # NVMe SSD, PCIe 4.0 x4
    bytes_per_s: int | None  # published rate of sequential reads
    suffices: bool  # true if the rate is at least the demand
    source: str  # document of the rate


class SweepPlans(Record):
    """The plans of one row of a sweep."""

    planned_macs: int | None  # MACs of the nodes that have a plan
    workspace_bytes: int | None  # largest workspace of a plan


class LayerPlan(Record):
    """The plan of a layer in one row of a sweep."""

    workspace_bytes: int | None  # workspace of the plan
    reason: str  # why there is no plan, or what was planned instead; empty: none


class Side(Record):
    """One side of the comparison."""

    _nested = {"custom_ops": Map}
    path: str  # path of the file
    batch: int | None  # profiled batch size; None if the inputs have no batch axis
    convention: str  # FLOP counting convention
    precision: str | None  # precision of bytes and times
    mode: str  # model, training or inference
    modules: int | None  # number of modules
    nodes: int | None  # number of nodes
    custom_ops: Map[int | None]  # as in coverage of a profile


class Condition(Record):
    """A difference in how the two were profiled, or a reason for inaccurate figures."""

    key: str  # option that differs: batch, dims.seq, device
    old: str  # old value
    new: str  # new value
    breaks: str


class Metric(Record):
    """One metric on both sides."""

    old: int | None  # old value; None if unknown; missing if the old side does not have the metric
    new: int | None  # new value, likewise
    change: int | None  # new - old, with 0 for a missing value; None if either is unknown
    old_upper_bound: bool  # old is an upper bound, and change is the difference of the bounds
    new_upper_bound: bool  # new is an upper bound
    old_partial: bool  # old leaves something out: unknown costs, nodes without a time
    new_partial: bool  # new is such a sum


class DiffModule(Record):
    """A module that changed, those inside it included."""

    _nested = {"metrics": map_of(Metric)}
    status: str  # changed, renamed, added or removed
    path: str  # dotted path; for a removed module its old path
    old_path: str | None  # only if it changed
    class_: str | None  # class as printed by the framework; missing if unknown
    old_class: str | None  # only if it changed
    arguments: str | None  # constructor arguments, if they changed
    old_arguments: str | None  # old constructor arguments
    modules: int | None  # number of modules added or removed with it, including itself
    accounts_for: int | None
    metrics: Map[Metric]  # metrics that differ, by key


class DiffOperator(Record):
    """All nodes of one operator."""

    _nested = {"metrics": map_of(Metric)}
    op: str  # Conv; of another domain com.microsoft::Gelu
    metrics: Map[Metric]  # metrics that differ, by key


class Finding(Record):
    """A module or the whole model, compared with one limit."""

    path: str  # path of the module; empty: the whole model
    state: str  # as in the case
    new: int | None  # new value; None if unknown
    old: int | None  # baseline value; None: none
    new_upper_bound: bool  # new is an upper bound
    old_upper_bound: bool  # old is an upper bound
    allowed: int | None  # largest value that the limit allows; None if unknown
    over: int | None  # excess over allowed, for a regression, also a waived one
    because: str


class Blame(Record):
    """A module that contributes to a regression."""

    path: str  # path of the module
    was: str  # path in the baseline; empty if added
    change: str  # changed, added, removed or renamed
    new: int | None  # new cost, children included; 0 if removed
    old: int | None  # baseline cost, children included; 0 if added
    new_upper_bound: bool  # new is an upper bound
    old_upper_bound: bool  # old is an upper bound
    by: int | None  # its own part of the change, without the parts of its children


class LlmLayers(Record):
    """Layers of attention with equal sizes."""

    layers: int | None  # number of layers
    kind: str  # full, window, cross
    cache: str  # of the file: grows, buffer, source, none, or shared with an earlier layer
    heads: int | None  # heads of queries
    kv_heads: int | None  # heads of keys and values
    key_columns: int | None  # of a head
    value_columns: int | None  # of a head
    window: int | None  # tokens that a query sees; 0: all before it
    bytes_per_token: int | None  # of keys and values of one layer
    latent_bytes: int | None
    expanded_bytes: int | None  # per token, of these keys and values; 0: no latent vector


class LlmPhase(Record):
    """A step, or a whole generation."""

    name: str  # prefill, decode, or generate: prefill and all steps of decode
    batch: int | None  # sequences
    tokens: int | None  # new tokens of each sequence
    past: int | None  # tokens of each sequence before the step
    macs: int | None  # of one GPU; causal masks do not reduce them
    bytes: int | None  # weights, keys and values, and states, each moved once
    weight_bytes: int | None  # part of bytes
    kv_bytes: int | None  # part of bytes
    state_bytes: int | None  # part of bytes
    lower_bound_ps: int | None  # picoseconds; None without a device
    latency_ps: int | None
    latency_low_ps: int | None  # eight of ten times are above
    latency_high_ps: int | None  # and below
    communication_ps: int | None  # part of latency_ps: collectives
    limited_by: str  # compute, memory, collectives; empty without a device


class LlmCapacity(Record):
    """How many sequences of a length fit."""

    context: int | None  # tokens of each sequence
    sequences: int | None  # that fit
    tokens_per_s: int | None
    expected_tokens_per_s: int | None


class LlmPoint(Record):
    """Costs at a context."""

    context: int | None  # tokens of each sequence, the new one included
    request_bytes: int | None  # of caches and states of one sequence, on one GPU
    lower_bound_ps: int | None  # of a step of decode at batch 1; None without a device
    latency_ps: int | None  # expected
    batch_lower_bound_ps: int | None
    batch_latency_ps: int | None  # expected


class LlmWhatIf(Record):
    """A change, with all else equal."""

    name: str  # as is, kv fp8, int4:g128, tp=2
    weight_bytes: int | None  # stored tensors of one GPU
    kv_bytes_per_token: int | None  # of one GPU, layers with windows included
    sequences: int | None  # of the request that fit; None without a limit
    lower_bound_ps: int | None  # of decode at batch 1
    latency_ps: int | None  # of decode at batch 1
    note: str  # collectives per token


class LlmGain(Record):
    """Weights, and the bytes and time that a smaller format saves."""

    weights: str  # name, with * for numbers
    tensors: int | None  # number of weights
    elements: int | None  # of all of them
    bytes: int | None  # as stored
    quantized_bytes: int | None  # in the format, with scales and zero points
    gain_ps: int | None  # less time to read them in one step
    format: str  # of --quantize, or int4:g128; as stored: they stay


class LlmActive(Record):
    """Params that some tokens need together."""

    tokens: int | None  # tokens of a step
    params: int | None  # expected, if each token chooses its experts uniformly
    most: int | None  # if no two tokens choose the same expert


class LlmCollective(Record):
    """Collectives of a step."""

    kind: str  # all-reduce, all-gather, all-to-all, send
    phase: str  # prefill or decode
    count: int | None  # per step
    bytes: int | None  # of one, on one GPU


class LlmRow(Record):
    """A combination of prompt, batch, device and division."""

    model: str  # path
    device: str | None  # modelled device; None: none
    tp: int | None  # GPUs that divide each layer
    pp: int | None  # GPUs that divide the layers
    ep: int | None  # GPUs that divide the experts
    prompt: int | None  # tokens
    batch: int | None  # sequences that are decoded together
    context: int | None  # tokens of a sequence in the end: prompt + new tokens
    request_bytes: int | None  # of caches and states of one sequence, on one GPU
    stored_bytes: int | None  # of weights and other stored tensors, on one GPU
    request_sequences: int | None  # that fit, on all GPUs; None without a memory limit
    prefill_lower_bound_ps: int | None  # of one sequence, picoseconds; None without a device
    prefill_ps: int | None
    decode_lower_bound_ps: int | None  # of a step of the batch
    decode_ps: int | None  # expected
    tokens_per_s: int | None  # of the batch, while it decodes: ceiling
    expected_tokens_per_s: int | None


class Variable(Record):
    """A variable of the formulas."""

    name: str  # N for the batch, else the name of the dim
    what: str  # batch or dim
    dim: str  # name of the dim in the file; empty for an anonymous batch dim
    same_as: str  # variable that it always equals and that formulas use instead; empty: none
    from_: int | None  # formulas hold at from, from + step, from + 2 step etc.
    step: int | None  # difference between consecutive sizes
    largest: int | None  # largest profiled size


class Monomial(Record):
    """A coefficient times the variables to their exponents."""

    exponents: list[int]  # one for each variable
    numerator: int | None  # numerator of the coefficient
    denominator: int | None  # denominator of the coefficient, >= 1


class Alternative(Record):
    """One of several sums."""

    _nested = {"terms": Monomial}
    terms: Rows[Monomial]  # terms of the sum


class Sample(Record):
    """A figure at one set of sizes."""

    sizes: list[int]  # sizes of the variables
    value: int | None  # the figure in the profile at these sizes


class Model(Record):
    """The file."""

    _nested = {"opsets": Map, "inputs": Value, "outputs": Value}
    path: str  # path as given on the command line; <stdin> for standard input
    producer: str  # name and version of the exporter; empty if not recorded in the file
    ir_version: int | None  # ONNX IR version
    opsets: Map[int | None]
    inputs: Rows[Value]  # graph inputs without initializers
    outputs: Rows[Value]  # graph outputs


class Module(Record):
    """A module. Figures include its children; a parameter shared by two children counts once."""

    _nested = {"outputs": Value, "training": Step, "achieved": Achieved}
    path: str  # dotted path, layer1.0.conv1; empty for the root
    class_: str
    depth: int  # 0 for the root
    calls: int | None  # number of calls; 0 if the module only holds parameters
    params: int | None  # elements of learned tensors, each tensor counted once
    macs: int | None  # multiply-adds
    flops: int | None  # FLOPs by the convention; exact excludes integer operations
    activation_bytes: int | None
    weight_bytes: int | None  # stored size of params and buffers, each tensor counted once
    outputs: Rows[Value]  # outputs of the first call that are used outside the module
    name: str  # last part of the path; the graph's name for the root
    arguments: str  # constructor arguments: 3, 64, kernel_size=(1,)
    class_known: bool  # false if class repeats the name
    parent: int | None  # index into modules; None for the root
    children: list[int]  # indices into modules, in order of first use
    buffers: int | None
    int_macs: int | None  # multiply-adds of integers, included in macs
    int_ops: int | None  # integer operations by convention exact, for every convention
    bytes_read: int | None  # bytes of the operands of the nodes
    bytes_written: int | None  # bytes of the outputs of the nodes
    latency_ps: int | None
    lower_bound_ps: int | None
    peak_activation_bytes: int | None
    upper_bound: list[str]
    partial: list[str]
    training: Step  # its share of a training step, children included
    achieved: Achieved  # achieved throughput; only if a node of the module has a time


class Coverage(Record):
    """Operators and shapes that could not be analyzed."""

    _nested = {"unknown_ops": Map, "custom_ops": Map, "descriptions": Description, "unknown_gradients": Map, "incomplete": Incomplete}
    nodes: int | None  # number of nodes in the profile
    unknown_ops: Map[int | None]
    custom_ops: Map[int | None]
    descriptions: Rows[Description]
    unknown_gradients: Map[int | None]
    unknown_shapes: int | None  # node outputs with an unknown rank or dim
    bounded_shapes: int | None
    incomplete: Incomplete


class Memory(Record):
    """Peak memory and liveness."""

    _nested = {"fit": Fit, "weights": Weights, "planners": Map, "live_at_peak": Live, "curve": Curve, "plan": Placed}
    peak_activation_bytes: int | None
    peak_node: int | None  # index of the node that runs at the peak; None if no value is live
    peak_in_place_bytes: int | None
    arena_bytes: int | None
    arena_in_place_bytes: int | None  # the same with in-place reuse; at least peak_in_place_bytes
    alignment: int | None  # alignment of arena offsets, bytes
    required_bytes: int | None
    upper_bound: bool
    peak_upper_bound: bool
    fit: Fit  # with --memory-limit: whether the model fits
    weights: Rows[Weights]
    planners: Map[int | None]
    file_order_peak_bytes: int | None  # peak_activation_bytes in file order
    schedule_optimal: bool
    schedule: list[int]
    live_at_peak: Rows[Live]  # values live at the peak, largest first
    curve: Rows[Curve]  # with --memory-curve: one entry per node in execution order
    plan: Rows[Placed]  # with --memory-plan: the arena offset of each value


class StepCurve(Record):
    """Memory over a training step. A position is the run of a node; the last one is the update."""

    _nested = {"tensors": StepTensors}
    forward: int | None  # number of positions of the forward pass, the first ones
    held_bytes: int | None
    order: list[int]  # index of the node that runs at each position before the update
    tensors: Rows[StepTensors]  # all other memory, by kind


class DeviceMemory(Record):
    """Estimate of the device memory of a process, as the driver reports it."""

    _nested = {"parts": MemoryPart}
    bytes: int | None  # the estimate, sum of the parts
    low_bytes: int | None  # nine of ten processes need between low_bytes and high_bytes
    high_bytes: int | None  # see low_bytes
    parts: Rows[MemoryPart]  # what the memory holds


class ExplainedNode(Record):
    """How the figures of a node are computed."""

    _nested = {"macs": Map, "flops": Term, "time": ExplainedTime}
    node: int | None  # index into nodes
    runs: int | None  # runs in one forward pass; 0 for a branch that is not counted
    macs: Map[int | None]  # factors of the MACs of one run
    flops: Rows[Term]
    time: ExplainedTime  # on a modelled device, if the node has a kernel


class Operator(Record):
    """All nodes of one operator."""

    _nested = {"states": State}
    op: str  # Conv; of another domain com.microsoft::Gelu
    nodes: int | None  # number of nodes
    macs: int | None  # multiply-adds
    flops: int | None  # FLOPs by the convention; exact excludes integer operations
    int_macs: int | None  # multiply-adds of integers, included in macs
    int_ops: int | None  # integer operations by convention exact, for every convention
    bytes_read: int | None  # bytes of the operands of the nodes
    bytes_written: int | None  # bytes of the outputs of the nodes
    latency_ps: int | None
    lower_bound_ps: int | None
    upper_bound: list[str]  # keys of the figures that are upper bounds; missing if all are exact
    partial: list[str]
    states: Rows[State]  # as in measure; only with times


class Quantization(Record):
    """A quantized model compared with its float model on the same modelled device."""

    _nested = {"regions": QuantizedRegion}
    float_precision: str  # of the float model, the faster one: fp32 or fp16
    float_latency_ps: int | None  # latency of the float model
    gain: float | None
    verdict: str  # the gain and what limits it, in sentences
    conversion_bytes: int | None  # bytes that kernels move that only convert to int8 and back
    conversion_ps: int | None  # time of these kernels
    regions: Rows[QuantizedRegion]  # the regions, the longest in float first


class Timed(Record):
    """A distinct piece of work and its time, in picoseconds; if times are imported, a layer of."""

    _nested = {"achieved": Achieved, "clocks": Clocks, "kernels": KernelRun, "import": Import, "losses": Losses}
    primitive: str  # description, one line; imported: the name of the layer
    state: str
    median_ps: int | None
    q1_ps: int | None  # first quartile
    q3_ps: int | None  # third quartile
    min_ps: int | None  # minimum
    max_ps: int | None  # maximum
    warm_ps: int | None  # median with warm operands (in cache from the previous execution)
    warm_q1_ps: int | None  # first quartile of warm_ps
    warm_q3_ps: int | None  # third quartile of warm_ps
    samples: int | None  # number of samples; 0 for modelled times
    drift: float | None  # relative difference between measurement rounds
    unstable: bool  # drift exceeds its limit
    few_samples: bool  # fewer samples than required
    not_cold: bool  # operands stayed in the cache
    throttled: bool  # the device was throttled
    launches: bool  # the host launched each execution separately
    cached: bool  # the time comes from the cache of an earlier run
    product: bool  # a matrix product or a convolution, which tensor cores can compute
    flops: int | None  # FLOPs of one execution, by convention exact
    bytes: int | None  # bytes read and written by one execution
    achieved: Achieved  # achieved throughput
    provider: str  # library of the backend; empty: none
    algorithm: str  # algorithm; empty: none
    tensor_cores: str  # yes, no, unknown
    plans_tried: int | None  # number of plans tried until one was accepted; 0 if unknown
    sets: int | None  # number of operand sets through which cold executions rotate; 0 if unknown
    workspace_bytes: int | None  # workspace size
    plan_ps: int | None  # time to find and compile the plan; not included in the other times
    clocks: Clocks  # state of the device after the measurement
    kernels: Rows[KernelRun]  # kernels that ran
    import_: Import  # only of imported layers
    losses: Losses  # parts of median_ps, only if it is modelled (docs/times.md)
    more_kernels: int | None  # number of kernels not listed
    reason: str
    nodes: list[int]  # indices of the nodes with this work; if they are fused, of all of them


class InputPipeline(Record):
    """The demand for input samples, and the links that can meet it."""

    _nested = {"links": InputLink}
    sample_bytes: int | None  # value of --sample-bytes
    samples: int | None  # samples per step: the batch; 1 if the inputs have no batch axis
    step_ps: int | None
    bytes_per_s: int | None  # demand: samples * sample_bytes / step; None if the time is 0
    host_link: int | None  # bytes per second from the host to the device; None: unknown
    links: Rows[InputLink]  # storage and networks, slowest first
    advice: str  # the slowest link that suffices, in sentences


class SweepRow(Record):
    """A model at one batch and precision; None figures are unknown."""

    _nested = {"dims": Map, "plans": SweepPlans}
    combination: int | None  # number of the combination of a campaign, from 0
    key: str | None
    model: str | None  # path, in a campaign
    device: str | None
    times: str | None  # source of the times, as times of the sweep
    precision: str | None  # precision; None: as in the file
    dims: Map[int | None]  # symbolic dims that a campaign varies, by name
    batch: int | None
    state: str
    problem: str  # the first message if the state is not done
    params: int | None  # elements of learned tensors, each tensor counted once
    macs: int | None  # multiply-adds
    int_macs: int | None  # multiply-adds of integers, included in macs
    flops: int | None  # FLOPs by the convention; exact excludes integer operations
    int_ops: int | None  # integer operations by convention exact, for every convention
    peak_activation_bytes: int | None  # peak of live activation bytes
    arena_bytes: int | None  # size of the arena that holds all activations
    required_bytes: int | None  # weights and arena, or with --optimizer bytes of device_memory
    latency_ps: int | None
    lower_bound_ps: int | None
    timed_macs: int | None  # MACs of the nodes that have a time
    untimed_nodes: int | None
    cached: int | None  # number of primitives measured in earlier runs
    upper_bound: list[str]
    partial: list[str]
    peak_upper_bound: bool  # peak_activation_bytes is an upper bound
    memory_upper_bound: bool  # arena_bytes and required_bytes are upper bounds
    device_bytes: int | None  # memory of the device of the times; None: unknown
    latency_low_ps: int | None
    latency_high_ps: int | None  # see latency_low_ps
    speedup: float | None
    plans: SweepPlans  # with --cudnn-plan: the plans of the layers (docs/planning.md)


class LayerTime(Record):
    """A layer in one row of a sweep."""

    _nested = {"plan": LayerPlan}
    latency_ps: int | None  # picoseconds of all its nodes; None without a time
    speedup: float | None  # time per sample in the first row divided by that in this row
    state: str  # as in primitives of a profile; empty: no work of its own in this row
    primitive: str  # description of the work of one node, one line
    provider: str  # library of the backend; empty: none
    algorithm: str  # algorithm; empty: none
    tensor_cores: str  # yes, no, unknown
    plan: LayerPlan  # with --cudnn-plan: more about the plan


class DiffFields(Record):
    """Changes between two models (docs/diff.md)."""

    _nested = {"tool": Tool, "old": Side, "new": Side, "conditions": Condition, "totals": map_of(Metric), "modules": DiffModule, "operators": DiffOperator}
    schema: str
    tool: Tool  # program that wrote the file
    old: Side  # the first file
    new: Side  # the second file
    comparable: bool  # true if no condition is incomparable
    conditions: Rows[Condition]  # most severe first
    totals: Map[Metric]
    sorted_by: str  # key of the metric by whose change modules and operators are sorted
    modules: Rows[DiffModule]
    operators: Rows[DiffOperator]  # operators that changed, largest first


class Case(Record):
    """One limit at one batch."""

    _nested = {"findings": Finding, "blame": Blame}
    limit: str  # text of the limit
    source: str  # source of the limit: a file, --limit, default
    metric: str  # key of the metric
    unit: str  # elements, MACs, flops, bytes or ps
    batch: int | None  # None if the inputs have no batch axis
    state: str  # pass, waived, regression, ambiguous or not-compared
    compared: int | None  # number of modules to which the limit applies; 1 for the whole model
    findings: Rows[Finding]
    more_findings: int | None  # number of entries not listed
    blame: Rows[Blame]
    more_blame: int | None  # number of entries not listed


class ModelCheck(Record):
    """Check of one of several models."""

    _nested = {"cases": Case}
    model: str  # path
    convention: str  # FLOP counting convention
    precision: str  # precision; empty: as in the file
    baseline: str  # model name in the baseline; empty: no baseline
    commit: str | None  # commit that a CI job checks
    baseline_commit: str | None  # commit of the model of the baseline
    times: str  # source and device of the times; empty: none
    state: str  # worst state of the cases; regression takes precedence over not-compared
    passed: int | None  # number of cases in state pass
    waived: int | None  # number of cases in state waived
    regressions: int | None  # number of cases in state regression
    ambiguous: int | None  # number of cases in state ambiguous
    not_compared: int | None  # number of cases in state not-compared
    fail_ambiguous: bool
    accept: str  # command that accepts the changes; empty: none
    unchecked: list[int]  # batches of the baseline that were not compared
    cases: Rows[Case]


class LlmFigures(Record):
    """Figures of one GPU, and of one sequence where stated."""

    _nested = {"layer_kinds": LlmLayers, "phases": LlmPhase, "capacity": LlmCapacity, "curve": LlmPoint, "what_ifs": LlmWhatIf, "quantization": LlmGain, "active": LlmActive, "collectives": LlmCollective}
    layers: int | None  # layers of attention
    max_context: int | None
    layer_kinds: Rows[LlmLayers]  # layers by sizes
    params: int | None  # learned elements
    params_per_gpu: int | None  # of the GPU with the most
    active_params: int | None  # all but the experts that a token does not choose
    active_without_input_embedding: int | None
    expert_params: int | None  # of all experts that are chosen from
    experts: int | None  # per layer; 0: none
    experts_per_token: int | None  # that a token chooses
    weight_bytes: int | None  # of learned tensors
    stored_bytes: int | None  # of these and other stored tensors
    has_cache: bool  # the file has caches
    last_logits: bool  # prefill computes the logits of the last token only
    kv_bytes_per_token: int | None  # of one sequence, layers whose cache grows with the context
    kv_bytes_per_token_window: int | None  # of one sequence, layers with a window
    window: int | None  # tokens, the largest; 0: none
    kv_bytes_per_token_latent: int | None
    kv_bytes_per_token_expanded: int | None  # the same if keys and values are; 0: no latent vectors
    cross_bytes_per_token: int | None  # per token of the source of an encoder-decoder
    state_bytes_per_sequence: int | None
    prompt: int | None  # tokens
    new_tokens: int | None  # tokens
    request_bytes: int | None
    request_sequences: int | None  # such sequences that fit, on all GPUs; None without a limit
    memory_limit: int | None  # bytes of one GPU; None: unknown
    reserve: float | None  # share of the memory that is not used
    arena_bytes: int | None  # for activations
    page: int | None  # tokens of a block of the cache; 0: none
    longest_context: int | None  # of one sequence that fits; None without a limit
    memory_bound_context: int | None
    tp: int | None  # GPUs that divide each layer
    pp: int | None  # GPUs that divide the layers
    ep: int | None  # GPUs that divide the experts
    phases: Rows[LlmPhase]  # prefill, decode at each batch, and a whole generation
    capacity: Rows[LlmCapacity]  # by context; empty without a memory limit
    curve_batch: int | None  # the largest of the batches
    curve: Rows[LlmPoint]
    what_ifs: Rows[LlmWhatIf]  # changes, with the first batch and context
    quantization: Rows[LlmGain]  # weights by what a smaller format saves, largest first
    stored_elements: int | None  # of all stored tensors
    quantized_bytes: int | None  # of all stored tensors, in the formats of quantization
    active: Rows[LlmActive]  # by number of tokens; empty without experts
    collectives: Rows[LlmCollective]  # per step
    replicated: list[str]  # weights that tensor parallelism does not divide
    price_per_million_tokens: float | None
    joules_per_token: float | None  # at the expected rate of the request's capacity; None: no watts


class LlmSweepFields(Record):
    """Costs of serving a language model by prompt, batch, device and division (docs/llm.md)."""

    _nested = {"tool": Tool, "rows": LlmRow}
    schema: str
    tool: Tool  # program that wrote the file
    rows: Rows[LlmRow]  # combinations


class Polynomial(Record):
    """One figure as a formula."""

    _nested = {"terms": Monomial, "largest_of": Alternative, "samples": Sample}
    metric: str  # a key of a profile's figures
    state: str
    terms: Rows[Monomial]  # highest degree first; an empty list is 0
    largest_of: Rows[Alternative]  # the figure is the maximum of these sums
    samples: Rows[Sample]  # sampled figures; only if no polynomial fits all profiles


class Training(Record):
    """One training step."""

    _nested = {"losses": Losses, "curve": StepCurve}
    optimizer: str  # name of the optimizer (docs/training.md)
    shard_gpus: int | None
    zero_stage: int | None  # with --shard: stage of ZeRO, else 0
    offload: str  # with --shard: optimizer or all if the host keeps them
    micro_batches: int | None
    freeze: list[str]  # patterns of frozen parameters
    trainable: list[str]
    checkpoint: list[str]  # patterns of modules with activation checkpointing
    restored_norms: int | None
    learned: int | None  # number of learned parameters that are not frozen
    frozen: int | None  # number of frozen parameters
    backward_macs: int | None  # MACs of all required gradients
    backward_flops: int | None  # the corresponding FLOPs, by the convention
    recompute_macs: int | None  # MACs of recomputing checkpointed modules
    recompute_flops: int | None  # the corresponding FLOPs, by the convention
    recompute_int_ops: int | None  # the corresponding integer operations
    step_flops: int | None  # FLOPs of the optimizer
    iteration_flops: int | None  # FLOPs of forward, recomputation, backward and optimizer step
    iteration_int_ops: int | None
    backward_ps: int | None
    update_ps: int | None  # the same of the optimizer
    iteration_ps: int | None  # the same of forward, backward and optimizer
    iteration_lower_bound_ps: int | None
    losses: Losses  # parts of iteration_ps; the rest of it is the wait for the host
    weight_bytes: int | None  # params and buffers
    gradient_bytes: int | None  # gradients of params
    optimizer_bytes: int | None  # optimizer states on the device
    host_bytes: int | None  # what the host keeps: paged states, and with --shard what is offloaded
    master_bytes: int | None  # with --shard: fp32 copies of weights of 16 bits
    gather_bytes: int | None
    model_state_bytes: int | None
    weight_copy_bytes: int | None
    saved_bytes: int | None  # saved activations, inputs and statistics
    peak_bytes: int | None  # peak of all of the above
    peak_phase: str  # phase of the peak: forward, recompute, backward or step
    peak_node: int | None  # index of the node that runs at the peak; None during step
    curve: StepCurve  # with --memory-curve


class Explanation(Record):
    """How the figures of a node or a module are computed."""

    _nested = {"nodes": ExplainedNode, "by_convention": ExplainedBy}
    name: str  # name as given to --explain
    of_module: bool  # true for a module
    module: str | None  # path of the module, or of the module of the node
    nodes: Rows[ExplainedNode]  # the node, or all nodes of the module that have MACs or operations
    free_nodes: int | None
    by_convention: Rows[ExplainedBy]  # the result of each convention


class Measure(Record):
    """Results of a backend."""

    _nested = {"ceilings": Ceilings, "end_to_end": EndToEnd, "quantization": Quantization, "states": State, "untimed": Untimed, "limiters": Limiter, "primitives": Timed, "kernels": KernelRow}
    backend: str  # value of --backend: roofline:device=h200
    problem: str  # why there are no times; empty if there are times
    layout: str  # image layout: auto, nchw or nhwc
    modelled: bool  # all times are computed from a device description; none is measured
    runtime: str | None
    calibration: str | None
    invented: bool  # times come from a table, for tests
    planned: bool  # kernels were planned but not run; there are no times
    device: str  # device name
    version: str  # version of the libraries that ran, or source of the device data
    warning: str  # why the times may be inaccurate; empty: none
    architecture: str  # sm_90; empty if unknown
    address: str  # bus address of the device; empty if unknown
    memory_bytes: int | None  # device memory; this and the next keys are None if unknown
    cache_bytes: int | None  # size of the last-level cache
    units: int | None  # number of multiprocessors or CPU threads
    threads_per_unit: int | None  # maximum of resident threads per unit
    bandwidth: int | None  # memory bandwidth, bytes per second
    floor_ps: int | None  # minimum time of any primitive
    has_tensor_cores: bool  # the device has tensor cores
    imported: bool  # all times were measured by another tool (--times)
    placed_share: float | None
    run_ps: int | None
    gap_ps: int | None
    gap_host_ps: int | None
    other_shape: str | None
    measured_macs_share: float | None
    ceilings: Ceilings  # peak rates of the device: measured like layers, or published
    end_to_end: EndToEnd  # with --end-to-end: all measured nodes, run as one network
    quantization: Quantization  # of a quantized model on a modelled device; else missing
    cached: int | None  # number of primitives measured in earlier runs
    cached_since: str  # time of the earliest of these measurements: 2026-11-21T23:07:08Z
    states: Rows[State]  # nodes and MACs by the state of their time
    untimed: Rows[Untimed]  # nodes without a time, by operator and reason; most MACs first
    limiters: Rows[Limiter]  # latency by limiting resource
    primitives: Rows[Timed]  # each distinct piece of work once
    kernels: Rows[KernelRow]  # the kernel table, the largest total first


class SweepLayer(Record):
    """Nodes with the same work in every row of a sweep."""

    _nested = {"times": LayerTime}
    op: str  # operator of the first node
    path: str  # path of its module; empty: the root
    node: str  # its name; empty: none
    nodes: int | None  # number of nodes
    times: Rows[LayerTime]  # one entry per row, in the same order


class VerdictFields(Record):
    """Result of costmodel check (docs/gate.md)."""

    _nested = {"tool": Tool, "cases": Case, "models": ModelCheck}
    schema: str
    tool: Tool  # program that wrote the file
    model: str  # path; empty if there are models
    convention: str  # FLOP counting convention
    precision: str  # precision; empty: as in the file
    baseline: str  # model name in the baseline; empty: no baseline
    commit: str | None  # commit that a CI job checks
    baseline_commit: str | None  # commit of the model of the baseline
    times: str  # source and device of the times; empty: none
    state: str  # worst state of the cases; regression takes precedence over not-compared
    passed: int | None  # number of cases in state pass
    waived: int | None  # number of cases in state waived
    regressions: int | None  # number of cases in state regression
    ambiguous: int | None  # number of cases in state ambiguous
    not_compared: int | None  # number of cases in state not-compared
    fail_ambiguous: bool
    accept: str  # command that accepts the changes; empty: none
    unchecked: list[int]  # batches of the baseline that were not compared
    cases: Rows[Case]
    models: Rows[ModelCheck]


class LlmFields(Record):
    """Costs of serving a language model (docs/llm.md)."""

    _nested = {"tool": Tool, "llm": LlmFigures}
    schema: str
    tool: Tool  # program that wrote the file
    model: str  # path
    device: str | None  # modelled device; None: none
    device_basis: str | None  # measurements behind the expected times
    weight_dtype: str  # of the largest weight, as stored
    kv_dtype: str  # of keys and values
    llm: LlmFigures  # the figures


class FormulaModule(Record):
    """A module and its formulas, children included."""

    _nested = {"polynomials": Polynomial}
    path: str  # dotted; empty for the root
    name: str  # last part of the path
    class_: str  # as in a profile
    depth: int  # 0 for the root
    polynomials: Rows[Polynomial]  # one for each metric


class ProfileFields(Record):
    """Costs of an ONNX model."""

    _nested = {"tool": Tool, "model": Model, "options": Options, "totals": Totals, "modules": Module, "nodes": Node, "fused_patterns": FusedPattern, "coverage": Coverage, "rebatched": Rebatched, "diagnostics": Diagnostic, "memory": Memory, "training": Training, "device_memory": DeviceMemory, "price": Price, "time_error": TimeError, "losses": Losses, "explanations": Explanation, "modules_from": Map, "operators": Operator, "measure": Measure, "advice": Advice, "input_pipeline": InputPipeline}
    schema: str
    tool: Tool  # program that wrote the file
    model: Model  # the file that was profiled
    options: Options  # options of the profile
    totals: Totals  # figures of the whole model
    modules: Rows[Module]
    nodes: Rows[Node]
    fused_patterns: Rows[FusedPattern]
    coverage: Coverage  # operators and shapes that could not be analyzed
    rebatched: Rows[Rebatched]
    diagnostics: Rows[Diagnostic]  # notes and warnings
    memory: Memory  # peak memory and liveness (docs/memory.md)
    training: Training  # with --optimizer: one training step (docs/training.md)
    device_memory: DeviceMemory  # with --optimizer: what the process holds (docs/memory.md)
    price: Price  # with --price or --watts, and times
    time_error: TimeError  # with --device: how sure the expected times are (docs/times.md)
    losses: Losses
    explanations: Rows[Explanation]  # with --explain: one entry per argument (docs/conventions.md)
    modules_from: Map[int | None]
    operators: Rows[Operator]
    measure: Measure
    advice: Rows[Advice]  # with times: possible optimizations, each on top of those before it
    input_pipeline: InputPipeline


class SweepFields(Record):
    """Costs of an ONNX model at several batches or precisions, or of a campaign (docs/cluster.."""

    _nested = {"tool": Tool, "custom_ops": Map, "diagnostics": Diagnostic, "sweep": SweepRow, "layers": SweepLayer}
    schema: str
    tool: Tool  # program that wrote the file
    model: str  # path; empty: each row of a campaign has its own
    convention: str  # FLOP counting convention
    backend: str  # value of --backend; empty: none
    device: str  # device of the times
    times: str
    memory_limit: int | None  # bytes; None: no limit
    custom_ops: Map[int | None]
    diagnostics: Rows[Diagnostic]
    sweep: Rows[SweepRow]
    layers: Rows[SweepLayer]


class FormulaFields(Record):
    """Costs of an ONNX model as formulas in the batch and its symbolic dims (docs/formula.md)."""

    _nested = {"tool": Tool, "variables": Variable, "dims": Map, "modules": FormulaModule}
    schema: str
    tool: Tool  # program that wrote the file
    model: str  # path
    convention: str  # FLOP counting convention
    precision: str | None  # precision of bytes; None: as in the file
    mode: str  # as in a profile
    fixed_batch: str
    variables: Rows[Variable]  # the batch and the symbolic dims
    dims: Map[int | None]  # sizes of symbolic dims that are not variables
    profiles: int | None  # number of profiles
    checks: int | None  # number of profiles used only to check the formulas
    modules: Rows[FormulaModule]  # formulas of each module; the first is the model
