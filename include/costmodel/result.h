/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE result: what a profile knows, as plain data.
 *
 * Passes fill it, reports write it, nobody recomputes it. It owns all that it points to (one
 * arena, freed by cm_result_free) and refers neither to the model nor to the file.
 *
 * Units: sizes in bytes, MACs in multiply-add pairs, FLOPs in operations as the named
 * convention counts them. A count or dim that the file does not determine is CM_UNKNOWN, never
 * a guess and never a bare -1; sums leave such entries out, and `coverage` says how many there
 * were.
 */
#ifndef COSTMODEL_RESULT_H
#define COSTMODEL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CM_UNKNOWN  INT64_MIN
#define CM_NO_INDEX SIZE_MAX

/* A ratio is an integer of millionths. */
#define CM_RATIO_ONE 1000000

enum cm_type_kind {
    CM_TYPE_UNKNOWN,
    CM_TYPE_TENSOR,
    CM_TYPE_SPARSE_TENSOR,
    CM_TYPE_SEQUENCE, /* of `element` */
    CM_TYPE_OPTIONAL, /* of `element` */
    CM_TYPE_MAP,      /* keys of `dtype`, values of `element` */
};

struct cm_type {
    enum cm_type_kind kind;
    int rank;            /* -1 unknown */
    const char *dtype;   /* ONNX's lower-case name: "float", "int64"; NULL unknown */
    const int64_t *dims; /* rank sizes, CM_UNKNOWN where unknown */
    /* The same where only data decide: no dim is larger. CM_UNKNOWN: there is no bound; NULL:
     * there is none that `dims` does not tell. */
    const int64_t *dims_upper_bound;
    const struct cm_type *element;
};

/* A value: a tensor that flows between nodes. An omitted optional operand has name "". */
struct cm_value {
    const char *name;
    struct cm_type type;
    int64_t bytes; /* as stored: packed 4-bit counts half a byte; of dims_upper_bound where that
                      is set; CM_UNKNOWN */
};

struct cm_costs {
    int64_t params;  /* elements of learned tensors, each tensor once */
    int64_t buffers; /* elements of named tensors that are not learned: statistics, masks */
    int64_t macs;
    int64_t int_macs; /* those of them that multiply integers */
    int64_t flops;    /* by the convention, which may tell integers or not (cm_convention) */
    int64_t int_ops;  /* operations on integers, by `exact` whatever the convention is */
    int64_t bytes_read;
    int64_t bytes_written;
    int64_t weight_bytes;     /* params and buffers as stored, each tensor once */
    int64_t activation_bytes; /* fresh node outputs: no views, constants or shape arithmetic */
    int64_t latency_ps; /* picoseconds, cold; of a node without a time CM_UNKNOWN; says nothing
                           unless cm_result_timed */
    uint32_t upper_bound; /* which of these are upper bounds: CM_COST_BIT of the member */
};

/* The bit in `upper_bound` of a figure: of macs CM_COST_BIT(macs). */
#define CM_COST_BIT(member)                                                                    \
    (UINT32_C(1) << (offsetof(struct cm_costs, member) / sizeof(int64_t)))

/* A node's or module's share of a training step. */
struct cm_step {
    int64_t backward_macs; /* of all gradients that are wanted */
    int64_t saved_bytes;   /* of what it made that stays from forward to backward */
};

/*
 * What a time makes of the work that was done in it. Work is that of the primitives: FLOPs by
 * the exact convention, bytes of operands and results. A ratio is in millionths.
 */
struct cm_achieved {
    int64_t flops_per_s; /* of these three CM_UNKNOWN what is not known */
    int64_t bytes_per_s;
    int64_t roofline; /* ratio: the least time that the device's ceilings allow, by the time */
    /* the resource that limits the speed: "compute", "memory", "launch", "occupancy", "mixed",
     * "unknown" */
    const char *limited_by;
};

