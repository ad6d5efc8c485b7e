/* SPDX-License-Identifier: Apache-2.0 */
/* Judges one value against one limit. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "compare/limit.h"
#include "costmodel/check.h"

/* Best first. A limit has the best of its bounds, a case the worst of its findings. */
enum judgement {
    JUDGED_PASS,
    JUDGED_WAIVED, /* of a case whose regression a waiver accepts; judge does not return it */
    JUDGED_AMBIGUOUS,
    JUDGED_NOT_COMPARED,
    JUDGED_REGRESSION,
};

/* A value with its spread; low == value == high unless it was measured. */
struct range {
    int64_t value; /* CM_UNKNOWN: unknown */
    int64_t low;
    int64_t high;
    bool upper_bound; /* value, low and high are upper bounds */
};

/* A value to be judged, and the baseline value. */
struct figure {
    struct range now;
    struct range old;     /* baseline; value CM_UNKNOWN: none, see `no_old` */
    const char *no_value; /* why the value is unknown or a partial sum; NULL: it is known */
    const char *no_old;   /* why there is no baseline value; NULL: there is one */
    const char *doubt;    /* why the times are unreliable; NULL: reliable */
    bool bounds_count;    /* upper bounds count as values */
};

/* Judges a value; sets all members of *ret but the path. */
enum judgement judge(const struct limit *limit, const struct figure *figure,
                     struct cm_check_finding *ret);

/* Returns "pass", "waived", "ambiguous", "not-compared" or "regression". */
const char *judgement_name(enum judgement judgement);
