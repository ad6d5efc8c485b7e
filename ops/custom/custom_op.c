/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a description: binds its names to values in the order in which they may use each
 * other (attributes, inputs, where), then evaluates outputs and costs. Without a node all
 * values are unknown, which checks the texts; they are untrusted. */
#include "ops/custom/custom_op.h"

#include <string.h>

#include "ops/custom/expression.h"
#include "ops/op_context.h"
#include "ops/product.h"
#include "ops/registry/registry.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

struct name {
    const char *name;
    size_t length;
    bool is_dim; /* bound by the dims of inputs */
    int64_t value;
};

struct evaluation {
    const struct custom *custom;
    const struct op_context *context; /* NULL: check the texts */
    const char *place;                /* with `arena`, for messages, if there is no node */
    struct arena *arena;
    struct cm_diagnostics *diag;
    size_t n_steps;      /* of the expressions so far */
    bool is_quiet;       /* ignore divisions by 0: the dims of an input are not compared */
    int32_t max_outputs; /* 0 until the outputs have been read */
    struct shape rest;   /* dims of "..."; RANK_UNKNOWN if not bound */
    int64_t rest_dims[SHAPE_MAX_RANK];
    size_t n_names; /* searched linearly: descriptions are short */
    struct name names[CUSTOM_OP_MAX_NAMES];
};

bool custom_op_is(const struct op *op) {
    return op->infer == custom_op_infer;
}

const struct custom *custom_op_of_op(const struct op *op) {
    return (const struct custom *)op; /* `op` is its first member */
}

const char *custom_op_place(struct arena *arena, const char *place, const char *key,
                            size_t index) {
    const char *ret = index == CM_NO_INDEX
                          ? arena_printf(arena, "%s.%s", place, key)
                          : arena_printf(arena, "%s.%s[%zu]", place, key, index);
    return ret ? ret : "";
}

static int begin(const struct evaluation *evaluation, const char *key, size_t index,
                 const char *text, struct expression_cursor *ret) {
    const char *place = evaluation->context
                            ? ""
                            : custom_op_place(evaluation->arena, evaluation->place, key, index);
    return expression_begin(text, place, evaluation->diag, ret);
}

static int check_end(struct expression_cursor *cursor) {
    if (expression_at_end(cursor)) return CM_OK;
    return expression_fault(cursor, "expected the end of the text");
}

static int check_items(const struct evaluation *evaluation, const char *key, size_t n) {
    if (n <= CUSTOM_OP_MAX_ITEMS) return CM_OK;
    return diag_error(evaluation->diag, DIAG_LIMIT, "%s must have at most %d items, got %zu",
                      custom_op_place(evaluation->arena, evaluation->place, key, CM_NO_INDEX),
                      CUSTOM_OP_MAX_ITEMS, n);
}

static bool text_is(const char *text, const char *name, size_t length) {
    return strlen(text) == length && memcmp(text, name, length) == 0;
}

/* Returns the name, or NULL. */
static struct name *find_name(struct evaluation *evaluation, const char *name, size_t length) {
    for (size_t i = 0; i < evaluation->n_names; i++)
        if (evaluation->names[i].length == length &&
            memcmp(evaluation->names[i].name, name, length) == 0)
            return &evaluation->names[i];
    return NULL;
}

/* Parses "in0" or "out12", the number of elements of an operand; returns false for other names
 * and for leading zeros. */
static bool is_operand(const char *name, size_t length, bool *ret_is_input, int64_t *ret) {
    const bool is_input = length > 2 && memcmp(name, "in", 2) == 0;
    const bool is_output = length > 3 && memcmp(name, "out", 3) == 0;
    const size_t prefix = is_input ? 2 : 3;
    if (!is_input && !is_output) return false;
    if (name[prefix] == '-' || (name[prefix] == '0' && length - prefix > 1)) return false;
    *ret_is_input = is_input;
    return text_to_int64(name + prefix, length - prefix, ret);
}

/* Returns the elements of an operand; 0 if it is omitted. */
static int64_t elements_of(const struct op_context *context, bool is_input, size_t index) {
    if (!context) return DIM_UNKNOWN;
    if (is_input) return op_has_input(context, index) ? op_elements(context, index) : 0;
    return op_has_output(context, index) ? op_output_elements(context, index) : 0;
}

