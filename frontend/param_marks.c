/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what PyTorch's exporter recorded about parameters. The graph has the signature of the
 * exported program, a line per tensor. The package onnx_costmodel adds the number of elements:
 *
 *     p_conv_weight: PARAMETER target='conv.weight'
 *     p_conv_weight: PARAMETER target='conv.weight' numel=1728
 *     b_rotary_inv_freq: BUFFER target='rotary.inv_freq' persistent=False
 *
 * The value_info of an initializer has the kind of the tensor. If the exporter computed the
 * tensor, it has the names of all source tensors instead: "['conv.weight', 'val_3']". */
#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/text.h"

#define MAX_PARAMS (UINT32_MAX / N_MARKS - 1)

/* Returns the mark of InputSpec.kind; MARK_NONE for user inputs. */
static enum param_mark mark_of_kind(const char *kind, size_t length) {
    static const struct {
        const char *kind;
        enum param_mark mark;
    } table[] = {
        {"PARAMETER", MARK_PARAMETER},
        {"BUFFER", MARK_CONSTANT},
        {"CONSTANT_TENSOR", MARK_CONSTANT},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].kind) == length && memcmp(table[i].kind, kind, length) == 0)
            return table[i].mark;
    return MARK_NONE;
}

/* Returns N of " numel=N" at the end of a line, 0 for the second name of a tied parameter;
 * DIM_UNKNOWN if there is none. */
static int64_t read_elements(const char *at, const char *end) {
    static const char before[] = " numel=";
    int64_t elements = 0;
    if ((size_t)(end - at) < sizeof before || memcmp(at, before, sizeof before - 1) != 0)
        return DIM_UNKNOWN;
    for (at += sizeof before - 1; at < end && text_is_digit(*at); at++)
        elements = checked_add(checked_mul(elements, 10), *at - '0');
    return at == end ? elements : DIM_UNKNOWN;
}

/* Adds the tensor in a line of the signature (without '\n'), if there is one, to the marks. */
static int read_line(struct importer *importer, const char *line, size_t length) {
    static const char before_target[] = " target='";
    uint32_t existing = MAP_NONE;
    const char *end = line + length;
    const char *kind = memchr(line, ' ', length);
    const char *target = kind ? memchr(kind + 1, ' ', (size_t)(end - kind - 1)) : NULL;
    const size_t skipped = sizeof before_target - 1;
    if (!target || (size_t)(end - target) < skipped ||
        memcmp(target, before_target, skipped) != 0)
        return CM_OK;
    const enum param_mark mark = mark_of_kind(kind + 1, (size_t)(target - kind - 1));
    const char *name = target + skipped;
    const char *quote = memchr(name, '\'', (size_t)(end - name));
    if (mark == MARK_NONE || !quote || importer->n_params > MAX_PARAMS) return CM_OK;
    const uint32_t index = mark == MARK_PARAMETER ? (uint32_t)importer->n_params : 0;
    const int64_t elements = read_elements(quote + 1, end);
    const int status = map_add_n(&importer->marks, name, (size_t)(quote - name),
                                 index * N_MARKS + mark, &existing);
    if (status < 0 || mark != MARK_PARAMETER || existing != MAP_NONE) return status;
    return arena_push(importer->arena, &importer->param_elements, &importer->n_params,
                      &importer->params_capacity, &elements, sizeof elements)
               ? CM_OK
               : CM_NO_MEMORY;
}

int import_signature(struct importer *importer, const struct message *graph) {
    struct fields_walk walk = message_walk(graph, GRAPH_METADATA_PROPS);
    for (struct span one; fields_next(&walk, &one);) {
        struct entry entry;
        if (!message_entry(one, &entry) || skim_metadata_key(entry.key) != METADATA_SIGNATURE)
            continue;
        const char *end = (const char *)entry.value.end;
        for (const char *at = (const char *)entry.value.at; at < end;) {
            const char *line_end = memchr(at, '\n', (size_t)(end - at));
            if (!line_end) line_end = end;
            if (read_line(importer, at, (size_t)(line_end - at)) < 0)
                return diag_no_memory(importer->diag);
            at = line_end + 1;
        }
        break;
    }
    return CM_OK;
}

enum param_mark import_named_mark(const struct importer *importer, struct span name) {
    const uint32_t mark = map_get_n(&importer->marks, (const char *)name.at, span_size(name));
    return mark == MAP_NONE ? MARK_NONE : (enum param_mark)(mark % N_MARKS);
}

