/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a description into a row. The texts are untrusted. They are read in the order in which
 * their names may use each other: attributes, inputs, where, outputs, costs.
 */
#include "ops/custom/custom_op.h"

#include <inttypes.h>
#include <string.h>

#include "ops/registry/registry.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/hash.h"
#include "support/text.h"

#define NOT_FOUND (-1)

struct reading {
    const struct cm_op_description *from;
    const char *place; /* "operators[0]", for messages */
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct custom *ret;
    size_t max_inputs;  /* expressions may name "in0" to "in<max_inputs - 1>" */
    size_t max_outputs; /* likewise "out0", ...; 0 until the outputs have been read */
    size_t n_steps;     /* of the expressions so far */
    /* Names are searched linearly: descriptions are short. */
    size_t n_names;
    size_t n_operands; /* of n_names: names such as "in0", which are added at their first use */
    struct custom_op_name names[CUSTOM_OP_MAX_NAMES + 2 * CUSTOM_OP_MAX_ITEMS];
};

/* Returns "operators[0].inputs[2]"; "" if memory ran out, which the arena remembers. */
static const char *place_of(const struct reading *reading, const char *key, size_t index) {
    const char *place =
        index == CM_NO_INDEX
            ? arena_printf(reading->arena, "%s.%s", reading->place, key)
            : arena_printf(reading->arena, "%s.%s[%zu]", reading->place, key, index);
    return place ? place : "";
}

static int check_items(const struct reading *reading, const char *key, size_t n) {
    if (n <= CUSTOM_OP_MAX_ITEMS) return CM_OK;
    return diag_error(reading->diag, DIAG_LIMIT, "%s must have at most %d items, got %zu",
                      place_of(reading, key, CM_NO_INDEX), CUSTOM_OP_MAX_ITEMS, n);
}

static int begin(const struct reading *reading, const char *key, size_t index, const char *text,
                 struct expression_cursor *ret) {
    return expression_begin(text, place_of(reading, key, index), reading->diag, ret);
}

static int check_end(struct expression_cursor *cursor) {
    if (expression_at_end(cursor)) return CM_OK;
    return expression_fault(cursor, "expected the end of the text");
}

/* Returns the slot of the name, or NOT_FOUND. */
static int find_name(const struct reading *reading, const char *name, size_t length) {
    for (size_t i = 0; i < reading->n_names; i++)
        if (strlen(reading->names[i].name) == length &&
            memcmp(reading->names[i].name, name, length) == 0)
            return (int)i;
    return NOT_FOUND;
}

/* Parses "in0" or "out12", the number of elements of an operand; returns false for other names
 * and for leading zeros, which would allow any number of names. */
static bool is_operand(const char *name, size_t length, enum custom_op_kind *ret_kind,
                       size_t *ret_index) {
    const bool is_input = length > 2 && memcmp(name, "in", 2) == 0;
    const bool is_output = length > 3 && memcmp(name, "out", 3) == 0;
    const size_t prefix = is_input ? 2 : 3;
    int64_t index = 0;
    if (!is_input && !is_output) return false;
    if (name[prefix] == '-' || (name[prefix] == '0' && length - prefix > 1)) return false;
    if (!text_to_int64(name + prefix, length - prefix, &index)) return false;
    *ret_kind = is_input ? CUSTOM_OP_INPUT : CUSTOM_OP_OUTPUT;
    *ret_index = (size_t)index;
    return true;
}

/* Adds the name; returns its slot, or NOT_FOUND if memory ran out. */
static int append_name(struct reading *reading, const char *name, size_t length,
                       struct custom_op_name is) {
    BUG_ON(reading->n_names == sizeof(reading->names) / sizeof(reading->names[0]));
    is.name = arena_strndup(reading->arena, name, length);
    if (!is.name) return NOT_FOUND;
    reading->names[reading->n_names] = is;
    return (int)reading->n_names++;
}

/* Returns the slot of a name, or NOT_FOUND; adds "in0" and the like at their first use. */
static int find_or_add(void *context, const char *name, size_t length) {
    struct reading *reading = context;
    struct custom_op_name is = {.kind = CUSTOM_OP_INPUT};
    const int found = find_name(reading, name, length);
    if (found != NOT_FOUND) return found;
    if (!is_operand(name, length, &is.kind, &is.index)) return NOT_FOUND;
    const size_t n_declared =
        is.kind == CUSTOM_OP_INPUT ? reading->max_inputs : reading->max_outputs;
    if (is.index >= n_declared || is.index >= CUSTOM_OP_MAX_ITEMS) return NOT_FOUND;
    reading->n_operands++;
    return append_name(reading, name, length, is);
}

