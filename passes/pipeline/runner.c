/* SPDX-License-Identifier: Apache-2.0 */
#include "passes/pipeline/runner.h"

#include <stdio.h>
#include <string.h>

#include "ir/print.h"
#include "passes/walk/walk.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

static void set_table(struct analysis *analysis, const struct pass *pass, void *table) {
    memcpy((char *)analysis + pass->table, &table, sizeof table);
}

static void *get_table(const struct analysis *analysis, const struct pass *pass) {
    void *table = NULL;
    memcpy(&table, (const char *)analysis + pass->table, sizeof table);
    return table;
}

int runner_start(const struct pipeline *pipeline, struct analysis *analysis) {
    for (size_t i = 0; i < pipeline->n; i++)
        set_table(analysis, &pipeline->passes[i],
                  arena_alloc(analysis->arena, pipeline->passes[i].table_size));
    return arena_failed(analysis->arena) ? diag_no_memory(analysis->diag) : CM_OK;
}

void runner_clear(const struct pipeline *pipeline, struct analysis *analysis, size_t first) {
    for (size_t i = first; i < pipeline->n; i++)
        memset(get_table(analysis, &pipeline->passes[i]), 0, pipeline->passes[i].table_size);
}

/* Sets the pointers to the tables that the pass neither reads nor fills to NULL. */
static void hide_tables(const struct pipeline *pipeline, const struct pass *pass,
                        const struct analysis *analysis, struct analysis *view) {
    const struct pass *rows = pipeline->passes;
    for (size_t i = 0; i < pipeline->n; i++) set_table(view, &rows[i], NULL);
    for (size_t i = 0; i < pipeline->n; i++)
        if ((pass->reads & rows[i].gives) != 0 || rows[i].table == pass->table)
            set_table(view, &rows[i], get_table(analysis, &rows[i]));
}

/* Prints the model with the types inferred so far, if --dump-after names this pass. */
static int dump(const struct analysis *analysis, const struct pass *pass) {
    struct text text;
    if (!text_equal(analysis->options->dump_after, pass->name)) return CM_OK;
    text_init(&text, analysis->arena);
    const struct infer_table *infer = analysis->infer;
    print_model(analysis->model, infer->upper ? infer->upper->infos : infer->infos, &text);
    if (text.failed) return diag_no_memory(analysis->diag);
    if (fputs(text_string(&text), analysis->options->dump) >= 0) return CM_OK;
    return diag_error(analysis->diag, DIAG_IO, "cannot write the IR");
}

static int run_pass(const struct pipeline *pipeline, const struct analysis *analysis,
                    const struct pass *pass) {
    struct arena_mark mark = arena_save(analysis->scratch);
    struct analysis *view = arena_copy(analysis->scratch, analysis, pipeline->size);
    if (!view) return diag_no_memory(analysis->diag);
    for (const struct pipeline *part = pipeline; part; part = part->before)
        hide_tables(part, pass, analysis, view);
    int status = pass->run(view, get_table(analysis, pass));
    arena_restore(analysis->scratch, mark);
    /* A pass may treat a constant as unknown because loading it ran out of memory. */
    if (status != CM_NO_MEMORY &&
        (arena_failed(analysis->arena) || arena_failed(analysis->result_arena) ||
         arena_failed(analysis->scratch)))
        return diag_no_memory(analysis->diag);
    return status == CM_OK && analysis->options->dump ? dump(analysis, pass) : status;
}

int runner_run(const struct pipeline *pipeline, struct analysis *analysis, size_t first,
               unsigned wanted) {
    int status = CM_OK;
    unsigned have = 0;
    for (const struct pipeline *part = pipeline->before; part; part = part->before)
        for (size_t i = 0; i < part->n; i++) have |= part->passes[i].gives;
    analysis->scratch = arena_new("scratch", 0);
    if (!analysis->scratch) return diag_no_memory(analysis->diag);
    for (size_t i = 0; i < pipeline->n && status >= 0; i++) {
        BUG_ON((pipeline->passes[i].reads & ~have) != 0);
        if (i >= first) status = run_pass(pipeline, analysis, &pipeline->passes[i]);
        have |= pipeline->passes[i].gives;
        if (wanted != 0 && (wanted & ~have) == 0) break;
    }
    arena_free(analysis->scratch);
    analysis->scratch = NULL;
    return status < 0 ? status : CM_OK;
}