/* Finds a value for an expression (struct expression_names). */
static bool find_value(void *of, const char *name, size_t length, int64_t *ret) {
    struct evaluation *evaluation = of;
    const struct name *found = find_name(evaluation, name, length);
    bool is_input = false;
    int64_t index = 0;
    if (found) {
        *ret = found->value;
        return true;
    }
    if (!is_operand(name, length, &is_input, &index)) return false;
    if (index >= (is_input ? evaluation->custom->max_inputs : evaluation->max_outputs) ||
        index >= CUSTOM_OP_MAX_ITEMS)
        return false;
    *ret = elements_of(evaluation->context, is_input, (size_t)index);
    return true;
}

static int evaluate(struct evaluation *evaluation, struct expression_cursor *cursor,
                    struct expression *ret) {
    const struct expression_names names = {find_value, evaluation};
    const int status = expression_read(cursor, &names, ret);
    if (status != CM_OK) return status;
    evaluation->n_steps += ret->n_steps;
    if (evaluation->n_steps > CUSTOM_OP_MAX_STEPS)
        return expression_fault(cursor, "more than %d steps in one description",
                                CUSTOM_OP_MAX_STEPS);
    if (!ret->by_zero || !evaluation->context || evaluation->is_quiet) return CM_OK;
    return op_fail(evaluation->context, DIAG_VALUE, "'%.*s' divides by 0", ret->length,
                   ret->text);
}

/* Defines the name at the cursor. */
static int define(struct evaluation *evaluation, struct expression_cursor *cursor, bool is_dim,
                  int64_t value) {
    bool is_input = false;
    int64_t index = 0;
    size_t length = 0;
    const char *name = expression_peek_name(cursor, &length);
    if (length == 0) return expression_fault(cursor, "expected a name");
    if (is_operand(name, length, &is_input, &index) || expression_is_function(name, length))
        return expression_fault(cursor, "the name is reserved");
    if (find_name(evaluation, name, length))
        return expression_fault(cursor, "the name is defined twice");
    if (evaluation->n_names == CUSTOM_OP_MAX_NAMES)
        return expression_fault(cursor, "more than %d names", CUSTOM_OP_MAX_NAMES);
    evaluation->names[evaluation->n_names++] = (struct name){name, length, is_dim, value};
    cursor->at += length;
    return CM_OK;
}

enum dim_kind {
    DIM_END,
    DIM_ANY,      /* "?": in an output, an unknown dim */
    DIM_REST,     /* "...": any number of dims */
    DIM_NAMED,    /* the value of a name that the dims of inputs bind */
    DIM_COMPUTED, /* the value of an expression */
};

struct dim {
    enum dim_kind kind;
    struct name *name;
    int64_t value;
};

/* Returns true if a name is the whole dim. */
static bool is_name_alone(struct expression_cursor cursor, size_t *ret_length) {
    const char *name = expression_peek_name(&cursor, ret_length);
    cursor.at = name + *ret_length;
    return *ret_length > 0 && !expression_is_function(name, *ret_length) &&
           (expression_at_end(&cursor) || *cursor.at == ',');
}

/* dim = "..." | "?" | sum. `binds`: a dim of an input, which defines a name that is new. */
static int read_dim(struct evaluation *evaluation, struct expression_cursor *cursor, bool binds,
                    struct dim *ret) {
    size_t length = 0;
    *ret = (struct dim){.kind = DIM_REST, .value = DIM_UNKNOWN};
    if (expression_take(cursor, "...")) return CM_OK;
    ret->kind = DIM_ANY;
    if (expression_take(cursor, "?")) return CM_OK;
    if (binds && is_name_alone(*cursor, &length)) {
        const char *text = expression_peek_name(cursor, &length);
        ret->kind = DIM_NAMED;
        ret->name = find_name(evaluation, text, length);
        if (!ret->name) {
            ret->name = &evaluation->names[evaluation->n_names];
            return define(evaluation, cursor, true, DIM_UNKNOWN);
        }
        if (ret->name->is_dim) {
            cursor->at += length;
            return CM_OK;
        }
    }
    struct expression is;
    ret->kind = DIM_COMPUTED; /* also a name of another kind, such as an attribute */
    const int status = evaluate(evaluation, cursor, &is);
    ret->value = is.value;
    return status;
}

