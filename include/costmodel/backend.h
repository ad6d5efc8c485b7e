/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a backend is: something that says how long a primitive takes on a device, by measuring
 * it there or from a model of the device. Backends are built in or modules, loaded at run time
 * (docs/backends.md says how to write one).
 *
 * A backend sees primitives, plain data with shapes and dtypes; it never sees ONNX, a graph or
 * a file. It does not time itself: it makes a plan and runs it as often as it is told; how
 * often, and what is made of the times, is the same for all (docs/measuring.md).
 *
 * Every struct here is plain data of a fixed layout that may be copied byte by byte. A change
 * of any of them changes CM_BACKEND_ABI.
 */
#ifndef COSTMODEL_BACKEND_H
#define COSTMODEL_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CM_BACKEND_ABI 2

/* What a module exports, and its type. */
#define CM_BACKEND_ENTRY "costmodel_backend"

#define CM_MAX_RANK    8
#define CM_MAX_SPATIAL 3
#define CM_MAX_INPUTS  8
#define CM_MAX_OUTPUTS 3
#define CM_MAX_STEPS   4
#define CM_MAX_KERNELS 8

/* Elements as they stand in memory. */
enum cm_element {
    CM_ELEMENT_NONE,
    CM_F64,
    CM_F32,
    CM_F16,
    CM_BF16,
    CM_F8E4M3,
    CM_F8E5M2,
    CM_I64,
    CM_I32,
    CM_I16,
    CM_I8,
    CM_U64,
    CM_U32,
    CM_U16,
    CM_U8,
    CM_BOOL, /* one byte */
    CM_N_ELEMENTS
};

/* Strides are in elements, 0 where an axis repeats itself; the layout stands in them alone. */
struct cm_tensor {
    int32_t element; /* enum cm_element */
    int32_t rank;    /* 0 .. CM_MAX_RANK */
    int64_t dims[CM_MAX_RANK];
    int64_t strides[CM_MAX_RANK];
};

/*
 * Operands in their order, in brackets those that n_inputs may leave out. N C S.. is batch,
 * channels, spatial dims: always in this order, whatever the layout.
 */
enum cm_primitive_kind {
    CM_PRIMITIVE_NONE,
    CM_CONV,      /* x NCS.., weight [K, C/groups, kernel..], (bias [K]) -> y NKS.. */
    CM_DECONV,    /* x NCS.., weight [C, K/groups, kernel..], (bias [K]) -> y NKS.. */
    CM_GEMM,      /* a [batch.., M, K], b [batch.., K, N], (addend) -> [batch.., M, N] */
    CM_POOL,      /* x NCS.. -> y NCS.. */
    CM_NORM,      /* x, (scale, shift, mean, variance) -> y */
    CM_ELTWISE,   /* up to CM_MAX_STEPS functions, one after the other -> y */
    CM_SOFTMAX,   /* x -> y, along `axis` */
    CM_REDUCE,    /* x -> y of the same rank, 1 where an axis is reduced */
    CM_RNN,       /* x [T, N, I], weight, recurrent weight, (bias of rank 2), (states of rank 3)
                     -> y [T, D, N, H], (states) */
    CM_ATTENTION, /* q [N, H, S, D], k and v [N, G, L, D], (mask) -> y [N, H, S, D] */
    CM_COPY,      /* inputs -> y, laid side by side along `axis`: transpose, slice, concat */
    CM_GATHER,    /* x, (indices) -> y: each element of y is some element of x */
    CM_RESAMPLE,  /* x NCS.. -> y NCS..: another size of the spatial dims */
    CM_SCATTER,   /* x, indices, updates -> y: x with some elements replaced */
    CM_N_PRIMITIVES
};

