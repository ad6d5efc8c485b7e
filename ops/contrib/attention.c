/* SPDX-License-Identifier: Apache-2.0 */
/* Attention of com.microsoft. Attention, QAttention, PackedAttention and
 * DecoderMaskedSelfAttention project their input; the others take queries, keys and values.
 *     MACs = batch * queries * (input * projected + heads * keys * (d + v))
 * where input, projected, d and v are the columns of the input, of its projection (0: none), of
 * a head's key and of a head's value. FLOPs = 2 * MACs + 1 per score, for the softmax. As for
 * ONNX's Attention, masks do not reduce the count, and `keys` are those of past and present. */
#include "ops/contrib/common.h"
#include "ops/onnx/facets.h"
#include "ops/product.h"

struct attention {
    int64_t batch, queries, heads, kv_heads;
    int64_t keys; /* of past and present */
    int64_t
        present; /* length of the present output; > keys if past and present share a buffer */
    int64_t added, held; /* keys of this call, and these with the past or its whole buffer */
    int64_t key_columns, value_columns; /* of one head */
    int64_t input_columns;              /* of the projected input; 0 without a projection */
    int64_t projected_columns;          /* of the projection */
};

/* How the operands of an operator are read. SIZE_MAX: the operator has no such input. */
struct reading {
    const char *type;
    struct attention (*read)(const struct op_context *context, const struct reading *reading);
    size_t past; /* input with the past keys and values, or the past keys */
    size_t
        length; /* input with the number of past keys in a buffer that past and present share */
    size_t type_of;  /* input that has the dtype of output 0 */
    size_t masks[2]; /* inputs that are added to the scores */
};

static const struct attention unknown = {DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN,
                                         DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN,
                                         DIM_UNKNOWN, DIM_UNKNOWN, 0,           0};

/* Adds the past keys: the length of axis `axis` of the past, which has rank `rank`; if past and
 * present share a buffer, the contents of input reading->length. */
static void add_past(const struct op_context *context, const struct reading *reading, int rank,
                     int axis, struct attention *ret) {
    const int64_t new = ret->keys;
    const bool shared = op_attr_int(context, "past_present_share_buffer") != 0;
    ret->present = ret->added = ret->held = new;
    if (!op_has_input(context, reading->past)) return;
    const int64_t before = common_dim(context, reading->past, rank, axis);
    ret->keys = checked_add(shared ? common_length(context, reading->length) : before, new);
    ret->present = ret->held = shared ? before : ret->keys;
}

/* input [B, S, D], weight [D, columns]; past [2, B, heads, P, d]. */
static struct attention read_projecting(const struct op_context *context,
                                        const struct reading *reading) {
    struct attention a = unknown;
    size_t n = 0;
    const int64_t *sizes = op_attr_ints(context, "qkv_hidden_sizes", &n);
    a.batch = common_dim(context, 0, 3, 0);
    a.queries = common_dim(context, 0, 3, 1);
    a.input_columns = common_dim(context, 0, 3, 2);
    a.heads = op_attr_int(context, "num_heads");
    a.kv_heads = a.heads;
    a.projected_columns = common_dim(context, 1, 2, 1);
    const int64_t third = common_divide(a.projected_columns, 3);
    a.key_columns = common_divide(n == 3 ? sizes[1] : third, a.heads);
    a.value_columns = common_divide(n == 3 ? sizes[2] : third, a.heads);
    a.keys = a.queries;
    add_past(context, reading, 5, 3, &a);
    return a;
}

/* Input [tokens, D]. If tokens = batch * length, no padding was removed and all lengths are
 * equal; else they are data-dependent. */
static struct attention read_packed_projecting(const struct op_context *context,
                                               const struct reading *reading) {
    struct attention a = read_projecting(context, reading);
    const int64_t tokens = common_dim(context, 0, 2, 0);
    a.batch = common_dim(context, 3, 2, 0);
    a.queries = common_dim(context, 3, 2, 1);
    if (checked_mul(a.batch, a.queries) != tokens) a.queries = DIM_UNKNOWN;
    a.input_columns = common_dim(context, 0, 2, 1);
    a.keys = a.queries;
    return a;
}

/* Q [B, S, H], or Q, K and V in one operand [B, S, heads, 3, d]. */
static void read_queries(const struct op_context *context, struct attention *ret) {
    const int rank = op_rank(context, 0);
    ret->heads = op_attr_int(context, "num_heads");
    ret->kv_heads = ret->heads;
    if (rank != 3 && rank != 5) return;
    ret->batch = op_dim(context, 0, 0);
    ret->queries = op_dim(context, 0, 1);
    ret->key_columns =
        rank == 5 ? op_dim(context, 0, 4) : common_divide(op_dim(context, 0, 2), ret->heads);
}

