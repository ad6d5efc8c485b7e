/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Indexers of sparse attention (com.microsoft): each scores blocks of keys, by all of its
 * heads, and gives the best of them. MACs = queries * heads * entries * columns
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/product.h"
#include "ops/signatures.gen.h"

#include "support/banned.h"

/* [B, S, ..] or, packed without padding, [tokens, ..]. */
static int64_t n_queries(const struct op_context *context) {
    const struct shape *q = op_shape(context, 0);
    return q->rank < 1 ? DIM_UNKNOWN : shape_product(q, 0, q->rank - 1);
}

/*
 * An indexer scores every block of `compress_ratio` keys by all of its heads, and gives the
 * best: "qsa" blocks of tokens, which it lists one by one, "csa" entries that it compressed.
 */
struct indexer {
    int64_t columns, heads;
    int64_t capacity; /* of a query */
    bool blocks;      /* "qsa" */
};

static struct indexer read_indexer(const struct op_context *context) {
    struct indexer x = {.columns = common_dim(context, 2, 1, 0)};
    const int64_t ratio = op_attr_int(context, "compress_ratio");
    const int rank = op_rank(context, 0);
    const int64_t rows = rank < 1 ? DIM_UNKNOWN : op_dim(context, 0, rank - 1);
    x.blocks = text_equal(op_attr_string(context, "policy_mode"), "qsa");
    x.heads = checked_sub(common_divide(rows, x.columns), op_has_input(context, 1) ? 0 : 1);
    if (is_known(x.heads) && x.heads < 0) x.heads = DIM_UNKNOWN;
    x.capacity = op_attr_int(context, "index_topk");
    if (x.blocks)
        x.capacity = checked_add(op_attr_int(context, "token_budget"), checked_sub(ratio, 1));
    return x;
}

static int check_indexer(const struct op_context *context) {
    const char *mode = op_attr_string(context, "policy_mode");
    const int64_t ratio = op_attr_int(context, "compress_ratio");
    if (!text_equal(mode, "qsa") && !text_equal(mode, "csa"))
        return op_fail(context, DIAG_ATTRIBUTE, "policy_mode is '%s', expected qsa or csa",
                       mode);
    if (ratio >= 1) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE, "compress_ratio is %lld, 1 or more is wanted",
                   (long long)ratio);
}

/* What one call adds: its tokens, or as many windows as they and those that wait fill. */
static int64_t grown(const struct op_context *context, const struct indexer *x,
                     int64_t *ret_waiting) {
    const int64_t ratio = op_attr_int(context, "compress_ratio");
    const int64_t fresh = common_dim(context, 0, 3, 1);
    const bool buffered = op_has_input(context, 13);
    const int64_t waits = buffered ? common_dim(context, 13, 4, 2) : 0;
    *ret_waiting = DIM_UNKNOWN;
    if (x->blocks) return fresh;
    if (!is_known(waits) || !is_known(fresh) || ratio < 1) return DIM_UNKNOWN;
    const int64_t open = waits >= ratio ? waits - ratio : waits; /* of the current window */
    const int64_t tokens = checked_add(open, fresh);
    if (!is_known(tokens)) return DIM_UNKNOWN;
    const int64_t windows = tokens / ratio;
    *ret_waiting = checked_add(windows > 0 || waits >= ratio ? ratio : 0, tokens % ratio);
    return windows;
}

static int infer_indexer(struct op_context *context) {
    const struct indexer x = read_indexer(context);
    const int64_t batch = common_dim(context, 0, 3, 0);
    const int64_t before = common_dim(context, 7, 3, 1);
    int64_t waiting = DIM_UNKNOWN;
    const int64_t more = grown(context, &x, &waiting);
    const bool fixed = op_has_input(context, 12); /* the cache has room for all */
    const int64_t indices[] = {batch, common_dim(context, 0, 3, 1), x.capacity};
    const int64_t keys[] = {batch, fixed ? before : checked_add(before, more), x.columns};
    const int64_t buffer[] = {2, batch, waiting, checked_mul(2, x.columns)};
    int status = check_indexer(context);
    if (status == CM_OK) status = op_output_dims(context, 0, DTYPE_INT32, 3, indices);
    if (status == CM_OK) status = op_output_dims(context, 1, op_dtype(context, 0), 3, keys);
    return status < 0 ? status : op_output_dims(context, 2, op_dtype(context, 0), 4, buffer);
}

static int infer_packed_indexer(struct op_context *context) {
    static const size_t states[] = {12, 13, 14, 15}; /* handed on as they came */
    const struct indexer x = read_indexer(context);
    const int64_t tokens = common_dim(context, 0, 2, 0);
    const int64_t indices[] = {tokens, x.capacity};
    const int64_t updates[] = {common_dim(context, 12, 3, 0),
                               op_attr_int(context, "state_update_capacity"), x.columns};
    int status = check_indexer(context);
    if (status == CM_OK) status = op_output_dims(context, 0, DTYPE_INT32, 2, indices);
    if (status == CM_OK) status = op_output_dims(context, 1, DTYPE_INT32, 1, &tokens);
    for (size_t i = 0; i < 4 && status == CM_OK; i++)
        status = op_output_like(context, 2 + i, states[i]);
    return status < 0 ? status : op_output_dims(context, 6, op_dtype(context, 0), 3, updates);
}

/* Entries that a query is scored against: blocks of all keys, or those that are compressed. */
static void add_scores(const struct op_context *context, int64_t entries, struct product *ret) {
    const struct indexer x = read_indexer(context);
    product_add(ret, "queries", n_queries(context));
    product_add(ret, "heads", x.heads);
    product_add(ret, "entries", entries);
    product_add(ret, "columns", x.columns);
}

static void macs_indexer(const struct op_context *context, struct product *ret) {
    const struct shape *kept = op_output_shape(context, 1);
    const int64_t keys = kept->rank == 3 ? kept->dims[1] : DIM_UNKNOWN;
    const bool blocks = read_indexer(context).blocks;
    add_scores(context,
               blocks ? common_divide(keys, op_attr_int(context, "compress_ratio")) : keys,
               ret);
}

static void macs_packed_indexer(const struct op_context *context, struct product *ret) {
    add_scores(context, common_dim(context, 12, 3, 1), ret); /* the state has room for all */
}

/* clang-format off */
#define INDEXER(name, infer_fn, count, letters)                                                \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1), .infer = infer_fn,                                        \
        .cost = {.macs = count, .macs_formula = "queries x heads x entries x columns"},        \
        .param_roles = letters, .backward.saved_for_backward = "-"                             \
    }

static const struct op rows[] = {
    /*      type                          shape rule            MACs                 roles */
    INDEXER(SparseAttentionIndexer,       infer_indexer,        macs_indexer,        "xxnnmmmxxnxiix"),
    INDEXER(PackedSparseAttentionIndexer, infer_packed_indexer, macs_packed_indexer, "xxnnmmiixnxixxxiii"),
};
/* clang-format on */

const struct op_family family_vendor_indexer = {"vendor_indexer", rows,
                                                sizeof rows / sizeof *rows, NULL};
