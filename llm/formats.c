/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/formats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "support/text.h"

/* int8 and fp8 have a scale of 32 bits per column, as vLLM stores them; int4, int3 and int2
 * have a scale and a zero point per block, as MatMulNBits of ONNX Runtime. nvfp4 and mxfp4 are
 * the formats of NVIDIA (a scale of 8 bits per 16 elements) and of the OCP (per 32). q8_0 and
 * those below are those of llama.cpp (ggml-common.h), whose blocks contain their scales. */
/* clang-format off */
static const struct llm_format formats[] = {
    /* name    bits block scale zero tensor product */
    {"fp32",   32,  0,    0,    0,   0,     CM_F32,          false, false},
    {"fp16",   16,  0,    0,    0,   0,     CM_F16,          false, false},
    {"bf16",   16,  0,    0,    0,   0,     CM_BF16,         false, false},
    {"int8",   8,   0,    32,   0,   0,     CM_I8,           false, false},
    {"fp8",    8,   0,    32,   0,   0,     CM_F8E4M3,       false, false},
    {"int4",   4,   128,  0,    4,   0,     CM_ELEMENT_NONE, false, false},
    {"int3",   3,   128,  0,    4,   0,     CM_ELEMENT_NONE, false, false},
    {"int2",   2,   128,  0,    2,   0,     CM_ELEMENT_NONE, false, false},
    {"nvfp4",  4,   16,   8,    0,   32,    CM_ELEMENT_NONE, false, false},
    {"mxfp4",  4,   32,   8,    0,   0,     CM_ELEMENT_NONE, false, false},
    {"mxfp8",  8,   32,   8,    0,   0,     CM_F8E4M3,       false, false},
    {"q8_0",   8,   32,   16,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"q5_1",   5,   32,   32,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"q5_0",   5,   32,   16,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"q4_1",   4,   32,   32,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"q4_0",   4,   32,   16,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq4_nl", 4,   32,   16,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"q6_k",   6,   256,  144,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"q5_k",   5,   256,  128,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"q4_k",   4,   256,  128,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"q3_k",   3,   256,  112,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"q2_k",   2,   256,  160,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq4_xs",  4,   256,  64,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq3_s",   3,   256,  112,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq3_xxs", 3,   256,  16,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq2_s",   2,   256,  144,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq2_xs",  2,   256,  80,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq2_xxs", 2,   256,  16,   0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq1_m",   1,   256,  192,  0,   0,     CM_ELEMENT_NONE, false, false},
    {"iq1_s",   1,   256,  144,  0,   0,     CM_ELEMENT_NONE, false, false},
};
/* clang-format on */

/* Reads a suffix: gN, bN, t or sym. */
static bool read_suffix(const char *text, size_t length, struct llm_format *ret) {
    int64_t block = 0;
    if (ret->bits > 8) return false;
    if (length == 1 && *text == 't') {
        ret->is_tensor = true;
        ret->block = 0;
    } else if (length == 3 && strncmp(text, "sym", 3) == 0) {
        ret->zero_bits = 0;
    } else if ((*text == 'g' || *text == 'b') && text_to_int64(text + 1, length - 1, &block) &&
               block >= 1) {
        ret->block = block;
        ret->is_square = *text == 'b';
    } else {
        return false;
    }
    return true;
}

bool llm_format_find(const char *name, struct llm_format *ret) {
    const size_t length = strcspn(name, ":");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strlen(formats[i].name) != length || strncmp(formats[i].name, name, length) != 0)
            continue;
        *ret = formats[i];
        for (const char *at = name + length; *at == ':';) {
            const size_t n = strcspn(at + 1, ":");
            if (n == 0 || !read_suffix(at + 1, n, ret)) return false;
            at += n + 1;
        }
        return true;
    }
    return false;
}

const char *llm_format_name(int index) {
    return (size_t)index < sizeof formats / sizeof *formats ? formats[index].name : NULL;
}

/* The scales of a block have the dtype of the weight, unless that is quantized itself. */
static int scale_bits(const struct llm_format *format, int stored_bits) {
    if (format->scale_bits > 0 || format->block == 0) return format->scale_bits;
    return stored_bits < 16 ? 16 : stored_bits;
}

double llm_format_bits(const struct llm_format *format, int stored_bits) {
    const double others = scale_bits(format, stored_bits) + format->zero_bits;
    return format->bits +
           (format->block > 0 && !format->is_square ? others / (double)format->block : 0);
}

int64_t llm_format_bytes(const struct llm_format *format, int64_t n, int64_t inner,
                         int64_t columns, int stored_bits) {
    const double matrices = (double)n, width = (double)columns, length = (double)inner;
    const double block = (double)format->block;
    const double blocks = block > 0 ? ceil(length / block) : 1;
    const double rows = block > 0 && !format->is_square ? blocks * block : length;
    const double groups = format->is_tensor   ? 1
                          : format->is_square ? ceil(width / block)
                                              : width;
    const double scale = scale_bits(format, stored_bits);
    const double bytes = width * ceil(rows * format->bits / 8) + groups * blocks * scale / 8 +
                         groups * ceil(blocks * format->zero_bits / 8) +
                         (double)format->tensor_bits / 8;
    return matrices * bytes < 9e18 ? (int64_t)ceil(matrices * bytes) : INT64_MAX;
}