struct cm_node {
    size_t index;       /* place in the file's order, bodies of control flow after their node */
    const char *name;   /* as in the file; "" where it has none */
    const char *op;     /* operator type: "Conv" */
    const char *domain; /* "" is ai.onnx */
    size_t module;      /* index into modules */
    size_t n_inputs;
    const char *const *inputs; /* value names; "" an omitted operand */
    size_t n_outputs;
    const struct cm_value *outputs;
    struct cm_costs costs; /* params, buffers and weight_bytes: of the node's own operands */
    const struct cm_step *training; /* NULL: no training step was profiled */
};

struct cm_module {
    const char *path; /* "" the root, else dotted: "layer1.0.conv1" */
    const char *name; /* last part of the path; the root: the model's name */
    const char *type; /* class as a framework prints it: "Conv1d"; the name where unknown */
    const char *arguments; /* what stands in its brackets: "3, 64, kernel_size=(1,)"; "" */
    bool type_known;       /* false: `type` repeats the instance name */
    int depth;             /* 0 the root */
    size_t parent;         /* index; CM_NO_INDEX for the root */
    size_t n_children;
    const size_t *children; /* indices, in order of first use */
    int64_t calls; /* how often its scope was entered; 0 when it only holds parameters */
    struct cm_costs costs;              /* children included; params are a union */
    const struct cm_step *training;     /* children included; NULL as a node's */
    const struct cm_achieved *achieved; /* children included; NULL: nothing inside has a time */
    int64_t peak_activation_bytes; /* most alive at once of what is made inside; CM_UNKNOWN */
    size_t n_outputs;              /* values of its first call that leave the module */
    const struct cm_value *outputs;
};

/* Nodes that an exporter made of one operation of the framework. */
struct cm_fused_pattern {
    const char *name; /* as the framework prints the class: "LayerNorm" */
    const char *op;   /* the operator by whose rule it is counted: "LayerNormalization" */
    size_t module;    /* index into modules: of the node that makes the result */
    size_t last;      /* index into nodes: it has the FLOPs of all of them */
    size_t n_nodes;
    const size_t *nodes; /* indices, ascending */
    bool foldable;       /* was several operations: each node has its own FLOPs */
};

/* A constant that had the file's own batch baked in, and what it became. */
struct cm_rebatched {
    size_t node; /* index into nodes */
    const char *node_name;
    const char *op;
    const char *input; /* the operand: name of the value */
    const char *what;  /* "target", "repeats", "dims" */
    int64_t axis;      /* element of the target, or axis of the tensor */
    int64_t from;
    int64_t to;
};

struct cm_name_count {
    const char *name;
    int64_t count;
};

/* An operator that cm_options.op_costs describe. */
struct cm_description {
    const char *op;     /* "domain::Type" */
    const char *digest; /* differs where what it gives or costs is described otherwise */
    bool replaces;      /* one that is built in */
};

struct cm_coverage {
    int64_t nodes; /* how many the profile holds */
    size_t n_unknown_ops;
    const struct cm_name_count *unknown_ops; /* "domain::Type", in order of first use */
    size_t n_custom_ops; /* the same of those that cm_options.op_costs describe */
    const struct cm_name_count *custom_ops;
    size_t n_descriptions; /* of these, in the same order; 0 in a document that has none */
    const struct cm_description *descriptions;
    size_t n_unknown_gradients; /* of a training step: the same of those that have a rule, but
                                   whose gradient nobody knows */
    const struct cm_name_count *unknown_gradients;
    int64_t unknown_shapes; /* node outputs with an unknown rank or dim */
    int64_t bounded_shapes; /* of these: no dim is unbounded, and costs that hang on them are
                               "at most" */
};

/* A value that is alive at the peak. */
struct cm_live {
    const char *value;
    int64_t bytes;
    size_t module; /* that made it; the root has the inputs of the model */
};

/* A value's place in the arena. */
struct cm_placed {
    const char *value;
    int64_t offset;
    int64_t bytes;
    size_t
        made; /* index into nodes: by which; CM_NO_INDEX for an input, there from the start */
    size_t last; /* the node that needs it last; a result's is the last of all */
};

