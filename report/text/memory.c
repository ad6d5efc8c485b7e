/* SPDX-License-Identifier: Apache-2.0 */
/* The memory part of the summary: peak, live values, arena, weights, limit, largest batch. */
#include <inttypes.h>

#include "costmodel/costmodel.h"
#include "report/text/labels.h"
#include "report/text/sections.h"
#include "support/checked.h"
#include "support/text.h"

#define MAX_LIVE 3 /* values live at the peak */

/* Writes `99.63 MB        (99,634,500), 1.0000 x peak` */
static void write_arena(struct page *page, const char *label, int64_t arena, int64_t peak) {
    label_figure(page, label, NUMBER_BYTES, arena);
    if (is_known(arena) && peak > 0)
        page_print(page, STYLE_SHARE, ", %.4f x peak", (double)arena / (double)peak);
    page_end_line(page);
}

/* Writes `device memory:  6.06 GB  (6,059,720,704), 5.64 GB to 6.85 GB in 9 of 10 processes`,
 * and a line for each part. */
void memory_write_device(struct page *page, const struct cm_result *result) {
    const struct cm_device_memory *memory = &result->device_memory;
    if (!memory->present) return;
    label_figure(page, "device memory", NUMBER_BYTES, memory->bytes);
    page_print(page, STYLE_SHARE, ", %s to ",
               page_number(page, NUMBER_BYTES, memory->low_bytes));
    page_print(page, STYLE_SHARE, "%s in 9 of 10 processes",
               page_number(page, NUMBER_BYTES, memory->high_bytes));
    page_end_line(page);
    for (size_t i = 0; i < memory->n_parts; i++) {
        label_list(page, "", " ", 2);
        page_item_number(page, STYLE_PLAIN, NUMBER_BYTES, memory->parts[i].bytes);
        page_words(page, STYLE_PLAIN, memory->parts[i].name);
        page_item_print(page, STYLE_SHARE, "(%s)", memory->parts[i].source);
        page_end_line(page);
    }
}

/* Writes `min-memory: 12.85 MB (18.75%) below the peak in file order` */
void memory_write_schedule(struct page *page, const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    if (memory->n_schedule == 0) return;
    int64_t gain = checked_sub(memory->file_order_peak_bytes, memory->peak_activation_bytes);
    label_list(page, "schedule", " ", 2);
    page_words(page, STYLE_PLAIN, "min-memory:");
    if (!is_known(gain) || gain == 0) {
        page_words(page, STYLE_PLAIN,
                   memory->schedule_optimal
                       ? "file order; no order has a lower peak"
                       : "file order; no order with a lower peak was found");
    } else {
        page_item_number(page, STYLE_TITLE, NUMBER_BYTES, gain);
        page_item_print(page, STYLE_SHARE, "(%s)",
                        page_percent(page, gain, memory->file_order_peak_bytes));
        page_words(page, STYLE_PLAIN,
                   memory->schedule_optimal
                       ? "below the peak in file order and the minimum over all orders"
                       : "below the peak in file order");
    }
    page_end_line(page);
}

/* `unit` divides the batches. Writes `1772            1772 takes 17,173,520,032, 1773 would
 * take 17,183,153,824` */
static void write_largest(struct page *page, const struct cm_fit *fit, int64_t unit) {
    label_write(page, "largest batch");
    page_print(page, STYLE_TITLE, "%" PRId64, fit->largest_batch);
    label_pad(page);
    page_list(page, ", ", page->label_width + 2);
    if (is_known(fit->largest_bytes))
        page_item_print(page, STYLE_SHARE, "%" PRId64 " takes %s", fit->largest_batch,
                        page_exact(page, fit->largest_bytes));
    if (is_known(fit->next_bytes))
        page_item_print(page, STYLE_SHARE, "%" PRId64 " would take %s",
                        fit->largest_batch + unit, page_exact(page, fit->next_bytes));
    if (text_equal(fit->search, "exhausted")) page_add(page, "a larger one may fit");
    if (is_known(fit->confident_batch))
        page_add(page, "%" PRId64 " fits with 90 %% confidence", fit->confident_batch);
    if (text_equal(fit->search, "uneven")) {
        page_add(page, "but a larger");
        page_end_line(page);
        page_indent(page, page->label_width + 2);
        page_print(page, STYLE_PLAIN,
                   "batch needed less than a smaller one, so that one may fit again");
    }
    page_end_line(page);
}

