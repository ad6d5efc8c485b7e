/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pass is a run function and one row in pipeline.c. It reads the model and the tables of
 * earlier passes, all const, and fills its own table.
 */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backends/device/ceilings.h"
#include "costmodel/backend.h"
#include "costmodel/costmodel.h"
#include "ir/graph.h"
#include "ir/value_info.h"
#include "ops/op.h"
#include "ops/qdq_propagation.h"

struct arena;
struct optimizer;
struct times_layer;
struct cm_diagnostics;
struct map;
struct work;

/* Facts that a pass requires of earlier passes or gives to later ones. */
enum pass_facts {
    HAS_OPERATORS = 1 << 0,
    HAS_BATCH = 1 << 1,
    HAS_TYPES = 1 << 2,
    HAS_STORAGE = 1 << 3,
    HAS_PARAMETERS = 1 << 4,
    HAS_COSTS = 1 << 5,
    HAS_MODULES = 1 << 6,
    HAS_ARENA_PLAN = 1 << 7,
    HAS_PEAKS = 1 << 8,
    HAS_EXPLANATIONS = 1 << 9,
    HAS_FUSED_PATTERNS = 1 << 10,
    HAS_IN_PLACE = 1 << 11,
    HAS_MEMORY_REQUIRED = 1 << 12,
    HAS_TRAINING = 1 << 13, /* the table is empty unless options name an optimizer */
    HAS_PRIMITIVES = 1 << 14,
    HAS_TIMES = 1 << 15,
    HAS_ROOFLINE_BOUNDS = 1 << 16,
    HAS_BREAKDOWN = 1 << 17,
    HAS_ADVICE = 1 << 18,
    HAS_KERNELS = 1 << 19,
    HAS_GRADIENT_KERNELS = 1 << 20,
    HAS_INPUT_PIPELINE = 1 << 21,
    HAS_PRECISION = 1 << 22,
};

struct symbol {
    const char *name;
    int64_t size;   /* DIM_UNKNOWN until batch binds it */
    uint32_t input; /* the first input that has this symbol */
    int axis;       /* the axis of that input */
};

/* Outcome of a --trip-count request, in order of increasing success. */
enum trip_outcome { TRIPS_NO_LOOP, TRIPS_KNOWN, TRIPS_TOO_MANY, TRIPS_APPLIED };

struct bind_table {
    const struct op **ops; /* by node; the row of unknown operators if none matches, not NULL */
    /* One kind per distinct domain, type and opset; several kinds may have the same row. */
    size_t n_kinds;
    const struct op **kinds; /* by kind: its row */
    uint32_t *kind_of;       /* by node: index into kinds */
    const int64_t *trips; /* by node: --trip-count, or DIM_UNKNOWN; NULL without that option */
    const uint32_t *trip_options; /* by node: index of this --trip-count, or MAP_NONE */
    size_t n_unknown;             /* nodes of unknown operators */
};

/* Replaces the value info of operand `slot` of `node`. */
struct override {
    uint32_t node;
    uint32_t slot;
    const struct value_info *info;
    const struct override *next; /* of the same node */
};

/* A constant that contained the batch size of the file, and was changed by re-batching. */
struct rebatched {
    uint32_t node;    /* the node that uses it */
    uint32_t slot;    /* operand of that node */
    const char *what; /* its role: "target" (of a Reshape, Expand) or "dims" (its own shape) */
    int64_t axis;     /* index of the changed element, or axis of the tensor */
    int64_t from;
    int64_t to;
};

struct batch_table {
    int64_t batch; /* DIM_UNKNOWN if the model has no batch axis */
    size_t n_symbols;
    struct symbol *symbols;
    const struct value_info **inputs;  /* by value; NULL if the value is not a graph input */
    const struct override **overrides; /* by node: a list or NULL; NULL if no node has any */
    size_t n_rebatched;
    struct rebatched *rebatched;
};

/* One run of a body inside a Loop that is executed iteration by iteration. */
struct iteration {
    uint32_t graph;
    const struct iteration *outer;  /* run of the enclosing body; NULL if not executed */
    struct iteration *before;       /* the previous run of the same body, or NULL */
    int64_t runs;                   /* per run of `outer` */
    bool is_iteration;              /* one of several iterations; `runs` is 1 */
    bool is_assumed;                /* `runs` is unknown and set to 1 */
    bool is_alternative;            /* the body is a branch, see infer_table.alternative */
    bool is_dropped;                /* a later walk replaced this run */
    const struct value_info *infos; /* of iterations.values */
};

