/* SPDX-License-Identifier: Apache-2.0 */
/* A change as people read it: signed, in a unit that does not hide it, and what it is of what
 * was there before. */
#ifndef COMPARE_CHANGES_H
#define COMPARE_CHANGES_H

#include "costmodel/compare.h"

struct text;

/* Whether both sides say the same, be it that they do not know. */
bool change_is_none(const struct cm_change *change);

/* How the figures of one metric are written. */
struct change_look {
    enum cm_units units;
    enum cm_unit unit;
    const char *upper_bound; /* what stands before an upper bound: CELL_UPPER_BOUND */
};

/* "14.07 GMACs", "<= 3.0 k", "?" not known, "-" not there. */
void change_append_old(struct text *text, struct change_look look,
                       const struct cm_change *change);
void change_append_new(struct text *text, struct change_look look,
                       const struct cm_change *change);

/* "+4.56 M", "-1", "=", "?". */
void change_append_difference(struct text *text, struct change_look look, int64_t difference);

/* "+17.85%", "+<0.01%", "new" of what was nothing, "gone" of what is not there any more, "?"
 * and
 * "" of no change. */
void change_append_percent(struct text *text, const struct cm_change *change);

/* The same of a part of a change of that metric. A part of an upper bound is one too. */
struct cm_change change_of_blame(const struct cm_diff *diff, const struct cm_blame *blame,
                                 size_t metric);

/*
 * What a row of the diff is, as it stands in the files: "layer1.0.conv1 Conv2d(64 -> 128)",
 * "body -> trunk Body", "added head Sequential, 3 modules". `arrow` stands between old and new.
 * Not safe to print as it is.
 */
void change_append_label(struct text *text, const struct cm_diff *diff, size_t row,
                         const char *arrow);

#endif
