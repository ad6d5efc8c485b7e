/* SPDX-License-Identifier: Apache-2.0 */
/* Times of layers that another tool measured and wrote to a file. Each format has a reader that
 * fills struct cm_times; timing/times_import.h assigns the layers to nodes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/backend.h"
#include "costmodel/status.h"
#include "support/map.h"

struct arena;
struct cm_diagnostics;

/* Relation of a layer to a node named by one of its refs. */
enum times_role {
    TIMES_RUNS,     /* runs the node */
    TIMES_COPIES,   /* copies or converts a tensor of the node */
    TIMES_CONTAINS, /* is an opaque block that contains this and other nodes */
};

/* Number of operands whose sizes are kept: those of a whole transformer layer. */
#define TIMES_MAX_SIZES 12

/* Reference to a node: its name, or the name of a value that it computes. */
struct times_ref {
    const char *name;
    enum times_role role;
};

/* A layer of the tool: an operator after fusion, a copy, or an opaque block. */
struct times_layer {
    const char *name;        /* as in the file */
    const char *op;          /* operator of the tool: "FusedConv"; "" if unknown */
    struct cm_timing timing; /* seconds per run of the model */
    double mean;             /* seconds per run of the model */
    size_t n_refs;
    const struct times_ref *refs;
    bool alternatives;    /* use only the first ref found in the model; false: use all refs */
    enum times_role role; /* role if no ref is found in the model */
    const char *types; /* operators of ONNX that it may run: "MatMul Gemm". Such a layer is also
                          found by its order and sizes; NULL: only by its name */
    bool many;         /* with types: may run several nodes that have them */
    bool is_product;   /* with types: a convolution or matrix product */
    int64_t sizes[TIMES_MAX_SIZES]; /* with types: elements of its operands; 0: unknown */
    const char *output;             /* name of the first output; NULL if unknown */
    int32_t rank;                   /* rank of the first output; -1 if unknown */
    int64_t dims[CM_MAX_RANK];
};

struct cm_times {
    const char *path;
    const char *tool;     /* "onnxruntime", "tensorrt", "pytorch", "openvino", "csv" */
    const char *provider; /* "CPUExecutionProvider"; "" if unknown */
    int64_t runs;         /* number of measured runs of the model */
    bool has_times;       /* false: a layer information file, which only adds refs to layers */
    bool without_kernels; /* true: layers that run on a GPU have only the time of the host */
    double run;           /* median time of a whole run, seconds; 0 if unknown */
    double gap;           /* median seconds of a run in which no layer runs; 0 if unknown */
    double host;          /* of these, seconds in which the host runs operators; 0 if unknown */
    size_t n;
    struct times_layer *layers; /* in execution order */
    struct map reads;    /* by shape that layers read, "[2, 3]": in how many of the runs whose
                            times count (times_n_counted); empty if unknown */
    struct arena *arena; /* owns the layers and their texts */
};

/* Returns the number of runs whose times count: the first of several warms up caches. */
static inline int64_t times_n_counted(const struct cm_times *times) {
    return times->runs > 1 ? times->runs - 1 : times->runs;
}

/* Readers. The caller sets ret->arena and ret->path. Each returns CM_OK, CM_REFUSED (reported)
 * or CM_NO_MEMORY. */
struct json_value;
int times_read_onnxruntime(const struct json_value *events, struct cm_diagnostics *diag,
                           struct cm_times *ret) CM_MUST_CHECK;
int times_read_trtexec_profile(const struct json_value *rows, struct cm_diagnostics *diag,
                               struct cm_times *ret) CM_MUST_CHECK;
int times_read_trtexec_layers(const struct json_value *layers, struct cm_diagnostics *diag,
                              struct cm_times *ret) CM_MUST_CHECK;
int times_read_kineto(const struct json_value *trace, struct cm_diagnostics *diag,
                      struct cm_times *ret) CM_MUST_CHECK;
/* `requests`: the counters of each request, as in detailed_performance. */
int times_read_openvino_json(const struct json_value *requests, struct cm_diagnostics *diag,
                             struct cm_times *ret) CM_MUST_CHECK;
int times_read_openvino_csv(const char *text, size_t size, struct cm_diagnostics *diag,
                            struct cm_times *ret) CM_MUST_CHECK;
int times_read_csv(const char *text, size_t size, struct cm_diagnostics *diag,
                   struct cm_times *ret) CM_MUST_CHECK;

/* Detects the format of the text and reads it. The caller sets times->arena and ->path. */
int times_read(const char *text, size_t size, struct cm_diagnostics *diag,
               struct cm_times *times) CM_MUST_CHECK;
