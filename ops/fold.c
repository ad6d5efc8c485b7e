/* SPDX-License-Identifier: Apache-2.0 */
/* Constant folding: see fold.h. */
#include "ops/fold.h"

#include <math.h>

#include "ops/op_context.h"
#include "support/arena.h"

#define MAX_OPERANDS 16 /* larger variadic nodes are not folded */

/* An operand, with its strides after broadcasting to the shape of the output. */
struct source {
    const struct constant *value; /* NULL: omitted */
    int64_t strides[SHAPE_MAX_RANK];
};

struct sources {
    size_t n;
    bool uniform; /* every operand is a splat or a single element */
    struct source items[MAX_OPERANDS];
};

/* Rounds to a float format with `bits` of significand and normal exponents from `min` to `max`.
 * float16 is (11, -14, 15). */
static double round_to(double value, int bits, int min, int max) {
    int exponent = 0;
    if (!isfinite(value) || value == 0) return value;
    (void)frexp(
        value, &exponent); /* the first bit of the significand has the value 2^(exponent - 1) */
    const int first = exponent - 1 < min ? min : exponent - 1;
    const double rounded = ldexp(rint(ldexp(value, bits - 1 - first)), first - bits + 1);
    return fabs(rounded) < ldexp(1, max + 1) ? rounded : copysign((double)INFINITY, value);
}

bool fold_store(enum dtype dtype, struct number *number) {
    switch (dtype) {
    case DTYPE_DOUBLE:
        return true;
    case DTYPE_FLOAT:
        number->r = fabs(number->r) > 3.4028234663852886e+38 && isfinite(number->r)
                        ? copysign((double)INFINITY, number->r)
                        : (double)(float)number->r;
        return true;
    case DTYPE_FLOAT16:
        number->r = round_to(number->r, 11, -14, 15);
        return true;
    case DTYPE_BFLOAT16:
        number->r = round_to(number->r, 8, -126, 127);
        return true;
    case DTYPE_BOOL:
        number->i = number->i != 0;
        return true;
    default:
        break;
    }
    if (!dtype_is_integer(dtype)) return false;
    const bool is_unsigned = dtype == DTYPE_UINT8 || dtype == DTYPE_UINT16 ||
                             dtype == DTYPE_UINT32 || dtype == DTYPE_UINT64 ||
                             dtype == DTYPE_UINT4 || dtype == DTYPE_UINT2;
    const int bits = dtype_bits(dtype) - !is_unsigned;
    if (is_unsigned && number->i < 0) return false;
    if (bits >= 63) return true;
    const int64_t limit = INT64_C(1) << bits;
    return number->i < limit && number->i >= -limit;
}

/* Computes the strides of the operand broadcast to `shape`, 0 along broadcast axes. Returns
 * false if it cannot be broadcast. */
static bool broadcast_strides(const struct shape *shape, struct source *source) {
    const struct shape *own = &source->value->shape;
    int64_t strides[SHAPE_MAX_RANK];
    if (own->rank > shape->rank) return false;
    remap_strides(own, strides);
    for (int axis = 0; axis < shape->rank; axis++) {
        int at = axis - (shape->rank - own->rank);
        bool repeats = at < 0 || own->dims[at] == 1;
        if (!repeats && own->dims[at] != shape->dims[axis]) return false;
        source->strides[axis] = repeats ? 0 : strides[at];
    }
    return true;
}

static bool can_compute(const struct constant *value) {
    if (constant_has_reals(value)) return true;
    if (!constant_has_ints(value)) return false;
    if (value->dtype != DTYPE_UINT64) return true;
    const bool alike = value->place == CONSTANT_SPLAT && value->n_elements > 1;
    const int64_t n = alike ? 1 : value->n_elements;
    for (int64_t i = 0; i < n; i++)
        if (constant_int_at(value, i) < 0) return false; /* uint64 of 2^63 or more */
    return true;
}

/* Loads the operands. Sets *ret_possible to false if there are too many, or if one is unknown,
 * has an unsupported type or does not broadcast. */
