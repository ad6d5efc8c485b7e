/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the formats of a verdict: the style of each state, and sentences on limits. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "costmodel/check.h"

#include "report/page.h"

/* One row per state of cm_check_case. */
struct check_look {
    const char *state;
    const char *what;   /* meaning of the state, a sentence */
    enum style style;   /* style of the state in the text report */
    const char *junit;  /* JUnit element in the test case; NULL: the case passed */
    const char *level;  /* SARIF level; NULL: no result */
    const char *github; /* workflow command; NULL: none */
};

extern const struct check_look check_looks[];
extern const size_t check_n_looks;

/* Returns the row of a state. If fail_ambiguous is set, "ambiguous" has the row of
 * "regression".
 */
const struct check_look *check_look(const struct cm_verdict *verdict, const char *state);

/* Return the number of models of a verdict, and the verdict of one of them. */
size_t check_n_models(const struct cm_verdict *verdict);
const struct cm_verdict *check_model(const struct cm_verdict *verdict, size_t index);

/* Appends "4.41 GMACs"; "?" if unknown. */
void check_append_short(struct text *text, const char *unit, int64_t value);
/* Appends "+7.90%"; "new" if only the old value is 0, nothing if either value is unknown. */
void check_append_change(struct text *text, int64_t value, int64_t old);

/* The following return texts in the arena, with names made safe for a terminal; the last
 * line has no newline. */

/* "macs <= +0% at batch 1" */
const char *check_title(struct arena *arena, const struct cm_check_case *case_);
/* "macs is 4.41 GMACs (4,412,112,896), was 4.09 GMACs (4,089,184,256), +7.90%", followed by
 * the excess over the limit and the reason, if any. */
const char *check_sentence(struct arena *arena, const struct cm_check_case *case_,
                           const struct cm_check_finding *finding);
/* The findings, one per line. */
const char *check_findings(struct arena *arena, const struct cm_check_case *case_);
/* The findings and the blamed modules, one per line. */
const char *check_lines(struct arena *arena, const struct cm_check_case *case_);
/* The change of one module: "layer3.0.conv1 +1,234 (renamed from layer3.0.conv)" */
const char *check_blame(struct arena *arena, const struct cm_check_blame *blame);
/* "batches 8, 32 of the baseline were not checked"; "" if all were */
const char *check_unchecked(struct arena *arena, const struct cm_verdict *verdict);
/* "4 passed, 1 regression; batch 8 of the baseline was not checked" */
const char *check_counts(struct arena *arena, const struct cm_verdict *verdict);
