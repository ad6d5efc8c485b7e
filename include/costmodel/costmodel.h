/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcostmodel: what an ONNX model costs, told from its file alone.
 *
 *     struct cm_model *model = NULL;
 *     struct cm_result *result = NULL;
 *     struct cm_diagnostics *diagnostics = cm_diagnostics_new();
 *     struct cm_options options;
 *
 *     cm_options_init(&options);
 *     options.batch = 32;
 *     if (cm_model_load_file("resnet50.onnx", diagnostics, &model) == CM_OK &&
 *         cm_model_profile(model, &options, diagnostics, &result) == CM_OK)
 *         printf("%lld MACs\n", (long long)result->totals.macs);
 *     cm_result_free(result);
 *     cm_model_free(model);
 *     cm_diagnostics_free(diagnostics);
 *
 * The library prints nothing, never exits, keeps no global state, and never reads a weight.
 * Different models may be used from different threads at once; one model from one thread at a
 * time.
 */
#ifndef COSTMODEL_COSTMODEL_H
#define COSTMODEL_COSTMODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "costmodel/backend.h"
#include "costmodel/formula.h"
#include "costmodel/result.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CM_VERSION_MAJOR  0
#define CM_VERSION_MINOR  1
#define CM_VERSION_PATCH  0
#define CM_VERSION_STRING "0.1.0"

#if defined(__GNUC__) || defined(__clang__)
#define CM_MUST_CHECK __attribute__((warn_unused_result))
#define CM_API        __attribute__((visibility("default")))
#else
#define CM_MUST_CHECK
#define CM_API
#endif

/*
 * What a call returns: CM_OK, or one of the negative values. Each failure has left at least one
 * message of severity CM_ERROR in the diagnostics that the call was given (CM_NO_MEMORY
 * excepted: there may have been no memory for the message).
 */
enum cm_status {
    CM_OK = 0,
    CM_REFUSED = -1, /* the model is broken, or cannot be analysed as it was asked */
    CM_USAGE =
        -2, /* the caller's options are at fault: an unbound dim, an unknown input name */
    CM_NO_MEMORY = -3, /* malloc failed */
    CM_IO = -4,        /* the file cannot be opened, read or written */
};

/* The version of the library that runs, as "major.minor.patch"; static storage. */
CM_API const char *cm_version(void);

/* One sentence for a status, in English; static storage. */
CM_API const char *cm_status_message(int status);

/* A growing list of messages (struct cm_diagnostic in result.h), each with its place. */
struct cm_diagnostics;

/* NULL when there is no memory. The caller frees it with cm_diagnostics_free. */
CM_API struct cm_diagnostics *cm_diagnostics_new(void);
CM_API void cm_diagnostics_free(struct cm_diagnostics *diagnostics);

/* How many messages there are, and one of them: borrowed, valid until the list is freed. */
CM_API size_t cm_diagnostics_count(const struct cm_diagnostics *diagnostics);
CM_API const struct cm_diagnostic *cm_diagnostics_get(const struct cm_diagnostics *diagnostics,
                                                      size_t index);

/* One `--dim NAME=N`: every free dim of that name in every input is `size` (>= 0). */
struct cm_dim_option {
    const char *name;
    int64_t size;
};

/* One `--input NAME=1x3x224x224`: the whole shape of one input, whatever the file says. */
struct cm_input_option {
    const char *name;
    int rank;
    const int64_t *dims; /* rank sizes, each >= 0 */
};

/*
 * One `--value NAME=2,3,4`: the contents of one input of integers, bools, floats or texts, in
 * row-major order and as texts ("3", "true", "0.5", "a word"), so that what hangs on them is
 * known: the shape of a Reshape, the scales of a Resize. A free dim of an input of one axis is
 * bound by their number.
 */
struct cm_value_option {
    const char *name;
    size_t n;
    const char *const *elements;
};

/* Whether layers that differ between the two (BatchNormalization, Dropout) train. */
enum cm_mode {
    CM_MODE_MODEL, /* as each node of the file says of itself */
    CM_MODE_TRAINING,
    CM_MODE_INFERENCE,
};

/* In which order nodes run; what is alive at once depends on it. */
enum cm_schedule {
    CM_SCHEDULE_FILE,
    CM_SCHEDULE_MIN_MEMORY, /* one of a lower peak, where a bounded search finds one */
};

