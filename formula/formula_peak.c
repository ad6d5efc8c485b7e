/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peak is the largest of what is alive at the nodes, and that is a polynomial at each. One
 * whose coefficients are all at most those of another never exceeds it, as sizes are positive:
 * the others are left, few of many thousand. Where they are still many, those are taken that
 * the profiles needed.
 */
#include "formula/formula_fit.h"

#include <string.h>

#include "support/arena.h"
#include "support/checked.h"
#include "support/diag.h"

#include "support/banned.h"

#define MOST_KEPT  64
#define MOST_SHOWN 4

/* Polynomials of nodes, none of which is below another everywhere. */
struct front {
    const struct fit *fit;
    size_t figure; /* of the first node */
    size_t peak;   /* the figure that is the largest of them */
    size_t n;
    wide *numerators[MOST_KEPT];
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

/* Whether the node, which is no polynomial, is ever the one at the peak. */
static bool matters(const struct front *front, size_t figure) {
    for (size_t k = 0; k < front->fit->points->n; k++) {
        const struct point *point = &front->fit->points->items[k];
        if (fit_covers(front->fit, point) &&
            point->values[figure] == point->values[front->peak])
            return true;
    }
    return false;
}

/* *ret_found: every node is dealt with. */
static int take_nodes(struct front *front, bool *ret_found) {
    const struct fit *fit = front->fit;
    const size_t size = fit->interpolation.n_points * sizeof(*fit->numerators);
    *ret_found = true;
    for (size_t i = 0; i < fit->points->model->model->n_nodes && *ret_found; i++) {
        if (fit_interpolate(fit, front->figure + i) != FOUND) {
            *ret_found = !matters(front, front->figure + i);
            continue;
        }
        if (is_below_any(front, fit->numerators)) continue;
        drop_below(front, fit->numerators);
        *ret_found = front->n < MOST_KEPT;
        if (!*ret_found) break;
        wide *copy = arena_copy(fit->scratch, fit->numerators, size);
        if (!copy) return diag_no_memory(fit->points->diag);
        front->numerators[front->n++] = copy;
    }
    return CM_OK;
}

static void load(const struct front *front, size_t index) {
    const struct fit *fit = front->fit;
    memcpy(fit->numerators, front->numerators[index],
           fit->interpolation.n_points * sizeof(*fit->numerators));
}

/* Of the points that no polynomial so far has, how many this one has; marks them on request. */
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

/* Those that have the most points first, until all points are had. *ret_found: they are. */
static int choose(struct front *front, bool *ret_found) {
    const struct points *points = front->fit->points;
    bool *done = arena_array(front->fit->scratch, points->n, sizeof(*done));
    if (!done) return diag_no_memory(points->diag);
    size_t n = 0;
    for (; n < front->n && n < MOST_SHOWN; n++) {
        size_t best = n;
        size_t most = 0;
        for (size_t i = n; i < front->n; i++) {
            const size_t count = count_new(front, i, done, false);
            if (count > most) best = i;
            if (count > most) most = count;
        }
        if (most == 0) break;
        wide *chosen = front->numerators[best];
        front->numerators[best] = front->numerators[n];
        front->numerators[n] = chosen;
        count_new(front, n, done, true);
    }
    *ret_found = true;
    for (size_t k = 0; k < points->n; k++)
        if (!done[k] && fit_covers(front->fit, &points->items[k])) *ret_found = false;
    if (front->n > MOST_SHOWN) front->n = n;
    return CM_OK;
}

static int show(const struct front *front, struct cm_polynomial *ret) {
    struct cm_alternative *alternatives =
        arena_array(front->fit->arena, front->n, sizeof(*alternatives));
    bool large = false;
    if (!alternatives) return diag_no_memory(front->fit->points->diag);
    for (size_t i = 0; i < front->n; i++) {
        load(front, i);
        const int status = fit_take_terms(front->fit, &alternatives[i].n_terms,
                                          &alternatives[i].terms, &large);
        if (status < 0) return status;
    }
    if (large) return CM_OK;
    ret->state = "largest";
    ret->n_alternatives = front->n;
    ret->alternatives = alternatives;
    ret->n_samples = 0;
    return CM_OK;
}

int fit_peak(const struct fit *fit, struct cm_polynomial *ret) {
    const struct points *points = fit->points;
    struct front front = {.fit = fit,
                          .figure = points->n_modules * points->n_metrics,
                          .peak = points->n_metrics - 1};
    bool found = false;
    int status = take_nodes(&front, &found);
    if (status == CM_OK && found) status = choose(&front, &found);
    return status < 0 || !found ? status : show(&front, ret);
}
