/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result of a profile, as plain data.
 *
 * The passes compute a result; the reports print it and recompute nothing. A result owns
 * everything that it points to (one arena, freed by cm_result_free) and refers neither to the
 * model nor to the file.
 *
 * Units: sizes in bytes, MACs in multiply-add pairs, FLOPs in operations of the selected
 * convention. A count or dim that the file does not determine is CM_UNKNOWN, never an estimate
 * and never -1. Sums skip unknown values; `coverage` counts them.
 */
#ifndef COSTMODEL_RESULT_H
#define COSTMODEL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define CM_UNKNOWN  INT64_MIN
#define CM_NO_INDEX SIZE_MAX

/* Fixed-point ratio: 1000000 is 1.0. */
#define CM_RATIO_ONE 1000000

enum cm_type_kind {
    CM_TYPE_UNKNOWN,
    CM_TYPE_TENSOR,
    CM_TYPE_SPARSE_TENSOR,
    CM_TYPE_SEQUENCE, /* of `element` */
    CM_TYPE_OPTIONAL, /* of `element` */
    CM_TYPE_MAP,      /* from `dtype` to `element` */
};

struct cm_type {
    enum cm_type_kind kind;
    int rank;            /* -1: unknown */
    const char *dtype;   /* ONNX's lower-case name: "float", "int64"; NULL: unknown */
    const int64_t *dims; /* `rank` sizes; CM_UNKNOWN: unknown */
    /* `rank` upper bounds if some dims are data-dependent; CM_UNKNOWN: unbounded. NULL: `dims`
     * has no upper bounds. */
    const int64_t *dims_upper_bound;
    const struct cm_type *element;
};

/* A value: a tensor on an edge of the graph. An omitted optional operand has the name "". */
struct cm_value {
    const char *name;
    struct cm_type type;
    int64_t bytes; /* as stored (a 4-bit element takes half a byte); upper bound if
                      type.dims_upper_bound is set; CM_UNKNOWN */
};

struct cm_costs {
    int64_t params;  /* elements of learned tensors, each tensor once */
    int64_t buffers; /* elements of named tensors that are not learned: statistics, masks */
    int64_t macs;
    int64_t int_macs; /* part of `macs`: multiplications of integers */
    int64_t flops;    /* by the convention; may exclude int_ops (separates_integers) */
    int64_t int_ops;  /* integer operations; always counted by the convention `exact` */
    int64_t bytes_read;
    int64_t bytes_written;
    int64_t weight_bytes;     /* params and buffers as stored, each tensor once */
    int64_t activation_bytes; /* node outputs, without views, constants and shape arithmetic */
    /* Times, which the static core does not compute: CM_UNKNOWN without the timing half. */
    int64_t latency_ps;     /* picoseconds, cold; CM_UNKNOWN for a node without a time; valid
                               only if cm_result_timed. Modelled: the expected time */
    int64_t lower_bound_ps; /* lower bound of the time with the kernels of the runtime,
                               picoseconds; valid only if cm_result_modelled */
    uint32_t upper_bound;   /* set of members that are upper bounds: CM_COST_BIT */
    uint32_t partial;       /* set of members that leave something out, and are too small or
                               CM_UNKNOWN: CM_COST_BIT. Times omit nodes without a time */
};

/* Bit of a member in `upper_bound` and `partial`, for example CM_COST_BIT(macs). */
#define CM_COST_BIT(member)                                                                    \
    (UINT32_C(1) << (offsetof(struct cm_costs, member) / sizeof(int64_t)))

/* Share of a node or module in a training step. */
struct cm_step {
    int64_t backward_macs; /* MACs of all required gradients */
    int64_t saved_bytes;   /* saved activations: kept from forward to backward */
};

/*
 * Achieved rates. The work is that of the primitives: FLOPs by the exact convention, bytes of
 * operands and results. Ratios are in millionths.
 */
struct cm_achieved {
    int64_t flops_per_s; /* this and the next two: CM_UNKNOWN if unknown */
    int64_t bytes_per_s;
    int64_t roofline;       /* ratio: the device's lower bound of the time / the time */
    const char *limited_by; /* limiting resource: "compute", "memory", "launch", "occupancy",
                               "kernel", "mixed", "unknown" */
};

struct cm_node {
    size_t index;       /* position in the file; a control-flow body follows its node */
    const char *name;   /* as in the file; "" if unnamed */
    const char *op;     /* operator type: "Conv" */
    const char *domain; /* "": ai.onnx */
    size_t module;      /* index into modules */
    size_t n_inputs;
    const char *const *inputs; /* value names; "": omitted operand */
    size_t n_outputs;
    const struct cm_value *outputs;
    struct cm_costs costs; /* params, buffers and weight_bytes: of the node's own operands */
    const struct cm_step *training; /* NULL: no training step was profiled */
    size_t kernel; /* index of the node whose kernel runs this one, on a modelled device;
                      CM_NO_INDEX: a kernel of its own, or none */
};

struct cm_module {
    const char *path;      /* dotted: "layer1.0.conv1"; "": the root */
    const char *name;      /* last component of the path; root: the model's name */
    const char *type;      /* class name of the framework: "Conv1d"; the name if unknown */
    const char *arguments; /* constructor arguments: "3, 64, kernel_size=(1,)"; "" */
    bool type_known;       /* false: `type` repeats the name */
    int depth;             /* 0: root */
    size_t parent;         /* index into modules; CM_NO_INDEX: root */
    size_t n_children;
    const size_t *children; /* indices into modules, in order of first use */
    int64_t calls; /* executions in one run of the model; 0 if it only holds parameters */
    struct cm_costs costs;              /* children included; each parameter once */
    const struct cm_step *training;     /* children included; NULL as for a node */
    const struct cm_achieved *achieved; /* children included; NULL: no times inside, or those of
                                           other shapes */
    int64_t peak_activation_bytes;      /* peak of the live values that its nodes produce;
                                           CM_UNKNOWN */
    size_t n_outputs;                   /* values of its first call that leave the module */
    const struct cm_value *outputs;
};

