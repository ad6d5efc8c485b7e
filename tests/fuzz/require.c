/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of every output, for any input. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "costmodel/compare.h"
#include "costmodel/costmodel.h"
#include "fuzz.h"

const uint8_t fuzz_option_head[3] = {0x82, 0x7d, FUZZ_OPTION_BYTES}; /* field 2000, of bytes */

void fuzz_require(int holds, const char *what, const char *file, int line) {
    if (holds) return;
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

double fuzz_now(void) {
    return (double)clock() / CLOCKS_PER_SEC;
}

void fuzz_require_fast(double since) {
    FUZZ_REQUIRE(fuzz_now() - since < FUZZ_MAX_SECONDS);
}

const uint8_t *fuzz_option_bytes(const uint8_t *data, size_t size) {
    if (size < FUZZ_OPTION_FIELD) return NULL;
    const uint8_t *field = data + size - FUZZ_OPTION_FIELD;
    if (memcmp(field, fuzz_option_head, sizeof(fuzz_option_head)) != 0) return NULL;
    return field + sizeof(fuzz_option_head);
}

void fuzz_require_status(int status, const struct cm_diagnostics *diagnostics) {
    size_t errors = 0;
    FUZZ_REQUIRE(status <= CM_OK && status >= CM_IO);
    for (size_t i = 0; i < cm_diagnostics_count(diagnostics); i++) {
        const struct cm_diagnostic *message = cm_diagnostics_get(diagnostics, i);
        FUZZ_REQUIRE(message->message[0] != '\0');
        errors += message->severity == CM_ERROR;
    }
    if (status != CM_OK && status != CM_NO_MEMORY) FUZZ_REQUIRE(errors > 0);
}

/* A cost that a module sums over its nodes. */
struct sum {
    size_t offset; /* in struct cm_costs */
    const char *name;
};

static const struct sum sums[] = {
    {offsetof(struct cm_costs, macs), "macs"},
    {offsetof(struct cm_costs, int_macs), "int_macs"},
    {offsetof(struct cm_costs, flops), "flops"},
    {offsetof(struct cm_costs, int_ops), "int_ops"},
    {offsetof(struct cm_costs, bytes_read), "bytes_read"},
    {offsetof(struct cm_costs, bytes_written), "bytes_written"},
    {offsetof(struct cm_costs, activation_bytes), "activation_bytes"},
};

static int64_t figure(const struct cm_costs *costs, const struct sum *sum) {
    int64_t value = 0;
    memcpy(&value, (const char *)costs + sum->offset, sizeof(value));
    return value;
}

/* Adds a value to *total unless it is unknown. Returns false on overflow. */
static bool add_known(int64_t *total, int64_t value) {
    if (value == CM_UNKNOWN) return true;
    return !__builtin_add_overflow(*total, value, total);
}

static void require_sum(const struct cm_result *result, const struct sum *sum,
                        int64_t *of_modules, bool *too_much) {
    for (size_t i = 0; i < result->n_modules; i++) of_modules[i] = 0, too_much[i] = false;
    for (size_t i = 0; i < result->n_nodes; i++) {
        const struct cm_node *node = &result->nodes[i];
        const int64_t value = figure(&node->costs, sum);
        FUZZ_REQUIRE(value == CM_UNKNOWN || value >= 0);
        too_much[node->module] |= !add_known(&of_modules[node->module], value);
    }
    for (size_t i = result->n_modules; i-- > 0;) {
        const struct cm_module *module = &result->modules[i];
        const int64_t value = figure(&module->costs, sum);
        if (too_much[i]) FUZZ_REQUIRE(value == CM_UNKNOWN);
        if (!too_much[i] && value != of_modules[i]) {
            fprintf(stderr, "%s of module '%s': %" PRId64 ", its parts have %" PRId64 "\n",
                    sum->name, module->path, value, of_modules[i]);
            abort();
        }
        if (i == 0) break;
        too_much[module->parent] |= too_much[i];
        too_much[module->parent] |= !add_known(&of_modules[module->parent], of_modules[i]);
    }
}

static void require_sums(const struct cm_result *result) {
    int64_t *of_modules = calloc(result->n_modules, sizeof(*of_modules));
    bool *too_much = calloc(result->n_modules, sizeof(*too_much));
    FUZZ_REQUIRE(of_modules != NULL && too_much != NULL);
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        require_sum(result, &sums[i], of_modules, too_much);
    FUZZ_REQUIRE(memcmp(&result->totals, &result->modules[0].costs, sizeof(result->totals)) ==
                 0);
    free(of_modules);
    free(too_much);
}

/* A sum that includes an upper bound must be marked as an upper bound. */
static void require_bounds(const struct cm_result *result) {
    const uint32_t of_operators = CM_COST_BIT(macs) | CM_COST_BIT(int_macs) |
                                  CM_COST_BIT(flops) | CM_COST_BIT(int_ops) |
                                  CM_COST_BIT(bytes_read) | CM_COST_BIT(bytes_written);
    uint32_t of_nodes = 0;
    uint32_t of_rows = 0;
    for (size_t i = 0; i < result->n_nodes; i++) of_nodes |= result->nodes[i].costs.upper_bound;
    for (size_t i = 0; i < result->n_operators; i++)
        of_rows |= result->operators[i].costs.upper_bound;
    FUZZ_REQUIRE(result->totals.upper_bound == of_nodes);
    FUZZ_REQUIRE(of_rows == (of_nodes & of_operators));
}

static void require_tree(const struct cm_result *result) {
    FUZZ_REQUIRE(result->n_modules > 0);
    FUZZ_REQUIRE(result->modules[0].parent == CM_NO_INDEX && result->modules[0].depth == 0);
    for (size_t i = 1; i < result->n_modules; i++) {
        const struct cm_module *module = &result->modules[i];
        FUZZ_REQUIRE(module->parent < i);
        FUZZ_REQUIRE(module->depth == result->modules[module->parent].depth + 1);
    }
    for (size_t i = 0; i < result->n_nodes; i++) {
        FUZZ_REQUIRE(result->nodes[i].index == i);
        FUZZ_REQUIRE(result->nodes[i].module < result->n_modules);
    }
}

static bool known_above(int64_t value, int64_t least) {
    return value != CM_UNKNOWN && least != CM_UNKNOWN && value < least;
}

/* Returns true if nodes run in index order: in file order and without bodies, which follow
 * their node in the list but run before it ends. */
static bool indices_are_times(const struct cm_result *result) {
    static const char *const owners[] = {"If", "Loop", "Scan", "SequenceMap"};
    if (result->memory.n_schedule > 0) return false;
    for (size_t i = 0; i < result->n_nodes; i++)
        for (size_t k = 0; k < sizeof(owners) / sizeof(owners[0]); k++)
            if (strcmp(result->nodes[i].op, owners[k]) == 0) return false;
    return true;
}

/* Requires that two values alive at the same time do not overlap. */
static void require_apart(const struct cm_placed *one, const struct cm_placed *two) {
    const size_t made_one = one->made == CM_NO_INDEX ? 0 : one->made;
    const size_t made_two = two->made == CM_NO_INDEX ? 0 : two->made;
    if (one->last < made_two || two->last < made_one) return;
    FUZZ_REQUIRE(one->offset + one->bytes <= two->offset ||
                 two->offset + two->bytes <= one->offset);
}

static void require_memory(const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    FUZZ_REQUIRE(!known_above(memory->peak_activation_bytes, memory->peak_in_place_bytes));
    FUZZ_REQUIRE(!known_above(memory->arena_bytes, memory->peak_activation_bytes));
    FUZZ_REQUIRE(!known_above(memory->arena_in_place_bytes, memory->peak_in_place_bytes));
    FUZZ_REQUIRE(!known_above(memory->file_order_peak_bytes, memory->peak_activation_bytes));
    FUZZ_REQUIRE(memory->peak_node == CM_NO_INDEX || memory->peak_node < result->n_nodes);
    for (size_t i = 0; i < memory->n_live; i++)
        FUZZ_REQUIRE(memory->live[i].module < result->n_modules);
    /* Quadratic: only for few values. */
    const bool by_pairs = memory->n_placed < 500 && indices_are_times(result);
    for (size_t i = 0; i < memory->n_placed; i++) {
        const struct cm_placed *placed = &memory->placed[i];
        FUZZ_REQUIRE(placed->offset >= 0 && placed->offset % memory->alignment == 0);
        FUZZ_REQUIRE(placed->offset + placed->bytes <= memory->arena_bytes);
        for (size_t k = 0; k < i && by_pairs; k++) require_apart(placed, &memory->placed[k]);
    }
}

void fuzz_require_result(const struct cm_result *result) {
    require_tree(result);
    require_sums(result);
    require_bounds(result);
    require_memory(result);
}

/* Requires no control characters except newlines (CR LF in CSV) and our colour escapes. */
static void require_harmless(const char *text, size_t size, bool color) {
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x20 && byte != 0x7f) continue;
        const bool ends_row = byte == '\r' && i + 1 < size && text[i + 1] == '\n';
        FUZZ_REQUIRE(byte == '\n' || ends_row || (color && byte == 0x1b));
    }
}

