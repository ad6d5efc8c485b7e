/* SPDX-License-Identifier: Apache-2.0 */
/* One figure held against one limit. */
#ifndef COMPARE_JUDGE_H
#define COMPARE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "compare/limit.h"
#include "costmodel/check.h"

/* From the best to the worst: of bounds the best counts, of findings the worst. */
enum judgement { JUDGED_PASS, JUDGED_AMBIGUOUS, JUDGED_NOT_COMPARED, JUDGED_REGRESSION };

/* A figure lies between two, which are equal unless it was measured. */
struct range {
    int64_t value; /* CM_UNKNOWN: it is not known */
    int64_t low;
    int64_t high;
    bool upper_bound; /* all of them are upper bounds */
};

/* What there is to be judged. */
struct figure {
    struct range now;
    struct range old;     /* the baseline's; value CM_UNKNOWN: there is none, for `no_old` */
    const char *no_value; /* why it is not known, or only in part; NULL: it is known */
    const char *no_old;
    const char *doubt; /* why it says little: nothing is sure of it; NULL */
    bool bounds_count; /* an upper bound is taken for the figure */
};

/* The finding but for its path. */
enum judgement judge(const struct limit *limit, const struct figure *figure,
                     struct cm_check_finding *ret);

/* "pass", "ambiguous", "not-compared", "regression" */
const char *judgement_name(enum judgement judgement);

#endif
