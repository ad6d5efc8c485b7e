/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interface of backends. A backend returns the time of a primitive on a device: it measures the
 * primitive there, or models the device. Backends are built in or loaded at run time as modules
 * (docs/backends.md explains how to write one).
 *
 * A backend receives primitives: plain data with shapes and dtypes. It never sees ONNX, a graph
 * or a file. It makes a plan and runs it a given number of times; the caller chooses that
 * number and evaluates the times in the same way for all backends (docs/measuring.md).
 *
 * Every struct is plain data with a fixed layout that may be copied byte by byte. Any change of
 * a struct changes CM_BACKEND_ABI.
 */
#ifndef COSTMODEL_BACKEND_H
#define COSTMODEL_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CM_BACKEND_ABI 6

/* Name of the symbol that a module exports; its type is cm_backend_entry. */
#define CM_BACKEND_ENTRY "costmodel_backend"

#define CM_MAX_RANK    8
#define CM_MAX_SPATIAL 3
#define CM_MAX_INPUTS  8
#define CM_MAX_OUTPUTS 3
#define CM_MAX_STEPS   4
#define CM_MAX_KERNELS 8

/* Element types as stored in memory. */
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

/* A strided tensor. Strides are in elements; 0 broadcasts an axis. Only the strides encode the
 * layout. */
struct cm_tensor {
    int32_t element; /* enum cm_element */
    int32_t rank;    /* 0 .. CM_MAX_RANK */
    int64_t dims[CM_MAX_RANK];
    int64_t strides[CM_MAX_RANK];
};

/*
 * Operands in order; those in brackets are optional (n_inputs). NCS.. is batch, channels and
 * spatial dims: dims are always in this order, in every layout.
 */
enum cm_primitive_kind {
    CM_PRIMITIVE_NONE,
    CM_CONV,      /* x NCS.., weight [K, C/groups, kernel..], (bias [K]) -> y NKS.. */
    CM_DECONV,    /* x NCS.., weight [C, K/groups, kernel..], (bias [K]) -> y NKS.. */
    CM_GEMM,      /* a [batch.., M, K], b [batch.., K, N], (addend) -> [batch.., M, N] */
    CM_POOL,      /* x NCS.. -> y NCS.. */
    CM_NORM,      /* x, (scale, shift, mean, variance) -> y */
    CM_ELTWISE,   /* a chain of up to CM_MAX_STEPS functions -> y */
    CM_SOFTMAX,   /* x -> y, along `axis` */
    CM_REDUCE,    /* x -> y of the same rank, 1 where an axis is reduced */
    CM_RNN,       /* x [T, N, I], weight, recurrent weight, (bias of rank 2), (states of rank 3)
                     -> y [T, D, N, H], (states) */
    CM_ATTENTION, /* q [N, H, S, D], k and v [N, G, L, D], (mask) -> y [N, H, S, D] */
    CM_COPY,      /* inputs -> y, concatenated along `axis`: transpose, slice, concat */
    CM_GATHER,    /* x, (indices) -> y: each element of y is some element of x */
    CM_RESAMPLE,  /* x NCS.. -> y NCS.. with other spatial sizes */
    CM_SCATTER,   /* x, indices, updates -> y: x with some elements replaced */
    CM_N_PRIMITIVES
};

/* Variant of a primitive kind: cm_primitive.algorithm. */
enum cm_algorithm {
    CM_ALGORITHM_NONE,
    CM_POOL_MAX,
    CM_POOL_AVERAGE,         /* excludes the padding */
    CM_POOL_AVERAGE_PADDING, /* includes the padding as zeros */
    CM_NORM_BATCH,           /* with given statistics */
    CM_NORM_BATCH_TRAINING,  /* with the statistics of the batch */
    CM_NORM_LAYER,           /* over the dims from `axis` to the last */
    CM_NORM_RMS,             /* as CM_NORM_LAYER, without the mean */
    CM_NORM_INSTANCE,
    CM_NORM_GROUP, /* `groups` groups */
    CM_NORM_LRN,   /* over window.kernel[0] neighbouring channels */
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
    CM_REDUCE_ARG_MAX, /* index of the maximum */
    CM_REDUCE_ARG_MIN,
    CM_RNN_TANH,
    CM_RNN_RELU,
    CM_RNN_LSTM,
    CM_RNN_GRU,
    CM_RESAMPLE_NEAREST,
    CM_RESAMPLE_LINEAR,
    CM_N_ALGORITHMS
};