/* Nodes that an exporter made from one framework operation. */
struct cm_fused_pattern {
    const char *name; /* class name of the framework: "LayerNorm" */
    const char *op;   /* operator that defines its cost: "LayerNormalization" */
    size_t module;    /* index into modules: module of the last node */
    size_t last;      /* index into nodes: the node that carries the FLOPs of all of them */
    size_t n_nodes;
    const size_t *nodes; /* indices into nodes, ascending */
    bool foldable;       /* Conv+BN: two framework operations, so each node has its own FLOPs */
};

/* A constant that contained the exported batch size and was changed for another batch. */
struct cm_rebatched {
    size_t node; /* index into nodes */
    const char *node_name;
    const char *op;
    const char *input; /* name of the operand */
    const char *what;  /* "target", "repeats", "dims" */
    int64_t axis;      /* element of the target, or axis of the tensor */
    int64_t from;
    int64_t to;
};

struct cm_name_count {
    const char *name;
    int64_t count;
};

/* A custom operator of cm_options.op_costs. */
struct cm_description {
    const char *op;     /* "domain::Type" */
    const char *digest; /* changes if the described shapes or costs change */
    bool replaces;      /* replaces a built-in operator */
};

/* Nodes whose costs sums leave out, as a whole or in part, by reason. */
struct cm_incomplete {
    int64_t unknown_operators;
    int64_t unknown_shapes;      /* the node has an operand or output without an upper bound */
    int64_t unknown_trip_counts; /* in a Loop of which one iteration is counted */
    int64_t unknown_gradients;   /* backward is left out */
};

struct cm_coverage {
    int64_t nodes; /* nodes in the profile */
    size_t n_unknown_ops;
    const struct cm_name_count *unknown_ops; /* "domain::Type", in order of first use */
    size_t n_custom_ops;
    const struct cm_name_count *custom_ops; /* likewise, operators of cm_options.op_costs */
    size_t n_descriptions; /* n_custom_ops, in the order of custom_ops; or 0: not recorded */
    const struct cm_description *descriptions;
    size_t n_unknown_gradients; /* training step: known operators without a gradient rule */
    const struct cm_name_count *unknown_gradients;
    int64_t unknown_shapes; /* node outputs with an unknown rank or dim */
    int64_t bounded_shapes; /* part of unknown_shapes: every dim has an upper bound, and costs
                               that depend on it are upper bounds */
    const struct cm_incomplete *incomplete; /* NULL: sums leave nothing out */
};

/* A value that is live at the peak. */
struct cm_live {
    const char *value;
    int64_t bytes;
    size_t module; /* index into modules: its producer; the root for model inputs */
};

/* The location of a value in the arena. */
struct cm_placed {
    const char *value;
    int64_t offset; /* bytes */
    int64_t bytes;
    size_t made; /* index into nodes: its producer; CM_NO_INDEX: a model input */
    size_t last; /* index into nodes: its last use; model outputs: the last node */
};

/* Weights of one dtype and one kind of storage. */
struct cm_weights {
    const char *dtype;
    const char *storage; /* "raw", "typed", "external", "computed", "input", "absent" */
    int64_t tensors;     /* each once, even if parameters share it */
    int64_t elements;
    int64_t bytes; /* a packed 4-bit element takes half a byte */
};

/* A part of the device memory at the moment when most bytes are allocated. */
struct cm_memory_part {
    const char *name; /* "weights", "saved activations", "context" */
    int64_t bytes;
    const char *source; /* where the number comes from */
};

/* Estimate of the device memory of a process, as the driver reports it (docs/memory.md). */
struct cm_device_memory {
    bool present;      /* false: no estimate; the sizes are then CM_UNKNOWN */
    int64_t bytes;     /* sum of the parts */
    int64_t low_bytes; /* nine of ten measured processes lie between the two */
    int64_t high_bytes;
    size_t n_parts;
    const struct cm_memory_part *parts;
};

/* How sure the expected times of a modelled device are (docs/times.md). Eight of ten measured
 * times are in the interval. */
struct cm_time_error {
    bool present;           /* false: times are not modelled; the rest is then unset */
    int64_t latency_low_ps; /* interval of latency_ps of the model */
    int64_t latency_high_ps;
    int64_t iteration_low_ps; /* of training.iteration_ps; CM_UNKNOWN without optimizer */
    int64_t iteration_high_ps;
    int64_t host_ps;         /* part of latency_ps in which the device waits for the host */
    const char *mostly;      /* what takes most of the time: "convolution", "launch" */
    const char *calibration; /* fitted to times of: "this runtime and precision", "this runtime
                                in another precision", "another runtime", "none" */
    int64_t n_times;         /* this and the errors: of other families of models; CM_UNKNOWN */
    int64_t median_error;    /* ratio */
    int64_t p90_error;       /* ratio: nine of ten errors are smaller */
    int64_t coverage;        /* ratio: share of these times within their interval */
};

/* Parts of an expected time of a modelled device (docs/times.md). Their sum is the time of a
 * kernel; for a run it is that without the waits for the host. */
struct cm_losses {
    bool present;           /* false: times are not modelled; the rest is then unset */
    int64_t launch_ps;      /* kernel launches */
    int64_t traffic_ps;     /* traffic that fusion avoids: more than the compulsory bytes */
    int64_t utilization_ps; /* compute and memory below the rates of the bound */
    int64_t bound_ps;       /* the lower bound */
};