/* Weights of one element type that the file stores in one way. */
struct cm_weights {
    const char *dtype;
    const char *storage; /* "raw", "typed", "external", "computed", "input", "absent" */
    int64_t tensors;     /* each once, however many parameters share it */
    int64_t elements;
    int64_t bytes; /* packed 4-bit elements take half of one */
};

/* Whether required_bytes (with an optimizer: the peak of a training step) is within a limit,
 * and at which batch it ceases to be. */
struct cm_fit {
    int64_t limit_bytes;
    bool fits;             /* the batch that was profiled */
    int64_t largest_batch; /* that fits; 0: not even 1; CM_UNKNOWN: `search` says why */
    int64_t largest_bytes; /* required at it; CM_UNKNOWN */
    int64_t next_bytes;    /* required at the next one, more than the limit; CM_UNKNOWN */
    /*
     * "exact": largest_batch fits, the next one does not. "uneven": the same, but more was
     * required of a smaller batch somewhere, so that a still larger one may fit. "none": not
     * even 1 fits. "unbounded": whatever the batch is. "no-batch": no axis of the inputs is
     * one. "fixed": the batch cannot be changed, `why` says why.
     */
    const char *search;
    const char *why; /* "" */
};

/* What is alive while a node runs. */
struct cm_curve_point {
    size_t node; /* index into nodes */
    int64_t bytes;
};

/*
 * Bytes of activations and inputs that are alive at once when nodes run in the order of
 * options.schedule, views sharing their source's bytes. Weights and workspace are not in it.
 */
struct cm_memory {
    int64_t peak_activation_bytes; /* the most at one node, nothing reused in place */
    int64_t peak_in_place_bytes;   /* elementwise nodes write over what is read last there */
    int64_t arena_bytes; /* of a plan that gives each of them a place; CM_UNKNOWN: none */
    int64_t arena_in_place_bytes; /* the same where elementwise nodes write over */
    int64_t alignment;            /* places in the arena are multiples of it */
    int64_t required_bytes; /* weights and arena, or a training step; no workspace of kernels */
    /* Tensors are counted of which only the largest size is known, so that these are upper
     * bounds; the peak only where one of them is alive at it. */
    bool upper_bound;
    bool peak_upper_bound;
    const struct cm_fit *fit; /* NULL unless cm_options.memory_limit */
    size_t n_weights;
    const struct cm_weights *weights;
    size_t n_planners;
    const struct cm_name_count *planners; /* what published planners alone would need */
    size_t peak_node; /* index into nodes: while it runs; CM_NO_INDEX where nothing is alive */
    int64_t file_order_peak_bytes; /* peak_activation_bytes in the order of the file */
    bool schedule_optimal;         /* of "min-memory": no order needs less */
    size_t n_schedule;             /* 0 in the order of the file */
    const size_t *schedule;        /* indices into nodes, as they run */
    size_t n_live;
    const struct cm_live *live; /* at peak_node, the largest first */
    size_t n_curve;             /* 0 unless cm_options.memory_curve, else one for each node */
    const struct cm_curve_point *curve; /* in the order in which they run */
    size_t n_placed;                    /* 0 unless cm_options.memory_plan */
    const struct cm_placed *placed;
};

/*
 * One training step: forward, backward, and the optimizer's step (docs/training.md). Figures
 * leave out what unknown operators and shapes hide, as `coverage` says.
 */
struct cm_training {
    bool present;          /* false: no optimizer was asked for, nothing else is set */
    const char *optimizer; /* "adam" */
    bool amp;              /* mixed precision */
    size_t n_freeze;       /* patterns that were given */
    const char *const *freeze;
    size_t n_checkpoint;
    const char *const *checkpoint;
    int64_t learned; /* params that the optimizer changes */
    int64_t frozen;  /* params that it does not */
    int64_t backward_macs;
    int64_t backward_flops; /* by the convention */
    int64_t recompute_macs; /* of checkpointed modules, run again */
    int64_t recompute_flops;
    int64_t recompute_int_ops;
    int64_t step_flops;        /* of the optimizer */
    int64_t iteration_flops;   /* forward, recomputed, backward and step */
    int64_t iteration_int_ops; /* the same: no gradient passes through integers */
    int64_t weight_bytes;      /* params and buffers */
    int64_t gradient_bytes;    /* of params */
    int64_t optimizer_bytes;   /* its states */
    int64_t master_bytes;      /* 4-byte copies of params, with amp */
    int64_t saved_bytes;       /* activations and inputs kept for backward */
    int64_t peak_bytes;     /* weights, states, gradients and activations, the most at once */
    const char *peak_phase; /* "forward", "recompute", "backward", "step" */
    size_t peak_node;       /* index into nodes; CM_NO_INDEX during the step */
};

