/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trip count of a Loop with counters: see trip_count.h. Each value of the body is expressed as
 * a linear function of one body input (struct linear), then as a progression over the
 * iterations (struct progression); comparing two progressions gives the first iteration that
 * ends the loop.
 */
#include "ops/trip_count.h"

#include <math.h>
#include <stdlib.h>

#include "ops/common.h"
#include "support/text.h"

#include "support/banned.h"

/* Maximum number of values visited for one condition. */
#define MAX_STEPS  256
#define MAX_NUMBER (INT64_C(1) << 53)

/* By dtype: the dtype represents every integer up to this magnitude; 0: not for counters. */
static const int64_t exact_to[DTYPE_N] = {
    [DTYPE_INT8] = INT8_MAX,
    [DTYPE_INT16] = INT16_MAX,
    [DTYPE_INT32] = INT32_MAX,
    [DTYPE_INT64] = MAX_NUMBER,
    [DTYPE_BFLOAT16] = INT64_C(1) << 8,
    [DTYPE_FLOAT16] = INT64_C(1) << 11,
    [DTYPE_FLOAT] = INT64_C(1) << 24,
    [DTYPE_DOUBLE] = MAX_NUMBER,
};

struct search {
    struct op_context *context;
    const struct graph *body;
    uint32_t graph;
    int steps_left;
    int status;
};

/* The linear function factor * input + offset. `input`: index of a body input; ID_NONE for a
 * constant (offset). */
struct linear {
    uint32_t input;
    int64_t factor, offset;
    /* Over all intermediate values: largest magnitudes, and smallest exact range of a dtype. */
    int64_t max_factor, max_offset, exact_to;
};

/* A value that is start + k * step in iteration k >= 0. */
struct progression {
    int64_t start, step;
    int64_t last; /* largest k without an overflow of an intermediate value; -1: none */
};

