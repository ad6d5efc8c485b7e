/* SPDX-License-Identifier: Apache-2.0 */
/* The table of optimizers. FLOPs of a step per element, with gradient g and parameter w;
 * factors that all parameters, or a row or column of one, share are not counted:
 *
 *     sgd        w -= lr g                                                               2
 *     momentum   v = mu v + g;  w -= lr v                                            2 + 2
 *     adam       m += (1 - b1)(g - m)                                                    3
 *                v = b2 v + (1 - b2) g g                                                 4
 *                d = sqrt(v) / c + eps                                                   3
 *                w -= lr' m / d                                                          3
 *     adamw      w = (1 - lr wd) w, then adam                                       1 + 13
 *     adagrad    s += g g;  d = sqrt(s) + eps;  w -= lr g / d                    2 + 2 + 3
 *     rmsprop    v = a v + (1 - a) g g;  d = sqrt(v) + eps;  w -= lr g / d       4 + 2 + 3
 *     adafactor  norm of w;  w = (1 - lr wd) w                                       2 + 1
 *                sums of g g by row, by column;  v = row column / mean           2 + 2 + 2
 *                u = g rsqrt(max(v, eps));  norm of u;  w -= lr' u               3 + 2 + 2
 *     muon       m += (1 - mu)(g - m);  u = g + mu (m - g);  u /= norm of u      3 + 3 + 3
 *                five times A = u u', u = a u + (b A + c A A) u                   products
 *                w = (1 - lr wd) w;  w -= lr u                                       1 + 2
 *     lion       u = m + (1 - b1)(g - m);  w = (1 - lr wd) w                         3 + 1
 *                w -= lr sign(u);  m += (1 - b2)(g - m)                          1 + 2 + 3
 *     8 bits     a state is multiplied and divided by the scale of its block             2
 *
 * Adam to Muon are torch.optim's, without AMSGrad, momentum and centring; its lists of tensors
 * (foreach), the default on a GPU, hold temporaries of all parameters at once: Adam and RMSprop
 * the roots, Adagrad also its numerators. Lion, 8 bits and paged states are bitsandbytes'. */
#include "passes/training/optimizers.h"

#include "ir/value_info.h"
#include "support/checked.h"
#include "support/text.h"

/* bitsandbytes (optim/optimizer.py). */
#define QUANTIZED_FROM 4096   /* elements; smaller parameters keep states of 4 bytes */
#define BLOCK          256    /* elements of a state with a common scale, an fp32 */
#define PAGED_FROM     100000 /* elements; the states of smaller parameters are not paged */

#define MUON_FLOPS      12 /* per element, without the products */
#define MUON_ITERATIONS 5

static void as_parameter(const struct optimizer *optimizer, const struct value_info *parameter,
                         struct optimizer_cost *ret) {
    ret->state_bytes = checked_mul(
        optimizer->states, dtype_bytes(parameter->dtype, shape_elements(&parameter->shape)));
}

static void paged(const struct optimizer *optimizer, int64_t elements,
                  struct optimizer_cost *ret) {
    if (!optimizer->is_paged || elements < PAGED_FROM) return;
    ret->host_bytes = ret->state_bytes;
    ret->state_bytes = 0;
}

static void fp32(const struct optimizer *optimizer, const struct value_info *parameter,
                 struct optimizer_cost *ret) {
    const int64_t elements = shape_elements(&parameter->shape);
    ret->state_bytes = checked_mul(4 * optimizer->states, elements);
    paged(optimizer, elements, ret);
}

static void quantized(const struct optimizer *optimizer, const struct value_info *parameter,
                      struct optimizer_cost *ret) {
    const int64_t elements = shape_elements(&parameter->shape);
    const int64_t scales = checked_div_ceil(elements, BLOCK);
    if (is_known(elements) && elements < QUANTIZED_FROM) {
        fp32(optimizer, parameter, ret);
        return;
    }
    ret->state_bytes = checked_mul(optimizer->states, elements);
    paged(optimizer, elements, ret);
    checked_add_to(&ret->state_bytes, checked_mul(4 * optimizer->states, scales));
}

/* Adafactor: a row and a column for the second moment of each matrix. The loop over parameters
 * holds one estimate, of a vector also its squared gradient. */