/* `factor` for each of `count`. */
struct cm_term {
    int64_t factor;
    const char *of; /* "MACs", "input elements", "biases" */
    int64_t count;
    bool of_integers; /* a term of int_ops, not of flops */
};

/* How the figures of a node come about: MACs are a product, FLOPs and operations on integers a
 * sum, of one run. */
struct cm_explained_node {
    size_t node;      /* index into nodes */
    int64_t runs;     /* in one pass through the model; 0: of a branch that is not charged */
    size_t n_factors; /* 0: no MACs */
    const struct cm_named_size *factors;
    size_t n_terms; /* by the result's convention; 0: no operations */
    const struct cm_term *terms;
};

/* What a convention makes of what is explained. */
struct cm_explained_by {
    const char *convention;
    const char *unit;
    int64_t flops; /* all runs */
    int64_t int_ops;
    size_t n_terms; /* of a node's one run; 0 of a module */
    const struct cm_term *terms;
};

/* An answer to cm_options.explain. */
struct cm_explanation {
    const char *name; /* as it was asked for */
    bool of_module;
    size_t module;  /* index into modules: itself, or the node's */
    size_t n_nodes; /* one, or those of the module that have MACs or operations */
    const struct cm_explained_node *nodes;
    int64_t n_free; /* the others of the module */
    size_t n_by;
    const struct cm_explained_by *by; /* every convention */
};

enum cm_severity { CM_NOTE, CM_WARNING, CM_ERROR };

struct cm_diagnostic {
    enum cm_severity severity;
    const char *code;    /* "shape", "format" … the table is in docs/errors.md */
    const char *message; /* one line: what is wrong, have and want */
    const char *place;   /* where, a line each, outermost first; "" */
    const char *node;    /* the node's name or "#17"; NULL where no node is at fault */
    const char *hint;    /* what to do about it; NULL */
};

struct cm_named_size {
    const char *name;
    int64_t size;
};

/* A function that ran on the device; 0 and "" where not known. */
struct cm_kernel_run {
    const char *name;
    int64_t calls; /* in one execution of the primitive */
    int64_t grid[3];
    int64_t block[3];
    int64_t registers;        /* of a thread */
    int64_t shared_bytes;     /* of a block */
    const char *tensor_cores; /* "yes", "no", "unknown" */
    const char *rule;         /* by what that was decided */
    int64_t blocks_per_unit;  /* ratio: blocks of the grid by multiprocessors */
    int64_t occupancy;        /* ratio: resident threads by those there is room for */
};

/* The device's own state right after a measuring; 0 and "" where not known. */
struct cm_clock_state {
    bool present;
    int64_t unit_mhz;
    int64_t unit_most_mhz;
    int64_t memory_mhz;
    int64_t temperature_c;
    int64_t power_mw;
    const char *throttle; /* why it holds its clock back; "" it does not */
};

