/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives by name, by size, and as the line of text that tells two of them apart. */
#ifndef BACKENDS_PRIMITIVE_H
#define BACKENDS_PRIMITIVE_H

#include <stdbool.h>

#include "costmodel/backend.h"

struct text;

/* Static texts; "?" for what is no value of the enum. */
const char *primitive_kind_name(int32_t kind);           /* "conv" */
const char *primitive_algorithm_name(int32_t algorithm); /* "max" */
const char *primitive_function_name(int32_t function);   /* "relu" */
const char *primitive_element_name(int32_t element);     /* "f32" */
const char *primitive_state_name(int32_t state);         /* "measured" */
const char *primitive_precision_name(int32_t precision); /* "fp16" */
const char *primitive_layout_name(int32_t layout);       /* "nhwc" */
/* CM_ELEMENT_NONE where no element has this name. */
int32_t primitive_element_by_name(const char *name);

/* Bytes of one element; 0 for what is no element. */
int64_t primitive_element_size(int32_t element);

/* Whether it multiplies matrices, so that units that do nothing else could do it. */
bool primitive_is_product(const struct cm_primitive *primitive);

/* Row-major strides for its dims; what dims do not use is zero. */
void primitive_pack(struct cm_tensor *tensor);
bool primitive_is_packed(const struct cm_tensor *tensor);
/* Elements; DIM_OVERFLOW past 2^63. */
int64_t primitive_elements(const struct cm_tensor *tensor);

/* Bytes from its first element to behind its last: what its strides reach; DIM_OVERFLOW. */
int64_t primitive_span(const struct cm_tensor *tensor);
/* Whether it lies inside its block, at a place that a network may have. */
bool primitive_fits(const struct cm_tensor *tensor, struct cm_place place,
                    const struct cm_network *network);

/* Whether the two are the same work. */
bool primitive_equal(const struct cm_primitive *a, const struct cm_primitive *b);

/*
 * Whether it is well-formed: counts, ranks, dims, kinds in range, operands of the number that
 * its kind wants. CM_BACKEND_OK or CM_BACKEND_REFUSED. Backends rely on it.
 */
int primitive_check(const struct cm_primitive *primitive, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/*
 * One line: kind, algorithm, operands, and what differs from nothing:
 *     conv f32 1x3x224x224 64x3x7x7 64 -> 1x64x112x112 kernel 7x7 stride 2x2 pad 3x3+3x3
 * Behind the dims stand strides that are not row-major (3x2/1x3), or ":nhwc", channels last.
 */
void primitive_print(const struct cm_primitive *primitive, struct text *out);

#endif
