/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a description, whose texts anybody may have written, to a row. Texts are read in the
 * order in which their names may use each other: attributes, inputs, where, outputs, costs.
 */
#include "ops/custom/custom_op.h"

#include <inttypes.h>
#include <string.h>

#include "ops/custom/custom_op_names.h"
#include "ops/registry.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

struct reading {
    const struct cm_op_description *from;
    const char *place;
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct custom_op_names names;
    struct custom *ret;
};

/* "operators[0].inputs[2]"; "" where memory is short, which the next allocation tells. */
static const char *place_of(const struct reading *reading, const char *key, size_t index) {
    const char *place =
        index == CM_NO_INDEX
            ? arena_printf(reading->arena, "%s.%s", reading->place, key)
            : arena_printf(reading->arena, "%s.%s[%zu]", reading->place, key, index);
    return place ? place : "";
}

static int check_items(const struct reading *reading, const char *key, size_t n) {
    if (n <= CUSTOM_OP_MOST_ITEMS) return CM_OK;
    return diag_error(reading->diag, DIAG_LIMIT, "%s: %zu, at most %d are read",
                      place_of(reading, key, CM_NO_INDEX), n, CUSTOM_OP_MOST_ITEMS);
}

static int begin(const struct reading *reading, const char *key, size_t index, const char *text,
                 struct expression_cursor *ret) {
    return expression_begin(text, place_of(reading, key, index), reading->diag, ret);
}

static int want_end(struct expression_cursor *cursor) {
    if (expression_at_end(cursor)) return CM_OK;
    return expression_fault(cursor, "want nothing more");
}

static int read_whole(struct reading *reading, const char *key, const char *text,
                      struct expression *ret) {
    struct expression_cursor cursor;
    int status = begin(reading, key, CM_NO_INDEX, text, &cursor);
    if (status == CM_OK) status = custom_op_expression(&reading->names, &cursor, ret);
    return status == CM_OK ? want_end(&cursor) : status;
}

/* "strides[0]" is element 0 of "strides". */
static int read_attribute(struct reading *reading, const struct cm_named_size *from) {
    struct expression_cursor cursor;
    struct custom_op_name is = {.kind = CUSTOM_OP_ATTRIBUTE, .otherwise = from->size};
    const char *bracket = strchr(from->name, '[');
    const size_t length =
        bracket ? (size_t)(bracket - from->name) : strnlen(from->name, EXPRESSION_LONGEST);
    int64_t index = 0;
    is.attribute = arena_strndup(reading->arena, from->name, length);
    if (!is.attribute) return diag_no_memory(reading->diag);
    is.is_element = bracket != NULL;
    int status = begin(reading, "attributes", CM_NO_INDEX, from->name, &cursor);
    if (status == CM_OK && strpbrk(from->name, " \t"))
        return expression_fault(&cursor, "a name has no blanks");
    if (status == CM_OK && bracket &&
        !text_to_int64(bracket + 1, strcspn(bracket + 1, "]"), &index))
        return expression_fault(&cursor, "want a name, as stride or strides[0]");
    is.index = (size_t)index;
    if (status == CM_OK) status = custom_op_add(&reading->names, &cursor, is);
    return status == CM_OK ? want_end(&cursor) : status;
}

static int read_attributes(struct reading *reading) {
    int status = check_items(reading, "attributes", reading->from->n_attributes);
    for (size_t i = 0; i < reading->from->n_attributes && status == CM_OK; i++)
        status = read_attribute(reading, &reading->from->attributes[i]);
    return status;
}

/* What may be omitted must not be what alone says how large something is. */
static int read_input(struct reading *reading, size_t index, bool is_required,
                      struct custom_op_dims *ret) {
    struct expression_cursor cursor;
    const size_t before = custom_op_n_own(&reading->names);
    int status = begin(reading, "inputs", index, reading->from->inputs[index], &cursor);
    if (status == CM_OK) status = custom_op_dims(&reading->names, &cursor, true, ret);
    if (status != CM_OK || is_required) return status;
    if (custom_op_n_own(&reading->names) == before) return CM_OK;
    return expression_fault(&cursor,
                            "an input that may be omitted cannot be the first to name a dim");
}

/* Where none is listed. */
static int32_t most_inputs(const struct op *like) {
    return like ? like->max_inputs : VARIADIC;
}

