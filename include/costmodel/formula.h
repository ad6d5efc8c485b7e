/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a model costs as formulas: each figure a polynomial in the batch and the free dims,
 * exact, found from profiles and checked against others. Plain data, as result.h.
 */
#ifndef COSTMODEL_FORMULA_H
#define COSTMODEL_FORMULA_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/result.h"

/* The formulas hold where each variable is `from`, from + step, from + 2 step ... */
struct cm_formula_variable {
    const char *name;    /* "N" the batch, else the dim's */
    const char *what;    /* "batch", "dim" */
    const char *dim;     /* the file's name for it; "" of a batch that has none */
    const char *same_as; /* the variable that it always equals, which stands for both; "" */
    int64_t from;
    int64_t step;
    int64_t largest; /* that a profile was taken at */
};

/* numerator / denominator * product of variables to their exponents. */
struct cm_monomial {
    size_t n_exponents; /* one for each variable */
    const size_t *exponents;
    int64_t numerator;
    int64_t denominator; /* > 0; 1 mostly */
};

/* A figure at one choice of sizes. */
struct cm_sample {
    size_t n_sizes;
    const size_t *sizes; /* of the variables */
    int64_t value;
};

struct cm_alternative {
    size_t n_terms;
    const struct cm_monomial *terms;
};

struct cm_polynomial {
    const char *metric; /* "macs", as in a profile */
    /*
     * "polynomial": terms; it has the value of every profile that was taken. "largest": the
     * largest of the alternatives has, as a peak is what is alive at one node here and at
     * another one there. "other": neither, samples show it. "unknown": the file does not say.
     * "large": past 2^63.
     */
    const char *state;
    size_t n_terms;
    const struct cm_monomial *terms; /* the highest degree first; none: 0 */
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
    const char *mode;
    const char *fixed_batch; /* why the batch is no variable; "" it is one, or was given */
    size_t n_variables;
    const struct cm_formula_variable *variables;
    size_t n_dims;
    const struct cm_named_size *dims; /* that were bound, and to what */
    int64_t profiles;                 /* that were taken */
    int64_t checks;                   /* of them: that no formula was made from */
    size_t n_modules;
    const struct cm_formula_module *modules; /* the first is the model, children included */
    void *arena;                             /* the library's */
};

#endif
