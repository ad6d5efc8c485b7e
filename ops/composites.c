/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas of operations that exporters take apart: see composites.h. A new one is a row.
 */
#include "ops/composites.h"

#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* clang-format off */
static const struct composite_pattern patterns[] = {
    {.name = "LayerNorm", .op = "LayerNormalization", .operands = "x scale shift",
     .attributes = "epsilon=eps axis=axis", .axes = AXES_TRAILING,
     .formula = "(x - ReduceMean(x)) / sqrt(ReduceMean((x - ReduceMean(x))^2) + eps) [* scale] [+ shift]"},
    {.name = "GELU", .op = "Gelu", .operands = "x",
     .formula = "0.5 * x * (1 + Erf(x / 1.41421356))"},
    {.name = "SiLU", .op = "Swish", .operands = "x", .formula = "x * Sigmoid(x)"},
};
/* clang-format on */

size_t composite_n_patterns(void) {
    return sizeof patterns / sizeof *patterns;
}

const struct composite_pattern *composite_pattern_at(size_t index) {
    BUG_ON(index >= composite_n_patterns());
    return &patterns[index];
}

const char *composite_operand_attr(const char *type, size_t slot) {
    static const struct {
        const char *type;
        size_t slot;
        const char *attr;
    } rows[] = {
        {"Clip", 1, "min"},
        {"Clip", 2, "max"},
        {"HardSigmoid", 1, "alpha"},
        {"HardSigmoid", 2, "beta"},
        {"InstanceNormalization", 3, "epsilon"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].slot == slot && text_equal(rows[i].type, type)) return rows[i].attr;
    return NULL;
}