/* The runs of one body. */
struct iterations {
    size_t n_values;
    const uint32_t *values; /* inputs of the body and outputs of its nodes */
    struct iteration *last; /* newest run; NULL if none, or if no Loop around it is executed */
    bool is_executed;       /* the body is inside an executed Loop */
    bool is_mixed; /* a branch whose condition is static in only some runs; counted in all */
};

struct infer_table {
    struct value_info *infos; /* by value; pass precision sets the dtypes of --precision */
    enum dtype file_dtype; /* of most float elements in the file; DTYPE_UNDEFINED: no floats */
    int64_t *runs;         /* by graph: runs per run of the enclosing graph */
    bool *alternative; /* by graph: a branch; only the most expensive branch of a node counts */
    bool *assumed;     /* by graph: the trip count is unknown, and `runs` is 1 */
    bool is_open;      /* some output dims or trip counts are unknown */
    /* By graph: the runs of bodies inside executed Loops; NULL if no Loop was executed. `infos`
     * of such a body contain only what is the same in every run. */
    struct iterations *iterations;
    /* Upper-bound variant of this table: data-dependent dims and trip counts at their maximum.
     * Points to this table if every shape is static. */
    const struct infer_table *upper;
};

/* Nodes into which an exporter decomposed one operation: LayerNorm before opset 17, GELU. */
struct fused_pattern {
    const char *name;        /* class name in the framework: "LayerNorm" */
    const struct op *op;     /* row that gives its costs, such as that of LayerNormalization */
    const struct node *node; /* the operation as one node: operands and result are values of the
                                model, attributes are those of the row */
    uint32_t last;           /* node that produces the result */
    size_t n_nodes;
    const uint32_t *nodes; /* in file order */
    bool foldable;         /* Conv+BN: counted as two operations; of_node omits its nodes */
};

struct fused_patterns_table {
    size_t n;
    struct fused_pattern *items; /* in the order of `last` */
    uint32_t *of_node;           /* by node: index into items, ID_NONE */
};

enum storage {
    STORAGE_NONE, /* unused, omitted, or a sequence, whose tensors are counted instead */
    STORAGE_INPUT,
    STORAGE_WEIGHT,     /* stored in the file */
    STORAGE_CONSTANT,   /* computed from weights only, or folded */
    STORAGE_VIEW,       /* of `root` */
    STORAGE_ACTIVATION, /* owns bytes */
};

struct liveness_table {
    enum storage *storage; /* by value */
    int64_t *bytes;        /* by value: bytes that it owns, 0 if none; DIM_UNKNOWN */
    uint32_t *root;        /* by value: the value whose bytes it shares, or itself */
    bool *elementwise;     /* by node: its first output may overwrite an operand */
    uint32_t *first;       /* by value: step that produces it */
    uint32_t *last;        /* by value: last step at which it or a view of it is read */
    /* In file order, or with --schedule min-memory in an order of lower peak: */
    uint32_t n_steps;        /* one per node; the nodes of a body come right before its owner */
    uint32_t *step_of;       /* by node */
    uint32_t *node_at;       /* by step */
    int64_t *live;           /* by step: bytes of live activations and inputs */
    int64_t peak_bytes;      /* maximum of `live`; DIM_OVERFLOW if a sum overflows */
    uint32_t peak_node;      /* node of the peak step; ID_NONE in an empty graph */
    int64_t file_peak_bytes; /* the peak in file order */
    bool upper_bound;        /* some sizes are upper bounds */
    bool peak_upper_bound;   /* some sizes at the peak are upper bounds */
    bool is_optimal;         /* with --schedule min-memory: no order has a lower peak */
};

struct in_place_table {
    uint32_t *overwrites; /* by value: the root whose bytes it could overwrite, ID_NONE */
    size_t n_overwriting; /* values that could overwrite a root */
    int64_t peak_bytes;   /* the peak if all of them are in place */
};

struct arena_plan_table {
    int64_t *offsets;    /* by value, aligned; DIM_UNKNOWN: no bytes, or an unknown number */
    int64_t arena_bytes; /* size of the arena; DIM_UNKNOWN if there is no plan */
    int64_t arena_in_place_bytes; /* with in-place outputs */
    const int64_t *by_planner;    /* by enum arena_planner: size of its plan */
};