/* Unary and, from CM_FIRST_BINARY, binary functions: cm_eltwise.function. */
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
    CM_THRESHOLD, /* x if x > alpha, else 0 */
    CM_FIRST_BINARY,
    CM_ADD = CM_FIRST_BINARY,
    CM_SUBTRACT,
    CM_MULTIPLY,
    CM_DIVIDE,
    CM_MAXIMUM,
    CM_MINIMUM,
    CM_MODULO,
    CM_POWER,
    CM_COMPARE, /* any comparison: all cost the same */
    CM_LOGIC,   /* any logical or bitwise function */
    CM_PRELU,
    CM_SELECT, /* three operands: condition, then, else; only as the first step */
    CM_N_FUNCTIONS
};

/* One function of an elementwise chain. Its first operand is the result of the previous step;
 * for the first step, inputs[0]. */
struct cm_eltwise {
    int32_t function; /* enum cm_function */
    int32_t operand;  /* second operand of a binary function: index into inputs; 0 if unary */
    double alpha, beta;
};

/* Window of convolutions and pools; one entry per spatial dim. */
struct cm_window {
    int32_t n_spatial; /* 0 .. CM_MAX_SPATIAL */
    int32_t reserved;
    int64_t kernel[CM_MAX_SPATIAL];
    int64_t strides[CM_MAX_SPATIAL];
    int64_t dilations[CM_MAX_SPATIAL];
    int64_t pads_begin[CM_MAX_SPATIAL]; /* negative: cropping */
    int64_t pads_end[CM_MAX_SPATIAL];
};

/* The gradient that a kernel of backward computes. */
enum cm_gradient {
    CM_GRADIENT_NONE,   /* forward */
    CM_GRADIENT_DATA,   /* product: gradient of operand 0; other kinds: of all operands */
    CM_GRADIENT_WEIGHT, /* product: gradient of operand 1 */
};

/* How a runtime fuses a primitive into the kernels of a graph. Set only for device models; all
 * zero for backends that measure. */
struct cm_fusion {
    int32_t in_graph;  /* 1: this struct is set, and bytes_read and bytes_written of the
                          primitive are the traffic of its kernel */
    int32_t no_launch; /* 1: part of the kernel of another primitive, no launch of its own */
    int32_t extra_kernels; /* additional elementwise kernels: casts, layout changes, a
                              BatchNormalization that the exporter folded into the weights */
    int32_t quantizes;     /* 1: one of extra_kernels quantizes the rows of operand 0 */
    int32_t gradient;      /* enum cm_gradient; the operands are those of the forward pass */
    int32_t reserved;
    int64_t extra_bytes;      /* bytes read and written by extra_kernels */
    int64_t compulsory_bytes; /* bytes that any fusion of the graph must move */
    int64_t group_bytes;      /* compulsory bytes of all primitives that may share its kernel */
};

/* Which keys attention masks because they follow the query. */
enum cm_causal {
    CM_CAUSAL_NONE,
    CM_CAUSAL_FIRST, /* the first query has the position of the first key */
    CM_CAUSAL_LAST,  /* the last query has the position of the last key: keys of a cache */
};

/*
 * One unit of work. Two primitives with equal bytes are the same work, so unused members must
 * be zero.
 */
