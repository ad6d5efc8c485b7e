/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the passes as text and numbers: see model_harness.h. */
#include "model_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/print.h"
#include "passes/batch/batch.h"
#include "passes/cost/count.h"
#include "passes/modules/modules.h"
#include "passes/params/params.h"
#include "passes/walk/walk.h"
#include "support/diag.h"
#include "support/text.h"

uint32_t bench_value(const struct bench *bench, const char *name) {
    for (uint32_t id = 0; id < bench->model.n_values; id++)
        if (strcmp(bench->model.values[id].name, name) == 0) return id;
    fail_msg("no value '%s'", name);
    return ID_NONE;
}

uint32_t bench_node(const struct bench *bench, const char *name) {
    for (uint32_t id = 0; id < bench->model.n_nodes; id++)
        if (strcmp(bench->model.nodes[id].name, name) == 0) return id;
    fail_msg("no node '%s'", name);
    return ID_NONE;
}

const char *bench_type(const struct bench *bench, const char *name) {
    struct text text;
    text_init(&text, bench->arena);
    print_value_info(&bench->analysis.infer->infos[bench_value(bench, name)], &text);
    return text_string(&text);
}

const struct cm_costs *bench_costs(const struct bench *bench, const char *node) {
    return &bench->analysis.count->nodes[bench_node(bench, node)].costs;
}

const char *bench_messages(const struct bench *bench) {
    static const char *const severities[] = {"note", "warning", "error"};
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < cm_diagnostics_count(bench->diag); i++) {
        const struct cm_diagnostic *message = cm_diagnostics_get(bench->diag, i);
        text_printf(&text, "%s%s[%s]", i ? "\n" : "", severities[message->severity],
                    message->code);
        if (message->node) text_printf(&text, " at %s", message->node);
        text_printf(&text, ": %s", message->message);
        if (message->hint) text_printf(&text, "; hint: %s", message->hint);
    }
    return text_string(&text);
}

const char *bench_rebatched(const struct bench *bench) {
    const struct batch_table *table = bench->analysis.batch;
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < table->n_rebatched; i++) {
        const struct rebatched *entry = &table->rebatched[i];
        const struct node *node = &bench->model.nodes[entry->node];
        text_printf(&text, "%s%s %s[%lld] of %s: %lld -> %lld", i ? "\n" : "", node->name,
                    entry->what, (long long)entry->axis,
                    value_name(&bench->model, node->inputs[entry->slot]),
                    (long long)entry->from, (long long)entry->to);
    }
    return text_string(&text);
}

const struct cm_module *bench_module(const struct bench *bench, const char *path) {
    const struct modules_table *table = bench->analysis.modules;
    for (size_t i = 0; i < table->n_modules; i++)
        if (strcmp(table->modules[i].path, path) == 0) return &table->modules[i];
    return NULL;
}

enum param_kind bench_kind(const struct bench *bench, const char *name) {
    const struct params_table *params = bench->analysis.params;
    uint32_t param = params->of_value[bench_value(bench, name)];
    return param == ID_NONE ? PARAM_NONE : params->params[param].kind;
}

const char *bench_node_module(const struct bench *bench, const char *name) {
    const struct modules_table *table = bench->analysis.modules;
    return table->modules[table->of_node[bench_node(bench, name)]].path;
}

const char *bench_used(const struct bench *bench, const char *name) {
    const struct params_table *params = bench->analysis.params;
    uint32_t node = bench_node(bench, name);
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < params->n_used[node]; i++)
        text_printf(&text, "%s%s", i ? " " : "", params->params[params->used[node][i]].name);
    return text_string(&text);
}

const char *bench_paths(const struct bench *bench) {
    const struct modules_table *table = bench->analysis.modules;
    struct text text;
    text_init(&text, bench->arena);
    for (size_t i = 0; i < table->n_modules; i++)
        text_printf(&text, "%s%s", i ? " " : "", i ? table->modules[i].path : "()");
    return text_string(&text);
}

const char *bench_outputs(const struct bench *bench, const char *path) {
    const struct modules_table *table = bench->analysis.modules;
    const struct cm_module *module = bench_module(bench, path);
    struct text text;
    assert_non_null(module);
    text_init(&text, bench->arena);
    const uint32_t first = table->first_output[module - table->modules];
    const uint32_t end = table->first_output[module - table->modules + 1];
    for (uint32_t i = first; i < end; i++)
        text_printf(&text, "%s%s", i > first ? " " : "",
                    value_name(&bench->model, table->outputs[i]));
    return text_string(&text);
}
