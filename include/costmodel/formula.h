/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of a model as formulas: exact polynomials in the batch and the symbolic dims, fitted to
 * profiles and verified against further profiles. Plain data, as in result.h.
 */
#ifndef COSTMODEL_FORMULA_H
#define COSTMODEL_FORMULA_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/result.h"

/* A variable; formulas are valid at from, from + step, from + 2 step, ... */
struct cm_formula_variable {
    const char *name;    /* "N" for the batch, else the name of the dim */
    const char *what;    /* "batch", "dim" */
    const char *dim;     /* name of the symbolic dim in the file; "": an unnamed batch dim */
    const char *same_as; /* an equal variable that replaces this one in the formulas; "" */
    int64_t from;
    int64_t step;
    int64_t largest; /* largest profiled value */
};

/* A term: numerator / denominator * product of variable[i] ^ exponents[i]. */
struct cm_monomial {
    size_t n_exponents; /* one per variable */
    const size_t *exponents;
    int64_t numerator;
    int64_t denominator; /* > 0 */
};

/* The value at one assignment of the variables. */
struct cm_sample {
    size_t n_sizes;
    const size_t *sizes; /* one per variable */
    int64_t value;
};

struct cm_alternative {
    size_t n_terms;
    const struct cm_monomial *terms;
};

struct cm_polynomial {
    const char *metric; /* key as in a profile: "macs" */
    /*
     * "polynomial": in every profile the value is the sum of `terms`. "largest": it is the
     * maximum of `alternatives` (a peak moves from node to node). "other": neither; see
     * `samples`. "unknown": the value is unknown. "large": the value exceeds 2^63.
     */
    const char *state;
    size_t n_terms;
    const struct cm_monomial *terms; /* highest degree first; none: 0 */
    size_t n_alternatives;
    const struct cm_alternative *alternatives;
    size_t n_samples;
    const struct cm_sample *samples;
};

struct cm_formula_module {
    const char *path; /* as in cm_module */
    const char *name;
    const char *type;
    int depth;
    size_t n_polynomials;
    const struct cm_polynomial *polynomials;
};

struct cm_formula {
    const char *model; /* path */
    const char *convention;
    const char *precision; /* NULL: as in the file */
    const char *mode;
    const char *fixed_batch; /* why the batch is not a variable; "": it is one, or was given */
    size_t n_variables;
    const struct cm_formula_variable *variables;
    size_t n_dims;
    const struct cm_named_size *dims; /* bound symbolic dims and their sizes */
    int64_t profiles;                 /* number of profiles */
    int64_t checks;                   /* of these, used only for verification */
    size_t n_modules;
    const struct cm_formula_module *modules; /* [0]: the model; children included */
    void *arena;                             /* private */
};

#endif
