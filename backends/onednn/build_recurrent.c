/* SPDX-License-Identifier: Apache-2.0 */
/* Builds LSTM, GRU and plain RNN. The plan allocates the weights, in oneDNN's layout and order
 * of gates, because a runtime converts the model's weights once. The GRU is
 * linear-before-reset, the variant that frameworks export. */
#include "backends/onednn/build.h"

#include <string.h>

#include "backends/primitive.h"

struct sizes {
    int64_t time, batch, input, hidden, directions, gates;
    int32_t element;
};

/* Describes the packed operands. The first two dims of states, weights and biases are the
 * number of layers, always 1, and the number of directions. */
static void describe(struct building *building, const struct sizes *sizes,
                     struct onednn_rnn *ret) {
    const int64_t more = ret->algorithm == dnnl_lbr_gru ? 1 : 0; /* its second bias */
    const int64_t directions = sizes->directions;
    const int64_t hidden = sizes->hidden;
    const struct {
        onednn_desc *desc;
        int32_t element; /* biases and the cell state are always fp32 */
        int rank;
        bool any;
        int64_t dims[5];
    } rows[] = {
        {&ret->src, sizes->element, 3, false, {sizes->time, sizes->batch, sizes->input}},
        {&ret->state, sizes->element, 4, false, {1, directions, sizes->batch, hidden}},
        {&ret->memory, CM_F32, 4, false, {1, directions, sizes->batch, hidden}},
        {&ret->weights,
         sizes->element,
         5,
         true,
         {1, directions, sizes->input, sizes->gates, hidden}},
        {&ret->recurrent,
         sizes->element,
         5,
         true,
         {1, directions, hidden, sizes->gates, hidden}},
        {&ret->bias, CM_F32, 4, false, {1, directions, sizes->gates + more, hidden}},
        {&ret->dst, sizes->element, 3, false, {sizes->time, sizes->batch, directions * hidden}},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cm_tensor tensor = {.element = rows[i].element, .rank = rows[i].rank};
        memcpy(tensor.dims, rows[i].dims, sizeof(rows[i].dims));
        primitive_pack(&tensor);
        *rows[i].desc = build_desc(building, &tensor, rows[i].any);
    }
}

/* Adds the arguments; the plan allocates all operands except the input and the output. */
static void add_args(struct building *building, const struct onednn_rnn *rnn,
                     const struct sizes *sizes) {
    const struct cm_primitive *primitive = building->primitive;
    const bool whole = primitive_elements(&primitive->outputs[0]) ==
                       sizes->time * sizes->batch * sizes->directions * sizes->hidden;
    build_arg(building, DNNL_ARG_SRC_LAYER, rnn->src, sizes->element, BUILT_INPUT);
    build_arg(building, DNNL_ARG_SRC_ITER, rnn->state, sizes->element, BUILT_OWN);
    build_arg(building, DNNL_ARG_DST_ITER, rnn->state, sizes->element, BUILT_OWN);
    if (rnn->algorithm == dnnl_vanilla_lstm) {
        build_arg(building, DNNL_ARG_SRC_ITER_C, rnn->memory, CM_F32, BUILT_OWN);
        build_arg(building, DNNL_ARG_DST_ITER_C, rnn->memory, CM_F32, BUILT_OWN);
    }
    build_arg_any(building, DNNL_ARG_WEIGHTS_LAYER, dnnl_query_weights_md, 0, NULL,
                  sizes->element, BUILT_OWN);
    build_arg_any(building, DNNL_ARG_WEIGHTS_ITER, dnnl_query_weights_md, 1, NULL,
                  sizes->element, BUILT_OWN);
    build_arg(building, DNNL_ARG_BIAS, rnn->bias, CM_F32, BUILT_OWN);
    /* oneDNN writes all states, even if the model uses only the last one. */
    build_arg(building, DNNL_ARG_DST_LAYER, rnn->dst, sizes->element,
              whole ? BUILT_OUTPUT : BUILT_OWN);
}

dnnl_status_t build_rnn(struct building *building) {
    static const int64_t gates[CM_N_ALGORITHMS] = {
        [CM_RNN_TANH] = 1, [CM_RNN_RELU] = 1, [CM_RNN_LSTM] = 4, [CM_RNN_GRU] = 3};
    const struct cm_primitive *primitive = building->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    if (x->rank != 3 || gates[primitive->algorithm] == 0 || primitive->hidden <= 0)
        return dnnl_unimplemented;
    const struct sizes sizes = {.time = x->dims[0],
                                .batch = x->dims[1],
                                .input = x->dims[2],
                                .hidden = primitive->hidden,
                                .directions = primitive->directions > 1 ? 2 : 1,
                                .gates = gates[primitive->algorithm],
                                .element = x->element};
    struct onednn_rnn rnn = {.algorithm = dnnl_vanilla_rnn, .activation = dnnl_eltwise_tanh};
    if (primitive->algorithm == CM_RNN_LSTM) rnn.algorithm = dnnl_vanilla_lstm;
    if (primitive->algorithm == CM_RNN_GRU) rnn.algorithm = dnnl_lbr_gru;
    if (primitive->algorithm == CM_RNN_RELU) rnn.activation = dnnl_eltwise_relu;
    rnn.direction =
        sizes.directions > 1 ? dnnl_bidirectional_concat : dnnl_unidirectional_left2right;
    describe(building, &sizes, &rnn);
    if (building->status != dnnl_success) return building->status;
    const dnnl_status_t status =
        calls_rnn(building->lib, &rnn, &build_part(building)->primitive);
    if (status == dnnl_success) add_args(building, &rnn, &sizes);
    return status;
}