/* Which of its kind, in cm_primitive.algorithm. */
enum cm_algorithm {
    CM_ALGORITHM_NONE,
    CM_POOL_MAX,
    CM_POOL_AVERAGE,         /* of what lies inside */
    CM_POOL_AVERAGE_PADDING, /* the padding counts as zeros */
    CM_NORM_BATCH,           /* with the statistics given */
    CM_NORM_BATCH_TRAINING,  /* with the batch's own */
    CM_NORM_LAYER,           /* over the dims from `axis` on */
    CM_NORM_RMS,             /* the same without the mean */
    CM_NORM_INSTANCE,
    CM_NORM_GROUP, /* of `groups` */
    CM_NORM_LRN,   /* by the squares of window.kernel[0] channels around */
    CM_SOFTMAX_PLAIN,
    CM_SOFTMAX_LOG,
    CM_REDUCE_SUM,
    CM_REDUCE_MEAN,
    CM_REDUCE_MAX,
    CM_REDUCE_MIN,
    CM_REDUCE_PRODUCT,
    CM_REDUCE_L1,
    CM_REDUCE_L2,
    CM_REDUCE_SUM_SQUARE,
    CM_REDUCE_LOG_SUM,
    CM_REDUCE_LOG_SUM_EXP,
    CM_REDUCE_ARG_MAX, /* indices of them */
    CM_REDUCE_ARG_MIN,
    CM_RNN_TANH,
    CM_RNN_RELU,
    CM_RNN_LSTM,
    CM_RNN_GRU,
    CM_RESAMPLE_NEAREST,
    CM_RESAMPLE_LINEAR,
    CM_N_ALGORITHMS
};

/* Of one tensor, or of it and one more: cm_eltwise.operand. */
enum cm_function {
    CM_FUNCTION_NONE,
    CM_ABS,
    CM_ACOS,
    CM_ACOSH,
    CM_ASIN,
    CM_ASINH,
    CM_ATAN,
    CM_ATANH,
    CM_CAST, /* to the output's element */
    CM_CEIL,
    CM_CLIP, /* to alpha .. beta */
    CM_COS,
    CM_COSH,
    CM_ELU, /* alpha */
    CM_ERF,
    CM_EXP,
    CM_FLOOR,
    CM_GELU,
    CM_GELU_TANH,
    CM_HARD_SIGMOID, /* max(0, min(1, alpha x + beta)) */
    CM_HARD_SWISH,
    CM_LEAKY_RELU, /* alpha */
    CM_LINEAR,     /* alpha x + beta */
    CM_LOG,
    CM_MISH,
    CM_NEGATE,
    CM_NOT,
    CM_RECIPROCAL,
    CM_RELU,
    CM_ROUND,
    CM_SIGMOID,
    CM_SIGN,
    CM_SIN,
    CM_SINH,
    CM_SOFTPLUS,
    CM_SQRT,
    CM_SQUARE,
    CM_SWISH, /* x sigmoid(alpha x) */
    CM_TAN,
    CM_TANH,
    CM_THRESHOLD, /* x above alpha, else 0 */
    CM_FIRST_BINARY,
    CM_ADD = CM_FIRST_BINARY,
    CM_SUBTRACT,
    CM_MULTIPLY,
    CM_DIVIDE,
    CM_MAXIMUM,
    CM_MINIMUM,
    CM_MODULO,
    CM_POWER,
    CM_COMPARE, /* of any sort: they cost the same */
    CM_LOGIC,   /* of any sort, of bits too */
    CM_PRELU,
    CM_SELECT, /* condition, then, else: three operands, the first step only */
    CM_N_FUNCTIONS
};

/* The running value is inputs[0], or the result of the step before. */
struct cm_eltwise {
    int32_t function; /* enum cm_function */
    int32_t operand;  /* the other operand of two: index into inputs, 0 being inputs[0] once
                         more; 0 of a function of one */
    double alpha, beta;
};

/* Of convolutions and pools, one entry a spatial dim. */
struct cm_window {
    int32_t n_spatial; /* 0 .. CM_MAX_SPATIAL */
    int32_t reserved;
    int64_t kernel[CM_MAX_SPATIAL];
    int64_t strides[CM_MAX_SPATIAL];
    int64_t dilations[CM_MAX_SPATIAL];
    int64_t pads_begin[CM_MAX_SPATIAL]; /* may be negative: what a pad takes away */
    int64_t pads_end[CM_MAX_SPATIAL];
};

/*
 * One piece of work. Two primitives of equal bytes are the same work, so what does not apply
 * is zero.
 */
