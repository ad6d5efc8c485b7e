/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences that the formats of a verdict share. Names and limits come from files: they are
 * made safe for a terminal here, and each format escapes the sentences. */
#include "report/check/check_report.h"

#include "report/number.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

const struct check_look check_looks[] = {
    /* clang-format off */
    /* state,        what,                                              style,         junit,     level,     github */
    {"regression",   "The model costs more than a limit allows.",       STYLE_WARNING, "failure", "error",   "error"},
    {"ambiguous",    "The measured times overlap: no significant difference.",  STYLE_TITLE,   "skipped", "note",    "warning"},
    {"not-compared", "A value or its reference is unknown.", STYLE_WARNING, "error", "warning", "error"},
    {"pass",         "Within the limit.",                               STYLE_PLAIN,   NULL,      NULL,      NULL},
    /* clang-format on */
};

const size_t check_n_looks = sizeof(check_looks) / sizeof(check_looks[0]);

static const struct {
    const char *name;
    enum number_unit unit;
} units[] = {
    {"elements", NUMBER_PARAMS}, {"MACs", NUMBER_MACS}, {"flops", NUMBER_FLOPS},
    {"bytes", NUMBER_BYTES},     {"ps", NUMBER_TIME},
};

const struct check_look *check_look(const struct cm_verdict *verdict, const char *state) {
    const bool fails = verdict->fail_ambiguous && text_equal(state, "ambiguous");
    const char *as = fails ? "regression" : state;
    for (size_t i = 0; i < check_n_looks; i++)
        if (text_equal(check_looks[i].state, as)) return &check_looks[i];
    return &check_looks[check_n_looks - 1];
}

void check_append_short(struct text *text, const char *unit, int64_t value) {
    if (!is_known(value)) {
        text_append(text, "?");
        return;
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (!text_equal(units[i].name, unit)) continue;
        number_append(text, NUMBERS_PLAIN, units[i].unit, value);
        return;
    }
    number_append_exact(text, value);
}

/* "4.41 GMACs (4,412,112,896)"; below 1000 only "999 MACs"; "?" if unknown */
static void append_figure(struct text *text, const char *unit, int64_t value) {
    check_append_short(text, unit, value);
    if (!is_known(value) || value < 1000) return;
    text_append(text, " (");
    number_append_exact(text, value);
    text_append(text, ")");
}

void check_append_change(struct text *text, int64_t value, int64_t old) {
    if (!is_known(value) || !is_known(old)) return;
    const int64_t by = checked_sub(value, old);
    if (old == 0 && by != 0) {
        text_append(text, "new");
        return;
    }
    if (!is_known(by)) {
        text_append(text, "?%");
        return;
    }
    text_append(text, by < 0 ? "-" : "+");
    number_append_percent(text, by < 0 ? -by : by, old);
}

void check_append_title(struct text *text, const struct cm_check_case *case_) {
    text_append_name(text, case_->limit);
    if (is_known(case_->batch)) text_printf(text, " at batch %lld", (long long)case_->batch);
}

static void append_bounded(struct text *text, const char *unit, int64_t value,
                           bool upper_bound) {
    if (upper_bound) text_append(text, "at most ");
    append_figure(text, unit, value);
}

void check_append_sentence(struct text *text, const struct cm_check_case *case_,
                           const struct cm_check_finding *finding) {
    text_append(text, case_->metric);
    if (finding->path[0] != '\0') {
        text_append(text, " of ");
        text_append_name(text, finding->path);
    }
    text_append(text, " is ");
    append_bounded(text, case_->unit, finding->value, finding->upper_bound);
    if (is_known(finding->old) && finding->old == finding->value &&
        finding->old_upper_bound == finding->upper_bound) {
        text_append(text, ", as before");
    } else if (is_known(finding->old)) {
        text_append(text, ", was ");
        append_bounded(text, case_->unit, finding->old, finding->old_upper_bound);
        text_append(text, ", ");
        check_append_change(text, finding->value, finding->old);
    }
    if (is_known(finding->over)) {
        text_append(text, "; ");
        append_figure(text, case_->unit, finding->over);
        text_append(text, " more than the limit of ");
        append_figure(text, case_->unit, finding->allowed);
    }
    if (finding->because[0] == '\0') return;
    text_append(text, "; ");
    text_append(text, text_equal(finding->state, "not-compared") ? "not compared: "
                      : text_equal(finding->state, "ambiguous")  ? "ambiguous: "
                                                                 : "");
    text_append_name(text, finding->because);
}

void check_append_blame(struct text *text, const struct cm_check_blame *blame) {
    text_append_name(text, blame->path[0] == '\0' ? "(root)" : blame->path);
    text_append(text, blame->by < 0 ? " -" : " +");
    number_append_exact(text, blame->by < 0 ? -blame->by : blame->by);
    if (text_equal(blame->change, "changed")) return;
    text_printf(text, " (%s", blame->change);
    if (text_equal(blame->change, "renamed")) {
        text_append(text, " from ");
        text_append_name(text, blame->was);
    }
    text_append(text, ")");
}

void check_append_findings(struct text *text, const struct cm_check_case *case_) {
    for (size_t i = 0; i < case_->n_findings; i++) {
        if (i > 0) text_append(text, "\n");
        check_append_sentence(text, case_, &case_->findings[i]);
    }
    if (case_->more_findings > 0)
        text_printf(text, "\nand %lld more modules", (long long)case_->more_findings);
}

void check_append_lines(struct text *text, const struct cm_check_case *case_) {
    check_append_findings(text, case_);
    for (size_t i = 0; i < case_->n_blame; i++) {
        text_append(text, "\n  ");
        check_append_blame(text, &case_->blame[i]);
    }
    if (case_->more_blame > 0)
        text_printf(text, "\n  and %lld more", (long long)case_->more_blame);
}

void check_append_against(struct text *text, const struct cm_verdict *verdict) {
    if (verdict->baseline[0] == '\0') {
        text_append(text, "no baseline");
        return;
    }
    text_append(text, "the baseline of ");
    text_append_name(text, verdict->baseline);
}

void check_append_unchecked(struct text *text, const struct cm_verdict *verdict) {
    if (verdict->n_unchecked == 0) return;
    text_append(text, verdict->n_unchecked == 1 ? "batch" : "batches");
    for (size_t i = 0; i < verdict->n_unchecked; i++)
        text_printf(text, "%s %zu", i > 0 ? "," : "", verdict->unchecked[i]);
    text_printf(text, " of the baseline %s not checked",
                verdict->n_unchecked == 1 ? "was" : "were");
}

void check_append_counts(struct text *text, const struct cm_verdict *verdict) {
    text_printf(text, "%lld passed, %lld regression%s", (long long)verdict->passed,
                (long long)verdict->regressions, text_plural(verdict->regressions));
    if (verdict->ambiguous > 0)
        text_printf(text, ", %lld ambiguous", (long long)verdict->ambiguous);
    if (verdict->not_compared > 0)
        text_printf(text, ", %lld not compared", (long long)verdict->not_compared);
    if (verdict->n_unchecked > 0) text_append(text, "; ");
    check_append_unchecked(text, verdict);
}
