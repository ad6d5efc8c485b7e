/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a model through the passes, top to bottom. Start here. */
#include "passes/pipeline.h"

#include "ir/verify.h"
#include "support/diag.h"

#include "support/banned.h"

/* clang-format off */
static const struct pass *const pipeline[] = {
    &pass_bind,     /* which operator row is each node? */
    &pass_batch,    /* which shape has each input? */
    &pass_infer,    /* which type, and which contents, has each value? */
    &pass_lifetime, /* which values own bytes, and from when to when? */
    &pass_plan,     /* where in one arena does each value stand? */
    &pass_params,   /* which constants are learned? */
    &pass_count,    /* what does each node cost? */
    &pass_modules,  /* to which module does each node belong, and what does a module cost? */
    &pass_memory,   /* what is alive at the peak, and what is the peak of each module? */
};
/* clang-format on */

size_t pipeline_length(void) {
    return sizeof(pipeline) / sizeof(*pipeline);
}

const struct pass *pipeline_pass(size_t index) {
    return pipeline[index];
}

int pipeline_run(struct analysis *analysis) {
    unsigned have = 0;
#ifndef NDEBUG
    verify_model(analysis->model);
#endif
    for (size_t i = 0; i < pipeline_length(); i++) {
        const struct pass *pass = pipeline[i];
        BUG_ON((pass->needs & ~have) != 0);
        int status = pass->run(analysis, (char *)analysis + pass->own);
        if (status < 0) return status;
        have |= pass->gives;
    }
    return CM_OK;
}
