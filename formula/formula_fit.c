/* SPDX-License-Identifier: Apache-2.0 */
/* Fits polynomials to profiles. The grid has degree + 1 points per axis, which determines every
 * polynomial; each is then checked against all other profiles, among them some far outside the
 * grid. A figure that no polynomial fits is reported as samples ("other").
 *
 * The peak of the model is the maximum of the live bytes at its nodes, each of which is a
 * polynomial. Polynomial p is dropped if each coefficient is at most the same coefficient of
 * another one, q: since sizes are positive, p never exceeds q. If more than MAX_ALTERNATIVES
 * remain, only those that give the peak of some profile are shown. */
#include "formula/formula.h"

#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#define MAX_GRID         1024 /* points */
#define N_CHECKS         6    /* points outside the grid */
#define N_SHOWN          4    /* samples of a figure that is not a polynomial */
#define MAX_CANDIDATES   64   /* polynomials of nodes for the peak */
#define MAX_ALTERNATIVES 4    /* shown in max(...) */

struct fit {
    struct points *points;
    struct arena *arena; /* of the result */
    struct arena *scratch;
    size_t n_axes; /* number of independent variables */
    struct axis axes[POLYNOMIAL_MAX_VARIABLES];
    size_t of_axis[POLYNOMIAL_MAX_VARIABLES]; /* by axis: its variable */
    struct interpolation interpolation;
    const struct point **grid;
    bool *in_grid;   /* by profile */
    int64_t *values; /* of one figure on the grid */
    wide *numerators;
    struct cm_formula *ret;
};

enum found { FOUND, FOUND_NONE, FOUND_LARGE };

/* Sets the sizes of all variables from those of the axes: tied variables take equal sizes. */
static void expand_sizes(const struct fit *fit, const int64_t *at, int64_t *sizes) {
    const struct points *points = fit->points;
    for (size_t i = 0; i < fit->n_axes; i++) sizes[fit->of_axis[i]] = at[i];
    for (size_t i = 0; i < points->n_variables; i++)
        sizes[i] = sizes[points->variables[i].same_as];
}

static int choose_axes(struct fit *fit) {
    const struct points *points = fit->points;
    size_t n = 1;
    for (size_t i = 0; i < points->n_variables; i++) {
        if (points->variables[i].same_as != i) continue;
        fit->of_axis[fit->n_axes] = i;
        fit->axes[fit->n_axes++] = points->variables[i].axis;
        n *= (size_t)points->variables[i].axis.degree + 1;
        if (n <= MAX_GRID) continue;
        const int status = diag_error(points->diag, DIAG_LIMIT,
                                      "--formula needs more than %d profiles", MAX_GRID);
        diag_hint(points->diag, "bind some symbolic dims with --dim NAME=SIZE");
        return status;
    }
    if (polynomial_prepare(fit->scratch, fit->axes, fit->n_axes, &fit->interpolation) < 0)
        return CM_NO_MEMORY;
    fit->grid = arena_array(fit->scratch, n, sizeof(const struct point *));
    fit->values = arena_array(fit->scratch, n, sizeof(*fit->values));
    fit->numerators = arena_array(fit->scratch, n, sizeof(*fit->numerators));
    return fit->grid && fit->values && fit->numerators ? CM_OK : CM_NO_MEMORY;
}

static int refuse_point(const struct points *points, const int64_t *sizes) {
    struct cm_result *result = NULL;
    const int status = points_profile(points, sizes, points->diag, &result);
    cm_result_free(result);
    if (status < 0) {
        diag_hint(points->diag,
                  "each symbolic dim can vary alone, but not all together: bind some "
                  "with --dim NAME=SIZE");
        return status;
    }
    return diag_error(points->diag, DIAG_LIMIT, "modules must be the same at all sizes");
}