/* Comparison of required_bytes with the memory limit, and the largest batch within it. */
struct cm_fit {
    int64_t limit_bytes;
    bool fits;             /* the profiled batch fits */
    int64_t largest_batch; /* largest batch that fits; 0: none; CM_UNKNOWN: see `search` */
    int64_t largest_bytes; /* required at largest_batch; CM_UNKNOWN */
    int64_t next_bytes;    /* required at the next batch, above the limit; CM_UNKNOWN */
    /* Largest batch of which device_memory.high_bytes is within the limit; 0: none; CM_UNKNOWN:
     * no estimate, or see `search`. */
    int64_t confident_batch;
    /*
     * "exact": largest_batch fits, the next batch does not. "uneven": as "exact", but memory
     * does not grow monotonically, so a larger batch may fit. "exhausted": the work budget is
     * exhausted; largest_batch fits, a larger one may fit too. "none": no batch fits.
     * "unbounded": every batch fits. "no-batch": the inputs have no batch axis. "fixed": the
     * batch cannot be changed; `why` is the reason.
     */
    const char *search;
    const char *why; /* reason if "fixed", else "" */
};

/* Live bytes while a node runs. */
struct cm_curve_point {
    size_t node; /* index into nodes */
    int64_t bytes;
};

/*
 * Live bytes of activations and model inputs if nodes run in the order of options.schedule.
 * Views share the bytes of their source. Weights and kernel workspace are not included.
 */
struct cm_memory {
    int64_t peak_activation_bytes; /* peak without in-place reuse */
    int64_t peak_in_place_bytes;   /* peak if elementwise nodes overwrite dying operands */
    int64_t arena_bytes;           /* size of a static arena plan; CM_UNKNOWN: no plan */
    int64_t arena_in_place_bytes;  /* the same with in-place reuse */
    int64_t alignment;             /* bytes: alignment of arena offsets */
    int64_t required_bytes;   /* weights + arena, without kernel workspace; with an optimizer:
                                 bytes of device_memory */
    bool upper_bound;         /* sizes are upper bounds: some tensors are data-dependent */
    bool peak_upper_bound;    /* such a tensor is live at the peak */
    const struct cm_fit *fit; /* NULL: no memory limit */
    size_t n_weights;
    const struct cm_weights *weights;
    size_t n_planners;
    const struct cm_name_count
        *planners;                 /* arena bytes of published planners, for comparison */
    size_t peak_node;              /* index into nodes; CM_NO_INDEX: nothing is ever live */
    int64_t file_order_peak_bytes; /* peak_activation_bytes in file order */
    bool schedule_optimal;         /* the "min-memory" schedule is proven optimal */
    size_t n_schedule;             /* 0: file order */
    const size_t *schedule;        /* indices into nodes, in execution order */
    size_t n_live;
    const struct cm_live *live; /* at peak_node, largest first */
    size_t n_curve;             /* 0 unless cm_options.memory_curve; else one per node */
    const struct cm_curve_point *curve; /* in execution order */
    size_t n_placed;                    /* 0 unless cm_options.memory_plan */
    const struct cm_placed *placed;
};

/* Tensors of one kind that are alive for a part of a training step: lists of equal length. */
struct cm_step_tensors {
    const char *kind; /* "activations" (and their gradients), "saved", "inputs and outputs",
                         "cast copies", "gradients" (of parameters) */
    size_t n_nodes;
    const size_t *nodes; /* indices into nodes: the node that made it, or whose gradient it is;
                            an input of the model: a node that reads it */
    size_t n_from;
    const size_t *from; /* first position at which it is alive */
    size_t n_to;
    const size_t *to; /* last such position */
    size_t n_bytes;
    const size_t *bytes;
};

/*
 * Memory over a training step. At position i node order[i] runs: forward, then recomputation
 * and backward. The last position, n_order, is the optimizer's update, when model_state_bytes
 * are alive. At any other position the tensors are alive that have it in their range, and
 * besides them held_bytes.
 */
struct cm_step_curve {
    int64_t n_forward;  /* of the positions: the forward pass */
    int64_t held_bytes; /* weights, states, copies, gathered and sharded gradients */
    size_t n_order;
    const size_t *order; /* indices into nodes */
    size_t n_tensors;
    const struct cm_step_tensors *tensors;
};

/*
 * One training step: forward, backward and optimizer step (docs/training.md). Sums skip
 * unknown operators and shapes; `coverage` counts them.
 */
