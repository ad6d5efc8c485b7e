/* SPDX-License-Identifier: Apache-2.0 */
/* Formats of quantized tensors: bits of an element, and scales and zero points of a block. */
#ifndef LLM_FORMATS_H
#define LLM_FORMATS_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

struct llm_format {
    const char *name;
    double bits;   /* of an element */
    int64_t block; /* elements along the rows that share a scale; 0: a column of the weight */
    double block_bits;  /* of scale and zero point of a block */
    bool is_square;     /* blocks span as many columns */
    double tensor_bits; /* of scales of the whole tensor */
    enum cm_element
        product; /* operands of products; CM_ELEMENT_NONE: dequantized before them */
};

/* Sets *ret to the format "int4:g128", or "fp8:b128" with square blocks. Returns false if there
 * is none of that name. */
bool llm_format_find(const char *name, struct llm_format *ret);
/* Returns the name of a format by index; NULL past the last. */
const char *llm_format_name(int index);
/* Returns the bytes of `n` matrices of inner x columns. */
int64_t llm_format_bytes(const struct llm_format *format, int64_t n, int64_t inner,
                         int64_t columns);

#endif