static int profile_grid(struct fit *fit) {
    int64_t sizes[POLYNOMIAL_MAX_VARIABLES] = {0};
    int64_t at[POLYNOMIAL_MAX_VARIABLES] = {0};
    for (size_t i = 0; i < fit->interpolation.n_points; i++) {
        const struct point *point = NULL;
        size_t rest = i; /* of the index: the last axis varies fastest */
        for (size_t axis = fit->n_axes; axis > 0; axis--) {
            const struct axis *line = &fit->axes[axis - 1];
            const size_t length = (size_t)line->degree + 1;
            at[axis - 1] = line->from + (int64_t)(rest % length) * line->step;
            rest /= length;
        }
        expand_sizes(fit, at, sizes);
        const int status = points_at(fit->points, sizes, &point);
        if (status < 0) return status;
        if (!point) return refuse_point(fit->points, sizes);
    }
    return CM_OK;
}

/* Profiles N_CHECKS points outside the grid; if the model does not accept one, a nearer one. */
static int profile_checks(struct fit *fit) {
    static const int64_t distances[] = {1, 3, 11, 47, 200, 1000};
    int64_t sizes[POLYNOMIAL_MAX_VARIABLES] = {0};
    int64_t at[POLYNOMIAL_MAX_VARIABLES] = {0};
    for (size_t i = 0; i < N_CHECKS; i++) {
        const struct point *point = NULL;
        for (int64_t nearer = 1; nearer <= 256 && !point; nearer *= 4) {
            for (size_t k = 0; k < fit->n_axes; k++)
                at[k] = fit->axes[k].from +
                        fit->axes[k].step *
                            (fit->axes[k].degree + distances[(i + 2 * k) % N_CHECKS] / nearer);
            expand_sizes(fit, at, sizes);
            const int status = points_at(fit->points, sizes, &point);
            if (status < 0) return status;
        }
    }
    return CM_OK;
}

/* Finds the profiles of the grid. Adding a profile later could move points->items. */
static int find_grid(struct fit *fit) {
    const struct points *points = fit->points;
    fit->in_grid = arena_array(fit->scratch, points->n, sizeof(*fit->in_grid));
    if (!fit->in_grid) return CM_NO_MEMORY;
    for (size_t k = 0; k < points->n; k++) {
        size_t index = 0;
        bool inside = points->items[k].values != NULL;
        for (size_t axis = 0; axis < fit->n_axes && inside; axis++) {
            const struct axis *line = &fit->axes[axis];
            const int64_t distance = points->items[k].sizes[fit->of_axis[axis]] - line->from;
            inside = distance >= 0 && distance % line->step == 0 &&
                     distance / line->step <= line->degree;
            index = index * ((size_t)line->degree + 1) + (size_t)(distance / line->step);
        }
        if (!inside) continue;
        fit->in_grid[k] = true;
        fit->grid[index] = &points->items[k];
    }
    return CM_OK;
}

/* Returns true if the formula applies to the point: the model accepts it, its sizes are on the
 * steps of the axes, and tied variables are equal. */
static bool fit_covers(const struct fit *fit, const struct point *point) {
    bool covered = point->values != NULL;
    for (size_t axis = 0; axis < fit->n_axes && covered; axis++) {
        const int64_t distance = point->sizes[fit->of_axis[axis]] - fit->axes[axis].from;
        covered = distance >= 0 && distance % fit->axes[axis].step == 0;
    }
    for (size_t i = 0; i < fit->points->n_variables && covered; i++)
        covered = point->sizes[i] == point->sizes[fit->points->variables[i].same_as];
    return covered;
}

/* Returns true if fit->numerators give the value of the figure at the point. */
static bool fit_has_value(const struct fit *fit, const struct point *point, size_t figure) {
    int64_t at[POLYNOMIAL_MAX_VARIABLES] = {0};
    for (size_t i = 0; i < fit->n_axes; i++) at[i] = point->sizes[fit->of_axis[i]];
    return polynomial_has_value(&fit->interpolation, fit->numerators, at,
                                point->values[figure]);
}

/* Computes fit->numerators from the values of the figure on the grid. Returns FOUND_NONE if
 * another profile has a different value, FOUND_LARGE if a numerator does not fit 128 bits. */
