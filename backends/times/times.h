/* SPDX-License-Identifier: Apache-2.0 */
/* Times that another tool measured, as in its file. A reader per format fills struct cm_times;
 * passes/latency assigns the layers to nodes. */
#ifndef BACKENDS_TIMES_TIMES_H
#define BACKENDS_TIMES_TIMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/backend.h"
#include "costmodel/status.h"

struct arena;
struct cm_diagnostics;

/* Relation of a layer to a node that it names. */
enum times_role {
    TIMES_RUNS,     /* runs the node */
    TIMES_COPIES,   /* copies or converts a tensor of the node */
    TIMES_CONTAINS, /* an opaque block that contains the node, and others */
};

/* A name of a node, or of a value that the node computes. */
struct times_ref {
    const char *name;
    enum times_role role;
};

/* A layer of the tool: an operator after fusion, a copy, or an opaque block. */
struct times_layer {
    const char *name;        /* as in the file */
    const char *op;          /* operator of the tool: "FusedConv"; "" */
    struct cm_timing timing; /* in one run of the model; `median` is the mean, so that the sum
                                of the layers is that of the file */
    size_t n_refs;
    const struct times_ref *refs;
    bool alternatives;    /* the first ref that the model has counts; false: all of them */
    enum times_role role; /* of a layer that matches no node */
    int32_t rank;         /* of its first output; -1: unknown */
    int64_t dims[CM_MAX_RANK];
};

struct cm_times {
    const char *path;
    const char *tool;     /* "onnxruntime", "tensorrt", "csv" */
    const char *provider; /* "CPUExecutionProvider"; "" */
    int64_t runs;         /* of the model */
    bool has_times;       /* false: layer information, which adds refs to timed layers */
    double slow_start;    /* time of the first run / mean of the others; 0: unknown */
    size_t n;
    struct times_layer *layers; /* in execution order */
    struct arena *arena;        /* owns all of it */
};

/* The readers fill *ret, whose arena and path are set. Each returns CM_OK, CM_REFUSED
 * (reported) or CM_NO_MEMORY. */
struct json_value;
int times_read_onnxruntime(const struct json_value *events, struct cm_diagnostics *diag,
                           struct cm_times *ret) CM_MUST_CHECK;
int times_read_trtexec_profile(const struct json_value *rows, struct cm_diagnostics *diag,
                               struct cm_times *ret) CM_MUST_CHECK;
int times_read_trtexec_layers(const struct json_value *layers, struct cm_diagnostics *diag,
                              struct cm_times *ret) CM_MUST_CHECK;
int times_read_csv(const char *text, size_t size, struct cm_diagnostics *diag,
                   struct cm_times *ret) CM_MUST_CHECK;

/* Detects the format and reads it. `times` has its arena and path. */
int times_read(const char *text, size_t size, struct cm_diagnostics *diag,
               struct cm_times *times) CM_MUST_CHECK;

#endif