static char *write_json(const struct cm_result *result, size_t *ret_size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_size);
    FUZZ_REQUIRE(out != NULL);
    FUZZ_REQUIRE(cm_result_write(result, "json", NULL, NULL, out) == CM_OK);
    FUZZ_REQUIRE(fclose(out) == 0);
    require_harmless(text, *ret_size, false);
    return text;
}

void fuzz_require_round_trip(const struct cm_result *result) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_result *back = NULL;
    size_t size = 0;
    size_t size_again = 0;
    FUZZ_REQUIRE(diagnostics != NULL);
    char *text = write_json(result, &size);
    const int status = cm_result_read_json(text, size, "round trip", diagnostics, &back);
    if (status != CM_OK && cm_diagnostics_count(diagnostics) > 0)
        fprintf(stderr, "%s\n", cm_diagnostics_get(diagnostics, 0)->message);
    FUZZ_REQUIRE(status == CM_OK);
    char *again = write_json(back, &size_again);
    FUZZ_REQUIRE(size == size_again && memcmp(text, again, size) == 0);
    cm_result_free(back);
    cm_diagnostics_free(diagnostics);
    free(text);
    free(again);
}

/* The output of a writer. */
struct written {
    FILE *out;
    char *text;
    size_t size;
};

static FILE *begin(struct written *written) {
    *written = (struct written){.out = NULL};
    written->out = open_memstream(&written->text, &written->size);
    FUZZ_REQUIRE(written->out != NULL);
    return written->out;
}