static const struct {
    const char *search;
    const char *words;
} reasons[] = {
    {"unbounded", "any: 2147483647 fits"},
    {"no-batch", "none: no input axis is the batch"},
    {"exhausted", "unknown: the work budget is exhausted"},
    {"fixed", "unknown, because no other batch can be profiled:"},
};

void memory_write_fit(struct page *page, const struct cm_result *result) {
    const struct cm_fit *fit = result->memory.fit;
    if (fit == NULL) return;
    label_figure(page, "limit", NUMBER_BYTES, fit->limit_bytes);
    page_line(page, fit->fits ? STYLE_PLAIN : STYLE_WARNING, ", %s",
              fit->fits ? "fits" : "does not fit");
    if (is_known(fit->largest_batch)) {
        write_largest(page, fit, cm_result_micro_batches(result));
        return;
    }
    label_list(page, "largest batch", " ", 2);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (text_equal(reasons[i].search, fit->search))
            page_words(page, STYLE_PLAIN, reasons[i].words);
    page_words(page, STYLE_PLAIN, fit->why);
    page_end_line(page);
}

/* Writes the peak; its node, on a separate line because names are long; and the largest values
 * that are live there. */
static void write_peak(struct page *page, const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    label_figure(page, "peak activations", NUMBER_BYTES, memory->peak_activation_bytes);
    if (memory->peak_upper_bound) page_print(page, STYLE_PLAIN, ", at most");
    page_end_line(page);
    if (memory->peak_node < result->n_nodes) {
        const struct cm_node *node = &result->nodes[memory->peak_node];
        label_write(page, "");
        page_print(page, STYLE_SHARE, "at node %zu, ", memory->peak_node);
        page_line(page, STYLE_SHARE, "%s", *node->name == '\0' ? node->op : node->name);
    }
    for (size_t i = 0; i < memory->n_live && i < MAX_LIVE; i++) {
        const struct cm_live *live = &memory->live[i];
        label_list(page, "", " ", 2);
        page_item_number(page, STYLE_SHARE, NUMBER_BYTES, live->bytes);
        page_item_print(page, STYLE_SHARE, "%s", live->value);
        if (live->module < result->n_modules && *result->modules[live->module].path != '\0')
            page_item_print(page, STYLE_SHARE, "(%s)", result->modules[live->module].path);
        page_end_line(page);
    }
    label_rest(page, memory->n_live, MAX_LIVE);
}

void memory_write(struct page *page, const struct cm_result *result) {
    const struct cm_memory *memory = &result->memory;
    memory_write_schedule(page, result);
    write_peak(page, result);
    write_arena(page, "arena", memory->arena_bytes, memory->peak_activation_bytes);
    label_figure(page, "peak in place", NUMBER_BYTES, memory->peak_in_place_bytes);
    page_end_line(page);
    write_arena(page, "arena in place", memory->arena_in_place_bytes,
                memory->peak_in_place_bytes);
    for (size_t i = 0; i < memory->n_weights; i++) {
        const struct cm_weights *weights = &memory->weights[i];
        label_list(page, i == 0 ? "weights" : "", "", 2);
        page_item_number(page, STYLE_PLAIN, NUMBER_BYTES, weights->bytes);
        page_line(page, STYLE_PLAIN, " of %s, %s, in %s", weights->dtype, weights->storage,
                  page_count(page, weights->tensors, "tensor"));
    }
    label_figure(page, "required", NUMBER_BYTES, memory->required_bytes);
    page_print(page, STYLE_SHARE,
               result->training.present ? ", device memory of a training step"
                                        : ", weights and arena");
    if (memory->upper_bound) page_print(page, STYLE_PLAIN, ", at most");
    page_end_line(page);
    if (!result->training.present) label_line(page, "not included", "workspace of kernels");
    memory_write_fit(page, result);
}
