/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads what PyTorch's exporter recorded about parameters. The graph has the signature of the
 * exported program, a line per tensor:
 *
 *     p_conv_weight: PARAMETER target='conv.weight'
 *     b_rotary_inv_freq: BUFFER target='rotary.inv_freq' persistent=False
 *
 * An initializer's value_info has the kind of the tensor, or, if the exporter computed it, the
 * names of all tensors that it was computed from: "['conv.weight', 'val_3']".
 */
#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

#include "support/banned.h"

/* Returns the mark of InputSpec.kind; MARK_NONE for inputs of the user. */
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

/* Adds the tensor of a line of the signature, which has no '\n'. */
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
    if (mark == MARK_NONE || !quote) return CM_OK;
    return map_add_n(&importer->marks, name, (size_t)(quote - name), mark, &existing);
}

static int read_signature(struct importer *importer, struct span text) {
    const char *at = (const char *)text.at;
    const char *end = (const char *)text.end;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        if (!line_end) line_end = end;
        if (read_line(importer, at, (size_t)(line_end - at)) < 0)
            return diag_no_memory(importer->diag);
        at = line_end + 1;
    }
    return CM_OK;
}

int import_signature(struct importer *importer, const struct message *graph) {
    struct fields_walk walk = message_walk(graph, GRAPH_METADATA_PROPS);
    for (struct span one; fields_next(&walk, &one);) {
        struct entry entry;
        if (message_entry(one, &entry) && skim_metadata_key(entry.key) == METADATA_SIGNATURE)
            return read_signature(importer, entry.value);
    }
    return CM_OK;
}

enum param_mark import_named_mark(const struct importer *importer, struct span name) {
    const uint32_t mark = map_get_n(&importer->marks, (const char *)name.at, span_size(name));
    return mark == MAP_NONE ? MARK_NONE : (enum param_mark)mark;
}

/* Returns the mark of a tensor that was computed from those of the list. Names that are not in
 * the signature are intermediate values: their own sources are in the list too. */
static enum param_mark mark_of_sources(const struct importer *importer, const char *list) {
    enum param_mark mark = MARK_CONSTANT;
    const char *at = list;
    if (*at++ != '[' || importer->marks.n_entries == 0) return MARK_NONE;
    while (*at != ']') {
        const char *end = metadata_skip_quoted(at);
        if (!end) return MARK_NONE;
        if (map_get_n(&importer->marks, at + 1, (size_t)(end - at) - 2) == MARK_PARAMETER)
            mark = MARK_DERIVED;
        at = end + strspn(end, ", ");
    }
    return mark;
}

int import_mark(struct importer *importer, const Onnx__ValueInfoProto *info, uint8_t *mark) {
    const char *values[N_METADATA_KEYS] = {NULL};
    enum param_mark found = MARK_NONE;
    for (size_t i = 0; i < info->n_metadata_props; i++) {
        const int status =
            metadata_read(importer, span_of_bytes(&info->metadata_props[i]), values);
        if (status < 0) return status;
    }
    const char *kind = values[METADATA_KIND];
    if (kind) found = mark_of_kind(kind, strlen(kind));
    if (found == MARK_NONE && values[METADATA_FOLDED_FROM])
        found = mark_of_sources(importer, values[METADATA_FOLDED_FROM]);
    if (found != MARK_NONE) *mark = (uint8_t)found;
    return CM_OK;
}