static int load_sources(struct op_context *context, const struct shape *shape,
                        struct sources *ret, bool *ret_possible) {
    ret->n = context->n_inputs;
    ret->uniform = true;
    *ret_possible = false;
    if (context->n_inputs > MAX_OPERANDS) return CM_OK;
    for (size_t i = 0; i < context->n_inputs; i++) {
        struct source *source = &ret->items[i];
        source->value = NULL;
        if (!op_has_input(context, i)) continue;
        int status = op_value(context, i, &source->value);
        if (status < 0) return status;
        if (!source->value || !can_compute(source->value)) return CM_OK;
        if (!broadcast_strides(shape, source)) return CM_OK;
        ret->uniform = ret->uniform && (source->value->place == CONSTANT_SPLAT ||
                                        source->value->n_elements == 1);
    }
    *ret_possible = true;
    return CM_OK;
}

static bool compute(const struct op_context *context, fold_kernel *kernel,
                    const struct sources *sources, const int64_t *coords, struct number *ret) {
    const struct value_info *output = &context->outputs[0];
    struct number x[MAX_OPERANDS];
    for (size_t i = 0; i < sources->n; i++) {
        const struct source *source = &sources->items[i];
        x[i] = (struct number){.given = false};
        if (!source->value) continue;
        int64_t offset = 0;
        for (int axis = 0; axis < output->shape.rank && source->value->place != CONSTANT_SPLAT;
             axis++)
            offset += coords[axis] * source->strides[axis];
        x[i] = constant_number_at(source->value, offset);
    }
    *ret = (struct number){.given = true, .real = dtype_is_float(output->dtype)};
    return kernel(context, sources->n, x, ret);
}

/* Stores element i, converted to the dtype. Returns false if the dtype cannot represent it. */
static bool store(const struct elements *elements, int64_t i, struct number number) {
    if (!fold_store(elements->dtype, &number)) return false;
    if (elements->reals)
        elements->reals[i] = number.r;
    else
        elements->ints[i] = number.i;
    return true;
}

int fold_set_numbers(struct op_context *context, const struct number *numbers, int64_t n) {
    struct elements elements;
    int status = elements_alloc(context, context->outputs[0].dtype, n, &elements);
    if (status < 0) return status;
    for (int64_t i = 0; i < n; i++)
        if (!store(&elements, i, numbers[i])) return CM_OK;
    return elements_set(context, 0, &elements);
}

int fold_elements(struct op_context *context, fold_kernel *kernel) {
    const struct value_info *output = &context->outputs[0];
    int64_t coords[SHAPE_MAX_RANK] = {0};
    struct sources sources;
    struct elements elements;
    struct number number;
    bool possible = false;
    if (!op_has_output(context, 0) || !value_info_is_complete(output)) return CM_OK;
    int status = load_sources(context, &output->shape, &sources, &possible);
    if (status < 0 || !possible) return status;
    const int64_t n = shape_elements(&output->shape);
    if (sources.uniform && n > 1) {
        if (!compute(context, kernel, &sources, coords, &number)) return CM_OK;
        if (!fold_store(output->dtype, &number)) return CM_OK;
        return op_set_value(
            context, 0, constant_splat(context->arena, output->dtype, &output->shape, number));
    }
    if (!is_known(n) || n > CONSTANT_MAX_ELEMENTS) return CM_OK;
    status = elements_alloc(context, output->dtype, n, &elements);
    if (status < 0) return status;
    for (int64_t i = 0; i < n; i++) {
        if (!compute(context, kernel, &sources, coords, &number)) return CM_OK;
        if (!store(&elements, i, number)) return CM_OK;
        remap_advance(&output->shape, coords);
    }
    return elements_set(context, 0, &elements);
}

/* ---- data movement ---- */

int elements_alloc(struct op_context *context, enum dtype dtype, int64_t n,
                   struct elements *ret) {
    const bool real = dtype_is_float(dtype);
    *ret = (struct elements){dtype, n, NULL, NULL};
    if (real)
        ret->reals = arena_array(context->arena, (size_t)n, sizeof *ret->reals);
    else
        ret->ints = arena_array(context->arena, (size_t)n, sizeof *ret->ints);
    return ret->reals || ret->ints ? CM_OK : diag_no_memory(context->diag);
}