enum param_kind { PARAM_NONE, PARAM_LEARNED, PARAM_BUFFER };

/* A constant, or the output of an Identity of a constant if named like a parameter. */
struct param {
    uint32_t value;
    enum param_kind kind;
    const char *name;
    int64_t elements;
    int64_t bytes;
};

/* Parameters of the framework's model, derived from the exporter's list of their names. */
struct framework_table {
    int64_t elements;    /* DIM_UNKNOWN if the file does not determine it, DIM_OVERFLOW */
    size_t n_absent;     /* listed parameters without a tensor of their own in the file */
    size_t n_unknown;    /* absent parameters with an unknown number of elements */
    const char *unknown; /* the first of them */
    const char *shared;  /* parameter that the most modules use instead of an equal one of their
                            own; NULL if none */
    size_t n_sharing;    /* modules that use it, its own included */
};

struct params_table {
    size_t n_params;
    struct param *params;
    struct framework_table framework;
    uint32_t *of_value; /* by value: index into params, ID_NONE */
    /* Params that each node uses, directly or through views, slices and casts. */
    uint32_t *n_used;      /* by node */
    const uint32_t **used; /* by node: indices into params */
};

struct count_table {
    /* By node: rows of the result, in `result_arena`. Only `costs` is set, without figures of
     * parameters, for all runs of the node's graph; a figure is CM_UNKNOWN if unknown,
     * DIM_OVERFLOW past 2^63. api/assemble.c fills in the rest. */
    struct cm_node *nodes;
    int64_t *runs;           /* by graph: per run of the model; 0 for a branch not counted */
    int64_t *upper_runs;     /* by graph: upper bound of `runs` if unknown */
    scale_axes *dequantized; /* by value: scale axes of dequantized integers; NULL if none */
    struct value_info *run_infos; /* scratch, by value: infos in the one run of a body that is
                                     being counted; NULL if no Loop is executed */
};

struct modules_table {
    /* modules[0] is the root; parents precede children, in order of first use. */
    size_t n_modules;
    /* Rows of the result, in `result_arena`. api/assemble.c fills in outputs, peak, training
     * and times; figures may still be DIM_OVERFLOW. */
    struct cm_module *modules;
    uint32_t *parents; /* by module: ID_NONE for the root */
    uint32_t *of_node; /* by node: index into modules */
    /* Values of a module's first call that are used outside it: module i has
     * outputs[first_output[i] .. first_output[i + 1]). */
    uint32_t *first_output; /* by module, n_modules + 1 entries */
    uint32_t *outputs;
    size_t n_sources;
    struct cm_name_count *sources; /* module sources, and the number of nodes of each */
};

struct live_value {
    uint32_t value;
    uint32_t module; /* of its producer; the root for inputs of the model */
    int64_t bytes;
};

struct peak_memory_table {
    int64_t *of_module; /* by module: peak of the live values produced inside it */
    size_t n_live;
    struct live_value *live; /* at the peak step, largest first */
};

enum training_phase {
    PHASE_FORWARD,
    PHASE_RECOMPUTE, /* of a checkpointed module, during backward */
    PHASE_BACKWARD,
    PHASE_STEP, /* optimizer update */
};

/* One training step. Figures may be DIM_UNKNOWN or DIM_OVERFLOW. */
struct training_table {
    const struct optimizer *optimizer; /* NULL: no step is requested; all else is unset */
    int64_t learned;                   /* elements that the optimizer updates */
    int64_t frozen;                    /* elements of frozen parameters */
    int64_t weight_bytes;              /* params and buffers */
    int64_t gradient_bytes;            /* of params */
    int64_t optimizer_bytes;
    int64_t weight_copy_bytes; /* of saved_bytes: copies of weights that autocast caches */
    int64_t saved_bytes;       /* saved for backward */
    int64_t backward_macs;
    int64_t backward_flops; /* by the convention */
    int64_t recompute_macs;
    int64_t recompute_flops;
    int64_t recompute_int_ops;
    int64_t step_flops;
    int64_t iteration_flops;   /* total, including forward */
    int64_t iteration_int_ops; /* total; integers have no gradient */
    int64_t peak_bytes;        /* maximum over all events of the step */
    uint32_t peak_node;        /* ID_NONE if no node runs at the peak */
    enum training_phase peak_phase;
    struct cm_step *of_node;     /* by node */
    struct cm_step *of_module;   /* by module, including children */
    const struct training *flow; /* operations and gradients (passes/training/training.h) */
};