static enum found fit_interpolate(const struct fit *fit, size_t figure) {
    for (size_t i = 0; i < fit->interpolation.n_points; i++)
        fit->values[i] = fit->grid[i]->values[figure];
    if (!polynomial_interpolate(&fit->interpolation, fit->values, fit->numerators))
        return FOUND_LARGE;
    for (size_t k = 0; k < fit->points->n; k++) {
        const struct point *point = &fit->points->items[k];
        if (!fit->in_grid[k] && fit_covers(fit, point) && !fit_has_value(fit, point, figure))
            return FOUND_NONE;
    }
    return FOUND;
}

/* Returns the exponent of the axis's variable in a term: terms are numbered as grid points. */
static int exponent_of(const struct fit *fit, size_t term, size_t axis) {
    for (size_t i = fit->n_axes; i > axis + 1; i--) term /= (size_t)fit->axes[i - 1].degree + 1;
    return (int)(term % ((size_t)fit->axes[axis].degree + 1));
}

static int total_degree(const struct fit *fit, size_t term) {
    int degree = 0;
    for (size_t axis = 0; axis < fit->n_axes; axis++) degree += exponent_of(fit, term, axis);
    return degree;
}

/* Lists fit->numerators as terms, highest degree first. Returns false if one is past 2^63. */
static bool fit_list_terms(const struct fit *fit, size_t *ret_n,
                           const struct cm_monomial **ret) {
    const size_t n_points = fit->interpolation.n_points;
    const size_t n_exponents = fit->points->n_variables;
    bool all_fit = true;
    size_t n = 0;
    for (size_t i = 0; i < n_points; i++) n += fit->numerators[i] != 0;
    struct cm_monomial *terms = arena_array(fit->arena, n, sizeof(*terms));
    struct cm_monomial *term = terms;
    if (!terms) return true;
    for (int degree = POLYNOMIAL_MAX_DEGREE * POLYNOMIAL_MAX_VARIABLES; degree >= 0; degree--)
        for (size_t i = n_points; i > 0; i--) {
            if (fit->numerators[i - 1] == 0 || total_degree(fit, i - 1) != degree) continue;
            all_fit &= polynomial_term(&fit->interpolation, fit->numerators[i - 1],
                                       &term->numerator, &term->denominator);
            size_t *exponents = arena_array(fit->arena, n_exponents, sizeof(*exponents));
            if (!exponents) return true;
            for (size_t axis = 0; axis < fit->n_axes; axis++)
                exponents[fit->of_axis[axis]] = (size_t)exponent_of(fit, i - 1, axis);
            term->n_exponents = n_exponents;
            term->exponents = exponents;
            term++;
        }
    *ret_n = n;
    *ret = terms;
    return all_fit;
}

/* Lists two points of the grid, then points where the polynomial has another value. */
static void list_samples(const struct fit *fit, size_t figure, struct cm_polynomial *ret) {
    struct cm_sample *samples = arena_array(fit->arena, N_SHOWN, sizeof(*samples));
    const struct points *points = fit->points;
    size_t n = 0;
    if (!samples) return;
    for (size_t i = 0; i < 2 * points->n && n < N_SHOWN; i++) {
        const size_t k = i % points->n;
        const struct point *point = &points->items[k];
        const bool first = i < points->n;
        const bool shown = first ? fit->in_grid[k] && n < N_SHOWN / 2
                                 : fit_covers(fit, point) && !fit->in_grid[k] &&
                                       !fit_has_value(fit, point, figure);
        if (!shown) continue;
        size_t *sizes = arena_array(fit->arena, points->n_variables, sizeof(*sizes));
        if (!sizes) return;
        for (size_t v = 0; v < points->n_variables; v++) sizes[v] = (size_t)point->sizes[v];
        samples[n++] = (struct cm_sample){points->n_variables, sizes, point->values[figure]};
    }
    ret->n_samples = n;
    ret->samples = samples;
}

/* Returns 0 if the figure is known in all profiles, else DIM_OVERFLOW or DIM_UNKNOWN. */
static int64_t worst_of(const struct fit *fit, size_t figure) {
    int64_t worst = 0;
    for (size_t k = 0; k < fit->points->n; k++) {
        const struct point *point = &fit->points->items[k];
        if (!fit_covers(fit, point) || is_known(point->values[figure])) continue;
        worst = is_known(worst) ? point->values[figure]
                                : checked_worse(worst, point->values[figure]);
    }
    return worst;
}