static int read_inputs(struct reading *reading) {
    const struct cm_op_description *from = reading->from;
    const size_t n = from->n_inputs;
    const bool all = from->required_inputs == CM_UNKNOWN;
    const int64_t required = all ? (int64_t)n : from->required_inputs;
    const int32_t max_inputs = n == 0 ? most_inputs(reading->ret->like) : (int32_t)n;
    struct custom_op_dims *inputs = NULL;
    int status = check_items(reading, "inputs", n);
    if (status != CM_OK) return status;
    if (required < 0 || required > (int64_t)n)
        return diag_error(reading->diag, DIAG_FORMAT, "%s: %lld, there are %zu inputs",
                          place_of(reading, "required_inputs", CM_NO_INDEX),
                          (long long)required, n);
    inputs = arena_array(reading->arena, n, sizeof(*inputs));
    if (!inputs) return diag_no_memory(reading->diag);
    reading->names.most_inputs = (size_t)max_inputs;
    for (size_t i = 0; i < n && status == CM_OK; i++)
        status = read_input(reading, i, (int64_t)i < required, &inputs[i]);
    reading->ret->n_inputs = n;
    reading->ret->inputs = inputs;
    reading->ret->op.min_inputs = (int32_t)required;
    reading->ret->op.max_inputs = max_inputs;
    return status;
}

/* NAME = sum. The name is known behind it, not in it. */
static int read_definition(struct reading *reading, size_t index) {
    struct expression_cursor cursor;
    struct custom_op_name is = {.kind = CUSTOM_OP_WHERE};
    int status = begin(reading, "where", index, reading->from->where[index], &cursor);
    if (status != CM_OK) return status;
    struct expression_cursor name = cursor;
    size_t length = 0;
    cursor.at = expression_peek_name(&cursor, &length) + length;
    if (!expression_take(&cursor, "=")) return expression_fault(&cursor, "want NAME = ...");
    status = custom_op_expression(&reading->names, &cursor, &is.is);
    if (status == CM_OK) status = want_end(&cursor);
    return status == CM_OK ? custom_op_add(&reading->names, &name, is) : status;
}

static int read_where(struct reading *reading) {
    int status = check_items(reading, "where", reading->from->n_where);
    for (size_t i = 0; i < reading->from->n_where && status == CM_OK; i++)
        status = read_definition(reading, i);
    return status;
}

static bool any_rest(const struct reading *reading) {
    for (size_t i = 0; i < reading->ret->n_inputs; i++)
        if (reading->ret->inputs[i].has_rest) return true;
    return false;
}

/* "input 1", of those that the description lists, or of any number. */
static bool is_input(const struct reading *reading, const char *text, size_t *ret) {
    static const char prefix[] = "input ";
    const char *number = text + sizeof(prefix) - 1;
    int64_t from = 0;
    if (!text_starts_with(text, prefix) || !text_to_int64(number, strlen(number), &from))
        return false;
    *ret = (size_t)from;
    return from >= 0 && from < CUSTOM_OP_MOST_ITEMS && from < reading->ret->op.max_inputs;
}

/* "float16", or that of an input. */
static int read_type(const struct reading *reading, const char *text,
                     struct custom_op_output *ret) {
    ret->dtype = dtype_from_name(text);
    if (ret->dtype != DTYPE_UNDEFINED || text[0] == '\0') return CM_OK;
    if (is_input(reading, text, &ret->from)) return CM_OK;
    return diag_error(reading->diag, DIAG_FORMAT,
                      "%s: want a type, as float16, or that of an input, as 'input 0'",
                      place_of(reading, "type", CM_NO_INDEX));
}

static int read_output(struct reading *reading, const struct cm_op_output *from,
                       struct custom_op_output *ret) {
    struct expression_cursor cursor;
    int status = read_type(reading, from->type, ret);
    if (status == CM_OK) status = begin(reading, "dims", CM_NO_INDEX, from->dims, &cursor);
    if (status == CM_OK) status = custom_op_dims(&reading->names, &cursor, false, &ret->dims);
    if (status != CM_OK || !ret->dims.has_rest || any_rest(reading)) return status;
    return expression_fault(&cursor, "no input has a '...'");
}

static int read_outputs(struct reading *reading) {
    const size_t n = reading->from->n_outputs;
    const char *outer = reading->place;
    struct custom_op_output *outputs = NULL;
    int status = check_items(reading, "outputs", n);
    if (status != CM_OK) return status;
    outputs = arena_array(reading->arena, n, sizeof(*outputs));
    if (!outputs) return diag_no_memory(reading->diag);
    for (size_t i = 0; i < n && status == CM_OK; i++) {
        reading->place = place_of(reading, "outputs", i);
        status = read_output(reading, &reading->from->outputs[i], &outputs[i]);
        reading->place = outer;
    }
    reading->ret->n_outputs = n;
    reading->ret->outputs = outputs;
    reading->names.most_outputs = n == 0 ? (size_t)reading->ret->like->max_outputs : n;
    return status;
}