static int read_expression(struct reading *reading, struct expression_cursor *cursor,
                           struct expression *ret) {
    const struct expression_names lookup = {find_or_add, reading};
    const int status = expression_read(cursor, &lookup, reading->arena, ret);
    if (status != CM_OK) return status;
    reading->n_steps += ret->n;
    if (reading->n_steps <= CUSTOM_OP_MAX_STEPS) return CM_OK;
    return expression_fault(cursor, "more than %d steps in one description",
                            CUSTOM_OP_MAX_STEPS);
}

/* Reads the name at the cursor and defines it in the next slot. */
static int define(struct reading *reading, struct expression_cursor *cursor,
                  struct custom_op_name is) {
    enum custom_op_kind kind = CUSTOM_OP_INPUT;
    size_t index = 0;
    size_t length = 0;
    const char *name = expression_peek_name(cursor, &length);
    if (length == 0) return expression_fault(cursor, "expected a name");
    if (is_operand(name, length, &kind, &index) || expression_is_function(name, length))
        return expression_fault(cursor, "the name is reserved");
    if (find_name(reading, name, length) != NOT_FOUND)
        return expression_fault(cursor, "the name is defined twice");
    if (reading->n_names - reading->n_operands == CUSTOM_OP_MAX_NAMES)
        return expression_fault(cursor, "more than %d names", CUSTOM_OP_MAX_NAMES);
    if (append_name(reading, name, length, is) == NOT_FOUND)
        return diag_no_memory(cursor->diag);
    cursor->at += length;
    return CM_OK;
}

/* Returns true if a name is the whole dim. */
static bool is_name_alone(struct expression_cursor cursor, size_t *ret_length) {
    const char *name = expression_peek_name(&cursor, ret_length);
    cursor.at = name + *ret_length;
    return *ret_length > 0 && !expression_is_function(name, *ret_length) &&
           (expression_at_end(&cursor) || *cursor.at == ',');
}

/* dim = "..." | "?" | sum. `binds`: a dim of an input, which defines a name that is new. */
static int read_dim(struct reading *reading, struct expression_cursor *cursor, bool binds,
                    struct custom_op_dim *ret) {
    size_t length = 0;
    *ret = (struct custom_op_dim){.kind = DIM_REST};
    if (expression_take(cursor, "...")) return CM_OK;
    ret->kind = DIM_ANY;
    if (expression_take(cursor, "?")) return CM_OK;
    if (binds && is_name_alone(*cursor, &length)) {
        const char *name = expression_peek_name(cursor, &length);
        const int slot = find_name(reading, name, length);
        ret->kind = DIM_NAMED;
        ret->slot = slot < 0 ? reading->n_names : (size_t)slot;
        if (slot < 0)
            return define(reading, cursor, (struct custom_op_name){.kind = CUSTOM_OP_DIM});
        if (reading->names[slot].kind == CUSTOM_OP_DIM) {
            cursor->at += length;
            return CM_OK;
        }
    }
    ret->kind = DIM_COMPUTED; /* also a name of another kind, such as an attribute */
    return read_expression(reading, cursor, &ret->is);
}

/* dims = [ dim { "," dim } ], up to the end. */
static int read_dims(struct reading *reading, struct expression_cursor *cursor, bool binds,
                     struct custom_op_dims *ret) {
    struct custom_op_dim items[CUSTOM_OP_MAX_DIMS];
    struct custom_op_dims dims = {.text = arena_strdup(reading->arena, cursor->text)};
    while (!expression_at_end(cursor)) {
        if (dims.n == CUSTOM_OP_MAX_DIMS)
            return expression_fault(cursor, "more than %d dims", CUSTOM_OP_MAX_DIMS);
        struct custom_op_dim *dim = &items[dims.n++];
        const int status = read_dim(reading, cursor, binds, dim);
        if (status != CM_OK) return status;
        if (dim->kind == DIM_REST && dims.has_rest)
            return expression_fault(cursor, "a second '...'");
        dims.has_rest = dims.has_rest || dim->kind == DIM_REST;
        if (expression_at_end(cursor)) break;
        if (!expression_take(cursor, ",")) return expression_fault(cursor, "expected ','");
        if (expression_at_end(cursor))
            return expression_fault(cursor, "expected a dim after ','");
    }
    dims.items = arena_copy(reading->arena, items, dims.n * sizeof(items[0]));
    if (!dims.text || !dims.items) return diag_no_memory(cursor->diag);
    *ret = dims;
    return CM_OK;
}

