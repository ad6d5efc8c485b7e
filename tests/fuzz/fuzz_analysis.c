/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole analysis with options from the input (fuzz.h): load, profile, every writer except
 * that of HTML pages, reading the JSON back, and comparing the result with itself. For one
 * input in eight, the result is also compared with another batch, and a second run must give
 * the same JSON.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "fuzz.h"
#include "wire.h"

#define MAX_DIMS 16

/* Meaning of each of the FUZZ_OPTION_BYTES bytes. */
enum asked {
    ASKED_BATCH,
    ASKED_MEMORY,
    ASKED_CONVENTION,
    ASKED_TRAINING,
    ASKED_SOURCE,
    ASKED_LIMIT,
    ASKED_ALIGNMENT,
    ASKED_BACKEND,
    ASKED_EXPLAIN,
    ASKED_GROUP,
    ASKED_TEXT,
    ASKED_DIMS,
};

struct asked_for {
    struct cm_options options;
    struct cm_dim_option dims[MAX_DIMS];
    char names[MAX_DIMS][64];
};

#define PICK(table, byte) ((table)[(byte) % (sizeof(table) / sizeof((table)[0]))])

static const int64_t sizes[] = {0,    1,     2,     3,       4,         7,         8,
                                32,   33,    64,    128,     1000,      1LL << 20, 1LL << 31,
                                4096, 65536, 65537, 1 << 30, INT32_MAX, 1LL << 40, 1LL << 62};

static void ask_memory(struct cm_options *options, uint8_t byte) {
    options->memory_curve = byte & 1;
    options->memory_plan = byte & 2;
    options->schedule = (byte & 4) ? CM_SCHEDULE_MIN_MEMORY : CM_SCHEDULE_FILE;
    options->strict = (byte & 0x38) == 0x38;
}

static void ask_training(struct cm_options *options, uint8_t byte) {
    static const char *const optimizers[] = {NULL, "sgd", "muon", "adafactor",
                                             "paged-adamw8bit"};
    static const char *const freeze[] = {"*.weight", "layer1*"};
    static const char *const checkpoint[] = {"layer*", "*"};
    options->optimizer = PICK(optimizers, byte);
    options->mode = (enum cm_mode)(byte / 8 % 3);
    options->freeze = freeze;
    options->checkpoint = checkpoint;
    if (options->optimizer) options->n_freeze = byte / 32 % 2;
    if (options->optimizer) options->n_checkpoint = byte / 64 % 2;
    options->trainable = checkpoint;
    options->zero_stage = byte / 32 % 3 + 1;
    if (options->optimizer) options->n_trainable = byte / 128 % 2;
    if (options->optimizer) options->shard_gpus = byte / 64;
    if (options->zero_stage == 3) options->offload = (enum cm_offload)(byte / 8 % 3);
}

static void ask_texts(struct cm_options *options, const uint8_t *asked) {
    static const char *const sources[] = {NULL,    "scopes", "functions",  "names", "paddle",
                                          "types", "mxnet",  "parameters", NULL,    NULL};
    static const char *const groups[] = {NULL, NULL, "^[^.]*", "layer[0-9]", ".", "^$"};
    static const char *const backends[] = {"roofline:device=h200", "roofline:device=cpu-8-core",
                                           "roofline:device=k80"};
    static const char *const explained[] = {"0", "#1", "", "conv1"};
    const struct cm_convention *convention = cm_convention_at(asked[ASKED_CONVENTION] % 16);
    if (convention) options->convention = convention->name;
    options->module_source = PICK(sources, asked[ASKED_SOURCE]);
    options->group = PICK(groups, asked[ASKED_GROUP]);
    /* one input in 32 models a device */
    if (asked[ASKED_BACKEND] % 32 == 31)
        options->backend = PICK(backends, asked[ASKED_BACKEND] / 32);
    options->precision = (enum cm_precision)(asked[ASKED_BACKEND] % CM_N_PRECISIONS);
    options->explain = explained;
    options->n_explain = asked[ASKED_EXPLAIN] % 5;
}

/* Binds the symbolic dims of the file: the first MAX_DIMS distinct names, cut to 63 bytes. */
static void ask_dims(struct asked_for *ret, const uint8_t *data, size_t size, uint8_t byte) {
    struct wire *wire = malloc(sizeof(*wire));
    FUZZ_REQUIRE(wire != NULL);
    wire_parse(wire, data, size);
    for (uint32_t i = 0; i < wire->n && ret->options.n_dims < MAX_DIMS; i++) {
        const struct wire_field *field = &wire->fields[i];
        const size_t length = field->end - field->body;
        const size_t n = ret->options.n_dims;
        bool known = false;
        if (field->inside != MESSAGE_DIMENSION || field->number != 2 || length == 0) continue;
        snprintf(ret->names[n], sizeof(ret->names[n]), "%.*s", (int)(length < 63 ? length : 63),
                 (const char *)data + field->body);
        for (size_t k = 0; k < n; k++) known |= strcmp(ret->names[k], ret->names[n]) == 0;
        if (known) continue;
        ret->dims[n] = (struct cm_dim_option){ret->names[n], PICK(sizes, byte + 2 * n + 3)};
        ret->options.n_dims++;
    }
    ret->options.dims = ret->dims;
    free(wire);
}

