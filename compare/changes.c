/* SPDX-License-Identifier: Apache-2.0 */
#include "compare/changes.h"

#include <inttypes.h>
#include <string.h>

#include "compare/view.h"
#include "report/number.h"
#include "support/checked.h"
#include "support/text.h"

#include "support/banned.h"

bool change_is_none(const struct cm_change *change) {
    return change->in_old == change->in_new && change->old_value == change->new_value &&
           change->old_upper_bound == change->new_upper_bound;
}

static const enum number_unit unit_names[] = {
    [CM_UNIT_ELEMENTS] = NUMBER_PARAMS, [CM_UNIT_MACS] = NUMBER_MACS,
    [CM_UNIT_FLOPS] = NUMBER_FLOPS,     [CM_UNIT_BYTES] = NUMBER_BYTES,
    [CM_UNIT_PS] = NUMBER_TIME,
};

static const enum number_units scales[] = {
    [CM_UNITS_AUTO] = NUMBERS_PLAIN,
    [CM_UNITS_EXACT] = NUMBERS_EXACT,
    [CM_UNITS_SI] = NUMBERS_SI,
    [CM_UNITS_BINARY] = NUMBERS_BINARY,
};

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value; /* what is known is above INT64_MIN */
}

static void append_value(struct text *text, struct change_look look, int64_t value) {
    if (is_known(value) && value < 0) text_append(text, "-");
    number_append(text, scales[look.units], unit_names[look.unit],
                  is_known(value) ? magnitude(value) : value);
}

static void append_side(struct text *text, struct change_look look, bool is_there,
                        struct cm_figure figure) {
    if (!is_there) {
        text_append(text, "-");
        return;
    }
    if (figure.upper_bound && is_known(figure.value)) text_append(text, look.upper_bound);
    append_value(text, look, figure.value);
}

void change_append_old(struct text *text, struct change_look look,
                       const struct cm_change *change) {
    append_side(text, look, change->in_old,
                (struct cm_figure){change->old_value, change->old_upper_bound});
}

void change_append_new(struct text *text, struct change_look look,
                       const struct cm_change *change) {
    append_side(text, look, change->in_new,
                (struct cm_figure){change->new_value, change->new_upper_bound});
}

void change_append_difference(struct text *text, struct change_look look, int64_t difference) {
    if (difference == 0) {
        text_append(text, "=");
        return;
    }
    if (is_known(difference) && difference > 0) text_append(text, "+");
    append_value(text, look, difference);
}

#define HUGE_RATIO 1000000 /* where number_append_percent gives up */

static void append_share(struct text *text, int64_t part, int64_t whole) {
    if (part / whole >= HUGE_RATIO)
        text_append(text, ">99999999%");
    else if (part < whole / 20000)
        text_append(text, "<0.01%");
    else
        number_append_percent(text, part, whole);
}

void change_append_percent(struct text *text, const struct cm_change *change) {
    const int64_t difference = change->difference;
    if (!is_known(difference)) {
        text_append(text, "?");
    } else if (!change->in_old && change->in_new) {
        text_append(text, "new");
    } else if (change->in_old && !change->in_new) {
        text_append(text, "gone");
    } else if (difference != 0 && change->old_value == 0) {
        text_append(text, "new");
    } else if (difference != 0) {
        text_append(text, difference < 0 ? "-" : "+");
        append_share(text, magnitude(difference), magnitude(change->old_value));
    }
}

struct cm_change change_of_blame(const struct cm_diff *diff, const struct cm_blame *blame,
                                 size_t metric) {
    const struct cm_diff_module *row = &diff->modules[blame->module];
    const struct cm_change all = cm_diff_of_module(diff, blame->module, metric);
    return (struct cm_change){
        .in_old = row->old_module != CM_NO_INDEX,
        .in_new = row->new_module != CM_NO_INDEX,
        .old_value = blame->old_value,
        .new_value = blame->new_value,
        .difference = blame->difference,
        .old_upper_bound = all.old_upper_bound,
        .new_upper_bound = all.new_upper_bound,
    };
}