/* "strides[0]" is element 0 of "strides". */
static int read_attribute(struct reading *reading, const struct cm_named_size *from) {
    struct expression_cursor cursor;
    const char *bracket = strchr(from->name, '[');
    const size_t length =
        bracket ? (size_t)(bracket - from->name) : strnlen(from->name, EXPRESSION_LONGEST);
    struct custom_op_name is = {.kind = CUSTOM_OP_ATTRIBUTE,
                                .attribute = arena_strndup(reading->arena, from->name, length),
                                .is_element = bracket != NULL,
                                .otherwise = from->size};
    int64_t index = 0;
    if (!is.attribute) return diag_no_memory(reading->diag);
    int status = begin(reading, "attributes", CM_NO_INDEX, from->name, &cursor);
    if (status != CM_OK) return status;
    if (strpbrk(from->name, " \t"))
        return expression_fault(&cursor, "a name must not contain blanks");
    if (bracket && !text_to_int64(bracket + 1, strcspn(bracket + 1, "]"), &index))
        return expression_fault(&cursor, "expected a name such as stride or strides[0]");
    is.index = (size_t)index;
    status = define(reading, &cursor, is);
    return status == CM_OK ? check_end(&cursor) : status;
}

static int read_inputs(struct reading *reading) {
    const struct cm_op_description *from = reading->from;
    const struct op *like = reading->ret->like;
    const size_t n = from->n_inputs;
    const int64_t required =
        from->required_inputs == CM_UNKNOWN ? (int64_t)n : from->required_inputs;
    int32_t max_inputs = (int32_t)n;
    if (n == 0) max_inputs = like ? like->max_inputs : VARIADIC;
    int status = check_items(reading, "inputs", n);
    if (status != CM_OK) return status;
    if (required < 0 || required > (int64_t)n)
        return diag_error(reading->diag, DIAG_FORMAT, "%s must be 0 to %zu, got %lld",
                          place_of(reading, "required_inputs", CM_NO_INDEX), n,
                          (long long)required);
    struct custom_op_dims *inputs = arena_array(reading->arena, n, sizeof(*inputs));
    if (!inputs) return diag_no_memory(reading->diag);
    reading->max_inputs = (size_t)max_inputs;
    for (size_t i = 0; i < n; i++) {
        struct expression_cursor cursor;
        const size_t before = reading->n_names - reading->n_operands;
        status = begin(reading, "inputs", i, from->inputs[i], &cursor);
        if (status == CM_OK) status = read_dims(reading, &cursor, true, &inputs[i]);
        if (status != CM_OK) return status;
        /* The size of the dim would be unknown if the input is omitted. */
        if ((int64_t)i >= required && reading->n_names - reading->n_operands > before)
            return expression_fault(&cursor,
                                    "an optional input must not be the first to name a dim");
    }
    reading->ret->n_inputs = n;
    reading->ret->inputs = inputs;
    reading->ret->op.min_inputs = (int32_t)required;
    reading->ret->op.max_inputs = max_inputs;
    return CM_OK;
}

/* NAME = sum. The sum must not use the name itself. */
static int read_definition(struct reading *reading, size_t index) {
    struct expression_cursor cursor;
    struct custom_op_name is = {.kind = CUSTOM_OP_WHERE};
    int status = begin(reading, "where", index, reading->from->where[index], &cursor);
    if (status != CM_OK) return status;
    struct expression_cursor name = cursor;
    size_t length = 0;
    cursor.at = expression_peek_name(&cursor, &length) + length;
    if (!expression_take(&cursor, "=")) return expression_fault(&cursor, "expected NAME = ...");
    status = read_expression(reading, &cursor, &is.is);
    if (status == CM_OK) status = check_end(&cursor);
    return status == CM_OK ? define(reading, &name, is) : status;
}