/* Kernels of backward and of the optimizer. Unless a training step on a modelled device is
 * requested, the table is empty and its times are DIM_UNKNOWN. */
struct gradient_kernels_table {
    size_t n;
    struct cm_primitive *items; /* distinct; the optimizer's is the last */
    int64_t *runs;              /* by item: in one step */
    int64_t backward_ps;        /* with recomputation */
    int64_t update_ps;          /* of the optimizer */
    int64_t iteration_ps;       /* expected: forward, backward and update */
    int64_t iteration_lower_bound_ps;
};

struct explain_table {
    size_t n;
    struct cm_explanation *items; /* in `result_arena` */
};

struct memory_required_table {
    size_t n_weights;
    struct cm_weights *weights; /* by dtype and storage; in `result_arena` */
    int64_t weight_bytes;       /* except weights that are graph inputs: the arena has them */
    int64_t required_bytes;     /* on the device, without workspace */
};

enum lowered {
    LOWERED_NOTHING,   /* no work at run time */
    LOWERED_PRIMITIVE, /* see of_node */
    LOWERED_NOT,       /* see why_not */
};

/* Empty unless a device is modelled. */
struct kernels_table {
    /* By node: */
    int64_t *read;            /* bytes that its kernel reads for the node */
    int64_t *written;         /* bytes that its kernel writes for the node */
    struct cm_fusion *fusion; /* in_graph is 0 for views and nodes counted with another node */
    uint32_t *kernel;         /* identifies the kernel of the node */
    /* By value: */
    uint32_t *source; /* the value that it is a view of, or itself */
    bool *stored;     /* a kernel writes it to memory */
};

/* Empty unless a backend is selected or times are imported. */
struct primitives_table {
    size_t n;
    struct cm_primitive *items; /* distinct, in order of first use; with imported times one per
                                   node, CM_PRIMITIVE_NONE if it has no primitive */
    enum lowered *lowered;      /* by node */
    uint32_t *of_node;          /* by node: index into items, ID_NONE */
    const char **why_not;       /* by node; static text */
    /* If products are fused with what follows them (cm_options.fuse), else NULL: */
    uint32_t *group; /* by node: the product of its group, ID_NONE */
    uint32_t *fused; /* by product of a group: index into items of the group, ID_NONE */
};

/* Latency of the nodes run as one network. */
struct network_time {
    struct cm_measurement measurement; /* only its warm times are used */
    const bool *included;              /* by node; NULL if not requested */
    int64_t sum_cold_ps;               /* sum of the separate cold times of these nodes */
    int64_t sum_warm_ps;
};

/* A layer of cm_options.times. */
struct imported_layer {
    const struct times_layer *from;
    enum cm_measure_state state; /* imported, split, opaque, a copy or unplaced */
    struct cm_timing timing;     /* as times_layer.timing */
    double mean;                 /* as times_layer.mean */
    int64_t latency_ps;          /* timing.median */
    size_t n_nodes;
    const uint32_t *nodes; /* nodes that share its time */
    size_t n_places;
    const uint32_t *places; /* nodes that locate a layer without nodes: its time counts for the
                               smallest module that contains them; for the model if none */
    size_t n_inside;
    const uint32_t *inside; /* of an opaque block: nodes without a time of their own */
    double expected_s;      /* seconds of its nodes on the modelled device; 0: unknown */
};

struct imported {
    const char *tools;   /* "onnxruntime" */
    const char *version; /* "profile.json: 3 runs, CPUExecutionProvider" */
    size_t n;
    struct imported_layer *layers; /* in execution order */
    const char *other_shape; /* why the times belong to other shapes than those of the model;
                                NULL: they do not, or the files have no shapes */
    double run;              /* sum of cm_times.run of the files, seconds; 0: unknown */
    double placed_share; /* share of the time outside CM_UNPLACED layers; negative: no time */
    int64_t *node_ps;    /* by node, in one run of the model; DIM_UNKNOWN */
};