/* dims = [ dim { "," dim } ], up to the end. Reads the next dim, or DIM_END; counts it in
 * `dims`. */
static int next_dim(struct evaluation *evaluation, struct expression_cursor *cursor, bool binds,
                    struct custom_op_dims *dims, struct dim *ret) {
    *ret = (struct dim){.kind = DIM_END};
    if (expression_at_end(cursor)) return CM_OK;
    if (dims->n > 0 && !expression_take(cursor, ","))
        return expression_fault(cursor, "expected ','");
    if (expression_at_end(cursor)) return expression_fault(cursor, "expected a dim after ','");
    if (dims->n++ == CUSTOM_OP_MAX_DIMS)
        return expression_fault(cursor, "more than %d dims", CUSTOM_OP_MAX_DIMS);
    const int status = read_dim(evaluation, cursor, binds, ret);
    if (status != CM_OK || ret->kind != DIM_REST) return status;
    if (dims->has_rest) return expression_fault(cursor, "a second '...'");
    dims->has_rest = true;
    return CM_OK;
}

/* Returns the value of an attribute, or its element `index` if `is_element`. */
static int attribute_value(const struct op_context *context, const struct cm_named_size *from,
                           size_t length, bool is_element, size_t index, int64_t *ret) {
    const enum attr_kind want = is_element ? ATTR_INTS : ATTR_INT;
    const struct attr *attr = NULL;
    for (size_t i = 0; i < context->node->n_attrs && !attr; i++)
        if (text_is(context->node->attrs[i].name, from->name, length))
            attr = &context->node->attrs[i];
    *ret = from->size;
    if (attr && attr->kind != want)
        return op_fail(context, DIAG_ATTRIBUTE, "attribute '%.*s' must be of kind %s, got %s",
                       (int)length, from->name, attr_kind_name(want),
                       attr_kind_name(attr->kind));
    if (attr && is_element && index < attr->n)
        *ret = attr->ints[index];
    else if (attr && !is_element)
        *ret = attr->i;
    else if (!is_known(from->size))
        return op_fail(context, DIAG_ATTRIBUTE, "attribute '%s' is missing", from->name);
    return CM_OK;
}

/* "strides[0]" is element 0 of "strides". */
static int bind_attribute(struct evaluation *evaluation, const struct cm_named_size *from) {
    struct expression_cursor cursor;
    const char *bracket = strchr(from->name, '[');
    int64_t index = 0;
    int64_t value = DIM_UNKNOWN;
    int status = begin(evaluation, "attributes", CM_NO_INDEX, from->name, &cursor);
    if (status != CM_OK) return status;
    if (strpbrk(from->name, " \t"))
        return expression_fault(&cursor, "a name must not contain blanks");
    if (bracket && !text_to_int64(bracket + 1, strcspn(bracket + 1, "]"), &index))
        return expression_fault(&cursor, "expected a name such as stride or strides[0]");
    const size_t length = bracket ? (size_t)(bracket - from->name) : strlen(from->name);
    if (evaluation->context)
        status = attribute_value(evaluation->context, from, length, bracket != NULL,
                                 (size_t)index, &value);
    if (status == CM_OK) status = define(evaluation, &cursor, false, value);
    return status == CM_OK ? check_end(&cursor) : status;
}

/* Sets *a to `b` if *a is unknown. Returns false if both dims are known and differ. */
static bool join_dims(int64_t *a, int64_t b) {
    if (!is_known(*a)) *a = b;
    return !is_known(b) || *a == b;
}

/* Joins the n dims that "..." stands for. */
static bool join_rest(struct shape *rest, int n, const int64_t *dims) {
    const bool is_bound = shape_has_rank(rest);
    bool fits = !is_bound || rest->rank == n;
    rest->rank = n;
    for (int i = 0; i < n && fits; i++) {
        if (!is_bound) rest->dims[i] = dims[i];
        fits = join_dims(&rest->dims[i], dims[i]);
    }
    return fits;
}

