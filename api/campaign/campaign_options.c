/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of a campaign to the options of a profile. */
#include "api/campaign/campaign_options.h"

#include "api/handle.h"
#include "backends/primitive.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

static const char *const mode_names[] = {
    [CM_MODE_MODEL] = "model",
    [CM_MODE_TRAINING] = "training",
    [CM_MODE_INFERENCE] = "inference",
};

static const char *mode_name(int32_t i) {
    return mode_names[i];
}

/* Sets *ret to the index of `name` among n names; leaves *ret unchanged if `name` is empty. */
static int find_name(const char *what, const char *name, const char *(*name_at)(int32_t), int n,
                     struct cm_diagnostics *diag, int *ret) {
    if (name[0] == '\0') return CM_OK;
    for (int i = 0; i < n; i++) {
        if (!text_equal(name, name_at(i))) continue;
        *ret = i;
        return CM_OK;
    }
    return diag_error(diag, DIAG_USAGE, "unknown %s '%s'", what, name);
}

static int find_precision(const char *name, struct cm_diagnostics *diag,
                          enum cm_precision *ret) {
    int precision = CM_PRECISION_AS_STORED;
    const int status = find_name("precision", name, primitive_precision_name, CM_N_PRECISIONS,
                                 diag, &precision);
    *ret = (enum cm_precision)precision;
    return status;
}

int campaign_options(const struct cm_campaign *campaign, struct arena *arena,
                     struct cm_diagnostics *diag, struct cm_options *ret) {
    enum cm_precision precision = CM_PRECISION_AS_STORED;
    cm_options_init(ret);
    int mode = (int)ret->mode;
    int runtime = (int)ret->runtime;
    int status = find_name("mode", campaign->mode, mode_name,
                           (int)(sizeof(mode_names) / sizeof(*mode_names)), diag, &mode);
    if (status == CM_OK)
        status = find_name("runtime", campaign->runtime, primitive_runtime_name, CM_N_RUNTIMES,
                           diag, &runtime);
    for (size_t i = 0; status == CM_OK && i < campaign->n_precisions; i++)
        status = find_precision(campaign->precisions[i], diag, &precision);
    if (status < 0) return status;
    ret->mode = (enum cm_mode)mode;
    ret->runtime = (enum cm_runtime)runtime;
    if (campaign->convention[0] != '\0') ret->convention = campaign->convention;
    if (campaign->optimizer[0] != '\0') ret->optimizer = campaign->optimizer;
    ret->amp = campaign->amp;
    return profile_options_check(ret, arena, diag);
}

int campaign_point(const struct cm_campaign *campaign, const struct cm_combination *at,
                   struct arena *arena, struct cm_sweep_point *ret) {
    struct cm_dim_option *dims = arena_array(arena, at->n_dims, sizeof(*dims));
    const char *backend = campaign->measure[0] != '\0' ? campaign->measure : NULL;
    if (at->device[0] != '\0') backend = arena_printf(arena, "roofline:device=%s", at->device);
    for (size_t i = 0; dims != NULL && i < at->n_dims; i++)
        dims[i] = (struct cm_dim_option){at->model->dims[i].name, (int64_t)at->dims[i]};
    *ret = (struct cm_sweep_point){
        .batch = at->batch, .n_dims = at->n_dims, .dims = dims, .backend = backend};
    if (find_precision(at->precision, NULL, &ret->precision) < 0) BUG("unchecked precision");
    return arena_failed(arena) ? CM_NO_MEMORY : CM_OK;
}
