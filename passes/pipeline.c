/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a model through the passes, top to bottom. Start here. */
#include "passes/pipeline.h"

#include <stdio.h>

#include "ir/print.h"
#include "ir/verify.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* clang-format off */
static const struct pass *const pipeline[] = {
    &pass_bind,       /* which operator row is each node? */
    &pass_batch,      /* which shape has each input? */
    &pass_infer,      /* which type, and which contents, has each value? */
    &pass_fuse_patterns, /* which nodes are one operation, taken apart by the exporter? */
    &pass_liveness,   /* which values own bytes, and from when to when? */
    &pass_in_place,   /* which could be written over another? */
    &pass_arena_plan,       /* where in one arena does each value stand? */
    &pass_params,     /* which constants are learned? */
    &pass_primitives, /* what of it could a backend run? */
    &pass_estimate,   /* how long does that take? */
    &pass_count,      /* what does each node cost? */
    &pass_modules,    /* to which module does each node belong, and what does a module cost? */
    &pass_peak_memory,     /* what is alive at the peak, and what is the peak of each module? */
    &pass_training,   /* what does a training step keep, and what does it cost? */
    &pass_memory_required,     /* how much of a device does all of it take? */
    &pass_explain,    /* how do the figures come about that were asked about? */
    &pass_roofline_bounds,     /* what keeps each layer from being faster? */
    &pass_breakdown,  /* what does each operator, and each kernel, take? */
    &pass_advice,     /* what would make it faster? */
};
/* clang-format on */

size_t pipeline_length(void) {
    return sizeof(pipeline) / sizeof(*pipeline);
}

const struct pass *pipeline_pass(size_t index) {
    return pipeline[index];
}

static const struct pass *find_pass(const char *name) {
    for (size_t i = 0; i < pipeline_length(); i++)
        if (text_equal(pipeline[i]->name, name)) return pipeline[i];
    return NULL;
}

static int check_dump(const struct analysis *analysis) {
    const char *name = analysis->options->dump_after;
    if (!name || find_pass(name)) return CM_OK;
    int status = diag_error(analysis->diag, DIAG_USAGE, "there is no pass '%s'", name);
    diag_hint(analysis->diag, "costmodel passes lists them");
    return status;
}

/* The model as it stands after the pass, with the types that are known by then. */
static int dump(const struct analysis *analysis, const struct pass *pass) {
    struct text text;
    if (!text_equal(analysis->options->dump_after, pass->name)) return CM_OK;
    text_init(&text, analysis->arena);
    const struct infer_table *infer = &analysis->infer;
    print_model(analysis->model, infer->upper ? infer->upper->facts : infer->facts, &text);
    if (text.failed) return diag_no_memory(analysis->diag);
    if (fputs(text_string(&text), analysis->options->dump) >= 0) return CM_OK;
    return diag_error(analysis->diag, DIAG_IO, "the IR cannot be written");
}

int pipeline_run(struct analysis *analysis) {
    return pipeline_run_to(analysis, 0);
}

/* What a pass took for not known may only not have been loaded. */
static bool memory_ended(const struct analysis *analysis) {
    return arena_failed(analysis->arena) || arena_failed(analysis->kept) ||
           arena_failed(analysis->scratch);
}

/* What the pass needs while it runs is gone when it has run. */
static int run_pass(struct analysis *analysis, const struct pass *pass) {
    struct arena_mark mark = arena_save(analysis->scratch);
    int status = pass->run(analysis, (char *)analysis + pass->own);
    arena_restore(analysis->scratch, mark);
    if (status != CM_NO_MEMORY && memory_ended(analysis)) return diag_no_memory(analysis->diag);
    return status == CM_OK && analysis->options->dump ? dump(analysis, pass) : status;
}

static int run_passes(struct analysis *analysis, unsigned wanted) {
    unsigned have = 0;
    for (size_t i = 0; i < pipeline_length(); i++) {
        const struct pass *pass = pipeline[i];
        BUG_ON((pass->needs & ~have) != 0);
        int status = run_pass(analysis, pass);
        if (status < 0) return status;
        have |= pass->gives;
        if (wanted != 0 && (wanted & ~have) == 0) break;
    }
    return CM_OK;
}

int pipeline_run_to(struct analysis *analysis, unsigned wanted) {
    int status = check_dump(analysis);
    if (status < 0) return status;
#ifndef NDEBUG
    verify_model(analysis->model);
#endif
    if (!analysis->kept) analysis->kept = analysis->arena;
    analysis->scratch = arena_new("scratch", 0);
    if (!analysis->scratch) return diag_no_memory(analysis->diag);
    status = run_passes(analysis, wanted);
    arena_free(analysis->scratch);
    analysis->scratch = NULL;
    return status;
}
