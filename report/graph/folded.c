/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks for flame graph tools: `model;layer1;conv1;Conv 118013952` lists the modules
 * from the root, the operator, and the cost of its nodes in that module. The lines sum to the
 * total. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/table/columns.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/sort.h"
#include "support/text.h"

/* Deeper modules are merged into their ancestor at this depth, which bounds the output size. */
#define MAX_FRAMES 200

/* The contribution of a node to a stack. */
struct addend {
    size_t module;
    const struct cm_node *node;
    int64_t value;
};

static int compare_stacks(const struct addend *a, const struct addend *b) {
    if (a->module != b->module) return a->module < b->module ? -1 : 1;
    const int order = strcmp(a->node->domain, b->node->domain);
    return order != 0 ? order : strcmp(a->node->op, b->node->op);
}

static int compare_addends(const void *left, const void *right) {
    const struct addend *a = left;
    const struct addend *b = right;
    const int order = compare_stacks(a, b);
    if (order != 0) return order;
    return (a->node->index > b->node->index) - (a->node->index < b->node->index);
}

/* Collects and sorts the contributions; returns their sum, which may overflow in a forged
 * profile. */
static int64_t collect(const struct cm_result *result, const struct column *column, int depth,
                       struct addend *addends, size_t *ret_n) {
    int64_t sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < result->n_nodes; i++) {
        const struct cm_node *node = &result->nodes[i];
        const int64_t value = column_get(column, &node->costs);
        size_t module = node->module;
        if (!is_known(value) || value <= 0) continue;
        while (module < result->n_modules && result->modules[module].depth > depth)
            module = result->modules[module].parent;
        addends[n++] = (struct addend){module < result->n_modules ? module : 0, node, value};
        checked_add_to(&sum, value);
    }
    sort_stable(addends, n, sizeof(*addends), compare_addends);
    *ret_n = n;
    return sum;
}

/* Writes a frame. Replaces ';', which separates frames, and ' ', which precedes the count. */
static void put_frame(const char *name, struct text *safe, FILE *out) {
    text_clear(safe);
    text_append_name(safe, name);
    for (const char *at = text_string(safe); *at != '\0'; at++)
        fputc(*at == ';' ? ',' : *at == ' ' ? '_' : *at, out);
}

static void put_stack(const struct cm_result *result, const struct addend *addend,
                      int64_t value, struct text *safe, FILE *out) {
    size_t frames[MAX_FRAMES + 1];
    size_t n = 0;
    for (size_t i = addend->module; i < result->n_modules && n <= MAX_FRAMES;
         i = result->modules[i].parent)
        frames[n++] = i;
    while (n-- > 0) {
        const char *name = result->modules[frames[n]].name;
        put_frame(*name == '\0' ? "model" : name, safe, out);
        fputc(';', out);
    }
    if (*addend->node->domain != '\0') {
        put_frame(addend->node->domain, safe, out);
        fputs("::", out);
    }
    put_frame(addend->node->op, safe, out);
    fprintf(out, " %" PRId64 "\n", value);
}

static int put_stacks(const struct cm_result *result, const struct column *column, int depth,
                      struct arena *arena, struct cm_diagnostics *diag, FILE *out) {
    size_t n = 0;
    struct addend *addends = arena_array(arena, result->n_nodes, sizeof(*addends));
    if (addends == NULL) return CM_NO_MEMORY;
    struct text safe = {.arena = arena};
    if (!is_known(collect(result, column, depth, addends, &n)))
        return diag_error(diag, DIAG_OVERFLOW,
                          "the sum of %s over all nodes must be below 2^63", column->key);
    for (size_t i = 0; i < n;) {
        int64_t value = 0;
        const size_t first = i;
        while (i < n && compare_stacks(&addends[first], &addends[i]) == 0)
            checked_add_to(&value, addends[i++].value);
        put_stack(result, &addends[first], value, &safe, out);
    }
    if (result->time_error.present && result->time_error.host_ps > 0 &&
        text_equal(column->key, "latency_ps"))
        fprintf(out, "model;waiting_for_the_host %" PRId64 "\n", result->time_error.host_ps);
    return output_flush(out);
}

int report_write_folded(const struct report *report) {
    const int depth = report->table->depth;
    const int used_depth = depth < 0 || depth > MAX_FRAMES ? MAX_FRAMES : depth;
    const struct column *column = NULL;
    int status = columns_find_sum(report->table->metric, report->diag, &column);
    if (status != CM_OK) return status;
    if (!column_is_there(column, report->result))
        return diag_error(report->diag, DIAG_USAGE,
                          "folded stacks of %s require times: use --measure, --device, --times "
                          "or --backend",
                          column->key);
    struct arena *arena = arena_new("stacks", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    status = put_stacks(report->result, column, used_depth, arena, report->diag, report->out);
    return arena_end(arena, status);
}