static void fit_figure(const struct fit *fit, size_t figure, struct cm_polynomial *ret) {
    const int64_t worst = worst_of(fit, figure);
    ret->metric = points_metric(figure % fit->points->n_metrics);
    ret->state = is_known(worst) || is_overflow(worst) ? "large" : "unknown";
    if (!is_known(worst)) return;
    const enum found found = fit_interpolate(fit, figure);
    if (found == FOUND_LARGE) return;
    if (found == FOUND_NONE) {
        ret->state = "other";
        list_samples(fit, figure, ret);
    } else if (fit_list_terms(fit, &ret->n_terms, &ret->terms)) {
        ret->state = "polynomial";
    } else {
        ret->n_terms = 0;
    }
}

/* Polynomials of nodes, none of which is dominated by another. */
struct front {
    const struct fit *fit;
    size_t figure; /* of the first node */
    size_t peak;   /* the figure of the peak of the model */
    size_t n;
    wide *numerators[MAX_CANDIDATES];
};

static bool is_below(const struct front *front, const wide *a, const wide *b) {
    for (size_t i = 0; i < front->fit->interpolation.n_points; i++)
        if (a[i] > b[i]) return false;
    return true;
}

static bool is_below_any(const struct front *front, const wide *numerators) {
    for (size_t i = 0; i < front->n; i++)
        if (is_below(front, numerators, front->numerators[i])) return true;
    return false;
}

static void drop_below(struct front *front, const wide *numerators) {
    size_t n = 0;
    for (size_t i = 0; i < front->n; i++)
        if (!is_below(front, front->numerators[i], numerators))
            front->numerators[n++] = front->numerators[i];
    front->n = n;
}

/* Returns true if some profile has its peak at the node. */
static bool is_peak_somewhere(const struct front *front, size_t figure) {
    for (size_t k = 0; k < front->fit->points->n; k++) {
        const struct point *point = &front->fit->points->items[k];
        if (fit_covers(front->fit, point) &&
            point->values[figure] == point->values[front->peak])
            return true;
    }
    return false;
}

/* Collects the polynomials of the nodes. Returns false if there are too many, if a node at the
 * peak of a profile has no polynomial, or if out of memory. */
static bool collect_nodes(struct front *front) {
    const struct fit *fit = front->fit;
    const size_t size = fit->interpolation.n_points * sizeof(*fit->numerators);
    for (size_t i = 0; i < fit->points->model->model->n_nodes; i++) {
        if (fit_interpolate(fit, front->figure + i) != FOUND) {
            if (is_peak_somewhere(front, front->figure + i)) return false;
            continue;
        }
        if (is_below_any(front, fit->numerators)) continue;
        drop_below(front, fit->numerators);
        if (front->n == MAX_CANDIDATES) return false;
        wide *copy = arena_copy(fit->scratch, fit->numerators, size);
        if (!copy) return false;
        front->numerators[front->n++] = copy;
    }
    return true;
}

static void load(const struct front *front, size_t index) {
    const struct fit *fit = front->fit;
    memcpy(fit->numerators, front->numerators[index],
           fit->interpolation.n_points * sizeof(*fit->numerators));
}

/* Returns at how many points, of those not done, polynomial `index` gives the peak. If `mark`,
 * marks these as done. */
static size_t count_new(const struct front *front, size_t index, bool *done, bool mark) {
    const struct points *points = front->fit->points;
    size_t n = 0;
    load(front, index);
    for (size_t k = 0; k < points->n; k++) {
        const struct point *point = &points->items[k];
        if (done[k] || !fit_covers(front->fit, point) ||
            !fit_has_value(front->fit, point, front->peak))
            continue;
        n++;
        if (mark) done[k] = true;
    }
    return n;
}

