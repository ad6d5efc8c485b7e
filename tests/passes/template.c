/* SPDX-License-Identifier: Apache-2.0 */
/* Compares exports of one model at several batches: see template.h. */
#include "template.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "passes/cost/count.h"
#include "passes/walk/walk.h"
#include "support/arena.h"

char *template_at(const char *lines, int64_t batch) {
    size_t size = 4 * strlen(lines) + 1; /* "{N}" may become 12 digits */
    char *text = malloc(size);
    size_t length = 0;
    assert_non_null(text);
    while (*lines) {
        char *end = NULL;
        int64_t factor = *lines == '{' ? strtoll(lines + 1, &end, 10) : 0;
        if (*lines != '{') {
            text[length++] = *lines++;
            continue;
        }
        if (end == lines + 1) factor = 1;
        assert_memory_equal(end, "N}", 2);
        length += (size_t)snprintf(text + length, size - length, "%" PRId64, factor * batch);
        lines = end + 2;
    }
    text[length] = '\0';
    return text;
}

struct bench *template_rebatch(const char *lines, int64_t from, int64_t to) {
    const struct cm_options options = {.batch = to};
    char *text = template_at(lines, from);
    struct bench *bench = bench_open_with(text, &options);
    free(text);
    return bench;
}

/* Constants are not compared: re-batching replaces the operand of a node, not the constant. */
static const char *value_difference(const struct bench *have, const struct bench *want,
                                    uint32_t id) {
    if (want->analysis.infer->infos[id].is_constant) return NULL;
    const char *name = want->model.values[id].name;
    const char *a = bench_type(have, name);
    const char *b = bench_type(want, name);
    return strcmp(a, b) == 0 ? NULL : arena_printf(have->arena, "%s is %s, not %s", name, a, b);
}

static const char *cost_difference(const struct bench *have, const struct bench *want,
                                   uint32_t id, bool reads) {
    const struct cm_costs *a = &have->analysis.count->nodes[id].costs;
    const struct cm_costs *b = &want->analysis.count->nodes[id].costs;
    const struct {
        const char *name;
        int64_t have, want;
    } fields[] = {{"MACs", a->macs, b->macs},
                  {"integer MACs", a->int_macs, b->int_macs},
                  {"FLOPs", a->flops, b->flops},
                  {"integer operations", a->int_ops, b->int_ops},
                  {"bytes written", a->bytes_written, b->bytes_written},
                  {"bytes read", a->bytes_read, b->bytes_read}};
    size_t n = sizeof fields / sizeof *fields;
    for (size_t i = 0; i < (reads ? n : n - 1); i++)
        if (fields[i].have != fields[i].want)
            return arena_printf(have->arena,
                                "node %" PRIu32 " has %" PRId64 " %s, not %" PRId64, id,
                                fields[i].have, fields[i].name, fields[i].want);
    return NULL;
}

const char *template_difference(const struct bench *have, const struct bench *want,
                                bool reads) {
    const char *found = NULL;
    assert_int_equal(have->model.n_values, want->model.n_values);
    assert_int_equal(have->model.n_nodes, want->model.n_nodes);
    for (uint32_t id = 0; id < want->model.n_values && !found; id++)
        found = value_difference(have, want, id);
    for (uint32_t id = 0; id < want->model.n_nodes && !found; id++)
        found = cost_difference(have, want, id, reads);
    return found;
}
