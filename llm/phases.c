/* SPDX-License-Identifier: Apache-2.0 */
/* The costs of a step are sums over products, attention and the elementwise kernels between
 * them. Each weight that the step needs is read once, keys and values are read once per
 * sequence, and new ones are written. The lower bound is the larger of the arithmetic at the
 * peak rate and these bytes at the peak bandwidth. */
#include "llm/phases.h"

#include <math.h>

#include "ir/dtype.h"

struct adding {
    const struct language *language;
    const struct llm_setup *setup;
    const struct llm_machine *machine;
    const struct llm_step *step;
    double batch; /* sequences of one GPU */
    struct llm_costs *costs;
};

static enum cm_element element_of(enum dtype dtype) {
    switch (dtype) {
    case DTYPE_FLOAT16:
        return CM_F16;
    case DTYPE_BFLOAT16:
        return CM_BF16;
    case DTYPE_FLOAT8E4M3FN:
        return CM_F8E4M3;
    case DTYPE_DOUBLE:
        return CM_F64;
    default:
        return CM_F32;
    }
}

static double size_of(enum dtype dtype) {
    return (double)dtype_bits(dtype) / 8;
}

double llm_touched(int64_t experts, int64_t chosen, double tokens) {
    const double share = experts > 0 ? (double)chosen / (double)experts : 1;
    return share >= 1 ? (double)experts : (double)experts * (1 - pow(1 - share, tokens));
}

int64_t llm_weight_size(const struct language *language, const struct llm_setup *setup,
                        size_t weight) {
    const struct llm_weight *at = &language->weights[weight];
    const struct llm_format *format = setup->formats ? setup->formats[weight] : NULL;
    const int64_t experts =
        at->product == LLM_TABLE ? 0 : language->products[at->product].experts;
    const int64_t n = experts > 0 ? experts : 1;
    if (!format || at->columns <= 0 || at->elements % (n * at->columns) != 0) return at->bytes;
    return llm_format_bytes(format, n, at->elements / n / at->columns, at->columns,
                            dtype_bits(at->dtype));
}

/* Returns the part of a product's weights that one GPU has. With ep < tp, several GPUs divide
 * an expert. */
static double share_of(const struct llm_setup *setup, const struct llm_product *product) {
    if (product->experts > 0 && setup->ep > 1)
        return 1 / fmax((double)setup->ep, (double)setup->tp);
    return product->split == SPLIT_NONE ? 1 : 1 / (double)setup->tp;
}

double llm_replicas(const struct llm_setup *setup) {
    return setup->ep > setup->tp ? (double)setup->ep / (double)setup->tp : 1;
}

static struct adding adding_of(const struct language *language, const struct llm_setup *setup,
                               const struct llm_machine *machine, const struct llm_step *step,
                               struct llm_costs *costs) {
    const double batch = ceil((double)step->batch / llm_replicas(setup));
    return (struct adding){language, setup, machine, step, batch, costs};
}

static struct cm_tensor matrix(enum cm_element element, double n, double rows, double columns) {
    const int64_t dims[] = {(int64_t)fmax(1, round(n)), (int64_t)fmax(1, round(rows)),
                            (int64_t)fmax(1, round(columns))};
    return (struct cm_tensor){.element = (int32_t)element,
                              .rank = 3,
                              .dims = {dims[0], dims[1], dims[2]},
                              .strides = {dims[1] * dims[2], dims[2], 1}};
}

/* Adds the time of a kernel. */
static void add_kernel(const struct adding *adding, struct cm_primitive *primitive,
                       double flops, double read, double written) {
    double seconds = 0;
    if (!adding->machine->time) return;
    primitive->groups = 1;
    primitive->n_outputs = 1;
    primitive->flops = (int64_t)flops;
    primitive->bytes_read = (int64_t)read;
    primitive->bytes_written = (int64_t)written;
    primitive->fusion.in_graph = 1;
    if (!adding->machine->time(adding->machine->context, primitive, &seconds))
        adding->costs->is_untimed = true;
    adding->costs->expected += seconds;
}

static void add_elementwise(const struct adding *adding, double bytes) {
    struct cm_primitive primitive = {.kind = CM_ELTWISE, .n_inputs = 1};
    primitive.inputs[0] = primitive.outputs[0] = matrix(CM_F32, 1, 1, bytes / 8);
    add_kernel(adding, &primitive, 0, bytes / 2, bytes / 2);
}

static void add_compute(const struct adding *adding, enum cm_element element, double flops) {
    const double rate =
        adding->machine->rate ? adding->machine->rate(adding->machine->context, element) : 0;
    adding->costs->flops += flops;
    if (rate > 0) adding->costs->compute += flops / rate;
}

