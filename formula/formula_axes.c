/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the axes of the grid. All variables start at the anchor, a size that the model accepts.
 * Then one variable at a time takes equal steps, and the differences of the figures (struct
 * point) give the degree. With strided operators, which round sizes down, the figures are
 * polynomial only if the step is a multiple of the stride: the steps of `steps` are tried in
 * turn until the figures are polynomial. */
#include "formula/formula.h"

#include <stdlib.h>

#include "passes/batch/batch.h"
#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define LINE_POINTS   (POLYNOMIAL_MAX_DEGREE + 2) /* one more than determine a polynomial */
#define LARGEST_BEGIN 256  /* largest first size of a line, unless it is the anchor */
#define ANY_BATCH     7919 /* a size that models do not contain */
#define MAX_LINES     3    /* accepted lines tried per step */

/* Sizes for which text, audio and image models are exported, the likely ones first. */
static const int64_t anchors[] = {64, 32, 128, 16, 224, 256, 8, 4, 2, 1, 512, 1024};

#define N_ANCHORS (sizeof(anchors) / sizeof(*anchors))

/* Steps in the order of the search: powers of two first, as most strides are. */
static const int64_t steps[] = {1, 2, 4,  8,  16, 32, 64, 3,  5, 6,
                                7, 9, 10, 12, 14, 24, 28, 48, 56};

/* Points at which the polynomial is checked, in steps from the first point of a line. */
static const int64_t far[] = {13, 38, 101};

#define N_FAR   (int)(sizeof(far) / sizeof(*far))
#define N_STEPS (sizeof(steps) / sizeof(*steps))

/* Sets *ret to the symbolic dims, bound with this batch; 0: with the batch of the options. */
static int bind_dims(struct points *points, int64_t batch, struct batch_table *ret) {
    struct cm_options options = points_plain_options(points);
    if (batch > 0) options.batch = batch;
    return dims_bind(points->model->model, &options, points->arena, points->diag, ret);
}

/* Adds the unbound dims as variables, and sets batch_dim to the dim that the batch binds. */
static int find_dims(struct points *points) {
    struct batch_table plain = {0};
    struct batch_table batched = {0};
    int status = bind_dims(points, 0, &plain);
    if (status == CM_OK) status = bind_dims(points, ANY_BATCH, &batched);
    for (size_t i = 0; status == CM_OK && i < plain.n_symbols; i++) {
        const size_t index = points->n_variables;
        if (is_known(plain.symbols[i].size)) {
            if (i < batched.n_symbols && batched.symbols[i].size == ANY_BATCH)
                points->batch_dim = plain.symbols[i].name;
            continue;
        }
        if (index == POLYNOMIAL_MAX_VARIABLES - 1) {
            status =
                diag_error(points->diag, DIAG_LIMIT, "at most %d symbolic dims are supported",
                           POLYNOMIAL_MAX_VARIABLES - 1);
            diag_hint(points->diag, "bind some symbolic dims with --dim NAME=SIZE");
            return status;
        }
        points->variables[index] =
            (struct variable){.name = plain.symbols[i].name, .same_as = index};
        points->n_variables++;
    }
    return status;
}

/* Profiles the model at these sizes to get the messages in `diag`; drops the result. */
static int explain(struct points *points, const int64_t *sizes, struct cm_diagnostics *diag) {
    struct cm_result *result = NULL;
    const int status = points_profile(points, sizes, diag, &result);
    cm_result_free(result);
    return status;
}

static void set_anchor(struct points *points, int64_t size) {
    for (size_t i = 0; i < points->n_variables; i++) points->anchor[i] = size;
}

/* Finds a size that the model accepts for all symbolic dims, else fails as at the first. */
static int find_anchor(struct points *points) {
    const struct point *point = NULL;
    for (size_t i = 0; i < N_ANCHORS; i++) {
        set_anchor(points, anchors[i]);
        const int status = points_at(points, points->anchor, &point);
        if (status < 0 || point) return status;
        if (points->n_variables == 0) break;
    }
    set_anchor(points, anchors[0]);
    const int status = explain(points, points->anchor, points->diag);
    BUG_ON(status == CM_OK);
    if (status == CM_REFUSED && points->n_variables > 0)
        diag_hint(points->diag,
                  "the model accepts none of %zu sizes for all symbolic dims: bind some with "
                  "--dim NAME=SIZE",
                  N_ANCHORS);
    return status;
}