/* Returns true if the value is named after a call that repeats a tensor: "repeat_1". */
static bool is_repeated(const char *name, size_t length) {
    static const char *const calls[] = {"expand", "repeat", "tile", "broadcast_to"};
    while (length > 0 && text_is_digit(name[length - 1])) length--;
    if (length > 0 && name[length - 1] == '_') length--;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i]) == length && memcmp(name, calls[i], length) == 0) return true;
    return false;
}

/* Sets *ret to the mark of a tensor that was computed from the tensors of `list`. Names that
 * are not in the signature are intermediate values: their own sources are in the list too. Sets
 * *repeated to true if is_repeated returns true for one of the names. Adds the tensor to
 * derived_params if it was computed from one parameter in one step, or from one parameter and
 * unnamed constants (val_3) by repeating it. */
static int mark_of_sources(struct importer *importer, const char *list, uint32_t id,
                           enum param_mark *ret, bool *repeated) {
    enum param_mark mark = MARK_CONSTANT;
    const char *at = list;
    uint32_t param = MAP_NONE;
    bool is_plain = true; /* only parameters, constants and repetitions */
    size_t n = 0, n_params = 0;
    if (*at++ != '[' || importer->marks.n_entries == 0) return CM_OK;
    for (; *at != ']'; n++) {
        const char *end = metadata_skip_quoted(at);
        if (!end) return CM_OK;
        const char *name = at + 1;
        const size_t length = (size_t)(end - name) - 1;
        const uint32_t found = map_get_n(&importer->marks, name, length);
        const bool is_repetition = is_repeated(name, length);
        if (found != MAP_NONE && found % N_MARKS == MARK_PARAMETER) {
            param = found / N_MARKS;
            n_params++;
        } else if (!is_repetition && (length < 4 || memcmp(name, "val_", 4) != 0)) {
            is_plain = false;
        }
        *repeated = *repeated || is_repetition;
        at = end + strspn(end, ", ");
    }
    if (n_params > 0) mark = MARK_DERIVED;
    *ret = mark;
    if (n_params != 1 || !(n == 1 || (is_plain && *repeated)) || id == ID_NONE) return CM_OK;
    const struct derived_param derived = {id, param};
    return arena_push(importer->scratch, &importer->derived_params, &importer->n_derived_params,
                      &importer->derived_capacity, &derived, sizeof derived)
               ? CM_OK
               : diag_no_memory(importer->diag);
}

int import_mark(struct importer *importer, const Onnx__ValueInfoProto *info, uint32_t id,
                struct value *value) {
    const char *values[N_METADATA_KEYS] = {NULL};
    enum param_mark found = MARK_NONE;
    bool repeated = is_repeated((const char *)info->name.data, info->name.len);
    int status = CM_OK;
    for (size_t i = 0; i < info->n_metadata_props && status == CM_OK; i++)
        status =
            metadata_read(importer, import_span_of_bytes(&info->metadata_props[i]), values);
    const char *kind = values[METADATA_KIND];
    if (kind) found = mark_of_kind(kind, strlen(kind));
    if (status == CM_OK && found == MARK_NONE && values[METADATA_FOLDED_FROM])
        status = mark_of_sources(importer, values[METADATA_FOLDED_FROM], id, &found, &repeated);
    if (found != MARK_NONE) value->mark = (uint8_t)found;
    value->is_repeated = found == MARK_DERIVED && repeated;
    return status;
}

int import_framework_params(struct importer *importer, struct model *model) {
    const struct map *marks = &importer->marks;
    const char **names = arena_array(importer->arena, importer->n_params, sizeof *names);
    if (!names) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < marks->n_entries; i++) {
        const struct map_entry *entry = &marks->entries[i];
        if (entry->value % N_MARKS != MARK_PARAMETER) continue;
        const char *name = arena_strndup(importer->arena, entry->key, entry->length);
        if (!name) return diag_no_memory(importer->diag);
        names[entry->value / N_MARKS] = name;
    }
    model->framework_params = names;
    model->framework_elements = importer->param_elements;
    model->n_framework_params = importer->n_params;
    model->n_derived_params = importer->n_derived_params;
    if (importer->n_derived_params == 0) return CM_OK;
    model->derived_params =
        arena_copy(importer->arena, importer->derived_params,
                   importer->n_derived_params * sizeof *importer->derived_params);
    return model->derived_params ? CM_OK : diag_no_memory(importer->diag);
}
