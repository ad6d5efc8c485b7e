/* SPDX-License-Identifier: Apache-2.0 */
/* The page of `costmodel llm`: the text report, the memory of one GPU as a bar, and two charts
 * over the context. It has no script: the figures are SVG, whose marks have titles with their
 * values. Both axes of the charts are logarithmic. */
#include "costmodel/llm.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html/html_assets.h"
#include "report/markup.h"
#include "report/number.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/file.h"
#include "support/system.h"
#include "support/text.h"

/* Of a figure, in user units. */
enum { WIDTH = 760, HEIGHT = 330, LEFT = 74, RIGHT = 34, TOP = 34, BOTTOM = 44 };

#define MAX_SERIES 4

struct series {
    const char *name;
    const char *stroke;
    bool is_dashed;
    size_t offset; /* of an int64_t in struct cm_llm_point */
};

struct chart {
    FILE *out;
    struct text words;
    const struct cm_llm *llm;
    enum number_unit unit;
    double low, high; /* ends of the axis of values */
};

static int64_t value_at(const struct cm_llm_point *point, const struct series *series) {
    int64_t value = 0;
    memcpy(&value, (const char *)point + series->offset, sizeof value);
    return value;
}

static double x_of(const struct chart *chart, size_t point) {
    const size_t n = chart->llm->n_curve;
    return LEFT + (WIDTH - LEFT - RIGHT) * (n > 1 ? (double)point / (double)(n - 1) : 0.5);
}

static double y_of(const struct chart *chart, double value) {
    return TOP +
           (HEIGHT - TOP - BOTTOM) * log(chart->high / value) / log(chart->high / chart->low);
}

/* Writes the words and clears them. */
static void put_words(struct chart *chart) {
    markup_write(chart->out, text_string(&chart->words));
    text_clear(&chart->words);
}

static void put_number(struct chart *chart, enum number_unit unit, int64_t value) {
    number_append(&chart->words, NUMBERS_SI, unit, value);
    put_words(chart);
}

/* Writes lines and labels of 1, 2 and 5 times the powers of ten, or of the powers alone. */
static void put_axes(struct chart *chart) {
    static const int steps[] = {1, 2, 5};
    FILE *out = chart->out;
    const int n_steps = chart->high / chart->low > 2000 ? 1 : 3;
    fputs("<g class=\"axis\">\n", out);
    const int last = (int)floor(log10(chart->high));
    for (int digits = (int)floor(log10(chart->low)); digits <= last; digits++)
        for (int i = 0; i < n_steps; i++) {
            const double value = pow(10, digits) * steps[i];
            if (value < chart->low * 0.999 || value > chart->high * 1.001) continue;
            fprintf(out,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">",
                    LEFT, WIDTH - RIGHT, y_of(chart, value), y_of(chart, value), LEFT - 8,
                    y_of(chart, value) + 4);
            put_number(chart, chart->unit, llround(value));
            fputs("</text>\n", out);
        }
    for (size_t i = 0; i < chart->llm->n_curve; i++) {
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">", x_of(chart, i),
                HEIGHT - BOTTOM + 18);
        number_append_exact(&chart->words, chart->llm->curve[i].context);
        put_words(chart);
        fputs("</text>\n", out);
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">context, tokens</text>\n</g>\n",
            (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6);
}

/* Writes a line, marks with titles, and the `index`-th item of the legend. */
static void put_series(struct chart *chart, const struct series *series, size_t index) {
    FILE *out = chart->out;
    const char *dash = series->is_dashed ? " stroke-dasharray=\"5 4\"" : "";
    const double legend = LEFT + 170 * (double)index;
    fprintf(out, "<g stroke=\"%s\" fill=\"%s\">\n<path fill=\"none\" stroke-width=\"2\"%s d=\"",
            series->stroke, series->stroke, dash);
    bool is_first = true;
    for (size_t i = 0; i < chart->llm->n_curve; i++) {
        const int64_t value = value_at(&chart->llm->curve[i], series);
        if (value <= 0) continue;
        fprintf(out, "%s%.1f %.1f", is_first ? "M" : " L", x_of(chart, i),
                y_of(chart, (double)value));
        is_first = false;
    }
    fprintf(out, "\"/>\n<path stroke-width=\"2\"%s d=\"M%.0f 12h26\"/>\n", dash, legend);
    for (size_t i = 0; i < chart->llm->n_curve; i++) {
        const int64_t value = value_at(&chart->llm->curve[i], series);
        if (value <= 0) continue;
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" stroke=\"none\"><title>",
                x_of(chart, i), y_of(chart, (double)value));
        text_printf(&chart->words, "%s, context ", series->name);
        number_append_exact(&chart->words, chart->llm->curve[i].context);
        text_append(&chart->words, ": ");
        put_number(chart, chart->unit, value);
        fputs("</title></circle>\n", out);
    }
    fprintf(out, "</g>\n<text x=\"%.0f\" y=\"16\" fill=\"var(--ink)\">", legend + 32);
    text_append(&chart->words, series->name);
    put_words(chart);
    fputs("</text>\n", out);
}

