/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of profiles and sweeps: what they accept is written again and passed to all writers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "fuzz.h"

static void read_profile(const char *text, size_t size) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    FUZZ_REQUIRE(diagnostics != NULL);
    const int status = cm_result_read_json(text, size, "fuzz.json", diagnostics, &result);
    fuzz_require_status(status, diagnostics);
    if (status == CM_OK) {
        fuzz_require_round_trip(result);
        fuzz_write_all(result, (uint8_t)size);
        fuzz_require_diff(result, result);
    }
    cm_result_free(result);
    cm_diagnostics_free(diagnostics);
}

static char *write_sweep(const struct cm_sweep *sweep, size_t *ret_size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);
    FUZZ_REQUIRE(out != NULL);
    FUZZ_REQUIRE(cm_sweep_write(sweep, "json", NULL, NULL, out) == CM_OK && fclose(out) == 0);
    return text;
}

static void write_sweep_again(const struct cm_sweep *sweep) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_text_options options;
    struct cm_sweep *back = NULL;
    size_t size = 0;
    size_t size_again = 0;
    char *text = write_sweep(sweep, &size);
    FUZZ_REQUIRE(diagnostics != NULL);
    FUZZ_REQUIRE(cm_sweep_read_json(text, size, "again", diagnostics, &back) == CM_OK);
    char *again = write_sweep(back, &size_again);
    FUZZ_REQUIRE(size == size_again && memcmp(text, again, size) == 0);
    cm_text_options_init(&options);
    FILE *out = fopen("/dev/null", "w");
    FUZZ_REQUIRE(out != NULL);
    FUZZ_REQUIRE(cm_sweep_write(sweep, "text", &(struct cm_report_options){.text = &options},
                                NULL, out) == CM_OK &&
                 fclose(out) == 0);
    cm_sweep_free(back);
    cm_diagnostics_free(diagnostics);
    free(text);
    free(again);
}

static void read_sweep(const char *text, size_t size) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_sweep *sweep = NULL;
    FUZZ_REQUIRE(diagnostics != NULL);
    const int status = cm_sweep_read_json(text, size, "fuzz.json", diagnostics, &sweep);
    fuzz_require_status(status, diagnostics);
    if (status == CM_OK) write_sweep_again(sweep);
    cm_sweep_free(sweep);
    cm_diagnostics_free(diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const double since = fuzz_now();
    read_profile((const char *)data, size);
    read_sweep((const char *)data, size);
    fuzz_require_fast(since);
    return 0;
}
