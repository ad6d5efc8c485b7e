/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention of ONNX Runtime's own domain beside the common forms of contrib_attention.c
 * (com.microsoft): with its cache in pages, over a window, over keys that an indexer selected.
 *     MACs = queries * heads * keys of a query * (d + v), and the projections
 * queries of all requests. How many keys a query really meets is data: a cache, a page table
 * and a selection are taken to be full. FLOPs = 2 * MACs + 1 a score, the softmax.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/product.h"
#include "ops/signatures.gen.h"

#include "support/banned.h"

/* All DIM_UNKNOWN where they are not known. */
struct sizes {
    int64_t queries, heads, keys; /* keys that one query meets */
    int64_t key, value;           /* columns of one head */
    int64_t projections;          /* MACs in front of the scores */
};

static const struct sizes unknown = {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN,
                                     DIM_UNKNOWN, DIM_UNKNOWN, 0};

static int64_t smaller(int64_t a, int64_t b) {
    if (!is_known(a) || !is_known(b)) return DIM_UNKNOWN;
    return a < b ? a : b;
}

/* Whether a flag is set that stands in an operand; 0 where it is not known. */
static bool has_flag(const struct op_context *context, size_t i) {
    const struct constant *flag = common_contents(context, i);
    return flag && constant_has_ints(flag) && flag->n_elements > 0 &&
           constant_int_at(flag, 0) != 0;
}

static int check_heads(const struct op_context *context) {
    const int64_t heads = op_attr_int(context, "num_heads");
    const bool shared = op_has_attr(context, "kv_num_heads");
    const int64_t kept = shared ? op_attr_int(context, "kv_num_heads") : heads;
    if (heads >= 1 && kept >= 1 && heads % kept == 0) return CM_OK;
    return op_fail(context, DIAG_ATTRIBUTE, "%lld heads of queries, %lld of keys",
                   (long long)heads, (long long)kept);
}

/*
 * Query [S, B, H], key [L, B, H], weights [H, H] and [H, 2 H]; caches [B, heads, P, d]. With
 * static_kv (8) keys are those of an encoder, with use_past (9) they or those so far are
 * cached.
 */
static int64_t decoder_keys(const struct op_context *context) {
    const bool of_encoder = has_flag(context, 8);
    const bool past = has_flag(context, 9);
    const int64_t cached = common_dim(context, 6, 4, 2);
    if (past && of_encoder) return cached;
    const int64_t made = common_dim(context, of_encoder ? 1 : 0, 3, 0);
    return past ? checked_add(cached, made) : made;
}