struct estimate_table {
    bool done;                    /* latencies are available */
    const char *problem;          /* why requested latencies are missing, or NULL */
    struct cm_device_facts facts; /* of the device */
    struct cm_measurement *items; /* by primitive */
    double *unfused_s;    /* by product of a group: sum of its members, seconds; or NULL */
    size_t n_cached;      /* primitives that were measured in an earlier run of the program */
    int64_t cached_since; /* oldest of these measurements, seconds since 1970 */
    bool has_ceilings;    /* false for modelled devices */
    struct ceilings ceilings;
    struct network_time network;
    const struct imported *imported; /* NULL unless cm_options.times */
};

/* The resource that limits a latency. */
enum limited_by {
    LIMITED_BY_UNKNOWN,
    LIMITED_BY_COMPUTE,
    LIMITED_BY_MEMORY,
    LIMITED_BY_LAUNCH,    /* close to the shortest latency of any kernel */
    LIMITED_BY_OCCUPANCY, /* the device is not full */
    LIMITED_BY_MIXED,     /* of a module: no resource limits more than half of its latency */
    N_LIMITED_BY
};

/* Rates that a primitive or module achieves. */
struct achieved {
    bool present; /* it has a latency */
    double flops_per_s;
    double bytes_per_s;
    double roofline;      /* lower_bound_s / latency; negative if unknown */
    double lower_bound_s; /* by the ceilings, seconds; negative if unknown */
    enum limited_by limited_by;
};

struct limit_total {
    int64_t nodes;
    int64_t latency_ps;
};

/* Empty without latencies. */
struct roofline_bounds_table {
    bool done;
    struct achieved *of_primitive;
    struct achieved *of_module; /* children included */
    struct limit_total totals[N_LIMITED_BY];
};

/* Rows of the result, in `result_arena`. */
struct breakdown_table {
    size_t n_operators;
    struct cm_operator *operators; /* slowest first; without times, most MACs first */
    size_t n_states;
    const struct cm_state_share *states; /* of all nodes */
    bool invented;                       /* some times are invented by the fake backend */
    double measured_share; /* share of MACs in measured nodes; negative: no node has MACs */
    size_t n_untimed;
    struct cm_untimed *untimed; /* most MACs first */
    size_t n_kernels;
    struct cm_kernel_row *kernels; /* slowest first */
};

struct advice_table {
    size_t n;
    struct cm_advice *items; /* largest gain first; in `result_arena` */
};

struct input_pipeline_table {
    struct cm_input_pipeline *pipeline; /* in `result_arena`; NULL: not requested or untimed */
};

struct analysis {
    const struct model *model;
    const struct cm_options *options;
    struct arena *arena;        /* lifetime of the analysis */
    struct arena *result_arena; /* lifetime of the result, which becomes its owner */
    struct arena *scratch;      /* of the running pass; the runner empties it */
    struct cm_diagnostics *diag;
    struct work *work; /* budget of all runs for the profile; NULL: unlimited */
    struct bind_table bind;
    struct batch_table batch;
    struct infer_table infer;
    struct fused_patterns_table fused_patterns;
    struct liveness_table liveness;
    struct in_place_table in_place;
    struct arena_plan_table arena_plan;
    struct params_table params;
    struct kernels_table kernels;
    struct primitives_table primitives;
    struct estimate_table estimate;
    struct count_table count;
    struct modules_table modules;
    struct peak_memory_table peak_memory;
    struct memory_required_table memory_required;
    struct training_table training;
    struct gradient_kernels_table gradient_kernels;
    struct explain_table explain;
    struct roofline_bounds_table roofline_bounds;
    struct breakdown_table breakdown;
    struct advice_table advice;
    struct input_pipeline_table input_pipeline;
};

/* Fills the pass's own table, a member of *analysis; everything else is read-only. */
typedef int pass_run(const struct analysis *analysis, void *own);

struct pass {
    const char *name;
    pass_run *run;
    size_t table;        /* offset of its table in struct analysis */
    size_t table_size;   /* bytes */
    const char *summary; /* one line, for `costmodel passes` */
    unsigned requires;   /* enum pass_facts */
    unsigned gives;      /* enum pass_facts */
};

pass_run pass_bind, pass_batch, pass_infer, pass_fuse_patterns, pass_precision, pass_liveness,
    pass_in_place, pass_arena_plan, pass_params, pass_kernels, pass_primitives, pass_estimate,
    pass_count, pass_modules, pass_peak_memory, pass_training, pass_gradient_kernels,
    pass_memory_required, pass_explain, pass_roofline_bounds, pass_breakdown, pass_advice,
    pass_input_pipeline;

#endif