struct cm_training {
    bool present;          /* false: no optimizer was given, all other members are 0 */
    const char *optimizer; /* "adam" */
    int64_t shard_gpus;    /* figures are those of one of these GPUs; 0: not sharded */
    int64_t zero_stage;    /* 1, 2 or 3: of ZeRO */
    const char *offload;   /* what the host keeps: "optimizer", "all"; "": nothing */
    int64_t micro_batches; /* forward and backward passes of the step */
    size_t n_freeze;
    const char *const *freeze; /* as in cm_options */
    size_t n_trainable;
    const char *const *trainable; /* as in cm_options */
    size_t n_checkpoint;
    const char *const *checkpoint; /* as in cm_options */
    int64_t restored_norms;        /* BatchNormalizations that the exporter had folded */
    int64_t learned;               /* params that the optimizer updates */
    int64_t frozen;                /* params that it does not update */
    int64_t backward_macs;
    int64_t backward_flops; /* by the convention */
    int64_t recompute_macs; /* second forward pass of checkpointed modules */
    int64_t recompute_flops;
    int64_t recompute_int_ops;
    int64_t step_flops;        /* of the optimizer's update */
    int64_t iteration_flops;   /* forward + recompute + backward + step */
    int64_t iteration_int_ops; /* forward + recompute: gradients have no integer operations */
    int64_t weight_bytes;      /* params and buffers */
    int64_t gradient_bytes;    /* of params */
    int64_t optimizer_bytes;   /* optimizer states on the device */
    int64_t host_bytes;        /* in the host's memory: paged or offloaded */
    int64_t master_bytes;      /* sharded: fp32 copies of weights of 16 bits */
    int64_t gather_bytes;      /* sharded: weights and gradients of the largest module */
    int64_t model_state_bytes; /* weights, gradients, states, copies, gathered: without
                                  activations */
    int64_t weight_copy_bytes; /* of saved_bytes, with amp: 2-byte copies of weights */
    /* Picoseconds, modelled; CM_UNKNOWN without a modelled device. */
    int64_t backward_ps;              /* expected time of backward with recomputation */
    int64_t update_ps;                /* expected time of the optimizer's update */
    int64_t iteration_ps;             /* expected time of forward, backward and update */
    int64_t iteration_lower_bound_ps; /* lower bound of that time */
    struct cm_losses losses;          /* of the step */
    int64_t saved_bytes;              /* activations and inputs saved for backward */
    int64_t peak_bytes;               /* peak of weights, states, gradients and activations */
    const char *peak_phase;           /* "forward", "recompute", "backward", "step" */
    size_t peak_node;                 /* index into nodes; CM_NO_INDEX: in the optimizer step */
    const struct cm_step_curve *curve; /* NULL unless cm_options.memory_curve; or peak_bytes is
                                          unknown */
};

/* A summand `factor * count`. */
struct cm_term {
    int64_t factor;
    const char *of; /* what is counted: "MACs", "input elements", "biases" */
    int64_t count;
    bool of_integers; /* part of int_ops, not of flops */
};

/* How a modelled device runs a node, once. */
struct cm_explained_time {
    int64_t latency_ps;            /* expected */
    int64_t compute_ps, memory_ps; /* overlap */
    int64_t extra_ps;              /* kernels around it: casts, layouts, quantization */
    int64_t launch_ps, launches;   /* 0: part of another node's kernel */
    int64_t host_ps;               /* in which the host launches them */
    int64_t tile_m, tile_n; /* of a product; CM_UNKNOWN, as the next three: it is not tiled */
    int64_t splits;         /* parts of the sum */
    int64_t tiles, waves;
    int64_t memory_bytes, cache_bytes; /* moved from and to */
    int64_t bandwidth_share;           /* ratio: of the peak bandwidth, for memory_bytes */
    const char *rate;                  /* "matrix_fp16"; "": no arithmetic */
    int64_t rate_share;                /* ratio: of this rate, for compute_ps */
    const char *limited_by;
    int64_t without_ps; /* expected without the part that limits it */
    const char *next;   /* what then limits it */
};

/* Derivation of a node's costs in one run: MACs are a product of factors; FLOPs and integer
 * operations are sums of terms. */
struct cm_explained_node {
    size_t node;      /* index into nodes */
    int64_t runs;     /* executions in one run of the model; 0: in a branch not counted */
    size_t n_factors; /* 0: no MACs */
    const struct cm_named_size *factors;
    size_t n_terms; /* by the result's convention; 0: no operations */
    const struct cm_term *terms;
    const struct cm_explained_time *time; /* NULL: not modelled, or no kernel of its own */
};

/* The costs by one convention. */
struct cm_explained_by {
    const char *convention;
    const char *unit;
    int64_t flops; /* of all runs */
    int64_t int_ops;
    size_t n_terms; /* of one run of a node; 0 for a module */
    const struct cm_term *terms;
};

/* An answer to cm_options.explain. */
struct cm_explanation {
    const char *name; /* as in cm_options.explain */
    bool of_module;
    size_t module;  /* index into modules: the module itself, or the node's */
    size_t n_nodes; /* 1, or the nodes of the module that have MACs or operations */
    const struct cm_explained_node *nodes;
    int64_t n_free; /* nodes of the module without MACs and operations */
    size_t n_by;
    const struct cm_explained_by *by; /* one per convention */
};

enum cm_severity { CM_NOTE, CM_WARNING, CM_ERROR };

struct cm_diagnostic {
    enum cm_severity severity;
    const char *code;    /* "shape", "format", ...: docs/errors.md */
    const char *message; /* one line: the requirement and the actual value */
    const char *place;   /* location, one line per level, outermost first; "" */
    const char *node;    /* name or "#17" of the node that the message is about; NULL: none */
    const char *hint;    /* how to fix it; NULL: none */
};

struct cm_named_size {
    const char *name;
    int64_t size;
};

/* A kernel on the device; 0 and "" if unknown. */
struct cm_kernel_run {
    const char *name;
    int64_t calls; /* launches per execution of the primitive */
    int64_t grid[3];
    int64_t block[3];
    int64_t registers;             /* per thread */
    int64_t shared_bytes;          /* per block */
    const char *tensor_cores;      /* "yes", "no", "unknown" */
    const char *rule;              /* evidence for tensor_cores */
    int64_t blocks_per_unit;       /* ratio: blocks of the grid / multiprocessors */
    int64_t occupancy;             /* ratio: resident threads / maximum */
    int64_t theoretical_occupancy; /* ratio: the same for a grid that fills the device */
    int64_t unit_efficiency;       /* ratio: multiprocessors that have a block / all */
    int64_t time_ps; /* of all calls in one execution, between events before and after each;
                        CM_UNKNOWN */
    int64_t share;   /* ratio: time_ps / its sum over the primitive's kernels; CM_UNKNOWN */
};

