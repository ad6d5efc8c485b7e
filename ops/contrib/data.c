/* SPDX-License-Identifier: Apache-2.0 */
/* Data movement, lookup, hashing and packing of com.microsoft: no MACs and no FLOPs by
 * the default convention. Exceptions: a masked pool has FLOPs, and the MACs of compiled graphs
 * are unknown. Some sizes are data-dependent: tokens without padding, words of a text, bytes of
 * a block floating point format. */
#include "ops/common.h"
#include "ops/fold.h"
#include "ops/onnx/facets.h"
#include "ops/onnx/shared.h"
#include "ops/product.h"

static int infer_expand_dims(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const int64_t where = common_integer(context, 1);
    int64_t dims[SHAPE_MAX_RANK + 1];
    int axis = 0;
    if (!shape_has_rank(x)) return common_infer_unknown_rank(context);
    if (!is_known(where))
        return op_output_dims(context, 0, op_dtype(context, 0), x->rank + 1, NULL);
    int status = op_normalize_axis(context, where, x->rank + 1, &axis);
    if (status < 0) return status;
    for (int i = 0, from = 0; i <= x->rank; i++) dims[i] = i == axis ? 1 : x->dims[from++];
    return op_output_dims(context, 0, op_dtype(context, 0), x->rank + 1, dims);
}

/* Looks up rows of a table: table [n, columns], indices [2, 3] -> [2, 3, columns]. */
static int infer_embedding(struct op_context *context) {
    int status = common_check_rank(context, 0, 2);
    if (status < 0) return status;
    return common_output_appended(context, 0, op_dtype(context, 0), op_shape(context, 1),
                                  common_dim(context, 0, 2, 1));
}

/* Gather along an axis; the output has the type of the scales. If the data are packed into
 * bytes along the last axis, a byte holds 8 / bits numbers. */
static int infer_gather_quantized(struct op_context *context) {
    const int64_t bits = op_attr_int(context, "bits");
    const bool is_packed = op_dtype(context, 0) == DTYPE_UINT8 && (bits == 2 || bits == 4);
    const struct shape *data = op_shape(context, 0);
    const struct shape *indices = op_shape(context, 1);
    const enum dtype dtype = op_dtype(context, 2);
    int64_t dims[2 * SHAPE_MAX_RANK];
    int axis = 0, rank = 0;
    if (!shape_has_rank(data) || !shape_has_rank(indices))
        return op_output_dims(context, 0, dtype, RANK_UNKNOWN, NULL);
    int status =
        op_normalize_axis(context, op_attr_int(context, "gather_axis"), data->rank, &axis);
    if (status < 0) return status;
    const int last = data->rank - 1;
    for (int i = 0; i < axis; i++) dims[rank++] = data->dims[i];
    for (int i = 0; i < indices->rank; i++) dims[rank++] = indices->dims[i];
    for (int i = axis + 1; i < data->rank; i++)
        dims[rank++] = checked_mul(data->dims[i], i == last && is_packed ? 8 / bits : 1);
    return op_output_dims(context, 0, dtype, rank, dims);
}

/* Slices of `size` elements along an axis, `step` apart: [10] with size 4, step 3 to [3,4]. */
static int infer_unfold(struct op_context *context) {
    const struct shape *x = op_shape(context, 0);
    const int64_t size = op_attr_int(context, "size");
    const int64_t step = op_attr_int(context, "step");
    int64_t dims[SHAPE_MAX_RANK + 1];
    int axis = 0;
    if (size < 1 || step < 1)
        return op_fail(context, DIAG_ATTRIBUTE, "size and step must be >= 1, got %lld and %lld",
                       (long long)size, (long long)step);
    if (!shape_has_rank(x)) return common_infer_unknown_rank(context);
    int status = op_normalize_axis(context, op_attr_int(context, "dim"), x->rank, &axis);
    if (status < 0) return status;
    if (is_known(x->dims[axis]) && x->dims[axis] < size)
        return op_fail(context, DIAG_SHAPE, "the axis must have >= %lld elements, got %lld",
                       (long long)size, (long long)x->dims[axis]);
    for (int i = 0; i < x->rank; i++) dims[i] = x->dims[i];
    dims[axis] = checked_add(checked_div_floor(checked_sub(x->dims[axis], size), step), 1);
    dims[x->rank] = size;
    return op_output_dims(context, 0, op_dtype(context, 0), x->rank + 1, dims);
}