/* A primitive (backend.h) and its time: of one execution, in picoseconds. */
struct cm_timed {
    const char *primitive; /* "conv f32 1x3x224x224 64x3x7x7 64 -> …" */
    const char *state;     /* "measured", "modelled", "proxy" …: docs/measuring.md */
    const char *reason;    /* why there is no time, what ran in its place; "" */
    int64_t median_ps;     /* cold; this and the rest CM_UNKNOWN without a time */
    int64_t q1_ps;
    int64_t q3_ps;
    int64_t min_ps;
    int64_t max_ps;
    int64_t warm_ps; /* median */
    int64_t warm_q1_ps;
    int64_t warm_q3_ps;
    int64_t samples; /* 0 of a model */
    int64_t drift;   /* ratio: how far the rounds were apart */
    bool unstable;
    bool few_samples;
    bool not_cold;
    bool throttled;
    bool launches;                      /* each execution was launched by the host */
    bool cached;                        /* it ran in an earlier call of the program */
    int64_t flops;                      /* of one execution, by the exact convention */
    int64_t bytes;                      /* read and written */
    const struct cm_achieved *achieved; /* NULL: there is no time */
    const char *provider;               /* part of the backend: "cublaslt"; "" */
    const char *algorithm;              /* "engine 62"; "" */
    const char *tensor_cores;           /* "yes", "no", "unknown" */
    int64_t plans_tried;                /* until one was accepted; 0 not known */
    int64_t sets; /* of operands that cold executions went round; 0 not known */
    int64_t workspace_bytes;
    int64_t plan_ps; /* to find and compile it; in no time */
    struct cm_clock_state clocks;
    size_t n_kernels;
    const struct cm_kernel_run *kernels;
    int64_t more_kernels; /* that are not listed */
    size_t n_nodes;
    const size_t *nodes; /* indices into nodes */
};

/* The nodes whose time is in that state, and what they do of the work. */
struct cm_state_share {
    const char *state; /* as in cm_timed; "view": nothing to do */
    int64_t nodes;
    int64_t macs;
};

/* Nodes of one operator that have no time, for one reason. */
struct cm_untimed {
    const char *op; /* "NonZero", "com.microsoft::Gelu" */
    const char *reason;
    int64_t nodes;
    int64_t macs;
};

/* Latency of the nodes that one resource limits. */
struct cm_limiter_share {
    const char *limited_by; /* as in cm_achieved */
    int64_t nodes;
    int64_t latency_ps;
};

/*
 * A row of the kernel table. Where a primitive is one kernel, its time is the kernel's; where
 * it is several, or nobody knows which, the row is the primitive itself.
 */
struct cm_kernel_row {
    const char *name;         /* of the kernel, or the line of the primitive */
    size_t primitive;         /* index into primitives; CM_NO_INDEX of a kernel */
    const char *tensor_cores; /* "yes", "no", "unknown" */
    const char *rule;
    int64_t calls; /* in one pass through the model */
    int64_t total_ps;
    int64_t mean_ps; /* of a call */
    int64_t min_ps;  /* the least of the primitives' medians */
    int64_t max_ps;
    int64_t blocks_per_unit; /* ratio, a mean weighted by time; CM_UNKNOWN */
    int64_t occupancy;       /* the same */
};

/* What the device reaches at its best, measured as layers are: what their times are compared
 * with. CM_UNKNOWN: not measured. */
struct cm_ceilings {
    const char *state;        /* "measured", or "invented" by a table */
    int64_t copy_bytes_per_s; /* of a large copy: read and written, both counted */
    int64_t floor_ps;         /* of the smallest primitive */
    size_t n_flops_per_s;
    const struct cm_named_size *flops_per_s; /* of a large product, by element: "f32", "tf32" */
};

/*
 * Everything that was measured, once more as one network (cm_options.e2e): every node behind
 * the one before it, activations warm. What the sum of its layers is to be compared with.
 */
struct cm_end_to_end {
    const char *state;  /* as in cm_timed */
    const char *reason; /* why there is no time; "" */
    int64_t median_ps;  /* this and the quartiles CM_UNKNOWN without a time */
    int64_t q1_ps;
    int64_t q3_ps;
    int64_t samples;
    int64_t sum_cold_ps; /* of the medians of exactly the nodes that are in it */
    int64_t sum_warm_ps;
    int64_t nodes; /* that are in it */
    int64_t macs;  /* of them */
};

