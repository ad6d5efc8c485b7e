/* SPDX-License-Identifier: Apache-2.0 */
/* See packed.h. The 4-bit types of ONNX need no row: each of their elements is one number. */
#include "ops/packed.h"

#include "ops/common.h"
#include "ops/op_context.h"
#include "support/text.h"

struct packing {
    const char *type; /* operator type in com.microsoft */
    size_t slot;
    const char *bits; /* attribute: bits per number in an 8-bit element; NULL: not needed */
    const char *rows; /* attribute N, if the operand has N x K numbers; NULL: there is none */
};

static const struct packing packings[] = {
    {"MatMulNBits", 1, NULL, "N"},
    {"MatMulBnb4", 1, NULL, "N"},
    {"MatMulNBitsMlp", 3, NULL, "N"},
    {"MatMulNBitsMlp", 6, NULL, "N"},
    {"MatMulNBitsQkv", 3, NULL, "Nq"},
    {"MatMulNBitsQkv", 6, NULL, "Nkv"},
    {"MatMulNBitsQkv", 9, NULL, "Nkv"},
    {"MatMulFpQ4", 1, NULL, NULL},
    {"GatherBlockQuantized", 0, "bits", NULL},
    {"QMoE", 2, "fc1_expert_weight_bits", NULL},
    {"QMoE", 5, "fc2_expert_weight_bits", NULL},
    {"QMoE", 8, "fc3_expert_weight_bits", NULL},
};

int64_t packed_numbers(const struct op_context *context, size_t slot) {
    const struct packing *packing = NULL;
    for (size_t i = 0; i < sizeof(packings) / sizeof(packings[0]) && !packing; i++)
        if (packings[i].slot == slot && text_equal(packings[i].type, context->op->type))
            packing = &packings[i];
    const int64_t elements = op_elements(context, slot);
    const struct shape *out = op_output_shape(context, 0);
    if (!packing || !text_equal(context->op->domain, "com.microsoft")) return elements;
    if (packing->rows)
        return checked_mul(op_attr_int(context, packing->rows), op_attr_int(context, "K"));
    if (!packing->bits) /* MatMulFpQ4: columns of input 0 x columns of the output */
        return checked_mul(common_last_dim(context, 0),
                           out->rank < 1 ? DIM_UNKNOWN : out->dims[out->rank - 1]);
    /* each weight of a QMoE may have its own attribute */
    const bool own = op_has_attr(context, packing->bits) || text_equal(packing->bits, "bits");
    const int64_t bits = op_attr_int(context, own ? packing->bits : "expert_weight_bits");
    if (op_dtype(context, slot) != DTYPE_UINT8 || bits < 1 || bits > 8) return elements;
    return checked_mul(elements, 8 / bits);
}