/* [B, S, hidden] -> [tokens, hidden]; the number of tokens is data-dependent. */
static int infer_remove_padding(struct op_context *context) {
    const int64_t batch = common_dim(context, 0, 3, 0);
    const int64_t packed[] = {DIM_UNKNOWN, common_dim(context, 0, 3, 2)};
    const int64_t places[] = {batch, common_dim(context, 0, 3, 1)};
    const int64_t boundaries = checked_add(batch, 1);
    const int64_t one = 1;
    int status = op_output_dims(context, 0, op_dtype(context, 0), 2, packed);
    if (status == CM_OK) status = op_output_dims(context, 1, DTYPE_INT32, 2, places);
    if (status == CM_OK) status = op_output_dims(context, 2, DTYPE_INT32, 1, &boundaries);
    return status < 0 ? status : op_output_dims(context, 3, DTYPE_INT32, 1, &one);
}

static int infer_restore_padding(struct op_context *context) {
    const int64_t dims[] = {common_dim(context, 1, 2, 0), common_dim(context, 1, 2, 1),
                            common_dim(context, 0, 2, 1)};
    return op_output_dims(context, 0, op_dtype(context, 0), 3, dims);
}

/* Crops all regions, input 1 [regions, 4], to one size, input 3. */
static int infer_crop(struct op_context *context) {
    struct int_list size;
    int status = op_int_list(context, 3, &size);
    if (status < 0) return status;
    if (size.known && size.n != 2)
        return op_fail(context, DIAG_SHAPE, "crop_size must have 2 entries, got %zu", size.n);
    const int64_t dims[] = {common_dim(context, 1, 2, 0), common_dim(context, 0, 4, 1),
                            size.known ? size.values[0] : DIM_UNKNOWN,
                            size.known ? size.values[1] : DIM_UNKNOWN};
    return op_output_dims(context, 0, op_dtype(context, 0), 4, dims);
}

static int infer_hash(struct op_context *context) {
    const bool positive = op_attr_int(context, "positive") != 0;
    return common_infer_same_shape(context, positive ? DTYPE_UINT32 : DTYPE_INT32);
}

static int infer_scores(struct op_context *context) {
    return op_output_like(context, 0, 1);
}

/* Outputs: the hashes of each token, one per head and n-gram length from 2 on; the state, which
 * is the last tokens of each request; for packed requests also updates of the state. */
static int infer_hashes(struct op_context *context) {
    const bool is_packed = text_equal(context->op->type, "VarlenNGramHashMapping");
    const int64_t longest = op_attr_int(context, "max_ngram_size");
    const int64_t heads = op_attr_int(context, "n_head_per_ngram");
    const int64_t history = checked_sub(longest, 1); /* tokens before the last of an n-gram */
    int64_t requests = common_dim(context, 0, 2, 0);
    if (is_packed) requests = checked_sub(common_dim(context, 3, 1, 0), 1); /* boundaries */
    const int64_t tokens[] = {requests, history};
    const int64_t states[] = {requests, op_attr_int(context, "state_update_capacity"), history};
    if (longest < 2 || heads < 1)
        return op_fail(
            context, DIAG_ATTRIBUTE,
            "max_ngram_size must be >= 2 and n_head_per_ngram >= 1, got %lld and %lld",
            (long long)longest, (long long)heads);
    int status = common_output_appended(context, 0, op_dtype(context, 0), op_shape(context, 0),
                                        checked_mul(history, heads));
    if (status == CM_OK) status = op_output_dims(context, 1, op_dtype(context, 0), 2, tokens);
    if (status < 0 || !is_packed) return status;
    status = op_output_dims(context, 2, DTYPE_INT32, 2, tokens);
    return status < 0 ? status : op_output_dims(context, 3, op_dtype(context, 0), 3, states);
}