/* type = "float16" | "input 1"; "" is "input 0". */
static int read_type(const struct reading *reading, const char *text,
                     struct custom_op_output *ret) {
    static const char prefix[] = "input ";
    const char *number = text + sizeof(prefix) - 1;
    int64_t from = 0;
    ret->dtype = dtype_from_name(text);
    if (ret->dtype != DTYPE_UNDEFINED || text[0] == '\0') return CM_OK;
    if (text_starts_with(text, prefix) && text_to_int64(number, strlen(number), &from) &&
        from >= 0 && from < CUSTOM_OP_MAX_ITEMS && from < reading->ret->op.max_inputs) {
        ret->from = (size_t)from;
        return CM_OK;
    }
    return diag_error(reading->diag, DIAG_FORMAT,
                      "%s must be an element type such as float16, or that of an input, such "
                      "as 'input 0'",
                      place_of(reading, "type", CM_NO_INDEX));
}

static int read_outputs(struct reading *reading) {
    const size_t n = reading->from->n_outputs;
    const char *outer = reading->place;
    int status = check_items(reading, "outputs", n);
    if (status != CM_OK) return status;
    struct custom_op_output *outputs = arena_array(reading->arena, n, sizeof(*outputs));
    if (!outputs) return diag_no_memory(reading->diag);
    for (size_t i = 0; i < n; i++) {
        const struct cm_op_output *from = &reading->from->outputs[i];
        struct expression_cursor cursor;
        bool has_rest = false;
        reading->place = place_of(reading, "outputs", i);
        status = read_type(reading, from->type, &outputs[i]);
        if (status == CM_OK) status = begin(reading, "dims", CM_NO_INDEX, from->dims, &cursor);
        reading->place = outer;
        if (status == CM_OK) status = read_dims(reading, &cursor, false, &outputs[i].dims);
        if (status != CM_OK) return status;
        for (size_t k = 0; k < reading->ret->n_inputs && !has_rest; k++)
            has_rest = reading->ret->inputs[k].has_rest;
        if (outputs[i].dims.has_rest && !has_rest)
            return expression_fault(&cursor, "no input has a '...'");
    }
    reading->ret->n_outputs = n;
    reading->ret->outputs = outputs;
    reading->max_outputs = n == 0 ? (size_t)reading->ret->like->max_outputs : n;
    return CM_OK;
}

static int read_cost(struct reading *reading, const char *key, const char *text,
                     struct expression *ret) {
    struct expression_cursor cursor;
    int status = begin(reading, key, CM_NO_INDEX, text, &cursor);
    if (status == CM_OK) status = read_expression(reading, &cursor, ret);
    return status == CM_OK ? check_end(&cursor) : status;
}

/* Requires both costs or neither: a missing cost is not 0 by default. */
static int read_costs(struct reading *reading) {
    const struct cm_op_description *from = reading->from;
    struct custom *ret = reading->ret;
    const bool has_macs = from->macs[0] != '\0';
    const bool has_flops = from->other_flops[0] != '\0';
    ret->has_costs = has_macs && has_flops;
    if (has_macs != has_flops || (!ret->has_costs && from->n_outputs > 0))
        return diag_error(reading->diag, DIAG_FORMAT,
                          "%s: macs and other_flops are both required, \"0\" if none",
                          reading->place);
    if (!ret->has_costs) return CM_OK;
    const int status = read_cost(reading, "macs", from->macs, &ret->macs);
    if (status != CM_OK) return status;
    return read_cost(reading, "other_flops", from->other_flops, &ret->other_flops);
}

/* Checks that the opset is >= first or CM_UNKNOWN, which means any opset. */
static int check_opset(const struct reading *reading, const char *key, int64_t opset,
                       int64_t first) {
    if (opset == CM_UNKNOWN || opset >= first) return CM_OK;
    return diag_error(reading->diag, DIAG_FORMAT,
                      "%s must be an opset >= %" PRId64 ", got %" PRId64,
                      place_of(reading, key, CM_NO_INDEX), first, opset);
}

/* The cost of control flow is that of its bodies, so it cannot be described. */
static int check_not_control(const struct reading *reading, const char *place,
                             const struct op *op) {
    if (op->memory != MEMORY_CONTROL) return CM_OK;
    return diag_error(reading->diag, DIAG_FORMAT,
                      "%s must not be control flow: its cost is that of its bodies", place);
}