static int64_t smaller_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t larger_of(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool is_within(int64_t number, int64_t limit) {
    return is_known(number) && number >= -limit && number <= limit;
}

/* ---- numbers ---- */

/* Returns true if the value is a tensor of one element, or of an unknown number: a condition
 * and the values that it is computed from have one element. */
static bool may_be_single(const struct value_info *info) {
    const int64_t elements = shape_elements(&info->shape);
    return info->kind == CM_TYPE_TENSOR && (elements == 1 || elements == DIM_UNKNOWN);
}

/* Sets *ret to the only element. Returns false unless it is a known integer; an unreadable
 * constant is unknown. */
static bool read_number(struct search *search, const struct value_info *info, int64_t *ret) {
    const struct constant *value = NULL;
    const struct op_context *context = search->context;
    if (!info->value || info->lower_bound || info->value->n_elements != 1) return false;
    int status =
        constant_load(info->value, &context->model->reader, context->arena, NULL, &value);
    if (status == CM_NO_MEMORY) search->status = diag_no_memory(context->diag);
    if (status < 0 || !value) return false;
    if (constant_has_reals(value)) {
        const double real = constant_real_at(value, 0);
        if (!(fabs(real) <= (double)MAX_NUMBER) || real != floor(real)) return false;
        *ret = (int64_t)real;
        return true;
    }
    if (!constant_has_ints(value)) return false;
    *ret = constant_int_at(value, 0);
    return is_within(*ret, MAX_NUMBER);
}

/* ---- linear functions ---- */

static bool linear_of_value(struct search *search, uint32_t id, struct linear *ret);

/* Records an intermediate value; returns false if its numbers are too large. */
static bool record_linear(struct linear *linear) {
    if (!is_within(linear->factor, MAX_NUMBER) || !is_within(linear->offset, MAX_NUMBER))
        return false;
    linear->max_factor = larger_of(linear->max_factor, llabs(linear->factor));
    linear->max_offset = larger_of(linear->max_offset, llabs(linear->offset));
    return true;
}

static bool add_linear(const struct linear *a, const struct linear *b, struct linear *ret) {
    if (a->input != ID_NONE && b->input != ID_NONE && a->input != b->input) return false;
    ret->input = a->input == ID_NONE ? b->input : a->input;
    ret->factor = checked_add(a->factor, b->factor);
    ret->offset = checked_add(a->offset, b->offset);
    return true;
}

static bool multiply_linear(const struct linear *a, const struct linear *b,
                            struct linear *ret) {
    if (a->input != ID_NONE && b->input != ID_NONE) return false;
    const struct linear *moving = a->input == ID_NONE ? b : a;
    const int64_t by = (moving == a ? b : a)->offset;
    ret->input = moving->input;
    ret->factor = checked_mul(moving->factor, by);
    ret->offset = checked_mul(moving->offset, by);
    return true;
}

static bool subtract_linear(const struct linear *a, const struct linear *b,
                            struct linear *ret) {
    const struct linear minus = {.input = b->input, .factor = -b->factor, .offset = -b->offset};
    return add_linear(a, &minus, ret);
}

static const struct {
    const char *type;
    bool (*combine)(const struct linear *a, const struct linear *b, struct linear *ret);
} arithmetic[] = {{"Add", add_linear}, {"Sub", subtract_linear}, {"Mul", multiply_linear}};

/* Returns true if the node forwards its one element under another dtype or shape. */
static bool is_view_or_cast(const struct node *node) {
    static const char *const types[] = {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (text_equal(node->type, types[i])) return true;
    return false;
}

static bool linear_of_node(struct search *search, const struct node *node, struct linear *ret) {
    if (is_view_or_cast(node)) return linear_of_value(search, node->inputs[0], ret);
    for (size_t i = 0; i < sizeof arithmetic / sizeof *arithmetic; i++) {
        struct linear a, b;
        if (!text_equal(node->type, arithmetic[i].type)) continue;
        if (!linear_of_value(search, node->inputs[0], &a) ||
            !linear_of_value(search, node->inputs[1], &b))
            return false;
        ret->exact_to = smaller_of(a.exact_to, b.exact_to);
        ret->max_factor = larger_of(a.max_factor, b.max_factor);
        ret->max_offset = larger_of(a.max_offset, b.max_offset);
        return arithmetic[i].combine(&a, &b, ret) && record_linear(ret);
    }
    return false;
}

/* Returns the ai.onnx node of the body that produces the value, or NULL. */
static const struct node *producer_in_body(const struct search *search, uint32_t id) {
    const struct value *value = &search->context->model->values[id];
    if (value->graph != search->graph || value->node == ID_NONE) return NULL;
    const struct node *node = &search->context->model->nodes[value->node];
    return node->domain[0] == '\0' ? node : NULL;
}

static bool linear_of_value(struct search *search, uint32_t id, struct linear *ret) {
    const struct op_walker *walker = search->context->walker;
    const struct graph *body = search->body;
    if (id == ID_NONE || search->status || search->steps_left-- <= 0) return false;
    const struct value_info *info = walker->info(walker->context, id);
    const struct node *node = producer_in_body(search, id);
    *ret = (struct linear){.input = ID_NONE, .exact_to = MAX_NUMBER};
    if (!may_be_single(info)) return false;
    const bool is_number = read_number(search, info, &ret->offset);
    if (!is_number && node && !linear_of_node(search, node, ret)) return false;
    if (!is_number && !node) {
        uint32_t i = 0;
        while (i < body->n_inputs && body->inputs[i] != id) i++;
        if (i == body->n_inputs || i == LOOP_CONDITION) return false;
        ret->input = i;
        ret->factor = ret->max_factor = 1;
    }
    if (!record_linear(ret)) return false;
    ret->exact_to = smaller_of(ret->exact_to, exact_to[info->dtype]);
    return true;
}

/* Returns the largest k for which start + k * step is within +-limit. */
static int64_t last_within(int64_t start, int64_t step, int64_t limit) {
    if (!is_within(start, limit)) return -1;
    if (step == 0) return TRIP_COUNT_UNLIMITED;
    return step > 0 ? (limit - start) / step : (start + limit) / -step;
}

/* Returns the largest magnitude of the input for which every intermediate value is exact in its
 * dtype; negative if there is none. */
static int64_t input_range(const struct linear *linear) {
    const int64_t limit = linear->exact_to - linear->max_offset;
    return limit < 0 || linear->max_factor == 0 ? limit : limit / linear->max_factor;
}

static bool progression_of_value(struct search *search, uint32_t id, struct progression *ret) {
    struct linear linear;
    struct linear next = {.exact_to = MAX_NUMBER};
    struct progression input = {0, 1, 0};
    if (!linear_of_value(search, id, &linear)) return false;
    if (linear.input == ID_NONE) input.step = 0;
    if (linear.input != ID_NONE && linear.input >= LOOP_STATE) { /* a state */
        if (!read_number(search, op_input(search->context, linear.input), &input.start) ||
            !linear_of_value(search, search->body->outputs[linear.input - 1], &next))
            return false;
        const bool stays = next.input == ID_NONE && next.offset == input.start;
        if (!stays && (next.input != linear.input || next.factor != 1)) return false;
        input.step = stays ? 0 : next.offset;
    }
    ret->start = checked_add(checked_mul(linear.factor, input.start), linear.offset);
    ret->step = checked_mul(linear.factor, input.step);
    ret->last = smaller_of(last_within(input.start, input.step, input_range(&linear)),
                           last_within(input.start, input.step, input_range(&next)));
    return is_within(ret->start, MAX_NUMBER) && is_within(ret->step, MAX_NUMBER);
}

/* ---- conditions ---- */

static const struct trip_count no_bounds = {0, TRIP_COUNT_UNLIMITED};

/* Returns the first k >= 0 at which (start + k * step < bound) == want. */
static int64_t first_below(int64_t start, int64_t step, int64_t bound, bool want) {
    if ((start < bound) == want) return 0;
    if (step == 0 || (step < 0) != want) return TRIP_COUNT_UNLIMITED;
    return want ? (start - bound) / -step + 1 : (bound - start + step - 1) / step;
}

static const struct {
    const char *type;
    bool swapped;  /* compares operand 1 - operand 0, else operand 0 - operand 1 */
    int64_t bound; /* the comparison is true if this difference is < bound */
} comparisons[] = {{"Less", false, 0},
                   {"Greater", true, 0},
                   {"LessOrEqual", false, 1},
                   {"GreaterOrEqual", true, 1}};

static struct trip_count first_of_comparison(struct search *search, const struct node *node,
                                             size_t row, bool want) {
    const bool swapped = comparisons[row].swapped;
    struct progression x, y;
    if (!progression_of_value(search, node->inputs[swapped], &x) ||
        !progression_of_value(search, node->inputs[!swapped], &y))
        return no_bounds;
    const int64_t k =
        first_below(x.start - y.start, x.step - y.step, comparisons[row].bound, want);
    const int64_t last = smaller_of(x.last, y.last);
    return k <= last ? (struct trip_count){k, k}
                     : (struct trip_count){last + 1, TRIP_COUNT_UNLIMITED};
}

static struct trip_count first_iteration(struct search *search, uint32_t id, bool want);

/* Combines the bounds of two conditions: if `both`, both must have the value `want`, else one
 * of them. */
static struct trip_count first_of_and_or(struct search *search, const struct node *node,
                                         bool both, bool want) {
    const struct trip_count a = first_iteration(search, node->inputs[0], want);
    const struct trip_count b = first_iteration(search, node->inputs[1], want);
    if (!both)
        return (struct trip_count){smaller_of(a.lower, b.lower), smaller_of(a.upper, b.upper)};
    return (struct trip_count){a.lower > b.lower ? a.lower : b.lower, TRIP_COUNT_UNLIMITED};
}

static struct trip_count first_iteration_of_node(struct search *search, const struct node *node,
                                                 bool want) {
    const struct op_walker *walker = search->context->walker;
    if (is_view_or_cast(node)) return first_iteration(search, node->inputs[0], want);
    /* PaddlePaddle copies a condition by adding 0 */
    for (size_t i = 0; i < 2 && text_equal(node->type, "Add"); i++) {
        const uint32_t id = node->inputs[i];
        int64_t number = 1;
        if (id != ID_NONE && read_number(search, walker->info(walker->context, id), &number) &&
            number == 0)
            return first_iteration(search, node->inputs[1 - i], want);
    }
    if (text_equal(node->type, "Not")) return first_iteration(search, node->inputs[0], !want);
    if (text_equal(node->type, "And")) return first_of_and_or(search, node, want, want);
    if (text_equal(node->type, "Or")) return first_of_and_or(search, node, !want, want);
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (text_equal(node->type, comparisons[i].type))
            return first_of_comparison(search, node, i, want);
    return no_bounds;
}

/* Returns bounds of the first iteration (from 0) in which the condition has the value `want`.
 */
static struct trip_count first_iteration(struct search *search, uint32_t id, bool want) {
    const struct op_walker *walker = search->context->walker;
    int64_t number = 0;
    if (id == ID_NONE || search->status || search->steps_left-- <= 0) return no_bounds;
    const struct value_info *info = walker->info(walker->context, id);
    const struct node *node = producer_in_body(search, id);
    if (!may_be_single(info)) return no_bounds;
    if (read_number(search, info, &number)) {
        const int64_t k = (number != 0) == want ? 0 : TRIP_COUNT_UNLIMITED;
        return (struct trip_count){k, k};
    }
    return node ? first_iteration_of_node(search, node, want) : no_bounds;
}

int trip_count_find(struct op_context *context, const struct body *body,
                    struct trip_count *ret) {
    struct search search = {.context = context,
                            .body = &context->model->graphs[body->graph],
                            .graph = body->graph,
                            .steps_left = MAX_STEPS};
    *ret = first_iteration(&search, search.body->outputs[0], false);
    if (ret->lower != TRIP_COUNT_UNLIMITED) ret->lower++;
    if (ret->upper != TRIP_COUNT_UNLIMITED) ret->upper++;
    return search.status;
}
