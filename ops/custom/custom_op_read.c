/* SPDX-License-Identifier: Apache-2.0 */
/* Reads descriptions into rows. */
#include <inttypes.h>
#include <string.h>

#include "ops/custom/custom_op.h"
#include "ops/registry/registry.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/hash.h"
#include "support/text.h"

struct reading {
    const struct cm_op_description *from;
    const char *place; /* "operators[0]", for messages */
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct custom *ret;
};

static const char *place_of(const struct reading *reading, const char *key) {
    return custom_op_place(reading->arena, reading->place, key, CM_NO_INDEX);
}

/* Checks that the opset is >= first or CM_UNKNOWN, which means any opset. */
static int check_opset(const struct reading *reading, const char *key, int64_t opset,
                       int64_t first) {
    if (opset == CM_UNKNOWN || opset >= first) return CM_OK;
    return diag_error(reading->diag, DIAG_FORMAT,
                      "%s must be an opset >= %" PRId64 ", got %" PRId64,
                      place_of(reading, key), first, opset);
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
    const char *place = place_of(reading, "like");
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

/* Returns a copy of the texts, in the arena; NULL if memory ran out. */
static const char *const *copy_texts(const char *const *texts, size_t n, struct arena *arena) {
    const char **copies = arena_array(arena, n, sizeof(*copies));
    for (size_t i = 0; i < n && copies; i++) copies[i] = arena_strdup(arena, texts[i]);
    return copies;
}

/* Copies the members that are read later. Texts are NULL if memory ran out, which the arena
 * remembers. */
static struct cm_op_description copy_of(const struct cm_op_description *from,
                                        struct arena *arena) {
    struct cm_named_size *attributes =
        arena_copy(arena, from->attributes, from->n_attributes * sizeof(*attributes));
    struct cm_op_output *outputs =
        arena_copy(arena, from->outputs, from->n_outputs * sizeof(*outputs));
    for (size_t i = 0; i < from->n_attributes && attributes; i++)
        attributes[i].name = arena_strdup(arena, attributes[i].name);
    for (size_t i = 0; i < from->n_outputs && outputs; i++) {
        outputs[i].type = arena_strdup(arena, outputs[i].type);
        outputs[i].dims = arena_strdup(arena, outputs[i].dims);
    }
    return (struct cm_op_description){
        .domain = arena_strdup(arena, registry_domain(from->domain)),
        .op = arena_strdup(arena, from->op),
        .since = from->since,
        .n_attributes = from->n_attributes,
        .attributes = attributes,
        .n_inputs = from->n_inputs,
        .inputs = copy_texts(from->inputs, from->n_inputs, arena),
        .required_inputs = from->required_inputs,
        .n_where = from->n_where,
        .where = copy_texts(from->where, from->n_where, arena),
        .n_outputs = from->n_outputs,
        .outputs = outputs,
        .macs = arena_strdup(arena, from->macs),
        .other_flops = arena_strdup(arena, from->other_flops),
    };
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
    ret->replaces = built_in != NULL;
    ret->digest = digest_of(from, reading->arena);
    ret->is = copy_of(from, reading->arena);
    return arena_failed(reading->arena) ? diag_no_memory(reading->diag) : CM_OK;
}

/* Copies the row of `like`, if any. The description may narrow but not widen the range of the
 * number of inputs, because the callbacks of `like` rely on it. */
static int make_row(const struct reading *reading, struct custom *ret) {
    if (ret->like) {
        const struct op *like = ret->like;
        const char *place = place_of(reading, "inputs");
        const int32_t min = ret->op.min_inputs;
        const int32_t max = ret->max_inputs;
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
        ret->op.max_inputs = ret->max_inputs;
        ret->op.max_outputs = ret->max_outputs;
    }
    ret->op.infer = custom_op_infer;
    if (!ret->macs_text) return CM_OK;
    const struct op_flops flops = {
        .per_mac = 2, .extra = custom_op_other_flops, .extra_description = ret->flops_text};
    const struct op_flops *all = arena_copy(reading->arena, &flops, sizeof(flops));
    const struct op_facets facets = {.lowering.why = "its description specifies no kernel",
                                     .flops = {[FLOPS_DEEPSPEED] = all, [FLOPS_EXACT] = all}};
    ret->op.cost = (struct op_cost){custom_op_macs, ret->macs_text};
    ret->op.domain = ret->op.type = "";
    /* those of `like` (conventions, lowering, bounds) do not apply */
    ret->op.facets = arena_copy(reading->arena, &facets, sizeof(facets));
    return CM_OK;
}

/* Sets the numbers of operands, which custom_op_check compares with the texts. */
static int read_operands(const struct reading *reading) {
    struct custom *ret = reading->ret;
    const size_t n = ret->is.n_inputs;
    const bool is_any = n == 0; /* any inputs that `like` takes */
    ret->op.min_inputs =
        (int32_t)(ret->is.required_inputs == CM_UNKNOWN ? (int64_t)n : ret->is.required_inputs);
    ret->max_inputs = !is_any ? (int32_t)n : ret->like ? ret->like->max_inputs : VARIADIC;
    ret->max_outputs = ret->like ? ret->like->max_outputs : (int32_t)ret->is.n_outputs;
    ret->inputs = arena_array(reading->arena, n, sizeof(*ret->inputs));
    return ret->inputs ? CM_OK : diag_no_memory(reading->diag);
}

static int read_description(struct reading *reading) {
    struct custom *ret = reading->ret;
    int status = read_identity(reading);
    if (status == CM_OK && reading->from->like[0]) status = read_like(reading);
    if (status == CM_OK) status = read_operands(reading);
    if (status == CM_OK)
        status = custom_op_check(ret, reading->place, reading->arena, reading->diag);
    if (status == CM_OK) status = make_row(reading, ret);
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
            if (text_equal(items[k].is.op, items[i].is.op) &&
                text_equal(items[k].is.domain, items[i].is.domain) &&
                items[k].is.since == items[i].is.since)
                status = diag_error(diag, DIAG_FORMAT, "%s: the same as operators[%zu]",
                                    reading.place, k);
    }
    if (status == CM_OK) *ret = (struct cm_op_costs){arena, n, items};
    return status;
}