static struct sizes read_decoder(const struct op_context *context) {
    struct sizes s = unknown;
    const int64_t batch = common_dim(context, 0, 3, 1);
    const int64_t columns = common_dim(context, 0, 3, 2);
    const int64_t matrix = checked_mul(columns, columns);
    const bool makes_keys = !(has_flag(context, 8) && has_flag(context, 9));
    const int64_t made = common_dim(context, has_flag(context, 8) ? 1 : 0, 3, 0);
    const int64_t rows = makes_keys ? checked_mul(2, made) : 0;
    s.heads = op_attr_int(context, "num_heads");
    s.queries = checked_mul(common_dim(context, 0, 3, 0), batch);
    s.keys = decoder_keys(context);
    s.key = common_divide(columns, s.heads);
    s.value = s.key;
    s.projections = checked_mul(
        checked_mul(batch, checked_add(common_dim(context, 0, 3, 0), rows)), matrix);
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

/* Input [B, S, D]; each query meets the window to both sides, those that see all are data. */
static struct sizes read_window(const struct op_context *context, size_t weight,
                                size_t global) {
    struct sizes s = unknown;
    const int64_t length = common_dim(context, 0, 3, 1);
    const int64_t columns = common_dim(context, 0, 3, 2);
    const int64_t made =
        checked_add(common_dim(context, weight, 2, 1), common_dim(context, global, 2, 1));
    const int64_t window = checked_add(1, checked_mul(2, op_attr_int(context, "window")));
    s.heads = op_attr_int(context, "num_heads");
    s.queries = checked_mul(common_dim(context, 0, 3, 0), length);
    s.keys = smaller(length, window);
    s.key = common_divide(columns, s.heads);
    s.value = s.key;
    s.projections = checked_mul(s.queries, checked_mul(columns, made));
    return s;
}

static struct sizes read_longformer(const struct op_context *context) {
    return read_window(context, 1, 4);
}

static struct sizes read_ordered_longformer(const struct op_context *context) {
    return read_window(context, 2, 8);
}

static int infer_longformer(struct op_context *context) {
    int status = check_heads(context);
    if (status == CM_OK && op_attr_int(context, "window") < 1)
        status = op_fail(context, DIAG_ATTRIBUTE, "window is %lld, 1 or more is wanted",
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

/* Columns of a head of queries [.., columns], which keys and values may be packed into. */
static int64_t head_columns(const struct op_context *context) {
    const int rank = op_rank(context, 0);
    const int64_t heads = op_attr_int(context, "num_heads");
    const int64_t kept = checked_mul(2, op_attr_int(context, "kv_num_heads"));
    const int64_t columns = rank < 1 ? DIM_UNKNOWN : op_dim(context, 0, rank - 1);
    return common_divide(columns, op_has_input(context, 1) ? heads : checked_add(heads, kept));
}

/* [B, S, ..] or, packed without padding, [tokens, ..]. */
static int64_t n_queries(const struct op_context *context) {
    const struct shape *q = op_shape(context, 0);
    return q->rank < 1 ? DIM_UNKNOWN : shape_product(q, 0, q->rank - 1);
}

static struct sizes read_shared(const struct op_context *context, int64_t keys) {
    struct sizes s = unknown;
    s.queries = n_queries(context);
    s.heads = op_attr_int(context, "num_heads");
    s.key = head_columns(context);
    s.value = s.key;
    s.keys = keys;
    return s;
}

/* Caches [B, heads, length, d]: a scalar tells how much of them there is. */
static struct sizes read_blocks(const struct op_context *context) {
    const int64_t total = common_length(context, 7);
    return read_shared(context, is_known(total) ? total : common_dim(context, 3, 4, 2));
}

/* Pages [pages, places, heads, d], as many of a request as the page table has columns. */
static int64_t paged_keys(const struct op_context *context) {
    return checked_mul(common_dim(context, 7, 2, 1), common_dim(context, 3, 4, 1));
}

/* Latent values are the front of a key's row, whose width an attribute tells. */
static struct sizes read_paged(const struct op_context *context) {
    struct sizes s = read_shared(context, paged_keys(context));
    const int64_t value = op_attr_int(context, "v_head_size");
    const bool latent = text_equal(op_attr_string(context, "kv_cache_layout"), "LATENT");
    if (latent) s.key = common_divide(common_dim(context, 0, 2, 1), s.heads);
    s.value = value > 0 ? value : s.key;
    return s;
}

/* Those that were selected, and where they are added the window of those right before. */
static int64_t selected_keys(const struct op_context *context, size_t selected, int64_t all) {
    const int64_t window = op_attr_int(context, "local_window_size");
    const int64_t most = common_dim(context, selected, 2, 1);
    if (!text_equal(op_attr_string(context, "attention_mode"), "local_plus_selected"))
        return most;
    return checked_add(most, window < 0 ? all : window);
}

static struct sizes read_selected_pages(const struct op_context *context) {
    return read_shared(context, selected_keys(context, 9, paged_keys(context)));
}

static struct sizes read_selected(const struct op_context *context) {
    return read_shared(context, selected_keys(context, 7, common_length(context, 10)));
}

static int output_heads(struct op_context *context, const struct sizes *s) {
    const struct shape *q = op_shape(context, 0);
    int64_t dims[SHAPE_MAX_RANK];
    int status = check_heads(context);
    if (status == CM_OK) status = common_check_rank(context, 0, 2);
    if (status < 0 || !shape_has_rank(q))
        return status < 0 ? status : common_infer_unknown_rank(context);
    for (int axis = 0; axis < q->rank; axis++) dims[axis] = q->dims[axis];
    dims[q->rank - 1] = checked_mul(s->heads, s->value);
    return op_output_dims(context, 0, op_dtype(context, 0), q->rank, dims);
}

/* Caches are handed on as they came. */
static int output_caches(struct op_context *context, const struct sizes *s) {
    int status = output_heads(context, s);
    if (status == CM_OK) status = op_output_like(context, 1, 3);
    return status < 0 ? status : op_output_like(context, 2, 4);
}

static int infer_blocks(struct op_context *context) {
    const struct sizes s = read_blocks(context);
    return output_caches(context, &s);
}

static int infer_paged(struct op_context *context) {
    const struct sizes s = read_paged(context);
    return output_caches(context, &s);
}

static int infer_selected_pages(struct op_context *context) {
    const struct sizes s = read_selected_pages(context);
    return output_caches(context, &s);
}

/* Without a cache what is handed on is as long as there are keys. */
static int infer_selected(struct op_context *context) {
    const struct sizes s = read_selected(context);
    const int64_t kept[] = {common_dim(context, 0, 3, 0), op_attr_int(context, "kv_num_heads"),
                            common_length(context, 10), s.key};
    if (op_has_input(context, 3)) return output_caches(context, &s);
    int status = output_heads(context, &s);
    if (status == CM_OK) status = op_output_dims(context, 1, op_dtype(context, 0), 4, kept);
    return status < 0 ? status : op_output_dims(context, 2, op_dtype(context, 0), 4, kept);
}

struct reading {
    const char *type;
    struct sizes (*read)(const struct op_context *context);
};

static const struct reading readings[] = {
    {"DecoderAttention", read_decoder},
    {"LongformerAttention", read_longformer},
    {"QOrderedLongformerAttention", read_ordered_longformer},
    {"QOrderedAttention", read_ordered},
    {"SparseAttention", read_blocks},
    {"PagedAttention", read_paged},
    {"SparsePagedAttention", read_selected_pages},
    {"DynamicSparseAttention", read_selected},
};

static struct sizes sizes_of(const struct op_context *context) {
    size_t i = 0;
    while (!text_equal(readings[i].type, context->op->type)) i++;
    return readings[i].read(context);
}

static int64_t n_scores(const struct op_context *context) {
    const struct sizes s = sizes_of(context);
    return checked_mul(checked_mul(s.queries, s.heads), s.keys);
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

/* clang-format off */
#define CONTRIB(name, infer_fn, count, are, letters)                                           \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1), .infer = infer_fn,                                        \
        .cost = {.macs = count, .macs_formula = are, .extra = n_scores, .extra_description = "at 1 a score"},\
        .param_roles = letters, .backward.saved_for_backward = "-"                             \
    }
#define ALL       "scores x (columns of a key and of a value)"
#define PROJECTED "projections, and scores x (columns of a key and of a value)"

static const struct op rows[] = {
    /*      type                         shape rule            MACs            are        roles */
    CONTRIB(DecoderAttention,            infer_decoder,        macs_attention, PROJECTED, "xxWWWmxxi"),
    CONTRIB(LongformerAttention,         infer_longformer,     macs_attention, PROJECTED, "xWWmWWi"),
    CONTRIB(QOrderedLongformerAttention, infer_longformer,     macs_attention, PROJECTED, "xiWiWiimWiWiii"),
    CONTRIB(QOrderedAttention,           infer_ordered,        macs_attention, PROJECTED, "xiiiiWWWiiiWWWiiimxm"),
    CONTRIB(SparseAttention,             infer_blocks,         macs_attention, ALL,       "xxxxxiiiimm"),
    CONTRIB(PagedAttention,              infer_paged,          macs_attention, ALL,       "xxxxxiiimmimnniii"),
    CONTRIB(SparsePagedAttention,        infer_selected_pages, macs_attention, ALL,       "xxxxxiiiiiixximmmnniii"),
    CONTRIB(DynamicSparseAttention,      infer_selected,       macs_attention, ALL,       "xxxxxxxiiiimminnm"),
};
/* clang-format on */

const struct op_family family_vendor_sparse = {"vendor_sparse", rows,
                                               sizeof rows / sizeof *rows, NULL};