struct cm_primitive {
    int32_t kind;      /* enum cm_primitive_kind */
    int32_t algorithm; /* enum cm_algorithm */
    int32_t n_inputs;
    int32_t n_outputs;
    struct cm_tensor inputs[CM_MAX_INPUTS];
    struct cm_tensor outputs[CM_MAX_OUTPUTS];
    struct cm_window window;
    int64_t groups; /* >= 1 */
    int32_t axis;
    /* CM_ELTWISE: the chain of functions. Convolution or matrix product: functions applied to
     * the result (post-ops), which a backend may refuse; their operands follow the others. */
    int32_t n_steps;
    struct cm_eltwise steps[CM_MAX_STEPS];
    double epsilon;     /* norms */
    double scale;       /* attention: factor of q k^T; 0: 1 / sqrt(D) */
    int32_t causal;     /* attention: enum cm_causal */
    int32_t directions; /* rnn: 1 or 2 */
    int64_t hidden;     /* rnn: hidden size per direction */
    /* FLOPs by the exact convention; bytes of operands and results, each counted once. */
    int64_t flops;
    int64_t bytes_read;
    int64_t bytes_written;
    struct cm_fusion fusion;
};

/*
 * Precision. From CM_PRECISION_FP16 on, the tensors of the primitives already have these
 * dtypes, so that a backend can ignore the precision. The first two decide whether a backend
 * may use TF32 for fp32 tensors. docs/precision.md has the dtypes of weights, activations,
 * gradients and states.
 */
enum cm_precision {
    CM_PRECISION_AS_STORED, /* the dtypes of the file; multiply fp32 tensors in fp32 */
    CM_PRECISION_TF32,      /* fp32 tensors may be rounded to a 10-bit mantissa */
    CM_PRECISION_FP16,
    CM_PRECISION_BF16,
    CM_PRECISION_INT8, /* operands of products; 32-bit accumulators */
    CM_PRECISION_FP8,  /* operands of products, e4m3; 32-bit accumulators */
    CM_PRECISION_AMP,  /* torch.autocast: fp16 products; norms, softmax and sums in fp32 */
    CM_PRECISION_FP32,
    CM_N_PRECISIONS
};

/* Position of the channels of images. The strides of the primitives agree with it. */
enum cm_layout {
    CM_LAYOUT_AUTO, /* row-major strides; a backend may use another layout if it is faster */
    CM_LAYOUT_NCHW,
    CM_LAYOUT_NHWC, /* channels last */
    CM_N_LAYOUTS
};

/* The program that runs the graph. It decides which nodes share a kernel, and what a kernel
 * costs besides its work (docs/times.md). */
enum cm_runtime {
    CM_RUNTIME_AUTO, /* that of the device's first calibration; torch-compile without one */
    CM_RUNTIME_TORCH_COMPILE,
    CM_RUNTIME_TORCH_EAGER,
    CM_RUNTIME_TENSORRT,
    CM_RUNTIME_ORT_CUDA, /* ONNX Runtime */
    CM_RUNTIME_ORT_CPU,
    CM_RUNTIME_OPENVINO,
    CM_RUNTIME_NCNN,
    CM_N_RUNTIMES
};

/* The work that takes most of the time of a run. The error of a modelled time depends on it. */
enum cm_time_kind {
    CM_TIME_CONVOLUTION, /* of one group */
    CM_TIME_GROUPED,     /* grouped and depthwise convolutions */
    CM_TIME_PRODUCT,     /* matrix products, attention, recurrences */
    CM_TIME_OTHER,
    CM_TIME_LAUNCH, /* launches of kernels, and waiting for the host */
    CM_N_TIME_KINDS
};

/* Measurements that the calibration of a modelled device was fitted to. */
enum cm_calibration_match {
    CM_CALIBRATION_NONE,    /* nothing: defaults of the device's generation */
    CM_CALIBRATION_RUNTIME, /* times of another runtime */
    CM_CALIBRATION_WIDTH,   /* times of this runtime in another precision */
    CM_CALIBRATION_EXACT,   /* times of this runtime and precision */
};

/* The error of the modelled times of one runtime and precision, on models of families that the
 * fit did not see. 0 if unknown. */
struct cm_calibration {
    int32_t match;   /* enum cm_calibration_match */
    int32_t n_times; /* that it was fitted to */
    double median_error;
    double p90_error; /* nine of ten errors are smaller */
    double coverage;  /* share of the measured times within their interval */
    /* By enum cm_time_kind: eight of ten measured times are between low and high times the
     * expected time. */
    struct {
        double low, high;
    } intervals[CM_N_TIME_KINDS];
    double host;     /* seconds in which the host launches a kernel */
    double run;      /* seconds of a run besides its kernels */
    double transfer; /* bytes per second at which a run copies inputs and outputs; 0: never */
};

