/* SPDX-License-Identifier: Apache-2.0 */
/* Text generation as one node (com.microsoft): the encoder and the first decoder run once, the
 * decoder once per token. Body inputs have their declared types. A symbolic dim with the name
 * of a dim of the body's first input, [texts, tokens], equals that dim; others are unknown. The
 * number of tokens is data-dependent: one decoder step is counted, with a note. */
#include "ops/common.h"
#include "ops/onnx/facets.h"
#include "support/arena.h"

/* The dims of a body's first input; in decoders, each beam counts as a text. */
struct round {
    int64_t texts, tokens;
};

/* Returns the dim of the first input that has this name, DIM_UNKNOWN if none has. */
static int64_t named_dim(const struct type *first, const struct round *round,
                         const char *name) {
    const int64_t dims[] = {round->texts, round->tokens};
    const int n = first->shape.rank == 2 ? 2 : first->shape.rank >= 1;
    for (int i = 0; name && first->symbols && i < n; i++)
        if (first->symbols[i] && text_equal(name, first->symbols[i])) return dims[i];
    return DIM_UNKNOWN;
}

static int declared_input(struct op_context *context, const struct type *type,
                          const struct type *first, const struct round *round,
                          struct value_info *ret) {
    struct value_info info;
    struct shape shape;
    if (value_info_of_type(context->arena, type, &info) < 0)
        return diag_no_memory(context->diag);
    *ret = info;
    if (info.kind != CM_TYPE_TENSOR || !shape_has_rank(&info.shape)) return CM_OK;
    if (shape_make(context->arena, info.shape.rank, info.shape.dims, &shape) < 0)
        return diag_no_memory(context->diag);
    for (int axis = 0; axis < shape.rank; axis++)
        if (!is_known(shape.dims[axis]))
            shape.dims[axis] =
                named_dim(first, round, type->symbols ? type->symbols[axis] : NULL);
    ret->shape = shape;
    return CM_OK;
}

/* Infers the body in attribute `attr`, if it is present, and sets its trip count to `times`. */
static int walk_part(struct op_context *context, const char *attr, const struct round *round,
                     int64_t times, const char *assumption) {
    const uint32_t id = op_attr_graph(context, attr);
    const struct value_info *outputs = NULL;
    if (id == ID_NONE) return CM_OK;
    const struct graph *graph = &context->model->graphs[id];
    const struct op_walker *walker = context->walker;
    struct value_info *inputs = arena_array(context->arena, graph->n_inputs, sizeof *inputs);
    if (!inputs) return diag_no_memory(context->diag);
    const struct value *values = context->model->values;
    int status = CM_OK;
    for (size_t i = 0; i < graph->n_inputs && status == CM_OK; i++)
        status = declared_input(context, values[graph->inputs[i]].type,
                                values[graph->inputs[0]].type, round, &inputs[i]);
    if (status == CM_OK)
        status = walker->walk(walker->context, id, graph->n_inputs, inputs, &outputs);
    return status < 0 ? status : walker->runs(walker->context, id, times, assumption);
}

static int64_t n_texts(const struct op_context *context) {
    return op_rank(context, 0) >= 1 ? op_dim(context, 0, 0) : DIM_UNKNOWN;
}

static int64_t vocabulary(const struct op_context *context) {
    const int64_t size = op_attr_int(context, "vocab_size");
    return size > 0 ? size : DIM_UNKNOWN;
}

static int walk_parts(struct op_context *context, int64_t beams) {
    const int64_t prompt = common_dim(context, 0, 2, 1);
    const struct round encoded = {n_texts(context), prompt};
    const struct round first = {checked_mul(n_texts(context), beams), prompt};
    const struct round later = {first.texts, 1};
    int status = walk_part(context, "encoder", &encoded, 1, NULL);
    if (status == CM_OK) status = walk_part(context, "init_decoder", &first, 1, NULL);
    if (status < 0) return status;
    return walk_part(context, "decoder", &later, DIM_UNKNOWN,
                     "the number of tokens is unknown: one decoder step is counted");
}

/* Outputs: tokens [texts, length]; logits [texts, vocabulary]. */
static int infer_search(struct op_context *context) {
    const int64_t texts[] = {n_texts(context), common_length(context, 1)};
    const int64_t words[] = {n_texts(context), vocabulary(context)};
    int status = walk_parts(context, 1);
    if (status == CM_OK) status = op_output_dims(context, 0, DTYPE_INT32, 2, texts);
    return status < 0 ? status : op_output_dims(context, 1, DTYPE_FLOAT, 2, words);
}

/* Outputs: tokens [texts, returned, length]; their scores; the scores of every word at every
 * step; for Whisper cross attentions and non-speech probabilities. */
static int infer_beams(struct op_context *context) {
    const int64_t length = common_length(context, 1);
    const int64_t returned = common_length(context, 4);
    const int64_t prompt = common_dim(context, 0, 2, 1);
    const int64_t texts[] = {n_texts(context), returned, length};
    const int64_t words[] = {checked_sub(length, prompt), n_texts(context),
                             common_length(context, 3), vocabulary(context)};
    const enum dtype dtype = op_has_input(context, 5) ? op_dtype(context, 5) : DTYPE_FLOAT;
    const int64_t cross[] = {n_texts(context), returned, DIM_UNKNOWN, DIM_UNKNOWN, DIM_UNKNOWN};
    const bool is_encoder_decoder = op_attr_int(context, "model_type") != 0;
    int status = walk_parts(context, common_length(context, 3));
    if (status == CM_OK) status = op_output_dims(context, 0, DTYPE_INT32, 3, texts);
    if (status == CM_OK) status = op_output_dims(context, 1, dtype, 2, texts);
    if (status == CM_OK)
        status = op_output_dims(context, 2, dtype, 4, is_encoder_decoder ? NULL : words);
    if (status == CM_OK) status = op_output_dims(context, 3, DTYPE_FLOAT, 5, cross);
    return status < 0 ? status : op_output_dims(context, 4, dtype, 1, texts);
}

/* clang-format off */
#define GENERATES(name, infer_fn)                                                              \
    {                                                                                          \
        SIGNATURE(CONTRIB, name, 1, NO_BOUNDS), .infer = infer_fn,                             \
        .memory = MEMORY_CONTROL, .param_roles = "i", .backward.saved_for_backward = "-"       \
    }

static const struct op rows[] = {
    GENERATES(GreedySearch,      infer_search),
    GENERATES(Sampling,          infer_search),
    GENERATES(BeamSearch,        infer_beams),
    GENERATES(WhisperBeamSearch, infer_beams),
};
/* clang-format on */

OP_FAMILY(contrib_generation, .declines = FACETS_RARE | FACET_EXACT);