/* Chooses polynomials greedily: next is the one that gives the peak of the most points not yet
 * done. Returns false if some points are not done at the end, or if out of memory. Drops the
 * polynomials that are not chosen if there are more than MAX_ALTERNATIVES. */
static bool choose(struct front *front) {
    const struct points *points = front->fit->points;
    bool *done = arena_array(front->fit->scratch, points->n, sizeof(*done));
    if (!done) return false;
    size_t n = 0;
    for (; n < front->n && n < MAX_ALTERNATIVES; n++) {
        size_t best = n;
        size_t best_count = 0;
        for (size_t i = n; i < front->n; i++) {
            const size_t count = count_new(front, i, done, false);
            if (count > best_count) best = i;
            if (count > best_count) best_count = count;
        }
        if (best_count == 0) break;
        wide *chosen = front->numerators[best];
        front->numerators[best] = front->numerators[n];
        front->numerators[n] = chosen;
        count_new(front, n, done, true);
    }
    bool all_covered = true;
    for (size_t k = 0; k < points->n; k++)
        all_covered &= done[k] || !fit_covers(front->fit, &points->items[k]);
    if (front->n > MAX_ALTERNATIVES) front->n = n;
    return all_covered;
}

/* Sets the peak to the maximum of node polynomials if it has this value in all profiles. */
static void fit_peak(const struct fit *fit, struct cm_polynomial *ret) {
    const struct points *points = fit->points;
    struct front front = {.fit = fit,
                          .figure = points->n_modules * points->n_metrics,
                          .peak = points->n_metrics - 1};
    if (!collect_nodes(&front) || !choose(&front)) return;
    struct cm_alternative *list = arena_array(fit->arena, front.n, sizeof(*list));
    if (!list) return;
    for (size_t i = 0; i < front.n; i++) {
        load(&front, i);
        if (!fit_list_terms(fit, &list[i].n_terms, &list[i].terms)) return;
    }
    ret->state = "largest";
    ret->n_alternatives = front.n;
    ret->alternatives = list;
    ret->n_samples = 0;
}

static void count_profiles(const struct fit *fit) {
    struct points *points = fit->points;
    for (size_t k = 0; k < points->n; k++) {
        const struct point *point = &points->items[k];
        if (!fit_covers(fit, point)) continue;
        fit->ret->profiles++;
        fit->ret->checks += !fit->in_grid[k];
        for (size_t i = 0; i < points->n_variables; i++)
            if (point->sizes[i] > points->variables[i].largest)
                points->variables[i].largest = point->sizes[i];
    }
}

static void fit_modules(struct fit *fit) {
    const size_t n = fit->points->n_metrics;
    struct cm_formula_module *modules =
        arena_array(fit->arena, fit->points->n_modules, sizeof(*modules));
    if (!modules) return;
    fit->ret->n_modules = fit->points->n_modules;
    fit->ret->modules = modules;
    for (size_t i = 0; i < fit->ret->n_modules; i++) {
        struct cm_polynomial *polynomials = arena_array(fit->arena, n, sizeof(*polynomials));
        if (!polynomials) return;
        for (size_t k = 0; k < n; k++) fit_figure(fit, i * n + k, &polynomials[k]);
        /* only the root has live bytes per node */
        if (i == 0 && strcmp(polynomials[n - 1].state, "other") == 0)
            fit_peak(fit, &polynomials[n - 1]);
        modules[i].n_polynomials = n;
        modules[i].polynomials = polynomials;
    }
}

int formula_fit(struct points *points, struct cm_formula *ret) {
    struct fit fit = {.points = points, .arena = ret->arena, .ret = ret};
    fit.scratch = arena_new("fit", 0);
    int status = fit.scratch ? choose_axes(&fit) : CM_NO_MEMORY;
    if (status == CM_OK) status = profile_grid(&fit);
    if (status == CM_OK) status = profile_checks(&fit);
    if (status == CM_OK) status = find_grid(&fit);
    if (status == CM_OK) fit_modules(&fit);
    if (status == CM_OK) count_profiles(&fit);
    if (arena_failed(fit.arena)) status = CM_NO_MEMORY;
    return arena_end(fit.scratch, status);
}