struct cm_primitive {
    int32_t kind;      /* enum cm_primitive_kind */
    int32_t algorithm; /* enum cm_algorithm */
    int32_t n_inputs;
    int32_t n_outputs;
    struct cm_tensor inputs[CM_MAX_INPUTS];
    struct cm_tensor outputs[CM_MAX_OUTPUTS];
    struct cm_window window;
    int64_t groups; /* 1 where there is one */
    int32_t axis;
    int32_t n_steps;
    struct cm_eltwise steps[CM_MAX_STEPS];
    double epsilon;     /* of norms */
    double scale;       /* of attention: what q k^T is multiplied by; 0: 1 / sqrt(D) */
    int32_t causal;     /* attention: 1: keys after the query are masked */
    int32_t directions; /* rnn: 1 or 2 */
    int64_t hidden;     /* rnn: states of one direction */
    /* The work by the exact convention, and the bytes of operands and results, each once. */
    int64_t flops;
    int64_t bytes_read;
    int64_t bytes_written;
};

/*
 * What elements are computed in. From CM_PRECISION_FP16 on the primitives have those elements
 * already, and a backend looks at nothing but them; of fp32 it has to know whether it may
 * round.
 */
enum cm_precision {
    CM_PRECISION_AS_STORED, /* fp32 tensors are multiplied as fp32 */
    CM_PRECISION_TF32,      /* fp32 tensors may be rounded to 10 bits of mantissa */
    CM_PRECISION_FP16,
    CM_PRECISION_BF16,
    CM_PRECISION_INT8, /* operands of products; they add up in 32 bits */
    CM_PRECISION_FP8,  /* the same, e4m3 */
    CM_N_PRECISIONS
};

/* Where the channels of images stand. The strides of the primitives say the same. */
enum cm_layout {
    CM_LAYOUT_AUTO, /* strides are row-major; where it does better with others, a backend may */
    CM_LAYOUT_NCHW,
    CM_LAYOUT_NHWC, /* channels last */
    CM_N_LAYOUTS
};

/* What a time stands for. */
enum cm_measure_state {
    CM_UNSUPPORTED,   /* no time: the backend does not do it, the reason says why */
    CM_MEASURED,      /* it ran */
    CM_MODELLED,      /* computed from a description of the device; it did not run */
    CM_PROXY,         /* something of the same size ran in its place: the reason says what */
    CM_VIEW,          /* nothing to do */
    CM_OUT_OF_MEMORY, /* no time: the device has not enough */
    CM_CRASHED,       /* no time: the process that measured died */
    CM_TIMED_OUT,     /* no time: it was stopped */
    CM_PLANNED,       /* no time: it could run like this, nothing was asked to */
    CM_INVENTED,      /* from a table, for tests: it stands for nothing */
    CM_N_MEASURE_STATES
};

enum cm_measure_flags {
    CM_FLAG_UNSTABLE = 1,    /* the samples or the rounds do not agree */
    CM_FLAG_FEW_SAMPLES = 2, /* the time was over before there were enough */
    CM_FLAG_NOT_COLD = 4,    /* the caches may still have held the operands of the cold runs */
    CM_FLAG_THROTTLED = 8,   /* the device held its clock back meanwhile */
    CM_FLAG_LAUNCHES = 16,   /* each execution was launched by the host: overheads are in it */
    CM_FLAG_CACHED = 32      /* set by the program: it ran in an earlier call of it */
};

/* Seconds of one execution. */
struct cm_timing {
    double median, q1, q3, min, max;
    int32_t n_samples;  /* 0: not timed */
    int32_t per_sample; /* executions in one sample */
};

#define CM_REASON_SIZE 256
#define CM_KERNEL_SIZE 256
#define CM_NAME_SIZE   128
#define CM_WORD_SIZE   32

/* Why not, in one sentence for people, without the name of the backend. */
struct cm_reason {
    char text[CM_REASON_SIZE];
};

/* Whether units that only multiply matrices did it. */
enum cm_tensor_cores { CM_TENSOR_CORES_UNKNOWN, CM_TENSOR_CORES_NO, CM_TENSOR_CORES_YES };