static void end(struct written *written, bool color) {
    FUZZ_REQUIRE(fclose(written->out) == 0);
    require_harmless(written->text, written->size, color);
    free(written->text);
}

static void write_text(const struct cm_result *result, uint8_t flags) {
    struct cm_text_options options;
    struct written written;
    cm_text_options_init(&options);
    options.depth = (flags & 1) ? -1 : 2;
    options.top = (flags & 2) ? 0 : 3;
    options.detailed = !(flags & 4);
    options.operators = options.layers = options.kernels = (flags & 8) != 0;
    options.color = (flags & 16) != 0;
    options.unicode = (flags & 32) != 0;
    options.width = (flags & 64) ? 0 : 100;
    options.units = (enum cm_units)(flags % 4);
    options.height = (flags & 2) ? 0 : 24;
    const struct cm_report_options report = {.text = &options};
    struct cm_result plain =
        *result; /* "text" writes explanations instead, if there are some */
    plain.n_explanations = 0;
    FUZZ_REQUIRE(cm_result_write(&plain, "text", &report, NULL, begin(&written)) == CM_OK);
    FUZZ_REQUIRE(cm_result_write(result, "deepspeed", &report, NULL, written.out) == CM_OK);
    FUZZ_REQUIRE(cm_result_write(result, "text", &report, NULL, written.out) == CM_OK);
    end(&written, options.color);
}

static void write_tables(const struct cm_result *result, uint8_t flags) {
    static const char *const formats[] = {"csv", "markdown", "folded", "dot", "mermaid"};
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_table_options options;
    FUZZ_REQUIRE(diagnostics != NULL);
    cm_table_options_init(&options);
    options.rows = (enum cm_rows)(flags % 3);
    options.depth = (flags & 4) ? -1 : 3;
    options.units = (enum cm_units)(flags / 16 % 4);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        struct written written;
        const int status =
            cm_result_write(result, formats[i], &(struct cm_report_options){.table = &options},
                            diagnostics, begin(&written));
        FUZZ_REQUIRE(status == CM_OK || status == CM_USAGE);
        end(&written, false);
    }
    cm_diagnostics_free(diagnostics);
}

void fuzz_write_all(const struct cm_result *result, uint8_t flags) {
    struct written written;
    write_text(result, flags);
    write_tables(result, flags);
    const int status = cm_result_write(result, "trace", NULL, NULL, begin(&written));
    FUZZ_REQUIRE(status == (cm_result_timed(result) ? CM_OK : CM_USAGE));
    end(&written, false);
}

/* For sums, the contributions of the modules add up to the change. */
static void require_blame(const struct cm_diff *diff, size_t metric, bool is_sum,
                          struct cm_blame *blame) {
    const struct cm_change change = cm_diff_total(diff, metric);
    int64_t sum = 0;
    bool known = change.in_old && change.in_new && change.old_value != CM_UNKNOWN &&
                 change.new_value != CM_UNKNOWN;
    const size_t n = cm_diff_blame(diff, metric, -1, blame);
    for (size_t i = 0; i < n; i++) {
        FUZZ_REQUIRE(blame[i].module < diff->n_modules);
        known &= blame[i].difference != CM_UNKNOWN;
        known &= !__builtin_add_overflow(sum, blame[i].difference, &sum);
    }
    if (known && is_sum) FUZZ_REQUIRE(sum == change.new_value - change.old_value);
}

void fuzz_require_diff(const struct cm_result *one, const struct cm_result *two) {
    struct cm_diagnostics *diagnostics = cm_diagnostics_new();
    struct cm_diff *diff = NULL;
    FUZZ_REQUIRE(diagnostics != NULL);
    FUZZ_REQUIRE(cm_diff_make(one, two, diagnostics, &diff) == CM_OK);
    struct cm_blame *blame = calloc(diff->n_modules + 1, sizeof(*blame));
    struct cm_metric metric;
    FUZZ_REQUIRE(blame != NULL);
    if (one == two) FUZZ_REQUIRE(cm_diff_comparable(diff) && !cm_diff_differs(diff));
    for (size_t i = 0; cm_metric_at(i, &metric); i++)
        require_blame(diff, i, metric.is_sum, blame);
    free(blame);
    cm_diff_free(diff);
    cm_diagnostics_free(diagnostics);
}