/* Binds the names in the dims of an input, and "..." to any number of dims. */
static int bind_input(struct evaluation *evaluation, size_t input, bool is_optional) {
    const struct op_context *context = evaluation->context;
    const struct custom_op_dims *whole = &evaluation->custom->inputs[input];
    const char *text = evaluation->custom->is.inputs[input];
    const struct shape unknown = shape_unknown();
    const struct shape *shape = context ? op_shape(context, input) : &unknown;
    const int n_rest = shape->rank - (int)whole->n + 1; /* dims of "..."; without it 1 */
    bool fits = !shape_has_rank(shape) || (whole->has_rest ? n_rest >= 0 : n_rest == 1);
    const int64_t *at = shape_has_rank(shape) ? shape->dims : NULL;
    const size_t n_names = evaluation->n_names;
    struct expression_cursor cursor;
    struct custom_op_dims dims = {0};
    struct dim dim = {.kind = DIM_ANY};
    int status = begin(evaluation, "inputs", input, text, &cursor);
    while (status == CM_OK && dim.kind != DIM_END) {
        evaluation->is_quiet = !at || !fits;
        status = next_dim(evaluation, &cursor, true, &dims, &dim);
        if (status != CM_OK || !at || !fits || dim.kind == DIM_END) continue;
        const int n = dim.kind == DIM_REST ? n_rest : 1;
        fits = dim.kind == DIM_REST
                   ? join_rest(&evaluation->rest, n, at)
                   : join_dims(dim.kind == DIM_NAMED ? &dim.name->value : &dim.value, *at);
        at += n;
    }
    evaluation->is_quiet = false;
    if (status != CM_OK) return status;
    /* The size of the dim would be unknown if the input is omitted. */
    if (is_optional && evaluation->n_names > n_names)
        return expression_fault(&cursor,
                                "an optional input must not be the first to name a dim");
    if (!context) evaluation->custom->inputs[input] = dims;
    if (fits) return CM_OK;
    return op_fail(context, DIAG_SHAPE,
                   "input %zu must have the dims '%s' of its description, got %s", input, text,
                   op_shape_text(context, shape));
}

static int check_inputs(const struct evaluation *evaluation) {
    const struct cm_op_description *is = &evaluation->custom->is;
    const int status = check_items(evaluation, "inputs", is->n_inputs);
    if (status != CM_OK || is->required_inputs == CM_UNKNOWN) return status;
    if (is->required_inputs >= 0 && is->required_inputs <= (int64_t)is->n_inputs) return CM_OK;
    return diag_error(
        evaluation->diag, DIAG_FORMAT, "%s must be 0 to %zu, got %lld",
        custom_op_place(evaluation->arena, evaluation->place, "required_inputs", CM_NO_INDEX),
        is->n_inputs, (long long)is->required_inputs);
}

/* NAME = sum. The sum must not use the name itself. */
static int bind_definition(struct evaluation *evaluation, size_t index) {
    struct expression_cursor cursor;
    struct expression is;
    size_t length = 0;
    int status =
        begin(evaluation, "where", index, evaluation->custom->is.where[index], &cursor);
    if (status != CM_OK) return status;
    struct expression_cursor name = cursor;
    cursor.at = expression_peek_name(&cursor, &length) + length;
    if (!expression_take(&cursor, "=")) return expression_fault(&cursor, "expected NAME = ...");
    status = evaluate(evaluation, &cursor, &is);
    if (status == CM_OK) status = check_end(&cursor);
    return status == CM_OK ? define(evaluation, &name, false, is.value) : status;
}

static int bind_names(struct evaluation *evaluation) {
    const struct cm_op_description *is = &evaluation->custom->is;
    int status = check_items(evaluation, "attributes", is->n_attributes);
    for (size_t i = 0; i < is->n_attributes && status == CM_OK; i++)
        status = bind_attribute(evaluation, &is->attributes[i]);
    if (status == CM_OK && !evaluation->context) status = check_inputs(evaluation);
    for (size_t i = 0; i < is->n_inputs && status == CM_OK; i++)
        status = bind_input(evaluation, i, (int64_t)i >= evaluation->custom->op.min_inputs);
    if (status == CM_OK) status = check_items(evaluation, "where", is->n_where);
    for (size_t i = 0; i < is->n_where && status == CM_OK; i++)
        status = bind_definition(evaluation, i);
    return status;
}