static void add_collective(const struct adding *adding, enum llm_collective kind, int64_t gpus,
                           double bytes) {
    struct llm_costs *costs = adding->costs;
    double bound = 0;
    if (gpus < 2) return;
    costs->n_collectives[kind]++;
    costs->collective_bytes[kind] = bytes;
    if (!adding->machine->collective) return;
    costs->communication +=
        adding->machine->collective(adding->machine->context, kind, gpus, bytes, &bound);
    costs->communication_bound += bound;
}

/* The element in which a product computes: that of its quantized weights, if they have one. */
static enum cm_element product_element(const struct adding *adding, size_t weight,
                                       const struct llm_product *product) {
    const struct llm_format *format =
        adding->setup->formats ? adding->setup->formats[weight] : NULL;
    return format && format->product != CM_ELEMENT_NONE ? format->product
                                                        : element_of(product->dtype);
}

/* The element in which the weight is read: narrower if it is dequantized in the kernel. */
static enum cm_element weight_element(const struct adding *adding, size_t weight,
                                      enum cm_element element) {
    const struct llm_weight *at = &adding->language->weights[weight];
    const double bits = (double)llm_weight_size(adding->language, adding->setup, weight) * 8 /
                        (double)at->elements;
    return bits < 12 && element != CM_F8E4M3 && element != CM_I8 ? CM_U8 : element;
}

static void add_product(const struct adding *adding, size_t index, size_t weight,
                        double bytes) {
    const struct llm_product *product = &adding->language->products[index];
    const struct llm_step *step = adding->step;
    const struct llm_setup *setup = adding->setup;
    struct llm_costs *costs = adding->costs;
    const bool by_expert = product->experts > 0 && setup->ep > 1;
    const double own = adding->batch * (double)step->tokens; /* tokens of one GPU */
    const double tokens = by_expert ? (double)step->batch * (double)step->tokens : own;
    const bool last = product->rows <= 0 || (product->is_logits && setup->last_logits);
    const double rows = last ? adding->batch : product->rows * tokens;
    const double share = share_of(setup, product);
    const double columns =
        (double)product->columns * (product->split == SPLIT_COLUMNS && !by_expert ? share : 1);
    const double inner =
        (double)product->inner * (product->split == SPLIT_ROWS && !by_expert ? share : 1);
    const double per_gpu = by_expert ? share : 1;
    const double macs = rows * per_gpu * inner * columns;
    const enum cm_element element = product_element(adding, weight, product);
    const double width = size_of(product->dtype);
    double groups = 1, read = bytes * share;
    if (product->experts > 0) {
        const double touched = llm_touched(product->experts, product->chosen, tokens);
        read *= touched / (double)product->experts;
        groups = fmax(1, touched * (by_expert ? share : 1));
    }
    costs->macs += macs;
    costs->weight_bytes += read;
    add_compute(adding, element, 2 * macs);
    const double operands = rows * per_gpu * (inner + columns) * width;
    const double residual = own * (double)adding->language->hidden * width;
    if (!last && operands + residual > costs->activation_bytes)
        costs->activation_bytes = operands + residual;
    if (product->moved > 0) add_elementwise(adding, (double)product->moved * own);
    struct cm_primitive primitive = {.kind = CM_GEMM, .n_inputs = 2};
    const double m = fmax(1, rows * per_gpu / groups);
    primitive.inputs[0] = matrix(element, groups, m, inner);
    primitive.inputs[1] =
        matrix(weight_element(adding, weight, element), groups, inner, columns);
    primitive.outputs[0] = matrix(element, groups, m, columns);
    add_kernel(adding, &primitive, 2 * macs, read + rows * per_gpu * inner * width,
               rows * per_gpu * columns * width);
    /* groups of GPUs with sequences of their own exchange the tokens of experts */
    const double result = rows * columns * width;
    if (by_expert && llm_replicas(setup) > 1)
        add_collective(
            adding, COLLECTIVE_ALL_TO_ALL, setup->ep,
            rows / llm_replicas(setup) * width *
                (double)(product->split == SPLIT_ROWS ? product->columns : product->inner));
    else if (product->reduces)
        add_collective(adding, COLLECTIVE_ALL_REDUCE, setup->tp,
                       product->experts > 0 ? tokens * columns * width : result);
    else if (product->is_logits && product->split == SPLIT_COLUMNS)
        add_collective(adding, COLLECTIVE_ALL_GATHER, setup->tp, result * (double)setup->tp);
}

/* Returns the keys that `queries` new tokens see, the last of which sees `keys`; without causal
 * masking, they all see the keys. */
static double pairs_of(double queries, double keys, double window, bool is_causal) {
    const double before = keys - queries;
    if (!is_causal) return queries * (window > 0 ? fmin(keys, window) : keys);
    const double whole = queries * before + queries * (queries + 1) / 2;
    if (window <= 0 || keys <= window) return whole;
    const double growing = fmax(0, fmin(queries, window - before));
    return growing * before + growing * (growing + 1) / 2 + (queries - growing) * window;
}