/* Sets *ret_fixed to the reason why the batch cannot vary: the error at the anchor. */
static int find_reason(struct points *points, const char **ret_fixed) {
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (!diag) return CM_NO_MEMORY;
    int status = explain(points, points->anchor, diag);
    const struct cm_diagnostic *error = diag_first_error(diag);
    if (status == CM_REFUSED && error) {
        *ret_fixed = arena_strdup(points->arena, error->message);
        if (!*ret_fixed) status = CM_NO_MEMORY;
    }
    cm_diagnostics_free(diag);
    return status == CM_NO_MEMORY ? status : CM_OK;
}

/* Makes the batch the first variable if the model accepts a batch other than the file's. Drops
 * the earlier profiles, because their sizes do not include the batch. */
static int add_batch(struct points *points, const char **ret_fixed) {
    const struct point *point = NULL;
    if (points->options->batch > 0 || !is_known(points->fixed)) return CM_OK;
    for (size_t i = points->n_variables; i > 0; i--) {
        points->variables[i] = points->variables[i - 1];
        points->variables[i].same_as = i;
        points->anchor[i] = points->anchor[i - 1];
    }
    points->variables[0] = (struct variable){.name = NULL, .same_as = 0};
    points->anchor[0] = points->fixed == 2 ? 3 : 2;
    points->n_variables++;
    points->n = 0;
    int status = points_at(points, points->anchor, &point);
    if (status < 0 || point) return status;
    status = find_reason(points, ret_fixed);
    points->n_variables--;
    points->n = 0;
    for (size_t i = 0; i < points->n_variables; i++) {
        points->variables[i] = points->variables[i + 1];
        points->variables[i].same_as = i;
        points->anchor[i] = points->anchor[i + 1];
    }
    return status < 0 ? status : points_at(points, points->anchor, &point);
}

/* The figures at sizes in equal steps, and at some far beyond them. The far ones are checked
 * because a figure may look polynomial along a line that is shorter than a stride. */
struct line {
    const int64_t *values[LINE_POINTS];
    const int64_t *far[N_FAR]; /* NULL: not accepted by the model */
};

/* Sets *ret to the figures with `size` for the variable and those tied to it, and the anchor
 * for all others; NULL: not accepted by the model. */
static int values_at(struct points *points, size_t variable, int64_t size,
                     const int64_t **ret) {
    int64_t sizes[POLYNOMIAL_MAX_VARIABLES] = {0};
    const struct point *point = NULL;
    for (size_t i = 0; i < points->n_variables; i++)
        sizes[i] = points->variables[i].same_as == variable ? size : points->anchor[i];
    const int status = points_at(points, sizes, &point);
    if (status == CM_OK) *ret = point ? point->values : NULL;
    return status;
}

/* Returns the degree of a figure along the line; -1: not polynomial, or unknown. */
static int degree_of(const struct line *line, size_t figure) {
    int64_t values[LINE_POINTS];
    for (int i = 0; i < LINE_POINTS; i++) {
        if (!is_known(line->values[i][figure])) return -1;
        values[i] = line->values[i][figure];
    }
    for (int i = 0; i < N_FAR; i++)
        if (line->far[i] &&
            !polynomial_continues(values, LINE_POINTS, far[i], line->far[i][figure]))
            return -1;
    return polynomial_degree(values, LINE_POINTS, POLYNOMIAL_MAX_DEGREE);
}

/* Returns how many figures of the root are polynomial. Sets *ret_degree to the highest degree
 * of the figures of all modules. */
static size_t count_polynomials(const struct points *points, const struct line *line,
                                int *ret_degree) {
    size_t n = 0;
    *ret_degree = 0;
    for (size_t i = 0; i < points->n_modules * points->n_metrics; i++) {
        const int degree = degree_of(line, i);
        if (degree > *ret_degree) *ret_degree = degree;
        n += i < points->n_metrics && degree >= 0;
    }
    return n;
}

/* The best axis so far. */
struct best {
    size_t n_polynomials; /* polynomial figures of the root, plus one; 0: no axis yet */
    struct axis axis;
};

/* Profiles a line, updates *best. *ret_accepted: all points except far ones are accepted. */
static int try_line(struct points *points, size_t variable, struct axis axis, struct best *best,
                    bool *ret_accepted) {
    struct line line = {{NULL}, {NULL}};
    *ret_accepted = false;
    for (int i = 0; i < LINE_POINTS; i++) {
        const int64_t size = axis.from + i * axis.step;
        const int status = values_at(points, variable, size, &line.values[i]);
        if (status < 0 || !line.values[i]) return status;
    }
    for (int i = 0; i < N_FAR; i++) {
        const int64_t size = axis.from + far[i] * axis.step;
        const int status = values_at(points, variable, size, &line.far[i]);
        if (status < 0) return status;
    }
    *ret_accepted = true;
    const size_t n = count_polynomials(points, &line, &axis.degree) + 1;
    if (n > best->n_polynomials) *best = (struct best){n, axis};
    return CM_OK;
}