/* One function that runs on the device; 0 and "" where not known. */
struct cm_kernel {
    char name[CM_KERNEL_SIZE];
    int32_t calls; /* in one execution */
    int32_t grid[3];
    int32_t block[3];
    int32_t registers;       /* of a thread */
    int32_t shared_bytes;    /* of a block */
    int32_t tensor_cores;    /* enum cm_tensor_cores */
    char rule[CM_WORD_SIZE]; /* by what that was decided: "cublaslt flags", "name" */
    double blocks_per_unit;  /* blocks of the grid by multiprocessors */
    double occupancy; /* resident threads by those there is room for, of a grid of this size */
};

/* How a primitive runs; 0 and "" where not known. */
struct cm_how {
    char provider[CM_WORD_SIZE];  /* part of the backend: "cudnn graph", "cublaslt" */
    char algorithm[CM_NAME_SIZE]; /* "engine 62", "brgconv:avx512_core" */
    int32_t tensor_cores;         /* of the algorithm; its kernels say it one by one */
    int32_t plans_tried;          /* until one was accepted */
    int32_t n_sets;               /* of operands that cold executions go round */
    int32_t n_kernels; /* 0: not known; more than CM_MAX_KERNELS: those are left out */
    int64_t workspace_bytes;
    double plan_seconds; /* to find and compile it; no part of any time */
    struct cm_kernel kernels[CM_MAX_KERNELS];
};

/* The device's own state at one moment; 0 and "" where not known. */
struct cm_clocks {
    int32_t unit_mhz;
    int32_t unit_most_mhz; /* that it can reach */
    int32_t memory_mhz;
    int32_t temperature_c;
    double power_w;
    char throttle[CM_WORD_SIZE *
                  2]; /* why it holds its clock back: "power cap"; "": it does not */
};

struct cm_measurement {
    int32_t state; /* enum cm_measure_state */
    uint32_t flags;
    struct cm_timing cold; /* operands come from memory; of a modelled time the only one */
    struct cm_timing warm; /* operands are where the execution before left them */
    double drift; /* |later round / first round - 1| of the cold median; 0: one round */
    struct cm_how how;
    struct cm_clocks clocks; /* right after the cold runs */
    struct cm_reason reason;
};

/* What a plan turned out to be. */
struct cm_plan_facts {
    int32_t state;  /* CM_MEASURED, CM_PROXY or CM_VIEW; CM_INVENTED of a table */
    uint32_t flags; /* what the backend knows of enum cm_measure_flags */
    struct cm_how how;
    struct cm_reason reason; /* what ran in its place, of a proxy */
};

/* Facts that a report may print; 0 and "" where not known. */
struct cm_device_facts {
    char name[CM_NAME_SIZE];    /* "NVIDIA H200" */
    char version[CM_NAME_SIZE]; /* "cuDNN 9.19.0, driver 580.65"; of a model: where its figures
                                   stand */
    char architecture[CM_WORD_SIZE]; /* "sm_90" */
    char address[CM_WORD_SIZE];      /* of the device in its machine: "0000:1b:00.0" */
    int64_t memory_bytes;
    int64_t cache_bytes;    /* the last level: what a cold time has to get past */
    int32_t n_units;        /* multiprocessors, threads */
    int32_t threads_a_unit; /* that are resident at once */
    int32_t has_tensor_cores;
    int32_t modelled;             /* 1: a description, nothing that runs */
    double bandwidth;             /* bytes a second */
    double floor;                 /* seconds that even an empty primitive takes */
    char warning[CM_REASON_SIZE]; /* what makes its times doubtful: a busy machine */
};

/* `--backend NAME:key=value`; text, as the user wrote it. */
struct cm_setting {
    const char *name;
    const char *value;
};

struct cm_settings {
    size_t n;
    const struct cm_setting *items;
    int32_t precision; /* enum cm_precision */
    int32_t layout;    /* enum cm_layout */
    int32_t autotune;  /* how many algorithms `plan` may run to pick one; 0, 1: it runs none */
    int32_t plan_only; /* 1: `run` is never called, so that `open` may do without the device */
};