/* K and V [B, L, columns], [B, heads, L, d], or both in K [B, L, heads, 2, d]. */
static void read_keys(const struct op_context *context, struct attention *ret) {
    const int rank = op_rank(context, 1);
    ret->value_columns = ret->key_columns;
    ret->keys = ret->queries;
    if (!op_has_input(context, 1)) return;
    ret->keys = DIM_UNKNOWN;
    if (rank == 3 || rank == 5) ret->keys = op_dim(context, 1, 1);
    if (rank == 4) ret->keys = op_dim(context, 1, 2);
    if (!op_has_input(context, 2)) return;
    ret->value_columns = common_dim(context, 2, 4, 3);
    if (op_rank(context, 2) == 3)
        ret->value_columns = common_divide(op_dim(context, 2, 2), ret->heads);
}

/* The result has kv_heads = heads; keys and values may be packed into Q or K. */
static struct attention read_multi_head(const struct op_context *context,
                                        const struct reading *reading) {
    struct attention a = unknown;
    read_queries(context, &a);
    read_keys(context, &a);
    add_past(context, reading, 4, 2, &a);
    return a;
}

/* Q, K and V as in read_multi_head, or all packed into input 0: [B, 1, 3 H]. */
static struct attention read_decoder(const struct op_context *context,
                                     const struct reading *reading) {
    struct attention a = unknown;
    read_queries(context, &a);
    if (!op_has_input(context, 1))
        a.key_columns = common_divide(common_dim(context, 0, 3, 2), checked_mul(3, a.heads));
    read_keys(context, &a);
    add_past(context, reading, 4, 2, &a);
    return a;
}

/* Q [tokens, H], or Q, K and V in one operand [tokens, heads, 3, d]. */
static struct attention read_packed_multi_head(const struct op_context *context,
                                               const struct reading *reading) {
    struct attention a = unknown;
    const int64_t tokens = op_rank(context, 0) > 0 ? op_dim(context, 0, 0) : DIM_UNKNOWN;
    (void)reading;
    a.heads = op_attr_int(context, "num_heads");
    a.kv_heads = a.heads;
    a.batch = common_dim(context, 4, 2, 0);
    a.queries = common_dim(context, 4, 2, 1);
    if (checked_mul(a.batch, a.queries) != tokens) a.queries = DIM_UNKNOWN;
    a.keys = a.queries;
    a.present = a.keys;
    a.key_columns = op_rank(context, 0) == 4
                        ? op_dim(context, 0, 3)
                        : common_divide(common_dim(context, 0, 2, 1), a.heads);
    a.value_columns = a.key_columns;
    if (op_has_input(context, 2))
        a.value_columns = common_divide(common_dim(context, 2, 2, 1), a.heads);
    return a;
}

/* Query heads share key heads. total_sequence_length is the number of keys; if it is unknown,
 * the past buffer is assumed full and the keys of this call are added. */
static struct attention read_grouped(const struct op_context *context,
                                     const struct reading *reading) {
    struct attention a = unknown;
    const int64_t total = common_length(context, 6);
    const bool packed = !op_has_input(context, 1);
    a.heads = op_attr_int(context, "num_heads");
    a.kv_heads = op_attr_int(context, "kv_num_heads");
    a.batch = common_dim(context, 0, 3, 0);
    a.queries = common_dim(context, 0, 3, 1);
    const int64_t shares = packed ? checked_add(a.heads, checked_mul(2, a.kv_heads)) : a.heads;
    a.key_columns = common_divide(common_dim(context, 0, 3, 2), shares);
    a.value_columns = a.key_columns;
    a.keys = packed ? a.queries : common_dim(context, 1, 3, 1);
    add_past(context, reading, 4, 2, &a);
    if (!is_known(total)) return a;
    const int64_t before = op_has_input(context, 3) ? common_dim(context, 3, 4, 2) : 0;
    a.keys = total;
    a.present = is_known(before) && before > total ? before : total;
    if (!is_known(before)) a.present = DIM_UNKNOWN;
    return a;
}

