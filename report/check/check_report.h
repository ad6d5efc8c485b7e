/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats of a verdict share: how a state looks in each, and figures as sentences. */
#ifndef REPORT_CHECK_CHECK_REPORT_H
#define REPORT_CHECK_CHECK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/check.h"

#include "report/style.h"

struct text;

/* One row a state of cm_check_case. */
struct check_look {
    const char *state;
    const char *what;   /* a sentence */
    enum style style;   /* of text */
    const char *junit;  /* element of a test case; NULL: it passed */
    const char *level;  /* of SARIF; NULL: no finding */
    const char *github; /* workflow command; NULL: none */
};

extern const struct check_look check_looks[];
extern const size_t check_n_looks;

/* An ambiguous case is a regression where the verdict says so. */
const struct check_look *check_look(const struct cm_verdict *verdict, const char *state);

/* "4.41 GMACs (4,412,112,896)"; short: "4.41 GMACs"; "?" */
void check_append_figure(struct text *text, const char *unit, int64_t value);
void check_append_short(struct text *text, const char *unit, int64_t value);
/* "+7.90%", "new" where nothing was before; "" where one of the two is not known. */
void check_append_change(struct text *text, int64_t value, int64_t old);
/* "macs <= +0% at batch 1", names made safe. */
void check_append_title(struct text *text, const struct cm_check_case *case_);
/* One line: what it is, what it may be, and why it is not a pass. */
void check_append_sentence(struct text *text, const struct cm_check_case *case_,
                           const struct cm_check_finding *finding);
/* The sentences of all its findings and whom it blames, a line each, without a last newline. */
void check_append_lines(struct text *text, const struct cm_check_case *case_);
/* "layer3.0.conv1 +1,234 (was layer3.0.conv)" */
void check_append_blame(struct text *text, const struct cm_check_blame *blame);
/* "the baseline of resnet50.onnx", "no baseline" */
void check_append_against(struct text *text, const struct cm_verdict *verdict);
/* "batches 8, 32 of the baseline were not checked"; "" all were */
void check_append_unchecked(struct text *text, const struct cm_verdict *verdict);
/* "4 passed, 1 regression; batch 8 of the baseline was not checked" */
void check_append_counts(struct text *text, const struct cm_verdict *verdict);

#endif