/* Origin of a time, or why there is none. */
enum cm_measure_state {
    CM_UNSUPPORTED,   /* no time: the backend does not support it; see reason */
    CM_MEASURED,      /* the primitive ran */
    CM_MODELLED,      /* computed from a description of the device */
    CM_PROXY,         /* other work of the same size ran; see reason */
    CM_VIEW,          /* no work */
    CM_OUT_OF_MEMORY, /* no time: out of device memory */
    CM_CRASHED,       /* no time: the measuring process crashed */
    CM_TIMED_OUT,     /* no time: the measurement was stopped */
    CM_PLANNED,       /* no time: planned only (plan_only) */
    CM_INVENTED,      /* from a table for tests; meaningless as a time */
    /* States that the program sets for times of another tool (cm_options.times): */
    CM_IMPORTED,   /* time of a layer that runs one node */
    CM_SPLIT,      /* share of the time of a fused layer, in proportion to the expected time */
    CM_OPAQUE,     /* no time: node in an opaque block, whose time belongs to its module */
    CM_COPY_LAYER, /* layer that copies or converts tensors */
    CM_UNPLACED,   /* layer that matches no node */
    CM_N_MEASURE_STATES
};

/* The resource that limits a modelled time. */
enum cm_limit { CM_LIMIT_UNKNOWN, CM_LIMIT_COMPUTE, CM_LIMIT_MEMORY, CM_LIMIT_LAUNCH };

enum cm_measure_flags {
    CM_FLAG_UNSTABLE = 1,    /* samples or rounds disagree */
    CM_FLAG_FEW_SAMPLES = 2, /* the time budget ended before enough samples */
    CM_FLAG_NOT_COLD = 4,    /* caches may hold operands of the cold runs */
    CM_FLAG_THROTTLED = 8,   /* the device throttled during the measurement */
    CM_FLAG_LAUNCHES = 16,   /* every execution is a host launch: includes launch overhead */
    CM_FLAG_CACHED = 32,     /* set by the program: measured in an earlier call */
    CM_FLAG_LOST = 64        /* set by the program, only between its processes: the device was
                                lost after the times were measured */
};

/* Time per execution, in seconds. */
struct cm_timing {
    double median, q1, q3, min, max;
    int32_t n_samples;  /* 0: not timed */
    int32_t per_sample; /* executions in one sample */
};

#define CM_REASON_SIZE 256
#define CM_KERNEL_SIZE 256
#define CM_NAME_SIZE   128
#define CM_WORD_SIZE   32

/* Reason for a failure: one English sentence without the name of the backend. */
struct cm_reason {
    char text[CM_REASON_SIZE];
};

/* Use of tensor cores (matrix units). */
enum cm_tensor_cores { CM_TENSOR_CORES_UNKNOWN, CM_TENSOR_CORES_NO, CM_TENSOR_CORES_YES };

/* A kernel on the device; 0 and "" if unknown. */
struct cm_kernel {
    char name[CM_KERNEL_SIZE];
    int32_t calls; /* launches per execution */
    int32_t grid[3];
    int32_t block[3];
    int32_t registers;            /* per thread */
    int32_t shared_bytes;         /* per block */
    int32_t tensor_cores;         /* enum cm_tensor_cores */
    char rule[CM_WORD_SIZE];      /* evidence for tensor_cores: "cublaslt flags", "name" */
    double blocks_per_unit;       /* blocks of the grid / multiprocessors */
    double occupancy;             /* resident threads / maximum, for a grid of this size */
    double theoretical_occupancy; /* the same for a grid that fills the device */
    double seconds; /* set by the program: median time of all calls in one execution, between
                       events around them (run_kernels) */
};