double llm_cached_bits(const struct llm_setup *setup, const struct llm_attention *attention) {
    const int bits = dtype_bits(attention->dtype);
    return setup->cache ? llm_format_bits(setup->cache, bits) : (double)bits;
}

/* Returns the part of the heads of one GPU; each has at least one head of keys. */
static double kv_share(const struct llm_setup *setup, const struct llm_attention *attention) {
    if (!attention->is_split || setup->tp < 2 ||
        (attention->latent > 0 && attention->cached == attention->latent))
        return 1;
    return 1 / fmin((double)setup->tp, (double)attention->kv_heads);
}

static void add_attention(const struct adding *adding, const struct llm_attention *attention) {
    const struct llm_step *step = adding->step;
    struct llm_costs *costs = adding->costs;
    const double batch = adding->batch, queries = (double)step->tokens;
    const double keys =
        attention->is_cross ? (double)step->source : (double)step->past + (double)step->tokens;
    const double share = attention->is_split ? 1 / (double)adding->setup->tp : 1;
    const double heads = fmax(1, (double)attention->heads * share);
    const double columns = (double)(attention->key_columns + attention->value_columns);
    const double window = attention->is_cross ? 0 : (double)attention->window;
    const double seen = window > 0 ? fmin(keys, window + queries - 1) : keys;
    const double kv_heads =
        fmax(1, (double)attention->kv_heads * kv_share(adding->setup, attention));
    /* with a latent cache, queries are multiplied by the vectors themselves */
    const bool is_latent = attention->latent > 0 && attention->cached == attention->latent;
    const double absorbed =
        is_latent && queries < 16 ? 2 * (double)attention->latent / columns : 1;
    /* a layer that shares a cache reads it, too */
    const double elements = is_latent ? (double)attention->latent : kv_heads * columns;
    const double row = elements * llm_cached_bits(adding->setup, attention) / 8;
    const double written = attention->is_cross || attention->cached == 0 ? 0 : queries * row;
    const double read = batch * fmax(0, seen - written / row) * row;
    const double width = size_of(adding->language->activations);
    const double q_bytes = batch * queries * heads * columns * width;
    const double flops =
        2 * batch * heads * columns * pairs_of(queries, keys, window, !attention->is_cross);
    const enum cm_element element = element_of(adding->language->activations);
    costs->macs += batch * heads * columns * pairs_of(queries, keys, window, false);
    costs->kv_bytes += read + batch * written;
    add_compute(adding, element, flops);
    struct cm_primitive primitive = {.kind = CM_ATTENTION, .n_inputs = 3};
    const bool is_absorbed = absorbed > 1; /* one head of vectors is both keys and values */
    const int64_t key_columns = is_absorbed ? attention->latent : attention->key_columns;
    const int64_t value_columns = is_absorbed ? attention->latent : attention->value_columns;
    const int64_t dims[] = {(int64_t)fmax(1, batch), is_absorbed ? 1 : (int64_t)kv_heads,
                            (int64_t)seen};
    primitive.causal = queries > 1 ? CM_CAUSAL_LAST : CM_CAUSAL_NONE;
    primitive.inputs[0] =
        (struct cm_tensor){.element = (int32_t)element,
                           .rank = 4,
                           .dims = {dims[0], (int64_t)heads, (int64_t)queries, key_columns}};
    for (int i = 1; i < 3; i++)
        primitive.inputs[i] = (struct cm_tensor){
            .element = (int32_t)element,
            .rank = 4,
            .dims = {dims[0], dims[1], dims[2], i == 1 ? key_columns : value_columns}};
    primitive.outputs[0] = primitive.inputs[0];
    primitive.outputs[0].dims[3] = value_columns;
    add_kernel(adding, &primitive, flops * absorbed, read + q_bytes / 2,
               batch * written + q_bytes / 2);
}

/* Adds the product whose weights begin at *weight, and advances *weight past them. */
static void add_next_product(const struct adding *adding, size_t index, size_t *weight) {
    const struct language *language = adding->language;
    const size_t first = *weight;
    double bytes = 0;
    for (; *weight < language->n_weights && language->weights[*weight].product == index;
         ++*weight)
        bytes += (double)llm_weight_size(language, adding->setup, *weight);
    add_product(adding, index, first, bytes);
}

double llm_product_seconds(const struct language *language, const struct llm_setup *setup,
                           const struct llm_machine *machine, const struct llm_step *step,
                           size_t weight) {
    struct llm_costs costs = {.macs = 0};
    const struct adding adding = adding_of(language, setup, machine, step, &costs);
    add_next_product(&adding, language->weights[weight].product, &weight);
    return costs.expected;
}