/* clang-format off */
static const struct reading readings[] = {
    /* type                            read                    past      length    type masks */
    {"Attention",                       read_projecting,        4,        6,        0, {3, 5}},
    {"QAttention",                      read_projecting,        8,        SIZE_MAX, 3, {5, SIZE_MAX}},
    {"DecoderMaskedSelfAttention",      read_projecting,        4,        6,        0, {3, 5}},
    {"PackedAttention",                 read_packed_projecting, SIZE_MAX, SIZE_MAX, 0, {5, SIZE_MAX}},
    {"MultiHeadAttention",              read_multi_head,        6,        8,        0, {4, 5}},
    {"DecoderMaskedMultiHeadAttention", read_decoder,           5,        7,        0, {3, 4}},
    {"PackedMultiHeadAttention",        read_packed_multi_head, SIZE_MAX, SIZE_MAX, 0, {6, SIZE_MAX}},
    {"GroupQueryAttention",             read_grouped,           3,        SIZE_MAX, 0, {10, SIZE_MAX}},
};
/* clang-format on */

static const struct reading *reading_of(const struct op_context *context) {
    size_t i = 0;
    while (!text_equal(readings[i].type, context->op->type)) i++;
    return &readings[i];
}

static struct attention sizes_of(const struct op_context *context) {
    const struct reading *reading = reading_of(context);
    return reading->read(context, reading);
}

static int attention_masks(const struct op_context *context) {
    const struct reading *reading = reading_of(context);
    const bool causal =
        op_attr_int(context, "unidirectional") || op_attr_int(context, "causal");
    return causal + op_has_input(context, reading->masks[0]) +
           op_has_input(context, reading->masks[1]);
}

static int64_t attention_rows(const struct op_context *context) {
    const struct attention a = sizes_of(context);
    return checked_mul(checked_mul(a.batch, a.heads), a.queries);
}

static int64_t attention_scores(const struct op_context *context) {
    return checked_mul(attention_rows(context), sizes_of(context).keys);
}

static int64_t attention_projection(const struct op_context *context) {
    const struct attention a = sizes_of(context);
    const int64_t each = checked_mul(a.input_columns, a.projected_columns);
    return checked_mul(checked_mul(a.batch, a.queries), each);
}

static void macs_attention(const struct op_context *context, struct product *ret) {
    const struct attention a = sizes_of(context);
    const int64_t heads =
        checked_mul(checked_mul(a.heads, a.keys), checked_add(a.key_columns, a.value_columns));
    product_add(ret, "batch", a.batch);
    product_add(ret, "queries", a.queries);
    product_add(ret,
                a.projected_columns == 0 ? "heads x keys x columns of key and value"
                                         : "projection, and heads x keys x columns",
                checked_add(checked_mul(a.input_columns, a.projected_columns), heads));
}

static int check_heads(const struct op_context *context, const struct attention *a) {
    if ((is_known(a->key_columns) && a->key_columns < 0) ||
        (is_known(a->value_columns) && a->value_columns < 0))
        return op_fail(context, DIAG_ATTRIBUTE, "qkv_hidden_sizes must be >= 0");
    const bool is_windowed = op_attr_int(context, "local_window_size") > 0; /* may drop keys */
    if (is_known(a->keys) && !is_windowed &&
        ((is_known(a->held) && a->keys > a->held) ||
         (is_known(a->added) && a->keys < a->added)))
        return op_fail(context, DIAG_SHAPE, "attends to %lld keys, but has %lld to %lld",
                       (long long)a->keys, (long long)a->added, (long long)a->held);
    return contrib_check_heads(context, a->heads, a->kv_heads);
}

static int infer_projecting(struct op_context *context) {
    const enum dtype dtype = op_dtype(context, reading_of(context)->type_of);
    const struct attention a = sizes_of(context);
    const int64_t out[] = {a.batch, a.queries, checked_mul(a.heads, a.value_columns)};
    const int64_t present[] = {2, a.batch, a.heads, a.present, a.key_columns};
    int status = check_heads(context, &a);
    if (status == CM_OK) status = op_output_dims(context, 0, dtype, 3, out);
    return status < 0 ? status : op_output_dims(context, 1, dtype, 5, present);
}

static int infer_packed(struct op_context *context) {
    const struct attention a = sizes_of(context);
    const int64_t tokens = op_rank(context, 0) > 0 ? op_dim(context, 0, 0) : DIM_UNKNOWN;
    const int64_t dims[] = {tokens, checked_mul(a.heads, a.value_columns)};
    int status = check_heads(context, &a);
    return status < 0 ? status : op_output_dims(context, 0, op_dtype(context, 0), 2, dims);
}