/* How a primitive runs; 0 and "" if unknown. */
struct cm_how {
    char provider[CM_WORD_SIZE];  /* part of the backend: "cudnn graph", "cublaslt" */
    char algorithm[CM_NAME_SIZE]; /* "engine 62", "brgconv:avx512_core" */
    int32_t tensor_cores;         /* of the algorithm; enum cm_tensor_cores */
    int32_t plans_tried;          /* plans tried until one was accepted */
    int32_t n_sets;               /* operand sets that cold executions cycle through */
    int32_t n_kernels; /* 0: unknown; may exceed CM_MAX_KERNELS, the rest is not listed */
    int64_t workspace_bytes;
    double plan_seconds; /* time to find and compile the plan; not part of any time */
    struct cm_kernel kernels[CM_MAX_KERNELS];
};

/* State of the device at one moment; 0 and "" if unknown. */
struct cm_clocks {
    int32_t unit_mhz;
    int32_t unit_most_mhz; /* maximum of unit_mhz */
    int32_t memory_mhz;
    int32_t temperature_c;
    double power_w;
    char throttle[CM_WORD_SIZE * 2]; /* reason: "power cap"; "": not throttled */
};

struct cm_measurement {
    int32_t state; /* enum cm_measure_state */
    uint32_t flags;
    struct cm_timing cold; /* operands come from memory; the only one if modelled */
    struct cm_timing warm; /* operands may be in the caches */
    double lower_bound;    /* modelled: seconds that no such kernel undercuts; else 0 */
    int32_t limit;         /* modelled: enum cm_limit; else 0 */
    int32_t reserved;
    double drift; /* |later round / first round - 1| of the cold median; 0: one round */
    struct cm_how how;
    struct cm_clocks clocks; /* right after the cold runs */
    struct cm_reason reason;
};

/* Facts about a plan. */
struct cm_plan_facts {
    int32_t state;  /* CM_MEASURED, CM_PROXY, CM_VIEW; CM_INVENTED if from a table */
    uint32_t flags; /* enum cm_measure_flags that the backend knows */
    struct cm_how how;
    struct cm_reason reason; /* proxy: what runs instead */
};

#define CM_MAX_RATES 16

/* A published peak rate of a modelled device. */
struct cm_peak_rate {
    char name[CM_WORD_SIZE]; /* as in cm_how.algorithm: "matrix_fp16" */
    double flops_per_s;
};

/* Facts about a device, for reports; 0 and "" if unknown. */
struct cm_device_facts {
    char name[CM_NAME_SIZE];    /* "NVIDIA H200" */
    char version[CM_NAME_SIZE]; /* "cuDNN 9.19.0, driver 580.65"; model: source of its rates */
    char architecture[CM_WORD_SIZE];  /* "sm_90" */
    char address[CM_WORD_SIZE];       /* in the machine: "0000:1b:00.0" */
    char calibration[CM_REASON_SIZE]; /* model: measurements that it was fitted to */
    struct cm_calibration fit;        /* model */
    int64_t memory_bytes;
    int64_t cache_bytes;    /* last-level cache, to be evicted before a cold execution */
    int32_t n_units;        /* multiprocessors or threads */
    int32_t threads_a_unit; /* maximum of resident threads per unit */
    int32_t has_tensor_cores;
    int32_t modelled;             /* 1: a device model that cannot run anything */
    double bandwidth;             /* bytes/s */
    double floor;                 /* seconds: time of an empty primitive */
    char warning[CM_REASON_SIZE]; /* why times may be unreliable: a busy machine */
    int32_t n_rates;              /* of a model */
    struct cm_peak_rate rates[CM_MAX_RATES];
    double host_link; /* bytes/s from the host to the device, one direction */
};

/* One `key=value` of `--backend NAME:key=value`, as given. */
struct cm_setting {
    const char *name;
    const char *value;
};

struct cm_settings {
    size_t n;
    const struct cm_setting *items;
    int32_t precision; /* enum cm_precision */
    int32_t layout;    /* enum cm_layout */
    int32_t runtime;   /* enum cm_runtime */
    int32_t
        element; /* enum cm_element: that of most FLOPs of products; selects a calibration */
    int32_t autotune;  /* algorithms that `plan` may run to pick one; 0 or 1: runs none */
    int32_t plan_only; /* 1: `run` is never called, so `open` needs no device */
};

/* A setting that a backend accepts; a row with a NULL name ends the table. */
struct cm_backend_option {
    const char *name;
    const char *value; /* placeholder of the value: "N", "FILE" */
    const char *help;  /* one line */
};

