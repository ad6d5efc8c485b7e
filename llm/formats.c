/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/formats.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "support/text.h"

/*
 * int8 and fp8 have a scale of 32 bits per column, as ONNX Runtime and vLLM store them; int4
 * has a scale of 16 bits and a zero point of 4 bits per block, as MatMulNBits. nvfp4 and mxfp4
 * are the formats of NVIDIA (a scale of 8 bits per 16 elements) and of the OCP (per 32). q4_0
 * and the others are those of llama.cpp (ggml-common.h), whose blocks contain their scales.
 */
/* clang-format off */
static const struct llm_format formats[] = {
    /* name       bits        block block_bits square tensor_bits product */
    {"fp32",      32,         0,    0, false,         0,          CM_F32},
    {"fp16",      16,         0,    0, false,         0,          CM_F16},
    {"bf16",      16,         0,    0, false,         0,          CM_BF16},
    {"int8",      8,          0,    32, false,        0,          CM_I8},
    {"fp8",       8,          0,    32, false,        0,          CM_F8E4M3},
    {"int4",      4,          128,  20, false,        0,          CM_ELEMENT_NONE},
    {"int3",      3,          128,  20, false,        0,          CM_ELEMENT_NONE},
    {"int2",      2,          128,  20, false,        0,          CM_ELEMENT_NONE},
    {"nvfp4",     4,          16,   8, false,         32,         CM_ELEMENT_NONE},
    {"mxfp4",     4,          32,   8, false,         0,          CM_ELEMENT_NONE},
    {"mxfp8",     8,          32,   8, false,         0,          CM_F8E4M3},
    {"q8_0",      8,          32,   16, false,        0,          CM_ELEMENT_NONE},
    {"q5_1",      5,          32,   32, false,        0,          CM_ELEMENT_NONE},
    {"q5_0",      5,          32,   16, false,        0,          CM_ELEMENT_NONE},
    {"q4_1",      4,          32,   32, false,        0,          CM_ELEMENT_NONE},
    {"q4_0",      4,          32,   16, false,        0,          CM_ELEMENT_NONE},
    {"iq4_nl",    4,          32,   16, false,        0,          CM_ELEMENT_NONE},
    {"q6_k",      6,          256,  144, false,       0,          CM_ELEMENT_NONE},
    {"q5_k",      5,          256,  128, false,       0,          CM_ELEMENT_NONE},
    {"q4_k",      4,          256,  128, false,       0,          CM_ELEMENT_NONE},
    {"q3_k",      3,          256,  112, false,       0,          CM_ELEMENT_NONE},
    {"q2_k",      2,          256,  160, false,       0,          CM_ELEMENT_NONE},
};
/* clang-format on */

bool llm_format_find(const char *name, struct llm_format *ret) {
    const char *colon = strchr(name, ':');
    const size_t length = colon ? (size_t)(colon - name) : strlen(name);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strlen(formats[i].name) != length || strncmp(formats[i].name, name, length) != 0)
            continue;
        *ret = formats[i];
        if (!colon) return true;
        int64_t block = 0;
        if ((colon[1] != 'g' && colon[1] != 'b') ||
            !text_to_int64(colon + 2, strlen(colon + 2), &block) || block < 1 ||
            ret->block_bits <= 0)
            return false;
        ret->block = block;
        ret->is_square = colon[1] == 'b';
        return true;
    }
    return false;
}

const char *llm_format_name(int index) {
    return (size_t)index < sizeof formats / sizeof *formats ? formats[index].name : NULL;
}

int64_t llm_format_bytes(const struct llm_format *format, int64_t n, int64_t inner,
                         int64_t columns) {
    const double matrices = (double)n;
    const double elements = matrices * (double)inner * (double)columns;
    const double blocks = format->block > 0 ? ceil((double)inner / (double)format->block) : 1;
    const double groups =
        format->is_square ? ceil((double)columns / (double)format->block) : (double)columns;
    const double bits = elements * format->bits +
                        matrices * groups * blocks * format->block_bits +
                        matrices * format->tensor_bits;
    return bits < 9e18 ? (int64_t)ceil(bits / 8) : INT64_MAX;
}