/* Returns true if at most one figure of the root, usually the peak, is not polynomial. */
static bool is_done(const struct points *points, const struct best *best) {
    return best->n_polynomials > points->n_metrics - 1;
}

/* Tries the lines that start at step, 2 * step, 4 * step, ...; if none is accepted, the line
 * that starts at the anchor. */
static int try_step(struct points *points, size_t variable, int64_t step, struct best *best) {
    const int64_t anchor = points->anchor[variable];
    int n_lines = 0;
    bool suits = false;
    int status = CM_OK;
    for (int64_t from = step; status == CM_OK && from <= LARGEST_BEGIN; from *= 2) {
        status = try_line(points, variable, (struct axis){from, step, 0}, best, &suits);
        n_lines += suits;
        if (is_done(points, best) || n_lines == MAX_LINES) return status;
    }
    if (status < 0 || n_lines > 0 || anchor % step != 0) return status;
    return try_line(points, variable, (struct axis){anchor, step, 0}, best, &suits);
}

/* Finds the axis with the most polynomial figures. Sets *ret_found if a line is accepted. */
static int find_axis(struct points *points, size_t variable, bool *ret_found) {
    struct best best = {0};
    for (size_t i = 0; i < N_STEPS && !is_done(points, &best); i++) {
        const int status = try_step(points, variable, steps[i], &best);
        if (status < 0) return status;
    }
    points->variables[variable].axis = best.axis;
    *ret_found = best.n_polynomials > 0;
    return CM_OK;
}

/* Finds another dim that must be equal to the variable, and ties it to the variable. Sets
 * *ret_found if the model then accepts a line. */
static int tie_dim(struct points *points, size_t variable, bool *ret_found) {
    for (size_t i = variable + 1; i < points->n_variables && !*ret_found; i++) {
        if (points->variables[i].same_as != i || !points->variables[i].name) continue;
        points->variables[i].same_as = variable;
        const int status = find_axis(points, variable, ret_found);
        if (status < 0) return status;
        if (!*ret_found) points->variables[i].same_as = i;
    }
    return CM_OK;
}

/* Returns the nearest refused point that differs from the anchor only in the variable. */
static const struct point *nearest_refused(const struct points *points, size_t variable) {
    const struct point *nearest = NULL;
    int64_t best = INT64_MAX;
    for (size_t k = 0; k < points->n; k++) {
        const struct point *point = &points->items[k];
        bool alone = !point->values;
        for (size_t i = 0; i < points->n_variables && alone; i++)
            alone = i == variable || point->sizes[i] == points->anchor[i];
        const int64_t distance = llabs(point->sizes[variable] - points->anchor[variable]);
        if (!alone || distance >= best) continue;
        best = distance;
        nearest = point;
    }
    return nearest;
}

/* Fails with the reason why the variable cannot vary. */
static int refuse_variable(struct points *points, size_t variable) {
    const char *name = points->variables[variable].name;
    const struct point *point = nearest_refused(points, variable);
    struct cm_diagnostics *diag = cm_diagnostics_new();
    if (!diag) return CM_NO_MEMORY;
    BUG_ON(!point);
    int status = explain(points, point->sizes, diag);
    const struct cm_diagnostic *error = diag_first_error(diag);
    const char *why = error ? error->message : "modules differ at each size";
    if (name && status != CM_NO_MEMORY) {
        status =
            diag_error(points->diag, DIAG_USAGE, "no formula in the dim '%s': %s", name, why);
        diag_hint(points->diag, "give --dim %s=SIZE", name);
    } else if (status != CM_NO_MEMORY) {
        status = diag_error(points->diag, DIAG_BATCH, "no formula in the batch: %s", why);
        diag_hint(points->diag, "give --batch N");
    }
    cm_diagnostics_free(diag);
    return status;
}

int formula_find_axes(struct points *points, const char **ret_fixed) {
    int status = find_dims(points);
    if (status == CM_OK) status = find_anchor(points);
    if (status == CM_OK) status = add_batch(points, ret_fixed);
    for (size_t i = 0; status == CM_OK && i < points->n_variables; i++) {
        bool found = false;
        if (points->variables[i].same_as != i) continue;
        status = find_axis(points, i, &found);
        if (status == CM_OK && !found && points->variables[i].name)
            status = tie_dim(points, i, &found);
        if (status == CM_OK && !found) status = refuse_variable(points, i);
    }
    return status;
}