int elements_new(struct op_context *context, const struct constant *like, int64_t n,
                 struct elements *ret, bool *ret_possible) {
    *ret_possible = n >= 0 && n <= CONSTANT_MAX_ELEMENTS && constant_has_numbers(like);
    return *ret_possible ? elements_alloc(context, like->dtype, n, ret) : CM_OK;
}

void elements_copy(struct elements *elements, int64_t at, const struct constant *from,
                   int64_t index) {
    BUG_ON(at < 0 || at >= elements->n || index < 0 || index >= from->n_elements);
    if (elements->ints)
        elements->ints[at] = constant_int_at(from, index);
    else
        elements->reals[at] = constant_real_at(from, index);
}

int elements_set(struct op_context *context, size_t slot, const struct elements *elements) {
    const struct shape *shape = op_output_shape(context, slot);
    if (!op_has_output(context, slot)) return CM_OK;
    BUG_ON(shape_elements(shape) != elements->n);
    const struct constant *value =
        elements->ints
            ? constant_ints(context->arena, elements->dtype, shape, elements->ints)
            : constant_reals(context->arena, elements->dtype, shape, elements->reals);
    return op_set_value(context, slot, value);
}

int remap_same(struct op_context *context, size_t slot, const struct constant *from) {
    const struct shape *shape = op_output_shape(context, slot);
    if (!shape_is_known(shape) || shape_elements(shape) != from->n_elements) return 0;
    struct constant *value = arena_copy(context->arena, from, sizeof *from);
    if (value) value->shape = *shape;
    return op_set_value(context, slot, value);
}

int remap_view(struct op_context *context) {
    const struct constant *value = NULL;
    int status = op_value(context, 0, &value);
    return status < 0 || !value ? status : remap_same(context, 0, value);
}

int remap_splat(struct op_context *context, size_t slot, const struct constant *from) {
    const struct shape *shape = op_output_shape(context, slot);
    if (!constant_has_numbers(from)) return 0;
    return op_set_value(
        context, slot,
        constant_splat(context->arena, from->dtype, shape, constant_number_at(from, 0)));
}

int64_t remap_strided(const struct remap *remap, int rank, const int64_t *coords) {
    int64_t index = remap->offset;
    for (int axis = 0; axis < rank; axis++)
        index += (remap->wrap ? coords[axis] % remap->wrap[axis] : coords[axis]) *
                 remap->strides[axis];
    return index;
}

int remap_fold(struct op_context *context, size_t slot, const struct remap *remap) {
    const struct shape *shape = op_output_shape(context, slot);
    struct elements elements;
    int64_t coords[SHAPE_MAX_RANK] = {0};
    bool possible = false;
    if (!op_has_output(context, slot) || !shape_is_known(shape)) return 0;
    int64_t n = shape_elements(shape);
    if (!is_known(n)) return 0;
    if (remap->from->place == CONSTANT_SPLAT && !remap->fills && remap->from->n_elements > 0)
        return remap_splat(context, slot, remap->from);
    int status = elements_new(context, remap->from, n, &elements, &possible);
    if (status || !possible) return status;
    for (int64_t i = 0; i < n; i++) {
        int64_t index = REMAP_FILL; /* an empty operand has no source elements */
        if (remap->from->n_elements > 0)
            index = remap->source ? remap->source(remap->context, coords)
                                  : remap_strided(remap, shape->rank, coords);
        if (index != REMAP_FILL)
            elements_copy(&elements, i, remap->from, index);
        else if (remap->fill)
            elements_copy(&elements, i, remap->fill, 0);
        remap_advance(shape, coords);
    }
    return elements_set(context, slot, &elements);
}

void remap_strides(const struct shape *shape, int64_t *strides) {
    int64_t stride = 1;
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        strides[axis] = stride;
        stride = checked_mul(stride, shape->dims[axis]);
    }
}

void remap_advance(const struct shape *shape, int64_t *coords) {
    for (int axis = shape->rank - 1; axis >= 0; axis--) {
        if (++coords[axis] < shape->dims[axis]) return;
        coords[axis] = 0;
    }
}
