/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of com.microsoft with a paged cache, a window or selected keys, and the indexers
 * that select them (attention.c has the common forms).
 *     MACs = queries * heads * keys per query * (d + v) + projections
 * where queries are those of all requests, and a key head has d and a value head v columns. The
 * number of keys per query is data-dependent: caches, page tables and selections are assumed
 * full. FLOPs = 2 * MACs + 1 per score, for the softmax. An indexer scores entries, which are
 * blocks of keys, by all of its heads: MACs = queries * heads * entries * columns */
#include "ops/contrib/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

struct sizes {
    int64_t queries, heads, keys; /* keys per query */
    int64_t key, value;           /* columns of one head */
    int64_t projections;          /* MACs of the projections */
};

static const struct sizes unknown = {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN,
                                     DIM_UNKNOWN, DIM_UNKNOWN, 0};

static int64_t smaller(int64_t a, int64_t b) {
    if (!is_known(a) || !is_known(b)) return DIM_UNKNOWN;
    return a < b ? a : b;
}

static int check_heads(const struct op_context *context) {
    const int64_t heads = op_attr_int(context, "num_heads");
    const bool shared = op_has_attr(context, "kv_num_heads");
    return contrib_check_heads(context, heads,
                               shared ? op_attr_int(context, "kv_num_heads") : heads);
}

/* Query [S, B, H], key [L, B, H], weights [H, H] and [H, 2 H]; caches [B, heads, P, d]. With
 * static_kv (8) the keys are those of an encoder; with use_past (9) the cache has past keys. */
static struct sizes read_decoder(const struct op_context *context) {
    struct sizes s = unknown;
    const bool of_encoder = contrib_flag(context, 8);
    const bool past = contrib_flag(context, 9);
    const bool makes_keys = !(of_encoder && past);
    const int64_t steps = common_dim(context, 0, 3, 0);
    const int64_t batch = common_dim(context, 0, 3, 1);
    const int64_t columns = common_dim(context, 0, 3, 2);
    const int64_t made = common_dim(context, of_encoder ? 1 : 0, 3, 0); /* keys of this call */
    const int64_t cached = common_dim(context, 6, 4, 2);
    const int64_t rows = checked_add(steps, makes_keys ? checked_mul(2, made) : 0);
    s.heads = op_attr_int(context, "num_heads");
    s.queries = checked_mul(steps, batch);
    s.keys = past ? checked_add(cached, made) : made;
    if (!makes_keys) s.keys = cached;
    s.key = common_divide(columns, s.heads);
    s.value = s.key;
    s.projections = checked_mul(checked_mul(batch, rows), checked_mul(columns, columns));
    return s;
}

static int infer_decoder(struct op_context *context) {
    const struct sizes s = read_decoder(context);
    const int64_t cache[] = {common_dim(context, 0, 3, 1), s.heads, s.keys, s.key};
    int status = check_heads(context);
    if (status == CM_OK) status = common_infer_same(context);
    if (status == CM_OK) status = op_output_dims(context, 1, op_dtype(context, 0), 4, cache);
    return status < 0 ? status : op_output_dims(context, 2, op_dtype(context, 0), 4, cache);
}

/* Input [B, S, D]; a query attends to the window on both sides. Global attention is
 * data-dependent: only its projections are counted. */
static struct sizes read_longformer(const struct op_context *context) {
    struct sizes s = unknown;
    const bool quantized = text_equal(context->op->type, "QOrderedLongformerAttention");
    const int64_t length = common_dim(context, 0, 3, 1);
    const int64_t columns = common_dim(context, 0, 3, 2);
    const int64_t made = checked_add(common_dim(context, quantized ? 2 : 1, 2, 1),
                                     common_dim(context, quantized ? 8 : 4, 2, 1));
    const int64_t window = checked_add(1, checked_mul(2, op_attr_int(context, "window")));
    s.heads = op_attr_int(context, "num_heads");
    s.queries = checked_mul(common_dim(context, 0, 3, 0), length);
    s.keys = smaller(length, window);
    s.key = common_divide(columns, s.heads);
    s.value = s.key;
    s.projections = checked_mul(s.queries, checked_mul(columns, made));
    return s;
}

static int infer_longformer(struct op_context *context) {
    int status = check_heads(context);
    if (status == CM_OK && op_attr_int(context, "window") < 1)
        status = op_fail(context, DIAG_ATTRIBUTE, "window must be >= 1, got %lld",
                         (long long)op_attr_int(context, "window"));
    return status < 0 ? status : common_infer_same(context);
}