static void factored(const struct optimizer *optimizer, const struct value_info *parameter,
                     struct optimizer_cost *ret) {
    const struct shape *shape = &parameter->shape;
    ret->is_alone = true;
    if (shape->rank < 2) {
        as_parameter(optimizer, parameter, ret);
        ret->temporary_bytes = checked_mul(2, ret->temporary_bytes);
        return;
    }
    const int64_t matrices = shape_product(shape, 0, shape->rank - 2);
    const int64_t sides =
        checked_add(shape->dims[shape->rank - 2], shape->dims[shape->rank - 1]);
    ret->state_bytes = dtype_bytes(parameter->dtype, checked_mul(matrices, sides));
}

/* Muon has a momentum for each matrix; other parameters have AdamW, as in the row. Besides
 * the nesterov update, the iteration in 16 bits holds the matrix, the next one and two products
 * of the length of its shorter side. */
static void muon(const struct optimizer *optimizer, const struct value_info *parameter,
                 struct optimizer_cost *ret) {
    const struct shape *shape = &parameter->shape;
    as_parameter(optimizer, parameter, ret);
    if (shape->rank != 2) return;
    const int64_t elements = shape_elements(shape);
    const int64_t side = shape->dims[0] < shape->dims[1] ? shape->dims[0] : shape->dims[1];
    const int64_t square = checked_mul(side, side);
    const int64_t macs =
        checked_add(checked_mul(2, checked_mul(side, elements)), checked_mul(square, side));
    ret->is_alone = true;
    ret->flops =
        checked_add(checked_mul(MUON_FLOPS, elements), checked_mul(2 * MUON_ITERATIONS, macs));
    ret->state_bytes = dtype_bytes(parameter->dtype, elements);
    ret->temporary_bytes = checked_add(checked_add(ret->state_bytes, checked_mul(4, elements)),
                                       checked_mul(4, square));
}

static const struct optimizer optimizers[] = {
    /* name, flops, states, rule, temporaries, is_paged */
    {"sgd", 2, 0, as_parameter, 0, false},
    {"momentum", 4, 1, as_parameter, 0, false},
    {"adam", 13, 2, as_parameter, 1, false},
    {"adamw", 14, 2, as_parameter, 1, false},
    {"adam-fused", 13, 2, as_parameter, 0, false},
    {"adamw-fused", 14, 2, as_parameter, 0, false},
    {"adagrad", 7, 1, as_parameter, 2, false},
    {"rmsprop", 9, 1, as_parameter, 1, false},
    {"adafactor", 16, 1, factored, 1, false},
    {"muon", 14, 2, muon, 1, false},
    {"lion", 10, 1, fp32, 0, false},
    {"lion8bit", 12, 1, quantized, 0, false},
    {"adam8bit", 17, 2, quantized, 0, false},
    {"adamw8bit", 18, 2, quantized, 0, false},
    {"paged-lion", 10, 1, fp32, 0, true},
    {"paged-lion8bit", 12, 1, quantized, 0, true},
    {"paged-adam", 13, 2, fp32, 0, true},
    {"paged-adam8bit", 17, 2, quantized, 0, true},
    {"paged-adamw", 14, 2, fp32, 0, true},
    {"paged-adamw8bit", 18, 2, quantized, 0, true},
};

const struct optimizer *optimizers_at(size_t index) {
    return index < sizeof(optimizers) / sizeof(optimizers[0]) ? &optimizers[index] : NULL;
}

const struct optimizer *optimizers_find(const char *name) {
    for (size_t i = 0; optimizers_at(i); i++)
        if (text_equal(optimizers[i].name, name)) return &optimizers[i];
    return NULL;
}

struct optimizer_cost optimizers_cost(const struct optimizer *optimizer,
                                      const struct value_info *parameter) {
    const int64_t elements = shape_elements(&parameter->shape);
    struct optimizer_cost cost = {
        .flops = checked_mul(optimizer->flops, elements),
        .temporary_bytes =
            checked_mul(optimizer->temporaries, dtype_bytes(parameter->dtype, elements))};
    optimizer->rule(optimizer, parameter, &cost);
    return cost;
}