/* State of the device right after a measurement; 0 and "" if unknown. */
struct cm_clock_state {
    bool present;
    int64_t unit_mhz;
    int64_t unit_most_mhz; /* maximum of unit_mhz */
    int64_t memory_mhz;
    int64_t temperature_c;
    int64_t power_mw;
    const char *throttle; /* reason for throttling; "": not throttled */
};

/* Data of an imported layer. */
struct cm_import {
    bool present;
    int64_t expected_ps;    /* time of its nodes on the modelled device; CM_UNKNOWN */
    int64_t lower_bound_ps; /* least time of its nodes there; CM_UNKNOWN */
    int64_t mean_ps;        /* mean over the runs that the median is of; CM_UNKNOWN */
    size_t module; /* layer without nodes: index of the smallest module that contains it,
                      to which its time is added; else CM_NO_INDEX */
    size_t n_inside;
    const size_t *inside; /* opaque block: its nodes, which have no separate time */
};

/* A primitive (backend.h) and its time per execution, in picoseconds. If times are imported,
 * the struct describes a layer of the other tool, with its time in one run of the model. */
struct cm_timed {
    const char
        *primitive;     /* "conv f32 1x3x224x224 64x3x7x7 64 -> …"; imported: the layer's name
                         */
    const char *state;  /* "measured", "modelled", "proxy", ...: docs/measuring.md */
    const char *reason; /* why there is no time, or what the proxy ran; "" */
    int64_t median_ps;  /* cold; this and the times below: CM_UNKNOWN without a time */
    int64_t q1_ps;
    int64_t q3_ps;
    int64_t min_ps;
    int64_t max_ps;
    int64_t warm_ps; /* median of warm executions */
    int64_t warm_q1_ps;
    int64_t warm_q3_ps;
    int64_t samples; /* 0 if modelled */
    int64_t drift;   /* ratio: |later round / first round - 1| of the median; 0: one round */
    bool unstable;
    bool few_samples;
    bool not_cold;
    bool throttled;
    bool launches; /* every execution is a host launch */
    bool cached;   /* measured in an earlier call */
    bool product;  /* convolution or matrix product: may use tensor cores */
    int64_t flops; /* per execution, by the exact convention */
    int64_t bytes; /* read + written */
    const struct cm_achieved *achieved; /* NULL: no time */
    const char *provider;               /* part of the backend: "cublaslt"; "" */
    const char *algorithm;              /* "engine 62"; "" */
    const char *tensor_cores;           /* "yes", "no", "unknown" */
    int64_t plans_tried;                /* plans tried until one was accepted; 0: unknown */
    int64_t sets; /* operand sets that cold executions cycle through; 0: unknown */
    int64_t workspace_bytes;
    int64_t plan_ps; /* time to find and compile the plan; not part of any time */
    struct cm_clock_state clocks;
    size_t n_kernels;
    const struct cm_kernel_run *kernels;
    int64_t more_kernels; /* kernels that are not listed */
    struct cm_import import;
    struct cm_losses losses; /* of median_ps */
    size_t n_nodes;
    const size_t *nodes; /* indices into nodes */
};

/* The nodes whose times have one state, and their MACs. */
struct cm_state_share {
    const char *state; /* as in cm_timed; "view": no work */
    int64_t nodes;
    int64_t macs;
};

/* The nodes of one operator that have no time for one reason, and their MACs. */
struct cm_untimed {
    const char *op; /* "NonZero", "com.microsoft::Gelu" */
    const char *reason;
    int64_t nodes;
    int64_t macs;
};

/* The nodes with one limiting resource, and their latency. */
struct cm_limiter_share {
    const char *limited_by; /* as in cm_achieved */
    int64_t nodes;
    int64_t latency_ps;
};

/*
 * A row of the kernel table: a kernel, with the time of each primitive that runs as this kernel
 * alone, and its share of the time of each primitive that runs as several kernels. A primitive
 * whose kernels or shares are unknown is a row itself.
 */
struct cm_kernel_row {
    const char *name;         /* of the kernel, or cm_timed.primitive */
    size_t primitive;         /* index into primitives; CM_NO_INDEX: a kernel */
    const char *tensor_cores; /* "yes", "no", "unknown" */
    const char *rule;         /* evidence for tensor_cores */
    int64_t calls;            /* in one run of the model */
    int64_t total_ps;
    int64_t mean_ps;         /* per call */
    int64_t min_ps;          /* smallest median of the primitives */
    int64_t max_ps;          /* largest median of the primitives */
    int64_t blocks_per_unit; /* this and the next three: ratio as in cm_kernel_run, mean
                                weighted by time; CM_UNKNOWN */
    int64_t occupancy;
    int64_t theoretical_occupancy;
    int64_t unit_efficiency;
};

/* Peak rates of the device, for comparison with the layers. CM_UNKNOWN: not measured. */
struct cm_ceilings {
    const char *state; /* "measured"; "published": of a modelled device; "invented" by a table
                          for tests */
    int64_t copy_bytes_per_s; /* large copy, bytes read + bytes written */
    int64_t floor_ps;         /* time of the smallest primitive */
    size_t n_flops_per_s;
    /* Of a large GEMM, by dtype: "f32", "tf32". Published rates: by the name that is in
     * cm_timed.algorithm, "matrix_tf32". */
    const struct cm_named_size *flops_per_s;
};

/*
 * All measured layers, run again as one network (cm_options.end_to_end) in execution order with
 * warm activations, for comparison with the sum of the layers.
 */