/* Up to the next ", " that stands in no bracket. */
static size_t argument_length(const char *arguments) {
    size_t depth = 0;
    size_t length = 0;
    for (; arguments[length] != '\0'; length++) {
        const char c = arguments[length];
        if (c == '(' || c == '[' || c == '{') depth++;
        if ((c == ')' || c == ']' || c == '}') && depth > 0) depth--;
        if (depth == 0 && c == ',' && arguments[length + 1] == ' ') break;
    }
    return length;
}

static const char *next_argument(const char *arguments) {
    arguments += argument_length(arguments);
    return *arguments == '\0' ? arguments : arguments + strlen(", ");
}

static size_t count_arguments(const char *arguments) {
    size_t n = 0;
    for (; *arguments != '\0'; arguments = next_argument(arguments)) n++;
    return n;
}

/* "stride=(2, 2)" has a name as long as "stride=", "64" none. */
static size_t argument_name_length(const char *argument, size_t length) {
    const char *equals = memchr(argument, '=', length);
    return equals ? (size_t)(equals - argument) + 1 : 0;
}

/* "64 -> 128", "stride=(1, 1) -> (2, 2)". */
static void append_argument(struct text *text, const char *was, const char *is,
                            const char *arrow) {
    const size_t old_length = argument_length(was);
    const size_t new_length = argument_length(is);
    size_t name = argument_name_length(was, old_length);
    if (name > new_length || memcmp(was, is, name) != 0) name = 0;
    text_append_n(text, was, old_length);
    text_printf(text, " %s ", arrow);
    text_append_n(text, is + name, new_length - name);
}

/* Only those that differ, where one may stand for the other. */
static void append_arguments(struct text *text, const char *was, const char *is,
                             const char *arrow) {
    const char *between = "";
    if (count_arguments(was) != count_arguments(is)) {
        text_printf(text, "%s %s %s", was[0] == '\0' ? "none" : was, arrow,
                    is[0] == '\0' ? "none" : is);
        return;
    }
    for (; *was != '\0'; was = next_argument(was), is = next_argument(is)) {
        const size_t length = argument_length(was);
        if (length == argument_length(is) && memcmp(was, is, length) == 0) continue;
        text_append(text, between);
        append_argument(text, was, is, arrow);
        between = ", ";
    }
}

static const char *path_of(const struct cm_module *module) {
    return module->path[0] == '\0' ? "(model)" : module->path;
}

/* The class, where it is more than the name once more. */
static void append_class(struct text *text, const struct cm_module *module) {
    if (module->type_known) text_printf(text, " %s", module->type);
}

static void append_rework(struct text *text, const struct cm_module *was,
                          const struct cm_module *is, const char *arrow) {
    append_class(text, was);
    if (was->type_known != is->type_known ||
        (is->type_known && !text_equal(was->type, is->type))) {
        text_printf(text, " %s", arrow);
        append_class(text, is);
        if (!is->type_known) text_append(text, " ?");
    }
    if (text_equal(was->arguments, is->arguments)) return;
    text_append(text, "(");
    append_arguments(text, was->arguments, is->arguments, arrow);
    text_append(text, ")");
}

void change_append_label(struct text *text, const struct cm_diff *diff, size_t index,
                         const char *arrow) {
    const struct cm_diff_module *row = &diff->modules[index];
    const struct cm_module *module = view_module_of(diff, index);
    if (row->status == CM_DIFF_ADDED || row->status == CM_DIFF_REMOVED) {
        const size_t inside = view_inside(diff, index);
        text_append(text, row->status == CM_DIFF_ADDED ? "added " : "removed ");
        text_append(text, path_of(module));
        append_class(text, module);
        if (inside > 1) text_printf(text, ", %zu modules", inside);
        return;
    }
    const struct cm_module *was = view_old_module_of(diff, index);
    if (row->status == CM_DIFF_RENAMED) text_printf(text, "%s %s ", path_of(was), arrow);
    text_append(text, path_of(module));
    if (row->reworked)
        append_rework(text, was, module, arrow);
    else
        append_class(text, module);
}