/* Input [B, S, D], weights of queries, keys and values [D, H] each. */
static struct sizes read_ordered(const struct op_context *context) {
    struct sizes s = unknown;
    const int64_t length = common_dim(context, 0, 3, 1);
    const int64_t keys =
        checked_add(common_dim(context, 5, 2, 1), common_dim(context, 6, 2, 1));
    const int64_t made = checked_add(keys, common_dim(context, 7, 2, 1));
    s.heads = op_attr_int(context, "num_heads");
    s.queries = checked_mul(common_dim(context, 0, 3, 0), length);
    s.keys = length;
    s.key = common_divide(common_dim(context, 6, 2, 1), s.heads);
    s.value = common_divide(common_dim(context, 7, 2, 1), s.heads);
    s.projections = checked_mul(s.queries, checked_mul(common_dim(context, 0, 3, 2), made));
    return s;
}

static int infer_ordered(struct op_context *context) {
    const int64_t dims[] = {common_dim(context, 0, 3, 0), common_dim(context, 0, 3, 1),
                            common_dim(context, 7, 2, 1)};
    int status = check_heads(context);
    return status < 0 ? status : op_output_dims(context, 0, op_dtype(context, 0), 3, dims);
}

/* Input 0 is [.., columns of the heads]; without input 1 it also has the keys and values. */
static struct sizes read_shared(const struct op_context *context, int64_t keys) {
    struct sizes s = unknown;
    s.queries = contrib_rows(context);
    s.heads = op_attr_int(context, "num_heads");
    const int64_t packed = checked_mul(2, op_attr_int(context, "kv_num_heads"));
    s.key = common_divide(common_last_dim(context, 0),
                          op_has_input(context, 1) ? s.heads : checked_add(s.heads, packed));
    s.value = s.key;
    s.keys = keys;
    return s;
}

/* Caches [B, heads, length, d]; input 7 is the used length. */
static struct sizes read_blocks(const struct op_context *context) {
    const int64_t total = common_length(context, 7);
    return read_shared(context, is_known(total) ? total : common_dim(context, 3, 4, 2));
}

/* Pages [pages, places, heads, d]; a request has a page per column of the table, input 7. */
static int64_t paged_keys(const struct op_context *context) {
    return checked_mul(common_dim(context, 7, 2, 1), common_dim(context, 3, 4, 1));
}

/* Latent values are the first v_head_size columns of a key. */
static struct sizes read_paged(const struct op_context *context) {
    struct sizes s = read_shared(context, paged_keys(context));
    const int64_t value = op_attr_int(context, "v_head_size");
    const bool latent = text_equal(op_attr_string(context, "kv_cache_layout"), "LATENT");
    if (latent) s.key = common_divide(common_dim(context, 0, 2, 1), s.heads);
    s.value = value > 0 ? value : s.key;
    return s;
}

/* Keys: the selected ones, plus the local window in mode local_plus_selected. */
static struct sizes read_selected(const struct op_context *context) {
    const bool paged = text_equal(context->op->type, "SparsePagedAttention");
    const int64_t window = op_attr_int(context, "local_window_size");
    int64_t keys = common_dim(context, paged ? 9 : 7, 2, 1);
    if (text_equal(op_attr_string(context, "attention_mode"), "local_plus_selected")) {
        const int64_t all = paged ? paged_keys(context) : common_length(context, 10);
        checked_add_to(&keys, window < 0 ? all : window);
    }
    return read_shared(context, keys);
}

struct reading {
    const char *type;
    struct sizes (*read)(const struct op_context *context);
};

static const struct reading readings[] = {
    {"DecoderAttention", read_decoder},
    {"LongformerAttention", read_longformer},
    {"QOrderedLongformerAttention", read_longformer},
    {"QOrderedAttention", read_ordered},
    {"SparseAttention", read_blocks},
    {"PagedAttention", read_paged},
    {"SparsePagedAttention", read_selected},
    {"DynamicSparseAttention", read_selected},
};

static struct sizes sizes_of(const struct op_context *context) {
    size_t i = 0;
    while (!text_equal(readings[i].type, context->op->type)) i++;
    return readings[i].read(context);
}

/* The caches are outputs of unchanged shape; without a cache (DynamicSparseAttention) the
 * outputs 1 and 2 are the keys and values of this call. */
