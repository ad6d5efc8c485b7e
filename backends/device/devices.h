/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by their published figures: those of devices/, and those that a user's file
 * describes. */
#ifndef BACKENDS_DEVICE_DEVICES_H
#define BACKENDS_DEVICE_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/backend.h"

struct arena;

/* Peak rates, dense (no sparsity), in operations a second, a multiply-add being two. */
enum device_rate {
    RATE_NONE,
    RATE_FP64,
    RATE_FP32,
    RATE_FP16,
    RATE_INT8,
    RATE_MATRIX_FP64, /* MATRIX: of units that only multiply matrices */
    RATE_MATRIX_FP32,
    RATE_MATRIX_TF32,
    RATE_MATRIX_FP16,
    RATE_MATRIX_BF16,
    RATE_MATRIX_FP8,
    RATE_MATRIX_INT8,
    N_RATES
};

/* 0 and NULL where not known, except for name, title and bandwidth. */
struct device_model {
    const char *name;         /* "h200", or the path of the file */
    const char *title;        /* "NVIDIA H200 SXM" */
    const char *source;       /* the documents that the figures stand in */
    const char *architecture; /* "sm_90" */
    double rates[N_RATES];
    double bandwidth; /* bytes a second */
    double floor;     /* seconds that even an empty kernel takes; no vendor publishes one */
    int64_t memory_bytes;
    int64_t cache_bytes; /* the last level */
    int32_t n_units;     /* multiprocessors, compute units, cores */
    int32_t threads_a_unit;
};

/* A file of devices/, whole; made by the build (cmake/Devices.cmake). */
struct device_text {
    const char *name; /* of the file, without .json; NULL ends the table */
    const char *text;
};

extern const struct device_text device_texts[];

/* "fp32", "matrix_fp16": as the keys of a file. */
const char *device_rate_name(enum device_rate rate);
bool device_rate_is_matrix(enum device_rate rate);

/*
 * The rate that operands of this element are multiplied at, or computed with one by one: the
 * first of those that would do that the device has. RATE_NONE: it has none.
 */
enum device_rate device_product_rate(const struct device_model *model, enum cm_element element,
                                     enum cm_precision precision);
enum device_rate device_plain_rate(const struct device_model *model, enum cm_element element);

/* The names of the built-in devices; NULL past the last. */
const char *device_name_at(size_t index);
bool device_is_built_in(const char *name);

/*
 * A description by the name of a built-in device, from a file, from its text (docs/devices.md);
 * `path` is what a message calls the text. Texts and *ret are in `arena`. CM_BACKEND_OK,
 * CM_BACKEND_REFUSED, CM_BACKEND_NO_MEMORY.
 */
int device_built_in(const char *name, struct arena *arena, struct device_model *ret,
                    struct cm_reason *reason) __attribute__((warn_unused_result));
int device_read(const char *path, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));
int device_parse(const char *path, const char *text, struct arena *arena,
                 struct device_model *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

#endif
