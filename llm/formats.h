/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of quantized tensors: bits of an element, and scales and zero points of a block. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

struct llm_format {
    const char *name;
    int bits;        /* of an element */
    int64_t block;   /* elements along the rows that share a scale; 0: a column of the weight */
    int scale_bits;  /* of the scales of a block; 0 with `block`: as an element of the weight */
    int zero_bits;   /* of the zero point of a block, packed into bytes per column */
    int tensor_bits; /* of scales of the whole tensor */
    enum cm_element
        product;    /* operands of products; CM_ELEMENT_NONE: dequantized before them */
    bool is_square; /* blocks span as many columns */
    bool is_tensor; /* one scale of the whole matrix */
};

/* Sets *ret to a format by its name and suffixes: "int4:g128" has blocks of 128 rows,
 * "fp8:b128" square blocks, "int8:t" one scale per matrix, "int4:sym" no zero points. Returns
 * false if there is none. */
bool llm_format_find(const char *name, struct llm_format *ret);
/* Returns the name of a format by index; NULL past the last. */
const char *llm_format_name(int index);
/* Returns the bits of an element with its part of the scales of a block; scales of a whole
 * tensor do not count. */
double llm_format_bits(const struct llm_format *format, int stored_bits);
/* Returns the bytes of `n` matrices of inner x columns, whose elements had `stored_bits`. The
 * last block of a column is whole. */
int64_t llm_format_bytes(const struct llm_format *format, int64_t n, int64_t inner,
                         int64_t columns, int stored_bits);
