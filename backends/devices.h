/* SPDX-License-Identifier: Apache-2.0 */
/* Devices by their published figures: the built-in ones, and those that a file describes. */
#ifndef BACKENDS_DEVICES_H
#define BACKENDS_DEVICES_H

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

struct device_model {
    const char *name;      /* "h200" */
    const char *title;     /* "NVIDIA H200 SXM" */
    const char *source;    /* where the figures stand */
    double rates[N_RATES]; /* 0: it has none */
    double bandwidth;      /* bytes a second */
    int64_t memory_bytes;  /* 0: not known */
    double
        floor; /* seconds of the shortest kernel; vendors publish none: 0 unless a file says */
};

/* "fp32", "matrix_fp16": as the keys of a file. */
const char *device_rate_name(enum device_rate rate);

/* The built-in devices, the oldest first; NULL past the last. */
const struct device_model *device_at(size_t index);
const struct device_model *device_find(const char *name);

/*
 * Reads a description from a file (docs/backends.md). Texts and *ret are in `arena`.
 * CM_BACKEND_OK, CM_BACKEND_REFUSED, CM_BACKEND_NO_MEMORY.
 */
int device_read(const char *path, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));

#endif