static int infer_cached(struct op_context *context) {
    const struct sizes s = sizes_of(context);
    int status = check_heads(context);
    if (status == CM_OK) status = common_check_rank(context, 0, 2);
    if (status < 0) return status;
    status =
        contrib_output_last(context, 0, op_dtype(context, 0), checked_mul(s.heads, s.value));
    if (op_has_input(context, 3)) {
        if (status == CM_OK) status = op_output_like(context, 1, 3);
        return status < 0 ? status : op_output_like(context, 2, 4);
    }
    const int64_t dims[] = {common_dim(context, 0, 3, 0), op_attr_int(context, "kv_num_heads"),
                            common_length(context, 10), s.key};
    if (status == CM_OK) status = op_output_dims(context, 1, op_dtype(context, 0), 4, dims);
    return status < 0 ? status : op_output_dims(context, 2, op_dtype(context, 0), 4, dims);
}

static int64_t n_scores(const struct op_context *context) {
    const struct sizes s = sizes_of(context);
    return checked_mul(checked_mul(s.queries, s.heads), s.keys);
}

/* Not a cache of latent vectors, which has no values of its own. */
static bool attends(const struct op_context *context, struct op_attention *ret) {
    const struct sizes s = sizes_of(context);
    *ret = (struct op_attention){.heads = s.heads,
                                 .kv_heads = op_attr_int(context, "kv_num_heads"),
                                 .key_columns = s.key,
                                 .value_columns = s.value,
                                 .keys = op_has_input(context, 1) ? 1 : -1,
                                 .values = op_has_input(context, 2) ? 2 : -1,
                                 .mask = -1,
                                 .is_causal = true};
    return ret->kv_heads > 0 && is_known(s.heads) && is_known(s.key) && is_known(s.value) &&
           !text_equal(op_attr_string(context, "kv_cache_layout"), "LATENT");
}

static void macs_attention(const struct op_context *context, struct product *ret) {
    const struct sizes s = sizes_of(context);
    const int64_t columns = checked_add(s.key, s.value);
    if (s.projections == 0) {
        product_add(ret, "queries", s.queries);
        product_add(ret, "heads", s.heads);
        product_add(ret, "keys of a query", s.keys);
        product_add(ret, "columns of key and value", columns);
        return;
    }
    product_add(ret, "projections, and scores x columns of key and value",
                checked_add(s.projections, checked_mul(n_scores(context), columns)));
}

/* An indexer scores every block of `compress_ratio` keys and selects the best blocks. It
 * returns the indices of all tokens in these blocks (policy "qsa") or of the blocks ("csa"). */
struct indexer {
    int64_t columns, heads;
    int64_t capacity; /* indices per query */
    bool blocks;      /* the policy is "qsa" */
};

static struct indexer read_indexer(const struct op_context *context) {
    struct indexer x = {.columns = common_dim(context, 2, 1, 0)};
    const int64_t ratio = op_attr_int(context, "compress_ratio");
    const int64_t rows = common_last_dim(context, 0);
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
        return op_fail(context, DIAG_ATTRIBUTE, "policy_mode must be qsa or csa, got '%s'",
                       mode);
    if (ratio >= 1) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE, "compress_ratio must be >= 1, got %lld",
                   (long long)ratio);
}

/* Returns the number of keys that a call adds to the cache: one per token, or with "csa" one
 * per window that its tokens and the waiting tokens complete. Sets *ret_waiting to the length
 * of the buffer of waiting tokens after the call. */
static int64_t new_entries(const struct op_context *context, const struct indexer *x,
                           int64_t *ret_waiting) {
    const int64_t ratio = op_attr_int(context, "compress_ratio");
    const int64_t fresh = common_dim(context, 0, 3, 1);
    const bool buffered = op_has_input(context, 13);
    const int64_t waits = buffered ? common_dim(context, 13, 4, 2) : 0;
    *ret_waiting = DIM_UNKNOWN;
    if (x->blocks) return fresh;
    if (!is_known(waits) || !is_known(fresh) || ratio < 1) return DIM_UNKNOWN;
    const int64_t open = waits >= ratio ? waits - ratio : waits; /* in the current window */
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
    const int64_t more = new_entries(context, &x, &waiting);
    const bool fixed = op_has_input(context, 12); /* the cache has its final size */
    const int64_t indices[] = {batch, common_dim(context, 0, 3, 1), x.capacity};
    const int64_t keys[] = {batch, fixed ? before : checked_add(before, more), x.columns};
    const int64_t buffer[] = {2, batch, waiting, checked_mul(2, x.columns)};
    int status = check_indexer(context);
    if (status == CM_OK) status = op_output_dims(context, 0, DTYPE_INT32, 3, indices);
    if (status == CM_OK) status = op_output_dims(context, 1, op_dtype(context, 0), 3, keys);
    return status < 0 ? status : op_output_dims(context, 2, op_dtype(context, 0), 4, buffer);
}