/* "com.microsoft::Gelu" or "Conv". */
static int read_like(struct reading *reading) {
    const struct cm_op_description *from = reading->from;
    const char *place = place_of(reading, "like", CM_NO_INDEX);
    const char *colons = strstr(from->like, "::");
    const char *type = colons ? colons + 2 : from->like;
    const char *domain =
        colons ? arena_strndup(reading->arena, from->like, (size_t)(colons - from->like)) : "";
    const int64_t opset = from->like_opset == CM_UNKNOWN ? INT32_MAX : from->like_opset;
    if (!domain) return diag_no_memory(reading->diag);
    int status = check_opset(reading, "like_opset", from->like_opset, 1);
    if (status != CM_OK) return status;
    reading->ret->like = registry_find(domain, type, opset);
    if (reading->ret->like) return check_not_control(reading, place, reading->ret->like);
    status = diag_error(reading->diag, DIAG_FORMAT, "%s: no operator of that name is built in",
                        place);
    diag_hint(reading->diag, "`costmodel ops` lists the built-in operators");
    return status;
}

/* Hashes the NUL too: ("ab", "c") differs from ("a", "bc"). Blanks are not significant. */
static void digest_text(uint64_t *hash, const char *text) {
    for (; *text != '\0'; text++)
        if (*text != ' ' && *text != '\t') *hash = hash_bytes(*hash, text, 1);
    *hash = hash_bytes(*hash, text, 1);
}

static void digest_number(uint64_t *hash, int64_t number) {
    uint8_t bytes[8]; /* little-endian */
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)((uint64_t)number >> (8 * i));
    *hash = hash_bytes(*hash, bytes, sizeof bytes);
}

static void digest_texts(uint64_t *hash, const char *const *texts, size_t n) {
    digest_number(hash, (int64_t)n);
    for (size_t i = 0; i < n; i++) digest_text(hash, texts[i]);
}

/* Returns a hash of what affects outputs and costs. Must not change: profiles store it. */
static const char *digest_of(const struct cm_op_description *from, struct arena *arena) {
    uint64_t hash = HASH_BYTES_BEGIN;
    digest_text(&hash, from->like);
    digest_number(&hash, from->like_opset);
    digest_number(&hash, (int64_t)from->n_attributes);
    for (size_t i = 0; i < from->n_attributes; i++) {
        digest_text(&hash, from->attributes[i].name);
        digest_number(&hash, from->attributes[i].size);
    }
    digest_texts(&hash, from->inputs, from->n_inputs);
    digest_number(&hash, from->required_inputs);
    digest_texts(&hash, from->where, from->n_where);
    digest_number(&hash, (int64_t)from->n_outputs);
    for (size_t i = 0; i < from->n_outputs; i++) {
        digest_text(&hash, from->outputs[i].type);
        digest_text(&hash, from->outputs[i].dims);
    }
    digest_text(&hash, from->macs);
    digest_text(&hash, from->other_flops);
    return arena_printf(arena, "%016" PRIx64, hash);
}

static int read_identity(struct reading *reading) {
    const struct cm_op_description *from = reading->from;
    struct custom *ret = reading->ret;
    const struct op *built_in = registry_find(from->domain, from->op, INT32_MAX);
    if (from->op[0] == '\0')
        return diag_error(reading->diag, DIAG_FORMAT, "%s.operator must not be empty",
                          reading->place);
    if (built_in && !from->replace)
        return diag_error(reading->diag, DIAG_FORMAT,
                          "%s: the operator is built in; \"replace\": true replaces it",
                          reading->place);
    if ((from->like[0] == '\0') == (from->n_outputs == 0))
        return diag_error(reading->diag, DIAG_FORMAT,
                          "%s must have either like or outputs, got %s", reading->place,
                          from->n_outputs == 0 ? "neither" : "both");
    int status = check_opset(reading, "since", from->since, 0);
    if (status == CM_OK && built_in)
        status = check_not_control(reading, reading->place, built_in);
    if (status != CM_OK) return status;
    ret->domain = arena_strdup(reading->arena, registry_domain(from->domain));
    ret->type = arena_strdup(reading->arena, from->op);
    ret->since = from->since;
    ret->replaces = built_in != NULL;
    ret->digest = digest_of(from, reading->arena);
    return ret->domain && ret->type && ret->digest ? CM_OK : diag_no_memory(reading->diag);
}

/* Copies the row of `like`, if any. The description may narrow but not widen the range of the
 * number of inputs, because the callbacks of `like` rely on it. */