/* type = "float16" | "input 1"; "" is "input 0". */
static int read_type(const struct evaluation *evaluation, const char *text,
                     enum dtype *ret_dtype) {
    static const char prefix[] = "input ";
    const char *number = text + sizeof(prefix) - 1;
    int64_t from = 0;
    *ret_dtype = dtype_from_name(text);
    if (*ret_dtype != DTYPE_UNDEFINED) return CM_OK;
    if (text[0] == '\0' ||
        (text_starts_with(text, prefix) && text_to_int64(number, strlen(number), &from) &&
         from >= 0 && from < CUSTOM_OP_MAX_ITEMS && from < evaluation->custom->max_inputs)) {
        if (evaluation->context) *ret_dtype = op_dtype(evaluation->context, (size_t)from);
        return CM_OK;
    }
    return diag_error(
        evaluation->diag, DIAG_FORMAT,
        "%s must be an element type such as float16, or that of an input, such "
        "as 'input 0'",
        custom_op_place(evaluation->arena, evaluation->place, "type", CM_NO_INDEX));
}

/* Sets the output of `ret`, the context; it has unknown rank if "..." is not bound. */
static int read_output(struct evaluation *evaluation, size_t index, struct op_context *ret) {
    const struct cm_op_output *is = &evaluation->custom->is.outputs[index];
    const struct shape *rest = &evaluation->rest;
    struct expression_cursor cursor;
    struct custom_op_dims read = {0};
    struct dim dim = {.kind = DIM_ANY};
    enum dtype dtype = DTYPE_UNDEFINED;
    int64_t dims[SHAPE_MAX_RANK + CUSTOM_OP_MAX_DIMS];
    int rank = 0;
    int status = read_type(evaluation, is->type, &dtype);
    if (status == CM_OK) status = begin(evaluation, "dims", CM_NO_INDEX, is->dims, &cursor);
    while (status == CM_OK && dim.kind != DIM_END) {
        status = next_dim(evaluation, &cursor, false, &read, &dim);
        for (int i = 0; dim.kind == DIM_REST && i < rest->rank; i++)
            dims[rank++] = rest->dims[i];
        if (dim.kind == DIM_ANY || dim.kind == DIM_COMPUTED) dims[rank++] = dim.value;
    }
    if (status != CM_OK) return status;
    bool has_rest = !read.has_rest;
    for (size_t i = 0; i < evaluation->custom->is.n_inputs; i++)
        has_rest = has_rest || evaluation->custom->inputs[i].has_rest;
    if (!has_rest) return expression_fault(&cursor, "no input has a '...'");
    if (!ret) return CM_OK;
    const bool is_open = read.has_rest && !shape_has_rank(rest);
    return op_output_dims(ret, index, dtype, is_open ? RANK_UNKNOWN : rank, dims);
}

/* Evaluates a cost; the names must be bound. */
static int read_cost(struct evaluation *evaluation, const char *key, const char *text,
                     struct expression *ret) {
    struct expression_cursor cursor;
    evaluation->max_outputs = evaluation->custom->max_outputs;
    int status = begin(evaluation, key, CM_NO_INDEX, text, &cursor);
    if (status == CM_OK) status = evaluate(evaluation, &cursor, ret);
    if (status == CM_OK) status = check_end(&cursor);
    if (status != CM_OK || !evaluation->context || !is_known(ret->value) || ret->value >= 0)
        return status;
    return op_fail(evaluation->context, DIAG_VALUE, "'%.*s' must be >= 0, got %lld",
                   ret->length, ret->text, (long long)ret->value);
}

static int check_outputs(struct evaluation *evaluation) {
    const size_t n = evaluation->custom->is.n_outputs;
    const char *outer = evaluation->place;
    int status = check_items(evaluation, "outputs", n);
    for (size_t i = 0; i < n && status == CM_OK; i++) {
        evaluation->place = custom_op_place(evaluation->arena, outer, "outputs", i);
        status = read_output(evaluation, i, NULL);
    }
    evaluation->place = outer;
    return status;
}