static void begin_figure(FILE *out, const char *heading, int height) {
    fprintf(out,
            "<section>\n<h2>%s</h2>\n<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
            "font-size=\"13\" role=\"img\" aria-label=\"%s\">\n",
            heading, WIDTH, height, WIDTH, height, heading);
}

static void end_figure(FILE *out) {
    fputs("</svg>\n</section>\n", out);
}

/* Writes the chart of some series; nothing if they have no values. */
static void put_chart(struct chart *chart, const char *heading, const struct series *series,
                      size_t n) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < chart->llm->n_curve; k++) {
            const int64_t value = value_at(&chart->llm->curve[k], &series[i]);
            if (value <= 0) continue;
            low = fmin(low, (double)value);
            high = fmax(high, (double)value);
        }
    if (high <= 0) return;
    const double power = pow(10, floor(log10(low))), top = pow(10, floor(log10(high)));
    chart->low = power * (low < 2 * power ? 1 : low < 5 * power ? 2 : 5);
    chart->high = top * (high <= top ? 1 : high <= 2 * top ? 2 : high <= 5 * top ? 5 : 10);
    if (chart->high <= chart->low) chart->high = chart->low * 2;
    begin_figure(chart->out, heading, HEIGHT);
    put_axes(chart);
    for (size_t i = 0; i < n; i++) put_series(chart, &series[i], i);
    end_figure(chart->out);
}

/* Writes the memory of one GPU as a bar of parts with a legend. */
static void put_memory(struct chart *chart) {
    const struct cm_llm *llm = chart->llm;
    if (!is_known(llm->memory_limit) || !is_known(llm->request_sequences)) return;
    const double limit = (double)llm->memory_limit;
    const double reserved = limit * (double)llm->reserve / 1e6;
    const double replicas = (double)cm_llm_gpus(llm) / (double)(llm->tp * llm->pp);
    const double n = floor((double)llm->request_sequences / replicas);
    const double caches = n * (double)llm->request_bytes;
    const double used = (double)llm->stored_bytes + (double)llm->arena_bytes + caches;
    const struct {
        const char *name, *fill;
        double bytes;
    } parts[] = {
        {"weights", "var(--compute)", (double)llm->stored_bytes},
        {"arena", "var(--shrinks)", (double)llm->arena_bytes},
        {"KV", "var(--memory)", caches},
        {"free", "var(--panel)", fmax(0, limit - reserved - used)},
        {"reserved", "var(--launch)", reserved},
    };
    const double scale = (WIDTH - 2) / fmax(limit, used + reserved);
    double at = 1;
    begin_figure(chart->out, "Memory of one GPU", 124);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const size_t row = i / 3, column = i % 3;
        const double y = 62 + 22 * (double)row, x = 1 + 250 * (double)column;
        fprintf(chart->out,
                "<rect x=\"%.1f\" y=\"6\" width=\"%.1f\" height=\"34\" fill=\"%s\" "
                "stroke=\"var(--line)\"/>\n<rect x=\"%.0f\" y=\"%.0f\" width=\"11\" "
                "height=\"11\" fill=\"%s\" stroke=\"var(--line)\"/>"
                "<text x=\"%.0f\" y=\"%.0f\" fill=\"var(--ink)\">",
                at, parts[i].bytes * scale, parts[i].fill, x, y - 10, parts[i].fill, x + 18, y);
        if (text_equal(parts[i].name, "KV")) {
            text_append(&chart->words, "KV of ");
            number_append_exact(&chart->words, (int64_t)n);
            text_append(&chart->words, " sequences");
        } else {
            text_append(&chart->words, parts[i].name);
        }
        text_append(&chart->words, ", ");
        put_number(chart, NUMBER_BYTES, llround(parts[i].bytes));
        fputs("</text>\n", chart->out);
        at += parts[i].bytes * scale;
    }
    fprintf(chart->out, "<text x=\"1\" y=\"112\" fill=\"var(--faint)\">");
    text_append(&chart->words, "Of ");
    number_append(&chart->words, NUMBERS_SI, NUMBER_BYTES, llm->memory_limit);
    text_append(&chart->words, "; sequences of ");
    number_append_exact(&chart->words, checked_add(llm->prompt, llm->new_tokens));
    text_append(&chart->words, " tokens");
    if (used + reserved > limit) text_append(&chart->words, "; the model does not fit");
    put_words(chart);
    fputs("</text>\n", chart->out);
    end_figure(chart->out);
}