/* [C] or [N, C] strings -> [C, n] or [N, C, n]; n, the most words, is data-dependent. */
static int infer_tokens(struct op_context *context) {
    const struct shape *texts = op_shape(context, 0);
    const int rank = texts->rank;
    if (!shape_has_rank(texts)) return common_infer_unknown_rank(context);
    if (rank != 1 && rank != 2)
        return op_fail(context, DIAG_SHAPE, "input 0 must have rank 1 or 2, got %d", rank);
    if (shape_elements(texts) == 0) return common_infer_same(context);
    return common_output_appended(context, 0, DTYPE_STRING, texts, DIM_UNKNOWN);
}

static int infer_all_finite(struct op_context *context) {
    return op_output_dims(context, 0, DTYPE_BOOL, 0, NULL);
}

/* Output 0: the tokens, followed by the predicted tokens that are accepted. */
static int infer_bifurcation(struct op_context *context) {
    const int64_t any = DIM_UNKNOWN;
    int status = op_output_dims(context, 0, DTYPE_INT64, 1, &any);
    return status < 0 ? status : op_output_dims(context, 1, DTYPE_INT64, 0, NULL);
}

/* The points of a path through [M, N]; their number is data-dependent. */
static int infer_time_warping(struct op_context *context) {
    const int64_t dims[] = {2, DIM_UNKNOWN};
    return op_output_dims(context, 0, DTYPE_INT32, 2, dims);
}

static int infer_quantize_bfp(struct op_context *context) {
    const int rank = op_rank(context, 0);
    const int64_t axes = rank == RANK_UNKNOWN ? DIM_UNKNOWN : rank;
    const int64_t bytes = DIM_UNKNOWN;
    int status = op_output_dims(context, 0, DTYPE_UINT8, 1, &bytes);
    if (status == CM_OK) status = op_output_dims(context, 1, DTYPE_INT64, 1, &axes);
    return status < 0 ? status : op_output_dims(context, 2, DTYPE_INT64, 1, &axes);
}

static int infer_dequantize_bfp(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    struct int_list shape;
    int status = common_dtype_attr(context, "dtype", &dtype);
    if (status == CM_OK) status = op_int_list(context, 1, &shape);
    if (status < 0) return status;
    if (shape.n > SHAPE_MAX_RANK)
        return op_fail(context, DIAG_LIMIT, "shape must have at most %d entries, got %zu",
                       SHAPE_MAX_RANK, shape.n);
    const bool counted = shape.known || shape.n > 0;
    return op_output_dims(context, 0, dtype, counted ? (int)shape.n : RANK_UNKNOWN,
                          shape.values);
}

static int infer_quantize_ordered(struct op_context *context) {
    return common_infer_same_shape(context, DTYPE_INT8);
}

static int infer_dequantize_ordered(struct op_context *context) {
    enum dtype dtype = DTYPE_UNDEFINED;
    int status = common_dtype_attr(context, "to", &dtype);
    return status < 0 ? status : common_infer_same_shape(context, dtype);
}

/* The node replaces a part of the graph that a device's compiler has compiled; the nodes of
 * that part are not in the file. The outputs keep their declared types. */
static int infer_compiled(struct op_context *context) {
    const struct value_info nothing = value_info_unknown();
    int status = CM_OK;
    for (size_t i = 0; i < context->n_outputs && status == CM_OK; i++)
        status = op_output_info(context, i, &nothing);
    return status;
}

