/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives: names, sizes, checks, and a line of text. */
#pragma once

#include <stdbool.h>

#include "costmodel/backend.h"

struct text;

/* Return a static text; "?" if the number is out of range. */
const char *primitive_kind_name(int32_t kind);           /* "conv" */
const char *primitive_algorithm_name(int32_t algorithm); /* "max" */
const char *primitive_function_name(int32_t function);   /* "relu" */
const char *primitive_element_name(int32_t element);     /* "f32" */
const char *primitive_state_name(int32_t state);         /* "measured" */

/* Returns the bytes of an element; 0 if invalid. */
int64_t primitive_element_size(int32_t element);

/* Return true for a product: a matrix product, convolution, attention or recurrence. */
bool primitive_kind_is_product(int32_t kind);
bool primitive_is_product(const struct cm_primitive *primitive);
/* Returns the element type of most FLOPs of products; without products, that of most bytes;
 * CM_ELEMENT_NONE if there are neither. */
enum cm_element primitive_main_element(const struct cm_primitive *primitives, size_t n);

/* Returns true if inputs[2] of a product is its bias, not an operand of a post-op (`steps`). */
bool primitive_has_bias(const struct cm_primitive *primitive);

/* Sets row-major strides without gaps ("packed") and clears unused dims. */
void primitive_pack(struct cm_tensor *tensor);
bool primitive_is_packed(const struct cm_tensor *tensor);
/* Returns the number of elements; DIM_OVERFLOW past 2^63. */
int64_t primitive_elements(const struct cm_tensor *tensor);
/* Returns the bytes of all elements, without gaps between them; DIM_OVERFLOW past 2^63. */
int64_t primitive_bytes(const struct cm_tensor *tensor);
/* Returns the number of elements of the dims `from` .. `to` - 1. */
int64_t primitive_elements_of(const struct cm_tensor *tensor, int32_t from, int32_t to);

/* Returns the bytes from the first to the last element with gaps; DIM_OVERFLOW past 2^63. */
int64_t primitive_span(const struct cm_tensor *tensor);
/* Returns true if the tensor at `place` lies in its block and is aligned to 256 bytes. */
bool primitive_fits(const struct cm_tensor *tensor, struct cm_place place,
                    const struct cm_network *network);

/* Returns true if all fields are equal. */
bool primitive_equal(const struct cm_primitive *a, const struct cm_primitive *b);

/* Checks that counts, ranks, dims and kinds are in range and the number of operands fits the
 * kind. Returns CM_BACKEND_OK or CM_BACKEND_REFUSED. Backends rely on this check. */
int primitive_check(const struct cm_primitive *primitive, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Prints one line: kind, algorithm, steps, operands, outputs and non-default attributes. Omits
 * `epsilon`, `scale` and which operand a step reads. Example:
 *
 *     conv relu f32 1x3x224x224 64x3x7x7 64 -> 1x64x112x112 kernel 7x7 stride 2x2 pad 3x3+3x3
 *
 * If a tensor is not row-major, ":nhwc" or '/' and its strides follow the dims: 3x2/1x3 has the
 * dims 3x2 and the strides 1x3. */
void primitive_print(const struct cm_primitive *primitive, struct text *out);