/* At most two batches: 1 and the largest. */
static void put_charts(struct chart *chart) {
    static const struct series bytes = {"KV and state of one sequence", "var(--memory)", false,
                                        offsetof(struct cm_llm_point, request_bytes)};
    const int64_t batch = chart->llm->curve_batch;
    const char *bound = arena_printf(chart->words.arena, "batch %" PRId64 ", bound", batch);
    const char *expected =
        arena_printf(chart->words.arena, "batch %" PRId64 ", expected", batch);
    const struct series times[] = {
        {"batch 1, bound", "var(--compute)", true,
         offsetof(struct cm_llm_point, lower_bound_ps)},
        {"batch 1, expected", "var(--compute)", false,
         offsetof(struct cm_llm_point, latency_ps)},
        {bound, "var(--strong)", true, offsetof(struct cm_llm_point, batch_lower_bound_ps)},
        {expected, "var(--strong)", false, offsetof(struct cm_llm_point, batch_latency_ps)},
    };
    if (chart->llm->n_curve == 0)
        fputs("<p>No context of 1,024 tokens fits.</p>\n", chart->out);
    chart->unit = NUMBER_BYTES;
    put_chart(chart, "Cache of one sequence, on one GPU", &bytes, 1);
    chart->unit = NUMBER_TIME;
    if (bound && expected)
        put_chart(chart, "Time of a step of decode", times, batch > 1 ? 4 : 2);
}

/* Writes the text report as a preformatted element. CM_OK, CM_NO_MEMORY. */
static int put_report(const struct cm_llm *llm, FILE *out) {
    struct cm_text_options options;
    struct memory_stream memory;
    if (!memory_stream_open(&memory)) return CM_NO_MEMORY;
    cm_text_options_init(&options);
    options.unicode = true;
    int status = cm_llm_write_text(llm, &options, memory.out);
    if (!memory_stream_close(&memory)) status = CM_NO_MEMORY;
    if (status == CM_OK) {
        fputs("<pre>\n", out);
        markup_write(out, memory.text);
        fputs("</pre>\n", out);
    }
    free(memory.text);
    return status;
}

int cm_llm_write_html(const struct cm_llm *llm, FILE *out) {
    if (llm == NULL || out == NULL) return CM_USAGE;
    struct arena *arena = arena_new("page", 0);
    if (arena == NULL) return CM_NO_MEMORY;
    struct chart chart = {.out = out, .llm = llm};
    text_init(&chart.words, arena);
    text_append_name(&chart.words, llm->path + system_folder_length(llm->path));
    fprintf(out,
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src %s; base-uri 'none'; form-action 'none'\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta name=\"color-scheme\" content=\"light dark\">\n"
            "<meta name=\"generator\" content=\"costmodel %s\">\n<title>",
            html_assets.style.hash, cm_version());
    markup_write(out, text_string(&chart.words));
    fprintf(out, " - costmodel</title>\n<style>%s</style>\n</head>\n<body>\n<main>\n<h1>",
            html_assets.style.text);
    put_words(&chart);
    fputs("</h1>\n", out);
    int status = put_report(llm, out);
    if (status == CM_OK) {
        put_memory(&chart);
        put_charts(&chart);
        fputs("</main>\n</body>\n</html>\n", out);
        status = output_flush(out);
    }
    return arena_end(arena, status);
}