static void macs_compiled(const struct op_context *context, struct product *ret) {
    (void)context;
    product_add(ret, "of a compiled graph", DIM_UNKNOWN);
}

/* clang-format off */
#define CONTRIB(name, infer_fn, letters, ...)                                                  \
    SIGNATURE(CONTRIB, name, 1, __VA_ARGS__), .infer = infer_fn, .param_roles = letters,       \
    .backward.saved_for_backward = "-"

static const struct op rows[] = {
    {CONTRIB(ExpandDims,             infer_expand_dims,        "pi", NO_BOUNDS), .memory = MEMORY_VIEW, .fold = remap_view},
    {CONTRIB(TorchEmbedding,         infer_embedding,          "ni",
        NO_PRIMITIVE(NO_CONTRIB), LOOKUP(0, 0)), .module = "Embedding"},
    {CONTRIB(GatherBlockQuantized,   infer_gather_quantized,   "nii",
        NO_PRIMITIVE(NO_PACKED), LOOKUP(0, 0)) , .module = "Embedding"},
    {CONTRIB(UnfoldTensor,           infer_unfold,             "x", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(RemovePadding,          infer_remove_padding,     "xi", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(RestorePadding,         infer_restore_padding,    "xi", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(CropAndResize,          infer_crop,               "xi", EXACT(EXACT_RESIZE), NO_PRIMITIVE(NO_SAMPLING))},
    {CONTRIB(MurmurHash3,            infer_hash,               "i", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(NGramRepeatBlock,       infer_scores,             "ix", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(NGramHashMapping,       infer_hashes,             "i", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(VarlenNGramHashMapping, infer_hashes,             "i", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(Tokenizer,              infer_tokens,             "i", NO_PRIMITIVE(NO_STRING))},
    {CONTRIB(SampleOp,               common_infer_same,        "x", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(IsAllFinite,            infer_all_finite,         "m", NO_PRIMITIVE(NO_CONTRIB))},
    {CONTRIB(BifurcationDetector,    infer_bifurcation,        "i", NO_PRIMITIVE(NO_SORT))},
    {CONTRIB(DynamicTimeWarping,     infer_time_warping,       "x",
        EXACT(.per_input = 3), NO_PRIMITIVE(NO_SORT))}, /* the least of three, a sum */
    {CONTRIB(QuantizeBFP,            infer_quantize_bfp,       "p", NO_PRIMITIVE(NO_QUANTIZED))},
    {CONTRIB(DequantizeBFP,          infer_dequantize_bfp,     "pii", NO_PRIMITIVE(NO_QUANTIZED))},
    {CONTRIB(QuantizeWithOrder,      infer_quantize_ordered,   "pi",
        EXACT(.per_output = 2), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_NONE))}, /* quotient, rounding */
    {CONTRIB(DequantizeWithOrder,    infer_dequantize_ordered, "pi",
        EXACT(.per_output = 1), NO_PRIMITIVE(NO_QUANTIZED), INTEGERS(INTEGERS_SCALED))},
    {CONTRIB(MaxpoolWithMask,        pool_infer,               "xm",
        DEEPSPEED(.per_input = 1), EXACT(EXACT_MAX_POOL), NO_PRIMITIVE("no primitive pools by a mask")), .module = "MaxPool{n}d"},
    {CONTRIB(EPContext,              infer_compiled,           "x", NO_PRIMITIVE("its inside is not in the file")),
     .cost = {macs_compiled, "unknown: compiled graph"}},
    {CONTRIB(Snpe,                   infer_compiled,           "x", NO_PRIMITIVE("its inside is not in the file")),
     .cost = {macs_compiled, "unknown: compiled graph"}},
};
/* clang-format on */

OP_FAMILY(contrib_data, .why_free = "moves, looks up, hashes or packs",
          .declines = FACETS_RARE | FACET_EXACT | FACET_BOUNDS);