static int make_row(const struct reading *reading, struct custom *ret) {
    if (ret->like) {
        const struct op *like = ret->like;
        const char *place = place_of(reading, "inputs", CM_NO_INDEX);
        const int32_t min = ret->op.min_inputs;
        const int32_t max = ret->op.max_inputs;
        if (max < like->min_inputs)
            return diag_error(reading->diag, DIAG_FORMAT,
                              "%s: at most %d, '%s' has at least %d", place, max, like->type,
                              like->min_inputs);
        if (min > like->max_inputs)
            return diag_error(reading->diag, DIAG_FORMAT,
                              "%s: at least %d, '%s' has at most %d", place, min, like->type,
                              like->max_inputs);
        ret->op = *like;
        if (min > like->min_inputs) ret->op.min_inputs = min;
        if (max < like->max_inputs) ret->op.max_inputs = max;
    } else {
        ret->op.param_roles = "e";
        ret->op.min_outputs = 1;
        ret->op.max_outputs = (int32_t)ret->n_outputs;
    }
    ret->op.infer = custom_op_infer;
    if (!ret->has_costs) return CM_OK;
    const struct op_flops flops = {
        .per_mac = 2,
        .extra = custom_op_other_flops,
        .extra_description = arena_printf(reading->arena, "by '%s'", ret->other_flops.text)};
    ret->op.cost.macs = custom_op_macs;
    ret->op.cost.macs_formula = arena_printf(reading->arena, "by '%s'", ret->macs.text);
    ret->op.domain = ret->op.type = "";
    /* those of `like` (conventions, lowering, bounds) do not apply */
    const struct op_flops *all = arena_copy(reading->arena, &flops, sizeof(flops));
    const struct op_facets facets = {.lowering.why = "its description specifies no kernel",
                                     .flops = {[FLOPS_DEEPSPEED] = all, [FLOPS_EXACT] = all}};
    ret->op.facets = arena_copy(reading->arena, &facets, sizeof(facets));
    return CM_OK;
}

static int read_description(struct reading *reading) {
    struct custom *ret = reading->ret;
    int status = read_identity(reading);
    if (status == CM_OK && reading->from->like[0]) status = read_like(reading);
    if (status == CM_OK)
        status = check_items(reading, "attributes", reading->from->n_attributes);
    for (size_t i = 0; i < reading->from->n_attributes && status == CM_OK; i++)
        status = read_attribute(reading, &reading->from->attributes[i]);
    if (status == CM_OK) status = read_inputs(reading);
    if (status == CM_OK) status = check_items(reading, "where", reading->from->n_where);
    for (size_t i = 0; i < reading->from->n_where && status == CM_OK; i++)
        status = read_definition(reading, i);
    if (status == CM_OK) status = read_outputs(reading);
    if (status == CM_OK) status = read_costs(reading);
    if (status == CM_OK) status = make_row(reading, ret);
    ret->n_names = reading->n_names;
    ret->names = arena_copy(reading->arena, reading->names,
                            reading->n_names * sizeof(reading->names[0]));
    return arena_failed(reading->arena) ? diag_no_memory(reading->diag) : status;
}

int custom_op_read(const struct cm_op_description *from, size_t n, struct arena *arena,
                   struct cm_diagnostics *diag, struct cm_op_costs *ret) {
    int status = CM_OK;
    if (n > CUSTOM_OP_MAX)
        return diag_error(diag, DIAG_LIMIT, "operators must have at most %d items, got %zu",
                          CUSTOM_OP_MAX, n);
    struct custom *items = arena_array(arena, n, sizeof(*items));
    if (!items) return diag_no_memory(diag);
    for (size_t i = 0; i < n && status == CM_OK; i++) {
        struct reading reading = {.from = &from[i],
                                  .place = arena_printf(arena, "operators[%zu]", i),
                                  .arena = arena,
                                  .diag = diag,
                                  .ret = &items[i]};
        if (!reading.place) return diag_no_memory(diag);
        status = read_description(&reading);
        for (size_t k = 0; k < i && status == CM_OK; k++)
            if (text_equal(items[k].type, items[i].type) &&
                text_equal(items[k].domain, items[i].domain) &&
                items[k].since == items[i].since)
                status = diag_error(diag, DIAG_FORMAT, "%s: the same as operators[%zu]",
                                    reading.place, k);
    }
    if (status == CM_OK) *ret = (struct cm_op_costs){arena, n, items};
    return status;
}