/* Status of a backend function; every status but CM_BACKEND_OK sets the reason. */
enum cm_backend_status {
    CM_BACKEND_OK = 0,
    CM_BACKEND_REFUSED = -1,   /* unsupported primitive, setting or machine */
    CM_BACKEND_NO_MEMORY = -2, /* out of device or host memory; smaller primitives may fit */
    CM_BACKEND_BROKEN = -3,    /* the device is unusable in this process: start a new one */
};

enum cm_cache { CM_COLD, CM_WARM };

/* Memory block of an operand of a network. */
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

/* A sequence of primitives; each may read results of earlier ones. */
struct cm_network {
    uint32_t n_primitives;
    uint32_t n_steps;
    const struct cm_primitive *primitives;
    const struct cm_network_step *steps;
    int64_t arena_bytes;  /* size of CM_BLOCK_ARENA: inputs and activations, reused */
    int64_t weight_bytes; /* size of CM_BLOCK_WEIGHTS */
};

struct cm_device; /* private to the backend */
struct cm_plan;   /* private to the backend */

/*
 * A backend. It is called from one thread. A device may have many plans; all calls for a device
 * come from the process that opened it, which may exit without calling close.
 */
struct cm_backend {
    uint32_t abi;     /* CM_BACKEND_ABI; the first member in every version */
    uint32_t size;    /* sizeof(struct cm_backend) when the backend was compiled */
    const char *name; /* as in --backend; [a-z0-9-] */
    const char *summary;
    const struct cm_backend_option *options; /* NULL: none */

    /* Finds and opens the device. Refuses settings with unknown names. */
    int (*open)(const struct cm_settings *settings, struct cm_device **ret,
                struct cm_reason *reason);
    void (*facts)(const struct cm_device *device, struct cm_device_facts *ret);
    void (*close)(struct cm_device *device);

    /*
     * A backend that models the device: fills state, cold, lower_bound and limit; all functions
     * below are NULL. A backend that measures: NULL.
     */
    int (*estimate)(struct cm_device *device, const struct cm_primitive *primitive,
                    struct cm_measurement *ret, struct cm_reason *reason);

    /*
     * Does all work that is not timed: picks the algorithm, allocates operands and fills them
     * with non-zero values (zeros draw less power, so the device would run faster), in as many
     * sets as cold executions need.
     */
    int (*plan)(struct cm_device *device, const struct cm_primitive *primitive,
                struct cm_plan **ret, struct cm_reason *reason);
    /* Runs the plan `n` times and waits; *ret_seconds is the total time. */
    int (*run)(struct cm_plan *plan, uint32_t n, enum cm_cache cache, double *ret_seconds,
               struct cm_reason *reason);
    /* Called after the first run, because some backends know the kernel only then; with
     * settings.plan_only, called without a run. */
    void (*plan_facts)(const struct cm_plan *plan, struct cm_plan_facts *ret);
    void (*drop)(struct cm_plan *plan);

    /* Optional functions: may be NULL. */

    /* Returns the current clocks. */
    void (*clocks)(struct cm_device *device, struct cm_clocks *ret);
    /* Makes one plan for all steps in order, with operands at the given offsets. It is run
     * (warm), queried and dropped like the plan of a primitive. */
    int (*network)(struct cm_device *device, const struct cm_network *network,
                   struct cm_plan **ret, struct cm_reason *reason);
    /* Runs the plan of a primitive cold, with events between its kernels. Sets ret_seconds[i],
     * i < CM_MAX_KERNELS, to the time of all calls of cm_how.kernels[i] in one execution,
     * events included. Called only if plan_facts listed all kernels and at least two. Refuses a
     * plan whose kernels do not run one after the other. */
    int (*run_kernels)(struct cm_plan *plan, double *ret_seconds, struct cm_reason *reason);
};

/*
 * Type of the one symbol of a module, CM_BACKEND_ENTRY. Returns the backend for the program's
 * ABI version `abi`, valid until the program ends; NULL if the module does not support it.
 */
typedef const struct cm_backend *cm_backend_entry(uint32_t abi);

#ifdef __cplusplus
}
#endif

#endif