struct cm_end_to_end {
    const char *state;  /* as in cm_timed */
    const char *reason; /* why there is no time; "" */
    int64_t median_ps;  /* this and the quartiles: CM_UNKNOWN without a time */
    int64_t q1_ps;
    int64_t q3_ps;
    int64_t samples;
    int64_t sum_cold_ps; /* sum of the cold medians of the included nodes */
    int64_t sum_warm_ps; /* sum of the warm medians of these nodes */
    int64_t nodes;       /* number of included nodes */
    int64_t macs;        /* MACs of these nodes */
};

/* The report of a backend, and how much of the model it covers. */
/* Nodes one after the other, of which the products are all on 8-bit integers or all on floats.
 */
struct cm_quantized_region {
    const char *state;  /* "int8", "float" */
    const char *reason; /* why it stays in float, or is slower than in float; "" */
    size_t module;      /* the smallest one with all its nodes: index */
    size_t first, last; /* nodes: indices */
    int64_t latency_ps;
    int64_t float_latency_ps; /* of the same nodes in the float model */
};

/* A quantized model (--precision int8, or a QDQ file) compared with its float model on the same
 * modelled device. */
struct cm_quantization {
    const char *float_precision; /* of the float model, the faster one: "fp32", "fp16" */
    int64_t float_latency_ps;
    int64_t gain;             /* ratio: float_latency_ps / latency; below 1: int8 is slower */
    const char *verdict;      /* full sentences: the gain and what limits it */
    int64_t conversion_bytes; /* moved by kernels that only convert to int8 and back */
    int64_t conversion_ps;    /* their time */
    size_t n_regions;
    const struct cm_quantized_region *regions; /* longest float_latency_ps first */
};

struct cm_measure {
    const char *backend;     /* as in cm_options: "roofline:device=h200" */
    const char *problem;     /* why there are no times; "": there are */
    bool modelled;           /* all times are computed, none measured */
    const char *runtime;     /* modelled: "tensorrt"; NULL: measured */
    const char *calibration; /* modelled: what the efficiencies of the device were fitted to;
                                NULL: not calibrated */
    bool invented;           /* all times come from a table for tests */
    bool imported;           /* all times were measured by another tool: cm_options.times */
    int64_t placed_share; /* imported, ratio: time of the layers that match the model / time of
                             all layers; CM_UNKNOWN */
    int64_t run_ps;       /* imported: median time of a whole run of the model; CM_UNKNOWN */
    int64_t gap_ps;      /* imported: median time of a run in which no layer runs; CM_UNKNOWN */
    int64_t gap_host_ps; /* of gap_ps: the host runs operators; CM_UNKNOWN */
    const char *other_shape; /* imported: why the times belong to other shapes than those of the
                                model, so that there are no rates; NULL: they do not, or their
                                shapes are unknown */
    bool planned;            /* cm_options.plan_only: plans without times */
    const char *layout;      /* of images: "auto", "nchw", "nhwc" */
    const char *device;
    const char *version;      /* of the software, or the source of a device model */
    const char *warning;      /* why the times may be unreliable; "" */
    const char *architecture; /* "sm_90"; "" */
    const char *address;      /* of the device in the machine; "" */
    int64_t memory_bytes;     /* this and the integers below: CM_UNKNOWN if unknown */
    int64_t cache_bytes;      /* last-level cache */
    int64_t units;            /* multiprocessors or threads */
    int64_t threads_per_unit; /* maximum of resident threads */
    int64_t bandwidth;        /* bytes/s */
    int64_t floor_ps;         /* time of an empty primitive */
    bool has_tensor_cores;
    int64_t measured_macs_share;                /* ratio: MACs of measured nodes / all MACs */
    const struct cm_ceilings *ceilings;         /* NULL: not measured */
    const struct cm_end_to_end *end_to_end;     /* NULL: not requested */
    const struct cm_quantization *quantization; /* NULL: not quantized, or not modelled */
    int64_t n_cached;                           /* primitives measured in earlier calls */
    const char *cached_since;                   /* oldest of them, "2026-11-21T23:07:08Z"; "" */
    size_t n_states;
    const struct cm_state_share *states; /* non-empty states, timed ones first */
    size_t n_untimed;
    const struct cm_untimed *untimed; /* largest work first */
    size_t n_limiters;
    const struct cm_limiter_share *limiters; /* one per limiting resource that occurs */
    size_t n_primitives;
    const struct cm_timed *primitives;
    size_t n_kernels;
    const struct cm_kernel_row *kernels; /* largest total first */
};

/* All nodes of one operator type. Sums skip unknown values. */
struct cm_operator {
    const char *op; /* "Conv", "com.microsoft::Gelu" */
    int64_t nodes;
    struct cm_costs costs; /* sums over the nodes; params, buffers, weight_bytes and
                              activation_bytes are 0 */
    size_t n_states;       /* 0 unless cm_result_timed */
    const struct cm_state_share *states;
};

/* Advice from the times: a change that would make the model faster or make it run at all. */
struct cm_advice {
    const char *rule; /* "R3": docs/measuring.md */
    const char *name; /* "channels-last" */
    const char *text; /* observation and recommendation, full sentences */
    int64_t gain_ps;  /* estimated gain in total latency; CM_UNKNOWN */
    size_t n_nodes;
    const size_t *nodes; /* affected nodes: indices */
    size_t n_modules;
    const size_t *modules; /* their modules: indices */
};

/* A kind of storage or network, and the rate at which it delivers samples. */
struct cm_input_link {
    const char *name;    /* "NVMe SSD, PCIe 4.0 x4" */
    int64_t bytes_per_s; /* published, sequential */
    bool suffices;       /* the rate is at least the demand */
    const char *source;  /* document of the rate */
};