/* Operators that the caller describes: costmodel/op_costs.h. */
struct cm_op_costs;

/* How far the measuring is. */
struct cm_progress {
    const char *what; /* "device", "layers", "network": static text */
    int round;        /* of layers: 1, 2, 3 */
    size_t done;      /* measurings, of `total`, 0 where that is not known */
    size_t total;     /* may grow */
};

/*
 * What to profile. cm_options_init gives the defaults; everything pointed to is borrowed for
 * the time of the call.
 */
struct cm_options {
    int64_t batch; /* 0: as the file says (1 where its batch dim is free) */
    size_t n_dims;
    const struct cm_dim_option *dims;
    size_t n_inputs;
    const struct cm_input_option *inputs;
    size_t n_values;
    const struct cm_value_option *values;
    /* How often the body of a Loop runs whose trip count only data decide: the name of the
     * node, of its output, or its number, and the rounds. */
    size_t n_trip_counts;
    const struct cm_dim_option *trip_counts;
    size_t n_op_costs;
    const struct cm_op_costs *const *op_costs; /* the last that describes an operator holds */
    enum cm_mode mode;
    const char *convention; /* whose rules count FLOPs: a name of cm_convention_at */
    /*
     * Profile a training step too (result->training): "sgd", "momentum", "adam", "adamw"; NULL:
     * do not. CM_MODE_MODEL then means CM_MODE_TRAINING.
     */
    const char *optimizer;
    bool amp; /* mixed precision: float activations, weights and gradients in 2 bytes */
    size_t n_freeze;
    const char *const *freeze; /* patterns of parameters, or of modules, that do not learn */
    size_t n_checkpoint;
    const char *const *checkpoint; /* patterns of modules that are run again for backward */
    size_t n_explain; /* nodes (name, number as "17" or "#17", or an output) and module paths */
    const char *const *explain;
    enum cm_schedule schedule;
    int64_t memory_limit;     /* bytes: does it fit, and how large a batch does? 0: not asked */
    int64_t memory_alignment; /* places in the arena are multiples of it, a power of two */
    bool memory_curve;        /* the result has the bytes alive at each node */
    bool memory_plan;         /* the result has the place of each value in the arena */
    const char *module_source; /* what alone tells modules (docs/modules.md); NULL: the best
                                  source that knows each node */
    const char *group; /* a POSIX extended regular expression: modules whose path it matches
                          are one group for each text that it matches; NULL: none */
    bool strict;       /* an unknown operator or a shape that stays unknown refuses the model */
    const char *dump_after; /* write the IR to `dump` after this pass; NULL: never */
    FILE *dump;
    /* Who says how long it takes: "roofline:device=h200"; NULL: nobody. A backend runs in a
     * process of its own, which is forked from this one and ends before the call returns. */
    const char *backend;
    enum cm_precision precision; /* of what it runs */
    bool plan_only; /* the backend says how it would run each layer, and runs nothing */
    bool e2e;       /* run what is measured once more, as one network */
    /* A folder in which measured times are kept from one call to the next, made where it is
     * missing; NULL: none. */
    const char *cache;
    enum cm_layout layout; /* of images in what it runs */
    int autotune; /* so many algorithms of a layer are run to pick one; 0, 1: none is */
    /* Called before each measuring; NULL: never. */
    void (*progress)(void *context, const struct cm_progress *at);
    void *progress_context;
};

CM_API void cm_options_init(struct cm_options *options);

/* What a figure of FLOPs means: tools count differently, and call it differently. */
struct cm_convention {
    const char *name;    /* "fvcore" */
    const char *unit;    /* as the tool calls what it prints: "FLOPs", "MACs", "flops", "MAC" */
    const char *meaning; /* one line */
    /* Its FLOPs are of floating-point numbers: int_ops are none of them. Those of a tool, which
     * does not look at types, hold all that the tool counts. */
    bool tells_integers;
};

/* The conventions that there are, the default first; NULL past the last. */
CM_API const struct cm_convention *cm_convention_at(size_t index);

/* A loaded model: its structure, never its weights. */
struct cm_model;

