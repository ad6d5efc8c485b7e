/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of a profile. */
#include "api/half.h"
#include "api/handle.h"

#include "ops/flops/names/convention_names.h"
#include "passes/modules/module_groups.h"
#include "passes/modules/module_sources.h"
#include "passes/pipeline/pipeline.h"
#include "passes/training/optimizers.h"
#include "support/diag.h"
#include "support/text.h"

static const char *convention_name_at(size_t index) {
    const struct cm_convention *convention = conventions_at(index);
    return convention ? convention->name : NULL;
}

static const char *optimizer_name_at(size_t index) {
    const struct optimizer *optimizer = optimizers_at(index);
    return optimizer ? optimizer->name : NULL;
}

static const char *source_name_at(size_t index) {
    const struct module_source *source = module_source_at(index);
    return source ? source->name : NULL;
}

/* Lists the valid names, of which `name_at` returns the i-th; NULL past the last. */
static int refuse_name(const char *what, const char *name, const char *list_intro,
                       const char *(*name_at)(size_t index), struct arena *arena,
                       struct cm_diagnostics *diagnostics) {
    struct text list = {.arena = arena};
    for (size_t i = 0; name_at(i); i++)
        text_printf(&list, "%s%s", i > 0 ? ", " : "", name_at(i));
    int status = diag_error(diagnostics, DIAG_USAGE, "unknown %s '%s'", what, name ? name : "");
    diag_hint(diagnostics, "%s: %s", list_intro, text_string(&list));
    return status;
}

static int check_dump_option(const char *name, struct cm_diagnostics *diagnostics) {
    const struct pipeline *half = half_pipeline();
    for (const struct pipeline *part = half ? half : &core_pipeline; part; part = part->before)
        for (size_t i = 0; i < part->n; i++)
            if (text_equal(part->passes[i].name, name)) return CM_OK;
    int status = diag_error(diagnostics, DIAG_USAGE, "pass '%s' not found", name);
    diag_hint(diagnostics, "'costmodel passes' lists all passes");
    return status;
}

int profile_options_check(const struct cm_options *options, struct arena *arena,
                          struct cm_diagnostics *diagnostics) {
    if (!conventions_find(options->convention))
        return refuse_name("convention", options->convention, "this version counts by",
                           convention_name_at, arena, diagnostics);
    if (options->dump_after) {
        int status = check_dump_option(options->dump_after, diagnostics);
        if (status < 0) return status;
    }
    if (options->module_source && !module_source_by_name(options->module_source))
        return refuse_name("source of modules", options->module_source, "there are",
                           source_name_at, arena, diagnostics);
    if (options->group) {
        int status = module_groups_check(options->group, arena, diagnostics);
        if (status < 0) return status;
    }
    if (!(options->memory_alignment >= 0 && options->memory_alignment <= (INT64_C(1) << 30) &&
          (options->memory_alignment & (options->memory_alignment - 1)) == 0))
        return diag_error(diagnostics, DIAG_USAGE,
                          "alignment must be a power of two up to 2^30, got %lld",
                          (long long)options->memory_alignment);
    if (options->optimizer && !optimizers_find(options->optimizer))
        return refuse_name("optimizer", options->optimizer, "this version knows",
                           optimizer_name_at, arena, diagnostics);
    if (options->micro_batches > 1 &&
        (options->batch == 0 || options->batch % options->micro_batches != 0)) {
        int status = diag_error(diagnostics, DIAG_USAGE,
                                "%lld micro-batches must divide the batch, got batch %lld",
                                (long long)options->micro_batches, (long long)options->batch);
        diag_hint(diagnostics, "the batch is that of the whole step, of which each is a part");
        return status;
    }
    if (options->shard_gpus > 0 && (options->zero_stage < 1 || options->zero_stage > 3))
        return diag_error(diagnostics, DIAG_USAGE, "stage of ZeRO must be 1, 2 or 3, got %lld",
                          (long long)options->zero_stage);
    if (options->shard_gpus > 0 && options->zero_stage < 3 &&
        options->offload == CM_OFFLOAD_ALL)
        return diag_error(diagnostics, DIAG_USAGE,
                          "stage of ZeRO must be 3 to offload all weights, got %lld",
                          (long long)options->zero_stage);
    const char *idle = NULL;
    if (options->micro_batches > 1) idle = "micro-batches";
    if (options->n_checkpoint > 0) idle = "checkpoint";
    if (options->n_freeze > 0) idle = "freeze";
    if (options->n_trainable > 0) idle = "trainable";
    if (options->shard_gpus > 0) idle = "shard";
    if (options->as_exported) idle = "as-exported";
    if (options->optimizer || !idle) return CM_OK;
    int status = diag_error(diagnostics, DIAG_USAGE, "option '%s' requires an optimizer", idle);
    diag_hint(diagnostics, "add an optimizer, for example --optimizer adam");
    return status;
}