/* What a backend understands; a row with a NULL name ends the table. */
struct cm_backend_option {
    const char *name;
    const char *value; /* how the help calls the value: "N", "FILE" */
    const char *help;  /* one line */
};

/* What a slot returns; all but CM_BACKEND_OK have set the reason. */
enum cm_backend_status {
    CM_BACKEND_OK = 0,
    CM_BACKEND_REFUSED = -1,   /* not this primitive, this setting, this machine */
    CM_BACKEND_NO_MEMORY = -2, /* of the device or of the host; smaller ones may still go */
    CM_BACKEND_BROKEN = -3,    /* the device is lost to this process: begin a new one */
};

enum cm_cache { CM_COLD, CM_WARM };

/* Where an operand of a network stands. */
enum cm_block { CM_BLOCK_ARENA, CM_BLOCK_WEIGHTS };

struct cm_place {
    int32_t block; /* enum cm_block */
    int32_t reserved;
    int64_t offset; /* bytes, a multiple of 256 */
};

struct cm_network_step {
    uint32_t primitive; /* index */
    uint32_t reserved;
    struct cm_place inputs[CM_MAX_INPUTS];
    struct cm_place outputs[CM_MAX_OUTPUTS];
};

/* Primitives one after the other, each reading what the ones before wrote. */
struct cm_network {
    uint32_t n_primitives;
    uint32_t n_steps;
    const struct cm_primitive *primitives;
    const struct cm_network_step *steps;
    int64_t arena_bytes;  /* of CM_BLOCK_ARENA: inputs and activations share it over time */
    int64_t weight_bytes; /* of CM_BLOCK_WEIGHTS */
};

struct cm_device; /* the backend's own */
struct cm_plan;   /* the backend's own */

/*
 * A backend. One thread calls it. Of one device many plans may exist; all calls for it come
 * from the process that opened it, which may end without a call of close.
 */
struct cm_backend {
    uint32_t abi;     /* CM_BACKEND_ABI, first in every version */
    uint32_t size;    /* sizeof(struct cm_backend) where it was compiled */
    const char *name; /* as in --backend; [a-z0-9-] */
    const char *summary;
    const struct cm_backend_option *options; /* NULL: none */

    /* Finds the device and takes it. A setting whose name it does not know is refused. */
    int (*open)(const struct cm_settings *settings, struct cm_device **ret,
                struct cm_reason *reason);
    void (*facts)(const struct cm_device *device, struct cm_device_facts *ret);
    void (*close)(struct cm_device *device);

    /*
     * A backend that models has this and none of the slots below: fills state, cold and
     * reason. NULL: the backend measures.
     */
    int (*estimate)(struct cm_device *device, const struct cm_primitive *primitive,
                    struct cm_measurement *ret, struct cm_reason *reason);

    /*
     * Everything that is not to be timed: picks the algorithm, allocates operands and fills
     * them (never with zeros: devices draw less power on them, and run faster), as many sets
     * of them as it takes to be cold.
     */
    int (*plan)(struct cm_device *device, const struct cm_primitive *primitive,
                struct cm_plan **ret, struct cm_reason *reason);
    /* Runs it `n` times and waits; *ret_seconds is what all of them took together. */
    int (*run)(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason);
    /* Asked after the first run, since some know only then which kernel it was; with
     * settings.plan_only without one. */
    void (*plan_facts)(const struct cm_plan *plan, struct cm_plan_facts *ret);
    void (*drop)(struct cm_plan *plan);

    /* Slots that may be NULL. */

    /* The clocks as they are now. */
    void (*clocks)(struct cm_device *device, struct cm_clocks *ret);
    /* One plan for all steps in their order, on operands at their places; it is run (warm),
     * asked and dropped like that of a primitive. */
    int (*network)(struct cm_device *device, const struct cm_network *network,
                   struct cm_plan **ret, struct cm_reason *reason);
};

/*
 * The one symbol of a module, named CM_BACKEND_ENTRY. `abi` is what the program speaks; a
 * module that speaks several gives that one. Borrowed, valid until the program ends; NULL: it
 * does not speak it.
 */
typedef const struct cm_backend *cm_backend_entry(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