/* The rate at which the input pipeline must deliver samples, so that the device never waits. */
struct cm_input_pipeline {
    int64_t sample_bytes; /* as in cm_options */
    int64_t samples;      /* samples per step: the batch */
    int64_t step_ps;      /* of a training step if there is one, else of a forward pass */
    int64_t bytes_per_s;  /* demand: samples * sample_bytes per step; CM_UNKNOWN */
    int64_t host_link;    /* bytes/s from the host to the device; CM_UNKNOWN */
    size_t n_links;
    const struct cm_input_link *links; /* slowest first */
    const char *advice; /* full sentences: names the slowest link that suffices */
};

/* Price and energy of 1000 samples: of training steps if there are any, else of forward passes.
 * Ratios in millionths; CM_UNKNOWN if the option is not given, or no time is known. */
struct cm_price {
    bool present;
    int64_t price;       /* in the currency of the option */
    int64_t least_price; /* at the lower bound of the time; CM_UNKNOWN unless modelled */
    int64_t joules;      /* if the device draws this power all the time */
    int64_t least_joules;
};

/*
 * Parameters of the framework's model, from the list of their names that PyTorch's exporter
 * records. The file may have other tensors, because the exporter folds, merges and copies them.
 */
struct cm_framework {
    int64_t
        params; /* elements; CM_UNKNOWN if not recorded, or the file does not determine it */
    int64_t n_absent;           /* listed tensors that the file does not store separately */
    size_t n_unknown;           /* of these, tensors of unknown size; 0 if params is known */
    const char *const *unknown; /* their names */
    const char *shared; /* tensor that most modules use instead of an equal one of their own; ""
                         */
    int64_t n_sharing;  /* modules that use `shared`, its own included */
};

/*
 * Version of the counting rules. A change of the program that may change a figure of a model
 * raises it, other changes do not. Figures of different versions are not compared.
 */
#define CM_COUNTING_VERSION 1

struct cm_result {
    struct {
        const char *path;
        const char *producer; /* "pytorch 1.13.0"; "" */
        int64_t ir_version;
        size_t n_opsets;
        const struct cm_named_size *opsets; /* domain ("": ai.onnx) and version */
        size_t n_inputs;
        const struct cm_value *inputs;
        size_t n_outputs;
        const struct cm_value *outputs;
    } model;
    struct {
        int64_t batch; /* profiled batch; CM_UNKNOWN: the inputs have no batch axis */
        size_t n_dims;
        const struct cm_named_size *dims; /* every bound symbolic dim and its size */
        const char *convention;
        const char *mode;          /* "model", "training", "inference" */
        const char *module_source; /* cm_options.module_source; "": all */
        const char *group;         /* cm_options.group; "": none */
        const char *schedule;      /* "file", "min-memory" */
        const char *given; /* --input and --value as text: "x=1x3x64x64 k=2,2"; NULL: none */
        size_t n_trip_counts;
        const struct cm_named_size *trip_counts; /* as in cm_options */
        const char *precision;      /* of every figure of the result: "fp16"; NULL: unknown */
        const char *file_precision; /* "fp32": of most floats in the file; NULL: unknown */
        int64_t counting; /* CM_COUNTING_VERSION of the program; CM_UNKNOWN: not recorded */
    } options;
    struct cm_costs totals;
    struct cm_framework framework;
    struct cm_memory memory;
    struct cm_training training;
    struct cm_device_memory device_memory; /* of a training step */
    struct cm_time_error time_error;       /* of a modelled device */
    struct cm_losses losses;               /* of totals.latency_ps */
    size_t n_modules; /* >= 1; modules[0] is the root; parents precede children */
    const struct cm_module *modules;
    size_t
        n_module_sources; /* source of the module hierarchy and node count: docs/modules.md */
    const struct cm_name_count *module_sources;
    size_t n_nodes;
    const struct cm_node *nodes;
    size_t n_fused_patterns;
    const struct cm_fused_pattern *fused_patterns; /* in the order of their last nodes */
    struct cm_coverage coverage;
    size_t n_rebatched;
    const struct cm_rebatched *rebatched;
    size_t n_explanations;
    const struct cm_explanation *explanations;
    size_t n_diagnostics; /* notes and warnings: assumptions, unknown operators */
    const struct cm_diagnostic *diagnostics;
    size_t n_operators;
    const struct cm_operator *operators; /* largest latency first; without times, most work */
    const struct cm_measure *measure;    /* NULL: no backend was requested */
    size_t n_advice;
    const struct cm_advice *advice; /* each on top of those before; none without times */
    const struct cm_input_pipeline *input_pipeline; /* NULL: not requested, or no times */
    struct cm_price price;
    void *arena; /* private */
};

/* The plans of one row of a sweep, with cm_options.plan_only. */
struct cm_sweep_plans {
    int64_t planned_macs;    /* MACs of the nodes that have a plan */
    int64_t workspace_bytes; /* largest workspace of a plan */
};

