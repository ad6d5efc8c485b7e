/* SPDX-License-Identifier: Apache-2.0 */
/* The table of `costmodel llm` for several combinations. Values that all rows share are written
 * once, above it. Times and rates without "bound" are the expected ones. */
#include "costmodel/llm.h"

#include <string.h>

#include "report/page.h"
#include "report/table/table.h"
#include "support/arena.h"
#include "support/arguments.h"
#include "support/checked.h"

enum kind { AS_TEXT, AS_COUNT, AS_BYTES, AS_TIME };

static const struct {
    const char *heading;
    enum kind kind;
    size_t offset;
} columns[] = {
    /* clang-format off */
    {"device", AS_TEXT, offsetof(struct cm_llm_row, device)},
    {"tp", AS_COUNT, offsetof(struct cm_llm_row, tp)},
    {"pp", AS_COUNT, offsetof(struct cm_llm_row, pp)},
    {"ep", AS_COUNT, offsetof(struct cm_llm_row, ep)},
    {"prompt", AS_COUNT, offsetof(struct cm_llm_row, prompt)},
    {"batch", AS_COUNT, offsetof(struct cm_llm_row, batch)},
    {"context", AS_COUNT, offsetof(struct cm_llm_row, context)},
    {"KV/sequence", AS_BYTES, offsetof(struct cm_llm_row, request_bytes)},
    {"weights/GPU", AS_BYTES, offsetof(struct cm_llm_row, stored_bytes)},
    {"sequences", AS_COUNT, offsetof(struct cm_llm_row, request_sequences)},
    {"prefill bound", AS_TIME, offsetof(struct cm_llm_row, prefill_lower_bound_ps)},
    {"prefill", AS_TIME, offsetof(struct cm_llm_row, prefill_ps)},
    {"decode bound", AS_TIME, offsetof(struct cm_llm_row, decode_lower_bound_ps)},
    {"decode", AS_TIME, offsetof(struct cm_llm_row, decode_ps)},
    {"tokens/s bound", AS_COUNT, offsetof(struct cm_llm_row, tokens_per_s)},
    {"tokens/s", AS_COUNT, offsetof(struct cm_llm_row, expected_tokens_per_s)},
    /* clang-format on */
};

#define N_COLUMNS (sizeof columns / sizeof *columns)

static const char *value_of(struct page *page, const struct cm_llm_row *row, size_t column) {
    const char *at = (const char *)row + columns[column].offset;
    const char *words = NULL;
    int64_t value = CM_UNKNOWN;
    if (columns[column].kind == AS_TEXT)
        memcpy(&words, at, sizeof words);
    else
        memcpy(&value, at, sizeof value);
    if (words) return words;
    if (!is_known(value)) return "-";
    return columns[column].kind == AS_COUNT   ? page_exact(page, value)
           : columns[column].kind == AS_BYTES ? page_number(page, NUMBER_BYTES, value)
                                              : page_time(page, value);
}

static bool is_shared(struct page *page, const struct cm_llm_sweep *sweep, size_t column) {
    const char *first = value_of(page, &sweep->rows[0], column);
    for (size_t i = 1; i < sweep->n_rows; i++)
        if (!text_equal(value_of(page, &sweep->rows[i], column), first)) return false;
    return text_equal(first, "-") || sweep->n_rows > 1;
}

static void write_table(struct page *page, const struct cm_llm_sweep *sweep) {
    const char *headings[N_COLUMNS];
    const bool is_left[N_COLUMNS] = {columns[0].kind == AS_TEXT};
    size_t shown[N_COLUMNS], ranks[N_COLUMNS], n = 0;
    struct table table;
    page_print(page, STYLE_TITLE, "%s", sweep->rows[0].model);
    page_list(page, ", ", 2);
    page_add(page, "%s", "");
    for (size_t i = 0; i < N_COLUMNS; i++) {
        const char *value = value_of(page, &sweep->rows[0], i);
        if (!is_shared(page, sweep, i)) {
            headings[n] = columns[i].heading;
            ranks[n] = n;
            shown[n++] = i;
        } else if (!text_equal(value, "-")) {
            page_add(page, "%s %s", columns[i].heading, value);
        }
    }
    page_end_line(page);
    page_end_line(page);
    if (n == 0 || !table_init(&table, page, headings, n, sweep->n_rows)) return;
    table.is_left = shown[0] == 0 ? is_left : &is_left[1];
    table_fit(&table, ranks, page->options->table_width);
    for (size_t row = 0; row < sweep->n_rows; row++)
        for (size_t i = 0; i < n; i++)
            table_print(&table, "%s", value_of(page, &sweep->rows[row], shown[i]));
    table_write(&table);
}

int cm_llm_sweep_write_text(const struct cm_llm_sweep *sweep,
                            const struct cm_text_options *options, FILE *out) {
    struct page page;
    options = ARGUMENTS_TAKE(cm_text_options, options, sweep && out, NULL);
    if (options == NULL) return CM_USAGE;
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    page_init(&page, options, arena, out);
    page.units = NUMBERS_SI;
    if (sweep->n_rows > 0) write_table(&page, sweep);
    return arena_end(arena, page_finish(&page));
}
