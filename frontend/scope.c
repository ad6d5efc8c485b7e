/* SPDX-License-Identifier: Apache-2.0 */
/* Names in scope: of a graph, of enclosing graphs, and of a function being inlined. */
#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

uint32_t scope_get(const struct scope *scope, struct span name) {
    /* A node usually reads the output of the node before it. */
    size_t size = span_size(scope->newest);
    if (size == span_size(name) && size > 0 && memcmp(scope->newest.at, name.at, size) == 0)
        return scope->newest_id;
    return map_get_n(&scope->names, (const char *)name.at, span_size(name));
}

uint32_t scope_find(const struct scope *scope, struct span name) {
    for (; scope; scope = scope->outer) {
        uint32_t id = scope_get(scope, name);
        if (id != MAP_NONE) return id;
    }
    return ID_NONE;
}

int scope_define(struct importer *importer, struct scope *scope, struct span name,
                 uint32_t value) {
    uint32_t existing = MAP_NONE;
    if (map_add_n(&scope->names, (const char *)name.at, span_size(name), value, &existing) < 0)
        return diag_no_memory(importer->diag);
    scope->newest = name;
    scope->newest_id = value;
    if (existing == MAP_NONE) return CM_OK;
    return diag_error(importer->diag, DIAG_GRAPH, "the name '%.*s' is defined twice",
                      (int)span_size(name), (const char *)name.at);
}

const char *scope_full_name(struct importer *importer, const struct scope *scope,
                            struct span name) {
    if (scope->prefix[0] == '\0') return import_span(importer, name);
    return arena_printf(importer->arena, "%s%.*s", scope->prefix, (int)span_size(name),
                        (const char *)name.at);
}

int scope_add_value(struct importer *importer, struct scope *scope, struct span name,
                    struct value *value, uint32_t *ret_id) {
    uint32_t id = ID_NONE;
    value->graph = scope->graph;
    value->name = scope_full_name(importer, scope, name);
    if (!value->name || graph_add_value(importer->builder, value, &id) < 0)
        return diag_no_memory(importer->diag);
    *ret_id = id;
    return scope_define(importer, scope, name, id);
}

int import_undefined(struct importer *importer, const char *what, struct span name) {
    importer->out_of_order = importer->keeps_order;
    if (importer->out_of_order)
        return CM_REFUSED; /* no message: load.c tries again with sorted nodes */
    return diag_error(importer->diag, DIAG_GRAPH, "%s '%.*s' is not defined", what,
                      (int)span_size(name), (const char *)name.at);
}