struct llm_costs llm_step_costs(const struct language *language, const struct llm_setup *setup,
                                const struct llm_machine *machine,
                                const struct llm_step *step) {
    struct llm_costs costs = {.macs = 0};
    const struct adding adding = adding_of(language, setup, machine, step, &costs);
    const double tokens = adding.batch * (double)step->tokens; /* of one GPU */
    size_t weight = 0; /* weights are sorted by product */
    for (size_t i = 0; i < language->n_products; i++) add_next_product(&adding, i, &weight);
    for (size_t i = 0; i < language->n_attentions; i++)
        add_attention(&adding, &language->attentions[i]);
    costs.macs += language->other_macs * tokens;
    add_compute(&adding, element_of(language->activations), 2 * language->other_macs * tokens);
    costs.weight_bytes += (double)language->embedding_bytes * tokens;
    costs.state_bytes = 2 * (double)language->state_bytes * adding.batch;
    if (!machine->name) return costs;
    if (setup->pp > 1) {
        const double width = size_of(language->activations);
        for (int64_t stage = 1; stage < setup->pp; stage++)
            add_collective(&adding, COLLECTIVE_SEND, 2,
                           tokens * (double)language->hidden * width);
    }
    costs.bound =
        fmax(costs.compute, llm_moved(&costs) / machine->bandwidth) + costs.communication_bound;
    costs.expected +=
        costs.state_bytes / machine->bandwidth + machine->run + costs.communication;
    if (costs.expected < costs.bound) costs.expected = costs.bound;
    return costs;
}

double llm_stage_share(const struct language *language, const struct llm_setup *setup) {
    const double layers = (double)(language->n_attentions > 0 ? language->n_attentions : 1);
    return setup->pp > 1 ? ceil(layers / (double)setup->pp) / layers : 1;
}

double llm_row_bytes(const struct llm_setup *setup, const struct llm_attention *attention) {
    return (double)attention->cached * llm_cached_bits(setup, attention) / 8 *
           kv_share(setup, attention);
}

double llm_cache_bytes(const struct language *language, const struct llm_setup *setup,
                       int64_t context, int64_t source, int64_t paged) {
    double bytes = (double)language->state_bytes;
    for (size_t i = 0; i < language->n_attentions; i++) {
        const struct llm_attention *attention = &language->attentions[i];
        double tokens = (double)(attention->is_cross ? source : context);
        if (paged == 0 && attention->window > 0 && !attention->is_cross)
            tokens = fmin(tokens, (double)attention->window);
        if (paged > 0) tokens = ceil(tokens / (double)paged) * (double)paged;
        bytes += tokens * llm_row_bytes(setup, attention);
    }
    return bytes * llm_stage_share(language, setup);
}

double llm_learned_bytes(const struct language *language, const struct llm_setup *setup) {
    double table = 0, logits = 0, layers = 0, stored = 0;
    for (size_t i = 0; i < language->n_weights; i++) {
        const struct llm_weight *weight = &language->weights[i];
        const bool is_copy = !weight->is_first && setup->formats && setup->formats[i];
        if (!weight->is_first && !is_copy) continue;
        if (weight->is_first) stored += (double)weight->learned_bytes;
        const double bytes = (double)llm_weight_size(language, setup, i);
        if (weight->product == LLM_TABLE) {
            table += bytes;
            continue;
        }
        const struct llm_product *product = &language->products[weight->product];
        *(product->is_logits ? &logits : &layers) += bytes * share_of(setup, product);
    }
    layers += fmax(0, (double)language->weight_bytes - stored);
    /* the first stage has the table, the last one computes the logits */
    const double ends = setup->pp > 1 ? fmax(table, logits) : table + logits;
    return layers * llm_stage_share(language, setup) + ends;
}

double llm_learned_elements(const struct language *language, const struct llm_setup *setup) {
    double matrices = 0, divided = 0;
    for (size_t i = 0; i < language->n_weights; i++) {
        const struct llm_weight *weight = &language->weights[i];
        if (!weight->is_first) continue;
        matrices += (double)weight->elements;
        divided += (double)weight->elements *
                   (weight->product == LLM_TABLE
                        ? 1
                        : share_of(setup, &language->products[weight->product]));
    }
    return (divided + fmax(0, (double)language->params - matrices)) / (double)setup->pp;
}

double llm_stored_bytes(const struct language *language, const struct llm_setup *setup) {
    double scales = 0; /* counted with their weights */
    for (size_t i = 0; i < language->n_weights; i++)
        if (language->weights[i].is_first)
            scales += (double)(language->weights[i].bytes - language->weights[i].learned_bytes);
    const double buffers = fmax(0, (double)language->buffer_bytes - scales);
    return llm_learned_bytes(language, setup) + buffers * llm_stage_share(language, setup);
}