/* Nothing is nought because it was not said: "0" says it. */
static int read_costs(struct reading *reading) {
    const struct cm_op_description *from = reading->from;
    struct custom *ret = reading->ret;
    const bool has_macs = from->macs[0] != '\0';
    const bool has_flops = from->other_flops[0] != '\0';
    ret->has_costs = has_macs && has_flops;
    if (has_macs != has_flops || (!ret->has_costs && from->n_outputs > 0))
        return diag_error(reading->diag, DIAG_FORMAT,
                          "%s: want both macs and other_flops, of which each may be \"0\"",
                          reading->place);
    if (!ret->has_costs) return CM_OK;
    const int status = read_whole(reading, "macs", from->macs, &ret->macs);
    if (status != CM_OK) return status;
    return read_whole(reading, "other_flops", from->other_flops, &ret->other_flops);
}

/* CM_UNKNOWN is any. */
static int check_opset(const struct reading *reading, const char *key, int64_t opset,
                       int64_t first) {
    if (opset == CM_UNKNOWN || opset >= first) return CM_OK;
    return diag_error(reading->diag, DIAG_FORMAT, "%s: %" PRId64 " is no opset",
                      place_of(reading, key, CM_NO_INDEX), opset);
}

/* "com.microsoft::Gelu", "Conv". */
static int find_like(const struct reading *reading, const struct op **ret) {
    const struct cm_op_description *from = reading->from;
    const char *colons = strstr(from->like, "::");
    const char *type = colons ? colons + 2 : from->like;
    const char *domain =
        colons ? arena_strndup(reading->arena, from->like, (size_t)(colons - from->like)) : "";
    const int64_t opset = from->like_opset == CM_UNKNOWN ? INT32_MAX : from->like_opset;
    if (!domain) return diag_no_memory(reading->diag);
    *ret = registry_find(domain, type, opset);
    return CM_OK;
}

/* What it costs is what its bodies do, and those are the model's. */
static int refuse_control(const struct reading *reading, const char *place,
                          const struct op *op) {
    if (op->memory != MEMORY_CONTROL) return CM_OK;
    return diag_error(reading->diag, DIAG_FORMAT, "%s: control flow is known by its name alone",
                      place);
}

static int read_like(struct reading *reading) {
    const char *place = place_of(reading, "like", CM_NO_INDEX);
    const struct op *like = NULL;
    int status = check_opset(reading, "like_opset", reading->from->like_opset, 1);
    if (status == CM_OK) status = find_like(reading, &like);
    if (status != CM_OK) return status;
    if (!like) {
        status = diag_error(reading->diag, DIAG_FORMAT,
                            "%s: no operator of that name is built in", place);
        diag_hint(reading->diag, "`costmodel ops` lists those that are");
        return status;
    }
    reading->ret->like = like;
    return refuse_control(reading, place, like);
}

/*
 * A type and a domain that no operator has: of tables over them (conventions, lowering,
 * bounds) none is about this one.
 */
static void be_nobody(struct op *op) {
    op->domain = "";
    op->type = "";
}

static int state_costs(const struct reading *reading, struct custom *ret) {
    be_nobody(&ret->op);
    ret->op.cost = (struct op_cost){
        .macs = custom_op_macs,
        .macs_formula = arena_printf(reading->arena, "by '%s'", ret->macs.text),
        .extra = custom_op_other_flops,
        .extra_description = arena_printf(reading->arena, "by '%s'", ret->other_flops.text)};
    const bool failed = !ret->op.cost.macs_formula || !ret->op.cost.extra_description;
    return failed ? diag_no_memory(reading->diag) : CM_OK;
}

/* A row of `like` with as many inputs as both allow: its callbacks rely on their number. */
static int narrow_inputs(const struct reading *reading, struct custom *ret) {
    const struct op *like = ret->like;
    const char *place = place_of(reading, "inputs", CM_NO_INDEX);
    const int32_t least = ret->op.min_inputs;
    const int32_t most = ret->op.max_inputs;
    if (most < like->min_inputs)
        return diag_error(reading->diag, DIAG_FORMAT, "%s: at most %d, '%s' has at least %d",
                          place, most, like->type, like->min_inputs);
    if (least > like->max_inputs)
        return diag_error(reading->diag, DIAG_FORMAT, "%s: at least %d, '%s' has at most %d",
                          place, least, like->type, like->max_inputs);
    ret->op = *like;
    if (least > like->min_inputs) ret->op.min_inputs = least;
    if (most < like->max_inputs) ret->op.max_inputs = most;
    return CM_OK;
}