/* What a backend said, and of how much of the model. */
struct cm_measure {
    const char *backend;   /* as it was asked for: "roofline:device=h200" */
    const char *problem;   /* why there are no times; "" there are */
    bool modelled;         /* no time was measured: all are computed */
    bool invented;         /* no time was measured: they stand in a table, for tests */
    bool planned;          /* nothing ran, and there are no times: how it would */
    const char *precision; /* what fp32 was computed in: "fp32", "tf32", "fp16" … */
    const char *layout;    /* of images: "auto", "nchw", "nhwc" */
    const char *device;
    const char *version;      /* of what ran, or where the figures of a model stand */
    const char *warning;      /* what makes the times doubtful; "" */
    const char *architecture; /* "sm_90"; "" */
    const char *address;      /* of the device in its machine; "" */
    int64_t memory_bytes;     /* this and the rest CM_UNKNOWN where not known */
    int64_t cache_bytes;      /* the last level */
    int64_t units;            /* multiprocessors, threads */
    int64_t threads_per_unit; /* that are resident at once */
    int64_t bandwidth;        /* bytes a second */
    int64_t floor_ps;         /* that even an empty primitive takes */
    bool has_tensor_cores;
    int64_t measured_macs_share;        /* ratio: of all MACs, those of nodes whose work ran */
    const struct cm_ceilings *ceilings; /* NULL: none were measured */
    const struct cm_end_to_end *end_to_end; /* NULL: not asked */
    int64_t n_cached;                       /* of the primitives: measured in earlier calls, */
    const char *cached_since;               /* the first at "2026-11-21T23:07:08Z"; "" none */
    size_t n_states;
    const struct cm_state_share *states; /* those that there are, what has a time first */
    size_t n_untimed;
    const struct cm_untimed *untimed; /* what has no time, the most work first */
    size_t n_limiters;
    const struct cm_limiter_share *limiters; /* one per limiting resource that occurs */
    size_t n_primitives;
    const struct cm_timed *primitives;
    size_t n_kernels;
    const struct cm_kernel_row *kernels; /* the largest total first */
};

/* All nodes of one operator. Sums leave out what is unknown. */
struct cm_operator {
    const char *op; /* "Conv", "com.microsoft::Gelu" */
    int64_t nodes;
    int64_t macs;
    int64_t int_macs;
    int64_t flops;
    int64_t int_ops;
    int64_t bytes_read;
    int64_t bytes_written;
    int64_t latency_ps;   /* CM_UNKNOWN unless cm_result_timed */
    uint32_t upper_bound; /* which of these are upper bounds: CM_COST_BIT, as in cm_costs */
    size_t n_states;      /* 0 unless cm_result_timed */
    const struct cm_state_share *states;
};

/* Something that would make the model faster, or let it run at all, by its times. */
struct cm_advice {
    const char *rule; /* "R3": docs/measuring.md */
    const char *name; /* "channels-last" */
    const char *text; /* what was seen, and what to do: sentences */
    int64_t gain_ps;  /* of the total latency, an estimate; CM_UNKNOWN */
    size_t n_nodes;
    const size_t *nodes; /* indices of those that it is about */
    size_t n_modules;
    const size_t *modules; /* the ones that they stand in */
};