static int infer_packed_indexer(struct op_context *context) {
    static const size_t states[] = {12, 13, 14, 15}; /* outputs of unchanged shape */
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

static void add_scores(const struct op_context *context, int64_t entries, struct product *ret) {
    const struct indexer x = read_indexer(context);
    product_add(ret, "queries", contrib_rows(context));
    product_add(ret, "heads", x.heads);
    product_add(ret, "entries", entries);
    product_add(ret, "columns", x.columns);
}

static void macs_indexer(const struct op_context *context, struct product *ret) {
    const struct shape *key_shape = op_output_shape(context, 1);
    const int64_t keys = key_shape->rank == 3 ? key_shape->dims[1] : DIM_UNKNOWN;
    const bool blocks = read_indexer(context).blocks;
    add_scores(context,
               blocks ? common_divide(keys, op_attr_int(context, "compress_ratio")) : keys,
               ret);
}

static void macs_packed_indexer(const struct op_context *context, struct product *ret) {
    add_scores(context, common_dim(context, 12, 3, 1), ret); /* the state has its final size */
}

/* clang-format off */
#define SCORES(name, infer_fn, are, letters, ...)                                              \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1, DEEPSPEED(PLUS(n_scores, "scores")),                       \
                  MODELLED_PRODUCT(NO_FUSED), __VA_ARGS__),                                    \
        .infer = infer_fn, .cost = {macs_attention, are}, .param_roles = letters,              \
        .backward.saved_for_backward = "-"                                                     \
    }
#define INDEXER(name, infer_fn, count, letters)                                                \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1, MODELLED_PRODUCT(NO_FUSED)), .infer = infer_fn,            \
        .cost = {count, "queries x heads x entries x columns"},                                \
        .param_roles = letters, .backward.saved_for_backward = "-"                             \
    }
#define ALL       "scores x (columns of a key and of a value)"
#define PROJECTED "projections, and scores x (columns of a key and of a value)"

static const struct op rows[] = {
    /*     type                         shape rule        are        roles */
    SCORES(DecoderAttention,            infer_decoder,    PROJECTED, "xxWWWmxxi",            INTEGERS(INTEGERS_BY_TYPES)),
    SCORES(LongformerAttention,         infer_longformer, PROJECTED, "xWWmWWi",              INTEGERS(INTEGERS_BY_TYPES)),
    SCORES(QOrderedLongformerAttention, infer_longformer, PROJECTED, "xiWiWiimWiWiii",       INTEGERS(INTEGERS_PRODUCTS)),
    SCORES(QOrderedAttention,           infer_ordered,    PROJECTED, "xiiiiWWWiiiWWWiiimxm", INTEGERS(INTEGERS_PRODUCTS)),
    SCORES(SparseAttention,             infer_cached,     ALL, "xxxxxiiiimm",           ATTENDS(attends), EXTENDS(1, 3, 2)),
    SCORES(PagedAttention,              infer_cached,     ALL, "xxxxxiiimmimnniii",     ATTENDS(attends), EXTENDS(1, 3, 2)),
    SCORES(SparsePagedAttention,        infer_cached,     ALL, "xxxxxiiiiiixximmmnniii", ATTENDS(attends), EXTENDS(1, 3, 2)),
    SCORES(DynamicSparseAttention,      infer_cached,     ALL, "xxxxxxxiiiimminnm",     ATTENDS(attends), EXTENDS(1, 3, 2)),
    INDEXER(SparseAttentionIndexer,       infer_indexer,        macs_indexer,        "xxnnmmmxxnxiix"),
    INDEXER(PackedSparseAttentionIndexer, infer_packed_indexer, macs_packed_indexer, "xxnnmmiixnxixxxiii"),
};
/* clang-format on */

OP_FAMILY(contrib_sparse, .declines = FACETS_RARE | FACET_BOUNDS);