static void ask(struct asked_for *ret, const uint8_t *data, size_t size) {
    static const uint8_t nothing[FUZZ_OPTION_BYTES] = {0};
    const uint8_t *asked = fuzz_option_bytes(data, size);
    if (!asked) asked = nothing;
    cm_options_init(&ret->options);
    ret->options.batch = PICK(sizes, asked[ASKED_BATCH]);
    ret->options.memory_alignment = INT64_C(1) << asked[ASKED_ALIGNMENT] % 12;
    if (asked[ASKED_LIMIT] > 0) ret->options.memory_limit = PICK(sizes, asked[ASKED_LIMIT]);
    ask_memory(&ret->options, asked[ASKED_MEMORY]);
    ask_training(&ret->options, asked[ASKED_TRAINING]);
    ask_texts(&ret->options, asked);
    if (asked[ASKED_DIMS] % 16 != 15) ask_dims(ret, data, size, asked[ASKED_DIMS]);
}

static char *profile_json(struct cm_model *model, const struct cm_options *options,
                          struct cm_diagnostics *diagnostics, struct cm_result **ret,
                          size_t *ret_size) {
    char *text = NULL;
    const int status = cm_model_profile(model, options, diagnostics, ret);
    fuzz_require_status(status, diagnostics);
    if (status != CM_OK) return NULL;
    FILE *out = open_memstream(&text, ret_size);
    FUZZ_REQUIRE(out != NULL);
    FUZZ_REQUIRE(cm_result_write(*ret, "json", NULL, NULL, out) == CM_OK && fclose(out) == 0);
    return text;
}

/* Profiles again, with a new list of diagnostics as in the first run, and requires the same
 * JSON. */
static void require_same_again(struct cm_model *model, const struct cm_options *options,
                               const char *text, size_t size) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    size_t size_again = 0;
    FUZZ_REQUIRE(diagnostics != NULL);
    char *again = profile_json(model, options, diagnostics, &result, &size_again);
    FUZZ_REQUIRE((again != NULL) == (text != NULL));
    if (again) FUZZ_REQUIRE(size == size_again && memcmp(text, again, size) == 0);
    free(again);
    cm_result_free(result);
    cm_diagnostics_free(diagnostics);
}

/* Compares the model with itself at another batch. */
static void compare_batches(struct cm_model *model, const struct cm_options *options,
                            const struct cm_result *result) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_options other = *options;
    struct cm_result *with_other = NULL;
    FUZZ_REQUIRE(diagnostics != NULL);
    other.batch = options->batch == 5 ? 6 : 5;
    const int status = cm_model_profile(model, &other, diagnostics, &with_other);
    fuzz_require_status(status, diagnostics);
    if (status == CM_OK) fuzz_require_diff(result, with_other);
    cm_result_free(with_other);
    cm_diagnostics_free(diagnostics);
}

static void analyse(struct cm_model *model, const struct asked_for *asked, uint8_t flags) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *result = NULL;
    size_t size = 0;
    FUZZ_REQUIRE(diagnostics != NULL);
    char *text = profile_json(model, &asked->options, diagnostics, &result, &size);
    if (result) {
        fuzz_require_result(result);
        fuzz_require_round_trip(result);
        fuzz_write_all(result, flags);
        fuzz_require_diff(result, result);
        if (flags >= 224) compare_batches(model, &asked->options, result);
    }
    if (flags >= 224) require_same_again(model, &asked->options, text, size);
    free(text);
    cm_result_free(result);
    cm_diagnostics_free(diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct asked_for asked = {.options = {.batch = 0}};
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_model *model = NULL;
    const double since = fuzz_now();
    const uint8_t *bytes = fuzz_option_bytes(data, size);
    FUZZ_REQUIRE(diagnostics != NULL);
    const int status = cm_model_load_memory(data, size, "fuzz.onnx", diagnostics, &model);
    fuzz_require_status(status, diagnostics);
    if (status == CM_OK) {
        ask(&asked, data, size);
        analyse(model, &asked, bytes ? bytes[ASKED_TEXT] : 0);
    }
    cm_model_free(model);
    cm_diagnostics_free(diagnostics);
    fuzz_require_fast(since);
    return 0;
}