struct cm_result {
    struct {
        const char *path;
        const char *producer; /* "pytorch 1.13.0"; "" */
        int64_t ir_version;
        size_t n_opsets;
        const struct cm_named_size *opsets; /* domain ("" is ai.onnx) and version */
        size_t n_inputs;
        const struct cm_value *inputs;
        size_t n_outputs;
        const struct cm_value *outputs;
    } model;
    struct {
        int64_t batch; /* what was profiled; CM_UNKNOWN where no axis is a batch */
        size_t n_dims;
        const struct cm_named_size *dims; /* every symbol that was bound, and to what */
        const char *convention;
        const char *mode;          /* "model", "training", "inference" */
        const char *module_source; /* the only one that was asked; "" all in turn */
        const char *group;         /* the expression that modules were grouped by; "" none */
        const char *schedule;      /* "file", "min-memory": the order of the nodes */
        const char *given; /* what the caller said of inputs beside dims: "x=1x3x64x64 k=2,2";
                              NULL nothing */
        size_t n_trip_counts;
        const struct cm_named_size *trip_counts; /* as cm_options has them */
    } options;
    struct cm_costs totals;
    struct cm_memory memory;
    struct cm_training training;
    size_t n_modules; /* >= 1: modules[0] is the root; parents come before children */
    const struct cm_module *modules;
    size_t n_module_sources; /* what told the modules of how many nodes: docs/modules.md */
    const struct cm_name_count *module_sources;
    size_t n_nodes;
    const struct cm_node *nodes;
    size_t n_fused_patterns;
    const struct cm_fused_pattern *fused_patterns; /* in the order of their results */
    struct cm_coverage coverage;
    size_t n_rebatched;
    const struct cm_rebatched *rebatched;
    size_t n_explanations;
    const struct cm_explanation *explanations;
    size_t n_diagnostics; /* notes and warnings: assumptions, unknown operators */
    const struct cm_diagnostic *diagnostics;
    size_t n_operators;
    const struct cm_operator *operators; /* what takes longest, else does most, first */
    const struct cm_measure *measure;    /* NULL: no backend was asked */
    size_t n_advice;
    const struct cm_advice *advice; /* the largest gain first; none without times */
    void *arena;                    /* the library's */
};

/* A model at one batch, in a sweep over some. */
struct cm_sweep_row {
    int64_t batch;
    /*
     * "done"; "incomplete": operators are not known, or times that were asked for are missing;
     * "misfit": more than the memory limit. The rest have no figures: "refused", "usage",
     * "failed".
     */
    const char *state;
    const char *problem; /* why it is not done: the first message; "" */
    int64_t params;      /* this and all that follows CM_UNKNOWN where not known */
    int64_t macs;
    int64_t int_macs;
    int64_t flops;
    int64_t int_ops;
    int64_t peak_activation_bytes;
    int64_t arena_bytes;
    int64_t required_bytes;
    int64_t latency_ps;      /* CM_UNKNOWN unless there are times */
    int64_t timed_macs;      /* of nodes that have one */
    int64_t cached;          /* primitives whose time was measured in an earlier call */
    uint32_t upper_bound;    /* which of macs to int_ops are upper bounds: CM_COST_BIT */
    bool peak_upper_bound;   /* peak_activation_bytes is one */
    bool memory_upper_bound; /* arena_bytes and required_bytes are */
    int64_t untimed_nodes;   /* that latency_ps leaves out; CM_UNKNOWN unless there are times */
};

struct cm_sweep {
    const char *model; /* path */
    const char *convention;
    const char *backend;  /* as it was asked for; "" none */
    const char *device;   /* of the times; "" */
    const char *times;    /* what they are: "measured", "modelled", "invented"; "" none */
    int64_t memory_limit; /* bytes; CM_UNKNOWN: not asked */
    size_t n_rows;
    const struct cm_sweep_row *rows; /* in the order that was asked for */
    size_t n_custom_ops;             /* as in cm_coverage, of the first batch that has some */
    const struct cm_name_count *custom_ops;
    size_t n_diagnostics; /* notes and warnings, of all batches, each once; no row's problem */
    const struct cm_diagnostic *diagnostics;
    void *arena; /* the library's */
};

/* Whether latency_ps says anything. */
static inline bool cm_result_timed(const struct cm_result *result) {
    return result->measure != NULL && result->measure->problem[0] == '\0' &&
           !result->measure->planned;
}

/* Node outputs whose size nothing bounds: what they cost is in no figure. */
static inline int64_t cm_coverage_unbounded(const struct cm_coverage *coverage) {
    if (coverage->bounded_shapes <= 0) return coverage->unknown_shapes;
    return coverage->unknown_shapes > coverage->bounded_shapes
               ? coverage->unknown_shapes - coverage->bounded_shapes
               : 0;
}

/* Whether every operator was understood, and for a training step its gradient too. */
static inline bool cm_result_complete(const struct cm_result *result) {
    return result->coverage.n_unknown_ops == 0 && result->coverage.n_unknown_gradients == 0;
}

#endif