/* One batch of a sweep, or one combination of a campaign (costmodel/campaign.h). */
struct cm_sweep_row {
    int64_t batch; /* CM_UNKNOWN: no batch axis; in a row without values: the file's batch */
    /*
     * "done"; "incomplete": unknown operators or missing times; "misfit": above the memory
     * limit. Rows without values: "refused", "usage", "failed".
     */
    const char *state;
    const char *problem;   /* first error message if not done; "" */
    struct cm_costs costs; /* of the model; this and all below: CM_UNKNOWN if unknown */
    int64_t peak_activation_bytes;
    int64_t arena_bytes;
    int64_t required_bytes;
    int64_t timed_macs;      /* MACs of the nodes that have a time */
    int64_t cached;          /* primitives measured in earlier calls */
    bool peak_upper_bound;   /* peak_activation_bytes is an upper bound */
    bool memory_upper_bound; /* arena_bytes and required_bytes are upper bounds */
    int64_t untimed_nodes;   /* nodes missing from latency_ps; CM_UNKNOWN without times */
    int64_t device_bytes;    /* memory of the device */
    size_t combination;      /* number in the campaign; CM_NO_INDEX: of no campaign */
    const char *model;       /* path; NULL: that of the sweep */
    const char *device;    /* of the times; of several backends: as named in them; NULL: none */
    const char *times;     /* as in struct cm_sweep; NULL: none */
    const char *precision; /* NULL: as in the file, without times */
    size_t n_dims;         /* symbolic dims that the sweep varies */
    const struct cm_named_size *dims;
    /* Ratio: samples per second / those of the first row. CM_UNKNOWN unless the sweep lists its
     * layers and the same nodes have a time in both rows. */
    int64_t speedup;
    const struct cm_sweep_plans *plans; /* NULL: no plans */
    const char *key; /* in the file of a shard: identifies what was profiled; else NULL */
    int64_t latency_low_ps; /* interval of a modelled latency; CM_UNKNOWN: not modelled */
    int64_t latency_high_ps;
};

/* The plan of a layer in one row of a sweep. */
struct cm_layer_plan {
    int64_t workspace_bytes; /* of the plan; 0 if there is none */
    const char *reason;      /* why there is none, or what was planned instead; "" */
};

/* A layer in one row of a sweep. */
struct cm_layer_time {
    int64_t latency_ps; /* of all its nodes and their runs; CM_UNKNOWN */
    int64_t speedup;    /* ratio: time per sample in the first row / in this one; CM_UNKNOWN */
    const char *state;  /* as in cm_timed; "": the layer has none in this row */
    const char *primitive; /* this and the next three: as in cm_timed; "" */
    const char *provider;
    const char *algorithm;
    const char *tensor_cores;
    const struct cm_layer_plan *plan; /* NULL: no plans */
};

/* Nodes that share one primitive in every row of a sweep. */
struct cm_sweep_layer {
    const char *op;   /* of the first node: "Conv" */
    const char *path; /* module of the first node; "": the root */
    const char *node; /* name of the first node; "" */
    int64_t nodes;
    size_t n_times; /* one per row */
    const struct cm_layer_time *times;
};

struct cm_sweep {
    const char *model; /* path; "": each row has its own */
    const char *convention;
    const char *backend;  /* as in cm_options; "": none */
    const char *device;   /* of the times; "" */
    const char *times;    /* kind: "measured", "modelled", "invented"; "planned": only plans;
                             "": none */
    int64_t memory_limit; /* bytes; CM_UNKNOWN: none */
    size_t n_rows;
    const struct cm_sweep_row *rows; /* in the requested order */
    size_t n_custom_ops;             /* as in cm_coverage, of the first batch that has any */
    const struct cm_name_count *custom_ops;
    size_t n_diagnostics; /* notes and warnings of all batches, each once; no row problems */
    const struct cm_diagnostic *diagnostics;
    size_t n_layers;                     /* 0 unless cm_options.sweep_layers */
    const struct cm_sweep_layer *layers; /* longest in the first row first */
    void *arena;                         /* private */
    /* By row: its result; NULL: not kept (cm_options.sweep_results). */
    struct cm_result *const *results;
};

/* Returns true if times were requested, but there are none: cm_measure.problem states why. */
static inline bool cm_result_lacks_times(const struct cm_result *result) {
    return result != NULL && result->measure != NULL && result->measure->problem[0] != '\0';
}

/* Returns true if latency_ps is valid. */
static inline bool cm_result_timed(const struct cm_result *result) {
    return result != NULL && result->measure != NULL && result->measure->problem[0] == '\0' &&
           !result->measure->planned;
}

/* Returns true if the primitives have plans, and no times. */
static inline bool cm_result_planned(const struct cm_result *result) {
    return result != NULL && result->measure != NULL && result->measure->problem[0] == '\0' &&
           result->measure->planned;
}

/* Returns true if the figures have another precision than most floats of the file. */
static inline bool cm_result_converted(const struct cm_result *result) {
    return result->options.precision != NULL && result->options.file_precision != NULL &&
           strcmp(result->options.precision, result->options.file_precision) != 0;
}

/* Returns the passes of a training step; 1 without a step, or if a former version wrote it. */
static inline int64_t cm_result_micro_batches(const struct cm_result *result) {
    return result->training.micro_batches > 1 ? result->training.micro_batches : 1;
}

/* Returns true if lower_bound_ps is valid. */
static inline bool cm_result_modelled(const struct cm_result *result) {
    return cm_result_timed(result) && result->measure->modelled;
}

/* Returns the number of node outputs without any bound on their size; costs skip them. */
static inline int64_t cm_coverage_unbounded(const struct cm_coverage *coverage) {
    if (coverage == NULL) return 0;
    if (coverage->bounded_shapes <= 0) return coverage->unknown_shapes;
    return coverage->unknown_shapes > coverage->bounded_shapes
               ? coverage->unknown_shapes - coverage->bounded_shapes
               : 0;
}

/* Returns true if the totals leave nothing out. */
static inline bool cm_result_complete(const struct cm_result *result) {
    return result != NULL && result->coverage.incomplete == NULL &&
           result->coverage.n_unknown_ops == 0 && result->coverage.n_unknown_gradients == 0;
}

#endif