/* Returns the columns of a head in the cache: two 4-bit numbers share a byte. */
static int64_t cached_columns(const struct op_context *context, const char *quantization,
                              int64_t columns) {
    const bool is_packed = op_attr_int(context, "kv_cache_bit_width") == 4 &&
                           op_has_attr(context, quantization) &&
                           !text_equal(op_attr_string(context, quantization), "NONE");
    return is_packed ? checked_div_ceil(columns, 2) : columns;
}

/* Checks the last dim of the past of keys or values. */
static int check_past(const struct op_context *context, size_t past, int64_t columns) {
    const int rank = op_rank(context, past);
    const int64_t have = rank > 0 ? op_dim(context, past, rank - 1) : DIM_UNKNOWN;
    if (!is_known(have) || !is_known(columns) || have == columns) return CM_OK;
    return op_fail(context, DIAG_SHAPE, "input %zu must have a last dim of %lld, got %s", past,
                   (long long)columns, op_shape_text(context, op_shape(context, past)));
}

/* The present has the dtype of the past, which may be quantized. */
static int infer_separate(struct op_context *context) {
    const size_t past = reading_of(context)->past;
    const struct attention a = sizes_of(context);
    const enum dtype dtype = op_dtype(context, 0);
    const enum dtype cache_dtype =
        op_has_input(context, past) ? op_dtype(context, past) : dtype;
    const int64_t out[] = {a.batch, a.queries, checked_mul(a.heads, a.value_columns)};
    const int64_t key_columns = cached_columns(context, "k_quant_type", a.key_columns);
    const int64_t value_columns = cached_columns(context, "v_quant_type", a.value_columns);
    const int64_t key[] = {a.batch, a.kv_heads, a.present, key_columns};
    const int64_t value[] = {a.batch, a.kv_heads, a.present, value_columns};
    const int64_t scores[] = {a.batch, a.heads, a.queries, a.keys};
    int status = check_heads(context, &a);
    if (status == CM_OK) status = check_past(context, past, key_columns);
    if (status == CM_OK) status = check_past(context, past + 1, value_columns);
    if (status == CM_OK) status = op_output_dims(context, 0, dtype, 3, out);
    if (status == CM_OK) status = op_output_dims(context, 1, cache_dtype, 4, key);
    if (status == CM_OK) status = op_output_dims(context, 2, cache_dtype, 4, value);
    return status < 0 ? status : op_output_dims(context, 3, dtype, 4, scores);
}

/* Returns the FLOPs of scaling, masks, biases and softmax. */
static int64_t exact_attention(const struct op_context *context) {
    return exact_attention_scores_flops(attention_masks(context), attention_scores(context),
                                        attention_rows(context));
}

/* Returns the FLOPs of the softmax: thop does not count products of two activations. */
static int64_t thop_attention(const struct op_context *context) {
    return thop_softmax_flops(attention_scores(context), attention_rows(context));
}

/* Returns true if an operand from `first` to `last` is given. */
static bool has_any(const struct op_context *context, size_t first, size_t last) {
    for (size_t i = first; i <= last; i++)
        if (op_has_input(context, i)) return true;
    return false;
}

static bool lower_separate(const struct op_context *context, size_t mask, bool is_causal,
                           struct cm_primitive *ret) {
    const struct attention a = sizes_of(context);
    const struct lowering_attention attention = {
        .heads = a.heads,
        .kv_heads = a.kv_heads,
        .keys = a.keys,
        .mask = mask,
        .has_cache = true,
        .is_causal = is_causal,
        .scale = op_attr_float(context, "scale"),
    };
    return op_rank(context, 0) == 3 && op_has_input(context, 1) && op_has_input(context, 2) &&
           !op_has_output(context, 3) && is_known(a.keys) &&
           lowering_attend(context, &attention, ret);
}

static bool lower_multi_head(const struct op_context *context, int32_t which,
                             struct cm_primitive *ret) {
    enum { BIAS = 3, PADDING = 4, MASK = 5, INDIRECTION = 9 };
    (void)which;
    return !has_any(context, BIAS, PADDING) && !op_has_input(context, INDIRECTION) &&
           lower_separate(context, MASK, op_attr_int(context, "unidirectional") != 0, ret);
}

