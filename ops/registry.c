/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The families, one line each, and the search over their rows. Look-ups are linear: pass bind
 * asks once for each operator type of a model and keeps the answer.
 */
#include "ops/registry.h"

#include "ops/families.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static const struct op_family *const families[] = {
    &family_activation,
    &family_arithmetic,
    &family_attention,
    &family_cast,
    &family_concat,
    &family_constant,
    &family_control,
    &family_convolution,
    &family_einsum,
    &family_elementwise,
    &family_gather,
    &family_logic,
    &family_loop,
    &family_loss,
    &family_matmul,
    &family_ml,
    &family_move,
    &family_norm,
    &family_optimizer,
    &family_pad,
    &family_pool,
    &family_quantize,
    &family_random,
    &family_recurrent,
    &family_reduce,
    &family_reshape,
    &family_resize,
    &family_scan,
    &family_scatter,
    &family_select,
    &family_sequence,
    &family_signal,
    &family_slice,
    &family_softmax,
    &family_string,
    &family_transformer,
    &family_contrib,
    &family_contrib_attention,
    &family_contrib_data,
    &family_contrib_elements,
    &family_contrib_generation,
    &family_contrib_nchwc,
    &family_contrib_products,
    &family_contrib_sparse,
    &family_contrib_states,
};

#define N_FAMILIES (sizeof(families) / sizeof(families[0]))

const char *registry_domain(const char *domain) {
    return text_equal(domain, "ai.onnx") ? "" : domain;
}

static const struct op *find_in_family(const struct op_family *family, const char *domain,
                                       const char *type, int64_t opset) {
    const struct op *best = NULL;
    for (size_t i = 0; i < family->n_rows; i++) {
        const struct op *row = &family->rows[i];
        if (row->since > opset || (best && row->since <= best->since)) continue;
        if (text_equal(row->type, type) && text_equal(row->domain, domain)) best = row;
    }
    return best;
}

const struct op *registry_find(const char *domain, const char *type, int64_t opset) {
    const char *plain = registry_domain(domain);
    for (size_t i = 0; i < N_FAMILIES; i++) {
        const struct op *row = find_in_family(families[i], plain, type, opset);
        if (row) return row; /* all versions of an operator are in one family */
    }
    return NULL;
}

size_t registry_n_families(void) {
    return N_FAMILIES;
}

const struct op_family *registry_family(size_t index) {
    BUG_ON(index >= N_FAMILIES);
    return families[index];
}

static const char *const by_memory[] = {
    [MEMORY_VIEW] = "a view",
    [MEMORY_SHAPE_ONLY] = "shape arithmetic",
    [MEMORY_VIEW_UNLESS_TRAINING] = "a view; a mask in training",
    [MEMORY_CONTROL] = "its body's",
};

const char *registry_free(const struct op_family *family, const struct op *op) {
    const struct op_cost *cost = &op->cost;
    if (cost->macs || cost->extra || cost->per_input != 0 || cost->per_output != 0) return NULL;
    if (by_memory[op->memory]) return by_memory[op->memory];
    if (op->facets && op->facets->flops[FLOPS_EXACT]) return "arithmetic, counted by `exact`";
    return family->free ? family->free : "";
}
