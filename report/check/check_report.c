/* SPDX-License-Identifier: Apache-2.0 */
/* The sentences that all formats of a verdict share. Names and limits come from files, so they
 * are made safe for a terminal here; each format then escapes the sentences for its syntax. */
#include "report/check/check_report.h"

#include "support/checked.h"
#include "support/text.h"

const struct check_look check_looks[] = {
    /* clang-format off */
    /* state,        what,                                              style,         junit,     level,     github */
    {"regression",   "The model costs more than a limit allows.",       STYLE_WARNING, "failure", "error",   "error"},
    {"ambiguous",    "The measured times may be on either side of the limit.",  STYLE_WARNING, "error",   "warning", "error"},
    {"not-compared", "A value or its reference is unknown.", STYLE_WARNING, "error", "warning", "error"},
    {"waived",       "A waiver accepts that the model costs more than the limit allows.", STYLE_WARNING, "skipped", "note", "warning"},
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

size_t check_n_models(const struct cm_verdict *verdict) {
    return verdict->n_models == 0 ? 1 : verdict->n_models;
}

const struct cm_verdict *check_model(const struct cm_verdict *verdict, size_t index) {
    return verdict->n_models == 0 ? verdict : &verdict->models[index];
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

/* Returns "at most 4.41 GMACs (4,412,112,896)"; below 1000 only "999 MACs"; "?" if unknown */
static const char *figure(struct arena *arena, const char *unit, int64_t value,
                          bool upper_bound) {
    struct text text = {.arena = arena};
    if (upper_bound) text_append(&text, "at most ");
    check_append_short(&text, unit, value);
    if (is_known(value) && value >= 1000) {
        text_append(&text, " (");
        number_append_exact(&text, value);
        text_append(&text, ")");
    }
    return text_string(&text);
}

void check_append_change(struct text *text, int64_t value, int64_t old) {
    if (!is_known(value) || !is_known(old)) return;
    const int64_t by = checked_sub(value, old);
    if (!is_known(by) || (old == 0 && by != 0)) {
        text_append(text, is_known(by) ? "new" : "?%");
        return;
    }
    text_append(text, by < 0 ? "-" : "+");
    number_append_percent(text, by < 0 ? -by : by, old);
}

const char *check_title(struct arena *arena, const struct cm_check_case *case_) {
    struct text text = {.arena = arena};
    text_append_name(&text, case_->limit);
    if (is_known(case_->batch)) text_printf(&text, " at batch %lld", (long long)case_->batch);
    return text_string(&text);
}

const char *check_sentence(struct arena *arena, const struct cm_check_case *case_,
                           const struct cm_check_finding *finding) {
    const char *unit = case_->unit;
    struct text text = {.arena = arena};
    if (case_->metric[0] == '\0') return text_name(arena, finding->because); /* no profile */
    text_printf(&text, "%s%s%s is %s", case_->metric, finding->path[0] == '\0' ? "" : " of ",
                text_name(arena, finding->path),
                figure(arena, unit, finding->value, finding->upper_bound));
    if (is_known(finding->old) && finding->old == finding->value &&
        finding->old_upper_bound == finding->upper_bound) {
        text_append(&text, ", as before");
    } else if (is_known(finding->old)) {
        text_printf(&text, ", was %s, ",
                    figure(arena, unit, finding->old, finding->old_upper_bound));
        check_append_change(&text, finding->value, finding->old);
    }
    if (is_known(finding->over))
        text_printf(&text, "; %s more than the limit of %s",
                    figure(arena, unit, finding->over, false),
                    figure(arena, unit, finding->allowed, false));
    if (finding->because[0] != '\0')
        text_printf(&text, "; %s%s",
                    text_equal(finding->state, "not-compared") ? "not compared: "
                    : text_equal(finding->state, "ambiguous")  ? "ambiguous: "
                                                               : "",
                    text_name(arena, finding->because));
    return text_string(&text);
}

const char *check_blame(struct arena *arena, const struct cm_check_blame *blame) {
    const bool is_renamed = text_equal(blame->change, "renamed");
    struct text text = {.arena = arena};
    text_printf(&text, "%s %c",
                blame->path[0] == '\0' ? "(root)" : text_name(arena, blame->path),
                blame->by < 0 ? '-' : '+');
    number_append_exact(&text, blame->by < 0 ? -blame->by : blame->by);
    if (!text_equal(blame->change, "changed"))
        text_printf(&text, " (%s%s%s)", blame->change, is_renamed ? " from " : "",
                    is_renamed ? text_name(arena, blame->was) : "");
    return text_string(&text);
}

const char *check_findings(struct arena *arena, const struct cm_check_case *case_) {
    struct text text = {.arena = arena};
    for (size_t i = 0; i < case_->n_findings; i++)
        text_printf(&text, "%s%s", i > 0 ? "\n" : "",
                    check_sentence(arena, case_, &case_->findings[i]));
    if (case_->more_findings > 0)
        text_printf(&text, "\nand %lld more modules", (long long)case_->more_findings);
    return text_string(&text);
}

const char *check_lines(struct arena *arena, const struct cm_check_case *case_) {
    struct text text = {.arena = arena};
    text_append(&text, check_findings(arena, case_));
    for (size_t i = 0; i < case_->n_blame; i++)
        text_printf(&text, "\n  %s", check_blame(arena, &case_->blame[i]));
    if (case_->more_blame > 0)
        text_printf(&text, "\n  and %lld more", (long long)case_->more_blame);
    return text_string(&text);
}

const char *check_unchecked(struct arena *arena, const struct cm_verdict *verdict) {
    const bool is_one = verdict->n_unchecked == 1;
    struct text text = {.arena = arena};
    if (verdict->n_unchecked == 0) return "";
    text_append(&text, is_one ? "batch" : "batches");
    for (size_t i = 0; i < verdict->n_unchecked; i++)
        text_printf(&text, "%s %zu", i > 0 ? "," : "", verdict->unchecked[i]);
    text_printf(&text, " of the baseline %s not checked", is_one ? "was" : "were");
    return text_string(&text);
}

const char *check_counts(struct arena *arena, const struct cm_verdict *verdict) {
    struct text text = {.arena = arena};
    text_printf(&text, "%lld passed, %lld regression%s", (long long)verdict->passed,
                (long long)verdict->regressions, text_plural(verdict->regressions));
    if (verdict->waived > 0) text_printf(&text, ", %lld waived", (long long)verdict->waived);
    if (verdict->ambiguous > 0)
        text_printf(&text, ", %lld ambiguous", (long long)verdict->ambiguous);
    if (verdict->not_compared > 0)
        text_printf(&text, ", %lld not compared", (long long)verdict->not_compared);
    if (verdict->n_unchecked > 0) text_printf(&text, "; %s", check_unchecked(arena, verdict));
    return text_string(&text);
}
