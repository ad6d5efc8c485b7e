/* SPDX-License-Identifier: Apache-2.0 */
/* A user's program: the example of costmodel.h, built against the installed library. */
#include <costmodel/costmodel.h>
#include <stdio.h>

int main(int argc, char **argv) {
    struct cm_model *model = NULL;
    struct cm_result *result = NULL;
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_options options;
    int status = CM_USAGE;

    cm_options_init(&options);
    options.batch = 32;
    if (argc == 2) status = cm_model_load_file(argv[1], diagnostics, &model);
    if (status == CM_OK) status = cm_model_profile(model, &options, diagnostics, &result);
    if (status == CM_OK) printf("%lld MACs\n", (long long)result->totals.macs);
    cm_result_free(result);
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
    return status == CM_OK ? 0 : 1;
}