/*
 * Reads the structure of an ONNX file. `path` "-" reads standard input. On CM_OK *ret_model is
 * the caller's, to be freed with cm_model_free; it keeps the file open until then, because the
 * analysis may have to read a small constant. On failure *ret_model is untouched.
 */
CM_API int cm_model_load_file(const char *path, struct cm_diagnostics *diagnostics,
                              struct cm_model **ret_model) CM_MUST_CHECK;

/* The same for `size` bytes in memory, which must outlive the model; `name` stands for the
 * path. */
CM_API int cm_model_load_memory(const void *data, size_t size, const char *name,
                                struct cm_diagnostics *diagnostics,
                                struct cm_model **ret_model) CM_MUST_CHECK;

CM_API void cm_model_free(struct cm_model *model);

/*
 * The same of a file that may be a profile instead, as cm_result_write_json wrote it: its first
 * byte that is not blank is '{', which begins no ONNX file. On CM_OK one of *ret_model and
 * *ret_result is set, and the caller's; the other is untouched.
 */
CM_API int cm_load_file(const char *path, struct cm_diagnostics *diagnostics,
                        struct cm_model **ret_model,
                        struct cm_result **ret_result) CM_MUST_CHECK;

/* As it was given; borrowed. */
CM_API const char *cm_model_path(const struct cm_model *model);

/*
 * Whether `path` is a file that the model is read from, its own or one of its weights', by
 * whatever name: what is written there would destroy it. CM_OK, CM_NO_MEMORY.
 */
CM_API int cm_model_reads_file(const struct cm_model *model, const char *path,
                               struct cm_diagnostics *diagnostics, bool *ret) CM_MUST_CHECK;

/* The free dims of a model's inputs, and what options make of them. */
struct cm_dims {
    size_t n;
    const struct cm_named_size *dims; /* each name once, in the order of the inputs; CM_UNKNOWN:
                                         nothing binds it, a profile asks for it */
    void *arena;                      /* the library's; names are the model's */
};

/*
 * What these options, the batch among them, would bind, without a profile. CM_OK, CM_NO_MEMORY.
 * *ret_dims is freed with cm_dims_free, before the model is.
 */
CM_API int cm_model_dims(struct cm_model *model, const struct cm_options *options,
                         struct cm_diagnostics *diagnostics,
                         struct cm_dims **ret_dims) CM_MUST_CHECK;
CM_API void cm_dims_free(struct cm_dims *dims);

/*
 * Runs the passes and gives the result: plain data that does not point into the model and is
 * freed with cm_result_free. One model may be profiled many times, with different options.
 */
CM_API int cm_model_profile(struct cm_model *model, const struct cm_options *options,
                            struct cm_diagnostics *diagnostics,
                            struct cm_result **ret_result) CM_MUST_CHECK;

CM_API void cm_result_free(struct cm_result *result);

/*
 * Writes the model itself with what `result`, a profile of it, says of each node as entries of
 * the node's metadata_props (docs/annotate.md), where viewers show them. Entries of an earlier
 * call are replaced; everything else, weights above all, is copied byte for byte. CM_OK,
 * CM_USAGE (the result is of another model, or the model came through a pipe), CM_REFUSED (it
 * would be too large, or the file has changed), CM_IO, CM_NO_MEMORY; the stream is for the
 * caller to flush.
 */