int custom_op_check(struct custom *custom, const char *place, struct arena *arena,
                    struct cm_diagnostics *diag) {
    const struct cm_op_description *is = &custom->is;
    struct evaluation evaluation = {.custom = custom,
                                    .place = place,
                                    .arena = arena,
                                    .diag = diag,
                                    .rest = shape_unknown()};
    struct expression macs;
    struct expression flops;
    const bool has_macs = is->macs[0] != '\0';
    const bool has_flops = is->other_flops[0] != '\0';
    int status = bind_names(&evaluation);
    if (status == CM_OK) status = check_outputs(&evaluation);
    if (status != CM_OK) return status;
    /* both costs or neither: a missing cost is not 0 by default */
    if (has_macs != has_flops || (!has_macs && is->n_outputs > 0))
        return diag_error(diag, DIAG_FORMAT,
                          "%s: macs and other_flops are both required, \"0\" if none", place);
    if (!has_macs) return CM_OK;
    status = read_cost(&evaluation, "macs", is->macs, &macs);
    if (status == CM_OK)
        status = read_cost(&evaluation, "other_flops", is->other_flops, &flops);
    if (status != CM_OK) return status;
    custom->macs_text = arena_printf(arena, "by '%.*s'", macs.length, macs.text);
    custom->flops_text = arena_printf(arena, "by '%.*s'", flops.length, flops.text);
    return CM_OK;
}

/* Returns true if an input shape is only an upper bound. Expressions need not be monotone, so
 * their values would not be bounds. */
static bool is_loose(const struct op_context *context) {
    for (size_t i = 0; i < context->n_inputs; i++)
        if (op_has_bounds(context, i)) return true;
    return false;
}

/* Binds the names of the description at a node. */
static int bind(struct evaluation *evaluation, const struct op_context *context) {
    evaluation->custom = custom_op_of_op(context->op);
    evaluation->context = context;
    evaluation->place = "";
    evaluation->arena = context->arena;
    evaluation->diag = context->diag;
    evaluation->n_steps = evaluation->n_names = 0;
    evaluation->is_quiet = false;
    evaluation->max_outputs = 0;
    evaluation->rest = (struct shape){RANK_UNKNOWN, evaluation->rest_dims};
    return bind_names(evaluation);
}

/* Calls the shape rule of `like` with the row of `like`: a rule may look up the operator's
 * type, which a custom row with its own costs lacks. */
static int infer_like(const struct op_context *context, const struct op *like) {
    struct op_context plain = *context;
    plain.op = like;
    return like->infer(&plain);
}

/* Also evaluates the costs, because the callbacks of costs cannot report errors. */
int custom_op_infer(struct op_context *context) {
    const struct custom *custom = custom_op_of_op(context->op);
    struct evaluation evaluation;
    struct expression cost;
    if (is_loose(context)) return custom->like ? infer_like(context, custom->like) : CM_OK;
    int status = bind(&evaluation, context);
    if (status == CM_OK && custom->like) status = infer_like(context, custom->like);
    for (size_t i = 0; i < custom->is.n_outputs && status == CM_OK; i++)
        status = read_output(&evaluation, i, context);
    if (status != CM_OK || !custom->macs_text) return status;
    status = read_cost(&evaluation, "macs", custom->is.macs, &cost);
    return status == CM_OK
               ? read_cost(&evaluation, "other_flops", custom->is.other_flops, &cost)
               : status;
}

/* Returns DIM_UNKNOWN on errors, which custom_op_infer has reported. */
static int64_t cost_of(const struct op_context *context, const char *text) {
    struct op_context quiet = *context;
    struct evaluation evaluation;
    struct expression is;
    quiet.diag = NULL;
    if (is_loose(context) || bind(&evaluation, &quiet) != CM_OK) return DIM_UNKNOWN;
    return read_cost(&evaluation, "", text, &is) == CM_OK ? is.value : DIM_UNKNOWN;
}

void custom_op_macs(const struct op_context *context, struct product *ret) {
    const struct custom *custom = custom_op_of_op(context->op);
    product_add(ret, custom->macs_text, cost_of(context, custom->is.macs));
}

int64_t custom_op_other_flops(const struct op_context *context) {
    return cost_of(context, custom_op_of_op(context->op)->is.other_flops);
}

const struct op *custom_op_find(const struct cm_op_costs *const *costs, size_t n,
                                const char *domain, const char *type, int64_t opset) {
    const char *plain = registry_domain(domain);
    const struct custom *best = NULL;
    while (n-- > 0 && !best) {
        for (size_t i = 0; i < costs[n]->n; i++) {
            const struct custom *row = &costs[n]->items[i];
            if (row->is.since <= opset && text_equal(row->is.op, type) &&
                text_equal(row->is.domain, plain) && (!best || row->is.since > best->is.since))
                best = row;
        }
    }
    return best ? &best->op : NULL;
}