static bool lower_grouped(const struct op_context *context, int32_t which,
                          struct cm_primitive *ret) {
    enum { MASK = 10, HEAD_SINK = 11, K_NORM = 15 };
    (void)which;
    if (op_attr_int(context, "do_rotary") != 0 ||
        op_attr_int(context, "local_window_size") >= 0 ||
        op_attr_int(context, "smooth_softmax") > 0 || op_attr_float(context, "softcap") != 0 ||
        has_any(context, HEAD_SINK, K_NORM))
        return false;
    return lower_separate(context, MASK, op_attr_int(context, "causal") != 0, ret);
}

/* Keys and values are operands of their own, or packed into operand 0. */
static bool attends(const struct op_context *context, struct op_attention *ret) {
    const struct attention a = sizes_of(context);
    const bool projects = is_known(a.projected_columns) && a.projected_columns > 0;
    *ret = (struct op_attention){.heads = a.heads,
                                 .kv_heads = a.kv_heads,
                                 .key_columns = a.key_columns,
                                 .value_columns = a.value_columns,
                                 .keys = !projects && op_has_input(context, 1) ? 1 : -1,
                                 .values = !projects && op_has_input(context, 2) ? 2 : -1,
                                 .mask = op_attr_int(context, "kv_num_heads") > 0 ? 10 : 5,
                                 .is_causal = op_attr_int(context, "unidirectional") != 0 ||
                                              op_attr_int(context, "causal") != 0};
    if (op_attr_int(context, "local_window_size") > 0)
        ret->window = op_attr_int(context, "local_window_size");
    return is_known(a.heads) && is_known(a.kv_heads) && is_known(a.key_columns) &&
           is_known(a.value_columns);
}

/* clang-format off */
#define CONTRIB(name, infer_fn, letters, ...)                                                  \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1, ATTENDS(attends),                                          \
                  DEEPSPEED(PLUS(attention_scores, "scores")), __VA_ARGS__),                   \
        .cost = {macs_attention, "projection, and scores x (columns of a key and of a value)"},\
        .infer = infer_fn, .param_roles = letters, .backward.saved_for_backward = "-"          \
    }

static const struct op rows[] = {
    CONTRIB(Attention,                       infer_projecting, "xWWmxmi",
        EXACT(EXACT_ATTENTION), PTFLOPS(.per_mac = 1, PLUS(attention_scores, "scores")), EXTENDS(1, 4, 1),
        THOP(PLUS(thop_attention, "operations: 3 per score, less 1 per row")), MODELLED_PRODUCT(NO_FUSED)),
    CONTRIB(QAttention,                      infer_projecting, "xWWiimiix",
        EXACT(EXACT_ATTENTION), MODELLED_PRODUCT(NO_FUSED), INTEGERS_OF(attention_projection), EXTENDS(1, 8, 1)),
    CONTRIB(DecoderMaskedSelfAttention,      infer_projecting, "xWWmxmiii", MODELLED_PRODUCT(NO_FUSED), EXTENDS(1, 4, 1)),
    CONTRIB(PackedAttention,                 infer_packed,     "xWWiim", EXACT(EXACT_ATTENTION), MODELLED_PRODUCT(NO_FUSED)),
    CONTRIB(MultiHeadAttention,              infer_separate,   "xxxWmmxxii", EXACT(EXACT_ATTENTION), EXTENDS(1, 6, 2),
        LOWER(lower_multi_head, CM_ATTENTION, 0, IMAGES_NONE, LIMIT_FUSED_ATTENTION)),
    CONTRIB(DecoderMaskedMultiHeadAttention, infer_separate,   "xxxmmxxiiiW",
        EXACT(EXACT_ATTENTION), MODELLED_PRODUCT(NO_FUSED), EXTENDS(1, 5, 2)),
    CONTRIB(PackedMultiHeadAttention,        infer_packed,     "xxxWiim", EXACT(EXACT_ATTENTION), MODELLED_PRODUCT(NO_FUSED)),
    CONTRIB(GroupQueryAttention,             infer_separate,   "xxxxxiimmimniinn", PART(7, 8), EXTENDS(1, 3, 2),
        EXACT(EXACT_ATTENTION), LOWER(lower_grouped, CM_ATTENTION, 0, IMAGES_NONE, LIMIT_FUSED_ATTENTION)),
    {SIGNATURE(CONTRIB, RotaryEmbedding, 1, EXACT(EXACT_ROTARY), NO_PRIMITIVE(NO_ROTARY), PART(2, 3)),
     .infer = common_infer_same, .memory = MEMORY_IN_PLACE, .param_roles = "ximm", .backward.saved_for_backward = "123,-"},
};
/* clang-format on */

OP_FAMILY(contrib_attention, .declines = FACETS_RARE | FACET_BOUNDS);
