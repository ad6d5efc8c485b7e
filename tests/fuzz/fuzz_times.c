/* SPDX-License-Identifier: Apache-2.0 */
/* Times of other tools (docs/import.md), attached to a small model. */
#include <string.h>

#include "costmodel/times.h"
#include "fuzz.h"
#include "support/checked.h"

/* The time of the model must be the sum over its nodes and over layers without nodes. */
static void require_sums(const struct cm_result *result) {
    int64_t sum = 0;
    if (!cm_result_timed(result)) return;
    for (size_t i = 0; i < result->n_nodes; i++)
        sum = checked_add_known(sum, result->nodes[i].costs.latency_ps);
    for (size_t i = 0; i < result->measure->n_primitives; i++) {
        const struct cm_timed *layer = &result->measure->primitives[i];
        for (size_t k = 0; k < layer->n_nodes; k++)
            FUZZ_REQUIRE(layer->nodes[k] < result->n_nodes);
        if (layer->n_nodes > 0) continue;
        FUZZ_REQUIRE(layer->import.module < result->n_modules);
        sum = checked_add_known(sum, layer->median_ps);
    }
    FUZZ_REQUIRE(sum == result->totals.latency_ps || !is_known(result->totals.latency_ps));
    FUZZ_REQUIRE(result->measure->placed_share >= 0 &&
                 result->measure->placed_share <= CM_RATIO_ONE);
}

/* A profile fails only if the sum of the times overflows, with a message. */
static void attach(const struct cm_times *times) {
    const struct cm_times *const all[] = {times};
    struct cm_options options;
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    cm_options_init(&options);
    options.n_times = 1;
    options.times = all;
    FUZZ_REQUIRE(diagnostics != NULL);
    FUZZ_REQUIRE(cm_model_load_file(FUZZ_MODELS_DIR "/qdq.onnx", NULL, &model) == CM_OK);
    const int status = cm_model_profile(model, &options, diagnostics, &result);
    fuzz_require_status(status, diagnostics);
    FUZZ_REQUIRE(status == CM_OK ||
                 strcmp(cm_diagnostics_get(diagnostics, 0)->code, "overflow") == 0);
    if (status == CM_OK) require_sums(result);
    cm_result_free(result);
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cm_times *times = NULL;
    const double since = fuzz_now();
    const int status = cm_times_load_memory((const char *)data, size, "fuzz", NULL, &times);
    FUZZ_REQUIRE(status == CM_OK || status == CM_REFUSED);
    if (status == CM_OK) attach(times);
    cm_times_free(times);
    fuzz_require_fast(since);
    return 0;
}
