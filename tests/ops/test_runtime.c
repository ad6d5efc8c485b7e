/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shape inference of contrib operators compared with ONNX Runtime: each row of
 * runtime_cases.txt is a node in the notation of op_harness.h, with the outputs that
 * tests/truth/make_runtime.py obtained from ONNX Runtime.
 */
#include "op_harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ops/registry/registry.h"
#include "support/text.h"

#define CELLS     6
#define LONGEST   2048
#define MAX_CASES 512

struct table {
    size_t n;
    char lines[MAX_CASES][LONGEST];
    char *cells[MAX_CASES][CELLS];
};

static struct table table;

static char *trimmed(char *text) {
    text += strspn(text, " ");
    for (size_t n = strlen(text); n > 0 && strchr(" \n", text[n - 1]); n--) text[n - 1] = '\0';
    return text;
}

static void split(char *line, char *cells[CELLS]) {
    size_t n = 0;
    for (char *cell = line; n < CELLS; n++) {
        char *end = strchr(cell, '|');
        if (end) *end = '\0';
        cells[n] = trimmed(cell);
        cell = end ? end + 1 : cell + strlen(cell);
    }
}

static int read_table(void **state) {
    FILE *file = fopen(TEST_SOURCE_DIR "/tests/ops/runtime_cases.txt", "r");
    (void)state;
    if (!file) return -1;
    while (table.n < MAX_CASES && fgets(table.lines[table.n], LONGEST, file)) {
        char *line = table.lines[table.n];
        if (line[0] == '#' || line[0] == '\n') continue;
        split(line, table.cells[table.n++]);
    }
    fclose(file);
    return table.n > 0 && table.n < MAX_CASES ? 0 : -1;
}

static void infers_the_shapes_that_the_runtime_gave(void **state) {
    (void)state;
    for (size_t i = 0; i < table.n; i++) {
        char *const *cells = table.cells[i];
        const struct op_case rows[] = {GIVES(cells[0], cells[1][0] ? cells[1] : NULL, cells[2],
                                             cells[4][0] ? cells[4] : cells[3]),
                                       {.op = NULL}};
        op_cases_run(rows);
    }
}

/* Operators whose contents are outside of the file, or that contain graphs, cannot be a row. */
static bool is_left_out(const struct op *op) {
    static const char *const names[] = {"EPContext",          "Snpe",     "BeamSearch",
                                        "GreedySearch",       "Sampling", "WhisperBeamSearch",
                                        "SparseToDenseMatMul"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (text_equal(op->type, names[i])) return true;
    return false;
}

static bool has_case(const struct op *op) {
    char name[LONGEST];
    snprintf(name, sizeof(name), "%s:%s-%d", op->domain, op->type, (int)op->since);
    for (size_t i = 0; i < table.n; i++)
        if (text_equal(table.cells[i][0], name)) return true;
    return false;
}

static void every_operator_of_the_runtime_has_a_case(void **state) {
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++)
        for (size_t i = 0; i < registry_family(f)->n_rows; i++) {
            const struct op *op = &registry_family(f)->rows[i];
            if (strncmp(op->domain, "com.microsoft", strlen("com.microsoft")) != 0) continue;
            if (!is_left_out(op) && !has_case(op))
                fail_msg("%s:%s has no case", op->domain, op->type);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(infers_the_shapes_that_the_runtime_gave),
        cmocka_unit_test(every_operator_of_the_runtime_has_a_case),
    };
    return cmocka_run_group_tests(tests, read_table, NULL);
}