static int make_row(const struct reading *reading, struct custom *ret) {
    if (ret->like) {
        const int status = narrow_inputs(reading, ret);
        if (status != CM_OK) return status;
    } else {
        be_nobody(&ret->op);
        ret->op.param_roles = "e";
        ret->op.min_outputs = 1;
        ret->op.max_outputs = (int32_t)ret->n_outputs;
    }
    ret->op.infer = custom_op_infer;
    return ret->has_costs ? state_costs(reading, ret) : CM_OK;
}

static int read_identity(struct reading *reading) {
    const struct cm_op_description *from = reading->from;
    struct custom *ret = reading->ret;
    const struct op *built_in = registry_find(from->domain, from->op, INT32_MAX);
    if (from->op[0] == '\0')
        return diag_error(reading->diag, DIAG_FORMAT, "%s.operator: the name is empty",
                          reading->place);
    if (built_in && !from->replace)
        return diag_error(reading->diag, DIAG_FORMAT,
                          "%s: the operator is built in, \"replace\": true describes it anew",
                          reading->place);
    if ((from->like[0] == '\0') == (from->n_outputs == 0))
        return diag_error(reading->diag, DIAG_FORMAT,
                          "%s: want either like or outputs, %s given", reading->place,
                          from->n_outputs == 0 ? "none is" : "both are");
    int status = check_opset(reading, "since", from->since, 0);
    if (status == CM_OK && built_in) status = refuse_control(reading, reading->place, built_in);
    if (status != CM_OK) return status;
    ret->domain = arena_strdup(reading->arena, registry_domain(from->domain));
    ret->type = arena_strdup(reading->arena, from->op);
    ret->since = from->since;
    ret->replaces = built_in != NULL;
    ret->digest = custom_op_digest_of(from, reading->arena);
    return ret->domain && ret->type && ret->digest ? CM_OK : diag_no_memory(reading->diag);
}

static int read_parts(struct reading *reading) {
    int status = read_identity(reading);
    if (status == CM_OK && reading->from->like[0]) status = read_like(reading);
    if (status == CM_OK) status = read_attributes(reading);
    if (status == CM_OK) status = read_inputs(reading);
    if (status == CM_OK) status = read_where(reading);
    if (status == CM_OK) status = read_outputs(reading);
    return status == CM_OK ? read_costs(reading) : status;
}

static int read_one(struct reading *reading) {
    struct custom *ret = reading->ret;
    const struct custom_op_names *names = &reading->names;
    const int status = read_parts(reading);
    if (status != CM_OK) return reading->names.failed ? diag_no_memory(reading->diag) : status;
    ret->n_names = names->n;
    ret->names = arena_copy(reading->arena, names->items, names->n * sizeof(names->items[0]));
    if (!ret->names || names->failed) return diag_no_memory(reading->diag);
    return make_row(reading, ret);
}

static int check_once(const struct custom *items, size_t index, const char *place,
                      struct cm_diagnostics *diag) {
    for (size_t i = 0; i < index; i++)
        if (text_equal(items[i].type, items[index].type) &&
            text_equal(items[i].domain, items[index].domain) &&
            items[i].since == items[index].since)
            return diag_error(diag, DIAG_FORMAT, "%s: the same as operators[%zu]", place, i);
    return CM_OK;
}

int custom_op_read(const struct cm_op_description *from, size_t n, struct arena *arena,
                   struct cm_diagnostics *diag, struct cm_op_costs *ret) {
    int status = CM_OK;
    if (n > CUSTOM_OP_MOST)
        return diag_error(diag, DIAG_LIMIT, "operators: %zu, at most %d are read", n,
                          CUSTOM_OP_MOST);
    struct custom *items = arena_array(arena, n, sizeof(*items));
    if (!items) return diag_no_memory(diag);
    for (size_t i = 0; i < n && status == CM_OK; i++) {
        struct reading reading = {
            &from[i], arena_printf(arena, "operators[%zu]", i), arena, diag, {.arena = arena},
            &items[i]};
        if (!reading.place) return diag_no_memory(diag);
        status = read_one(&reading);
        if (status == CM_OK) status = check_once(items, i, reading.place, diag);
    }
    if (status == CM_OK) *ret = (struct cm_op_costs){arena, n, items};
    return status;
}