CM_API int cm_model_annotate(struct cm_model *model, const struct cm_result *result,
                             struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/*
 * The same model at each of `n` batches, options->batch aside; each is measured anew, so that
 * a backend picks what is best at it. A batch that cannot be profiled is a row that says why;
 * notes and warnings of the others go to `diagnostics`, each once. CM_OK, CM_USAGE (a batch
 * below 1), CM_NO_MEMORY. Freed with cm_sweep_free.
 */
CM_API int cm_model_sweep(struct cm_model *model, const struct cm_options *options,
                          const int64_t *batches, size_t n, struct cm_diagnostics *diagnostics,
                          struct cm_sweep **ret_sweep) CM_MUST_CHECK;
CM_API void cm_sweep_free(struct cm_sweep *sweep);

/*
 * What the model costs as formulas in its batch, unless options->batch gives one, and in every
 * free dim that options do not bind (docs/formula.md). A backend and a memory limit are passed
 * over. CM_OK, CM_USAGE, CM_REFUSED (no sizes suit the model, or too many profiles would be
 * wanted), CM_NO_MEMORY. Freed with cm_formula_free.
 */
CM_API int cm_model_formula(struct cm_model *model, const struct cm_options *options,
                            struct cm_diagnostics *diagnostics,
                            struct cm_formula **ret_formula) CM_MUST_CHECK;
CM_API void cm_formula_free(struct cm_formula *formula);

/*
 * Measures what the device of options->backend reaches at its best, and writes a description
 * that `roofline:device=FILE.json` takes. CM_OK, CM_REFUSED (it cannot be used, or not
 * measured), CM_NO_MEMORY; the stream is for the caller to flush.
 */
CM_API int cm_calibrate(const struct cm_options *options, struct cm_diagnostics *diagnostics,
                        FILE *out) CM_MUST_CHECK;

/* What the rows of a table are; of a sweep they are its batches. */
enum cm_rows { CM_ROWS_MODULES, CM_ROWS_NODES, CM_ROWS_OPERATORS };

/* How figures are written. */
enum cm_units {
    CM_UNITS_AUTO,   /* CSV: exact; else si, but the text report as DeepSpeed rounds */
    CM_UNITS_EXACT,  /* integers: of bytes, of picoseconds; shares and quotients as decimals */
    CM_UNITS_SI,     /* three significant digits: "14.1 GMACs", "1.35 GB" */
    CM_UNITS_BINARY, /* the same, bytes by powers of 1024: "1.26 GiB" */
};

/* How the text report looks. cm_text_options_init gives the defaults. */
struct cm_text_options {
    int depth;      /* aggregated section: depths 0..depth; -1 all */
    int top;        /* aggregated section: modules named for each metric; 0 all */
    bool detailed;  /* print the module tree */
    bool operators; /* print the costs by operator */
    bool layers;    /* print each distinct piece of work with its time, if there are times */
    bool kernels;   /* print the time by kernel, if there are times */
    bool color;     /* ANSI colours */
    bool unicode;   /* charts of block elements in UTF-8, else of ASCII */
    int width;      /* columns at which long lines are folded; 0 never */
    enum cm_units units;
};

CM_API void cm_text_options_init(struct cm_text_options *options);

/*
 * What formats with columns show, and of which rows (docs/formats.md has the columns).
 * cm_table_options_init gives the defaults.
 */
struct cm_table_options {
    enum cm_rows rows;
    const char *columns; /* keys with commas between them, or "all"; NULL: the usual ones */
    const char *sort;    /* "KEY", "KEY:asc", "KEY:desc"; NULL: as in the result */
    size_t n_filters;
    const char *const *filters; /* that all hold: "type=Conv*", "macs>=1.5M", "macs_share<1%" */
    const char *metric;         /* of stacks: a column that sums over nodes; NULL: "macs" */
    int depth;                  /* of modules, and nodes in them: no deeper; -1 all */
    size_t top;                 /* so many rows at most; 0 all */
    enum cm_units units;
};

CM_API void cm_table_options_init(struct cm_table_options *options);

/* Whether all that is named is known, before there is a profile: CM_OK, CM_USAGE (told),
 * CM_NO_MEMORY. */
CM_API int cm_table_options_check(const struct cm_table_options *options, bool of_sweep,
                                  struct cm_diagnostics *diagnostics) CM_MUST_CHECK;

/*
 * Tables: aligned text for a terminal; CSV (RFC 4180); a table of GitHub's Markdown, cut at
 * 60,000 bytes so that it fits a comment. Names are made safe for each. CM_OK, CM_USAGE (a
 * column that this profile has not; nothing is written), CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_result_write_table(const struct cm_result *result,
                                 const struct cm_table_options *options,
                                 const struct cm_text_options *text,
                                 struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;
CM_API int cm_result_write_csv(const struct cm_result *result,
                               const struct cm_table_options *options,
                               struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;
CM_API int cm_result_write_markdown(const struct cm_result *result,
                                    const struct cm_table_options *options,
                                    struct cm_diagnostics *diagnostics,
                                    FILE *out) CM_MUST_CHECK;

/*
 * Stacks for a flame graph, `model;layer1;conv1;Conv 118013952`: of options->metric, and those
 * of modules deeper than options->depth added to the one at it. Their sum is the total. CM_OK,
 * CM_USAGE, CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_result_write_folded(const struct cm_result *result,
                                  const struct cm_table_options *options,
                                  struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/* The module tree for Graphviz, and for Mermaid, down to options->depth and with what
 * options->columns say in each box. CM_OK, CM_USAGE, CM_IO, CM_NO_MEMORY. */
CM_API int cm_result_write_dot(const struct cm_result *result,
                               const struct cm_table_options *options,
                               struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;
CM_API int cm_result_write_mermaid(const struct cm_result *result,
                                   const struct cm_table_options *options,
                                   struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/* The three sections of a DeepSpeed profile: summary, by depth, module tree; the memory curve
 * and the advice where the result has some; and what the options ask for. CM_OK, CM_IO. */
CM_API int cm_result_write_text(const struct cm_result *result,
                                const struct cm_text_options *options, FILE *out) CM_MUST_CHECK;

/* Only the answers to cm_options.explain: each formula with its numbers. CM_OK, CM_IO,
 * CM_NO_MEMORY. */
CM_API int cm_result_write_explanations(const struct cm_result *result,
                                        const struct cm_text_options *options,
                                        FILE *out) CM_MUST_CHECK;

/* The kinds of JSON that are written, "profile" the first; NULL past the last. */
CM_API const char *cm_schema_at(size_t index);

/* The JSON Schema of one of them (draft 2020-12), or its keys as Markdown. CM_OK, CM_USAGE (no
 * such name), CM_IO. */
CM_API int cm_schema_write(const char *name, bool as_markdown, FILE *out) CM_MUST_CHECK;

/* One JSON object, schema "costmodel/profile/2" (docs/json.md). CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_result_write_json(const struct cm_result *result, FILE *out) CM_MUST_CHECK;

/*
 * The layers as a timeline for chrome://tracing and Perfetto (Trace Event Format), medians back
 * to back in the order of the nodes, modules by depth above them, and what is alive where the
 * result has a memory curve. CM_USAGE of a result without times (nothing is written), CM_OK,
 * CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_result_write_trace(const struct cm_result *result, FILE *out) CM_MUST_CHECK;

/*
 * Reads back what cm_result_write_json wrote; writing it again gives the same bytes. `text`
 * need not end in NUL; `name` names the place in messages.
 */
CM_API int cm_result_read_json(const char *text, size_t size, const char *name,
                               struct cm_diagnostics *diagnostics,
                               struct cm_result **ret_result) CM_MUST_CHECK;

/* A line a batch. CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_sweep_write_text(const struct cm_sweep *sweep,
                               const struct cm_text_options *options, FILE *out) CM_MUST_CHECK;

/* A row a batch. As those of a result. */
CM_API int cm_sweep_write_table(const struct cm_sweep *sweep,
                                const struct cm_table_options *options,
                                const struct cm_text_options *text,
                                struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;
CM_API int cm_sweep_write_csv(const struct cm_sweep *sweep,
                              const struct cm_table_options *options,
                              struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;
CM_API int cm_sweep_write_markdown(const struct cm_sweep *sweep,
                                   const struct cm_table_options *options,
                                   struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

/* One JSON object, schema "costmodel/sweep/2" (docs/json.md), and back. */
CM_API int cm_sweep_write_json(const struct cm_sweep *sweep, FILE *out) CM_MUST_CHECK;
CM_API int cm_sweep_read_json(const char *text, size_t size, const char *name,
                              struct cm_diagnostics *diagnostics,
                              struct cm_sweep **ret_sweep) CM_MUST_CHECK;

/* The totals, and of each depth the modules with the most MACs (options->depth, ->top, unless
 * ->detailed is false). CM_OK, CM_IO, CM_NO_MEMORY. */
CM_API int cm_formula_write_text(const struct cm_formula *formula,
                                 const struct cm_text_options *options,
                                 FILE *out) CM_MUST_CHECK;

/* One JSON object, schema "costmodel/formula/1" (docs/json.md), and back. */
CM_API int cm_formula_write_json(const struct cm_formula *formula, FILE *out) CM_MUST_CHECK;
CM_API int cm_formula_read_json(const char *text, size_t size, const char *name,
                                struct cm_diagnostics *diagnostics,
                                struct cm_formula **ret_formula) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
