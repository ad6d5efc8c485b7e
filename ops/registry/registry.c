/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the families, each of which is defined at the end of its own file, and the search
 * over their rows. The search is linear: pass bind looks up each operator type of a model
 * once. */
#include "ops/registry/registry.h"

#include "support/diag.h"
#include "support/text.h"

/* clang-format off */
#define FAMILIES(X)                                                                            \
    X(activation) X(arithmetic) X(attention) X(cast) X(concat) X(constant) X(control)          \
    X(convolution) X(einsum) X(elementwise) X(gather) X(logic) X(loop) X(loss) X(matmul)       \
    X(ml) X(move) X(norm) X(optimizer) X(pad) X(pool) X(quantize) X(random) X(recurrent)       \
    X(reduce) X(reshape) X(resize) X(scan) X(scatter) X(select) X(sequence) X(signal)          \
    X(slice) X(softmax) X(string) X(transformer)                                               \
    X(contrib) X(contrib_attention) X(contrib_data) X(contrib_elements)                        \
    X(contrib_generation) X(contrib_nchwc) X(contrib_products) X(contrib_sparse)               \
    X(contrib_states)
/* clang-format on */

#define FAMILY_DECLARED(name) extern const struct op_family family_##name;
FAMILIES(FAMILY_DECLARED)

#define FAMILY_LISTED(name) &family_##name,
static const struct op_family *const families[] = {FAMILIES(FAMILY_LISTED)};

#define N_FAMILIES (sizeof(families) / sizeof(families[0]))

const char *registry_domain(const char *domain) {
    return text_equal(domain, "ai.onnx") ? "" : domain;
}

const struct op *registry_find(const char *domain, const char *type, int64_t opset) {
    const char *plain = registry_domain(domain);
    const struct op *best = NULL; /* all versions of an operator are in one family */
    for (size_t i = 0; i < N_FAMILIES && !best; i++)
        for (size_t k = 0; k < families[i]->n_rows; k++) {
            const struct op *row = &families[i]->rows[k];
            if (row->since > opset || (best && row->since <= best->since)) continue;
            if (text_equal(row->type, type) && text_equal(row->domain, plain)) best = row;
        }
    return best;
}

size_t registry_n_families(void) {
    return N_FAMILIES;
}

const struct op_family *registry_family(size_t index) {
    BUG_ON(index >= N_FAMILIES);
    return families[index];
}

const char *registry_free(const struct op_family *family, const struct op *op) {
    static const char *const by_memory[] = {
        [MEMORY_VIEW] = "a view",
        [MEMORY_SHAPE_ONLY] = "shape arithmetic",
        [MEMORY_VIEW_UNLESS_TRAINING] = "a view; a mask in training",
        [MEMORY_CONTROL] = "its body's",
    };
    if (op->cost.macs || (op->facets && op->facets->flops[FLOPS_DEEPSPEED])) return NULL;
    if (by_memory[op->memory]) return by_memory[op->memory];
    if (op->facets && op->facets->flops[FLOPS_EXACT]) return "arithmetic, counted by `exact`";
    return family->why_free ? family->why_free : "";
}
