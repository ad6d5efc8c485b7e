/* SPDX-License-Identifier: Apache-2.0 */
/* Option parser and help printer, driven by option tables. */
#include "cli/options.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "cli/command.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/suggest.h"
#include "support/text.h"

struct parse {
    const struct option *table;
    const struct invocation *call;
    int next;     /* index of the next argument */
    char *target; /* the struct to fill */
};

/* Iterator over the rows of a table and of the tables that it includes. */
struct walk {
    const struct option *row;   /* NULL past the last */
    const struct option *outer; /* next row after an included table; NULL: not inside one */
    size_t base;                /* offset of the included struct in the target */
};

/* Enters and leaves included tables until there is a row or the end. */
static void walk_settle(struct walk *walk) {
    while (walk->row->name == NULL) {
        if (walk->row->rows != NULL) {
            BUG_ON(walk->outer != NULL);
            *walk = (struct walk){walk->row->rows, walk->row + 1, walk->row->offset};
        } else {
            *walk = (struct walk){walk->outer, NULL, 0};
            if (walk->row == NULL) return;
        }
    }
}

static struct walk walk_begin(const struct option *table) {
    struct walk walk = {table, NULL, 0};
    walk_settle(&walk);
    return walk;
}

static void walk_next(struct walk *walk) {
    walk->row++;
    walk_settle(walk);
}

int options_fault(const struct invocation *call, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int status = diag_verror(call->diag, DIAG_USAGE, format, args);
    va_end(args);
    diag_hint(call->diag, "see costmodel%s%s --help", call->name ? " " : "",
              call->name ? call->name : "");
    return status;
}

/* Appends to a list, whose capacity of argc values is always enough. */
static int append(const struct invocation *call, struct option_list *list, const char *value) {
    if (list->values == NULL) {
        list->values = arena_array(call->arena, (size_t)call->argc, sizeof *list->values);
        if (list->values == NULL) return diag_no_memory(call->diag);
    }
    list->values[list->n++] = value;
    return CM_OK;
}

static int read_integer(const struct parse *parse, const struct option *row, const char *value,
                        int64_t *ret) {
    if (text_to_int64(value, strlen(value), ret) && *ret >= row->min && *ret <= row->max)
        return CM_OK;
    return options_fault(parse->call,
                         "option --%s requires an integer from %" PRId64 " to %" PRId64
                         ", got '%s'",
                         row->name, row->min, row->max, value);
}

/* Parses "1,8,32". */
static int read_integers(const struct parse *parse, const struct option *row, const char *value,
                         struct option_integers *ret) {
    int64_t *values = arena_array(parse->call->arena, MAX_INTEGERS, sizeof *values);
    size_t n = 0;
    if (values == NULL) return diag_no_memory(parse->call->diag);
    for (const char *at = value; at != NULL; n++) {
        const size_t length = strcspn(at, ",");
        if (n == MAX_INTEGERS)
            return options_fault(parse->call, "option --%s takes at most %d values", row->name,
                                 MAX_INTEGERS);
        if (!text_to_int64(at, length, &values[n]) || values[n] < row->min ||
            values[n] > row->max)
            return options_fault(parse->call,
                                 "option --%s requires integers from %" PRId64 " to %" PRId64
                                 ", separated by commas, got '%s'",
                                 row->name, row->min, row->max, value);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    *ret = (struct option_integers){n, values, value};
    return CM_OK;
}

bool options_name_at(const struct option_choice *choices, option_names *names,
                     const struct option_query *query, size_t index,
                     struct option_choice *ret) {
    if (names != NULL) return names(query, index, ret);
    for (size_t i = 0; choices != NULL && choices[i].name != NULL; i++) {
        if (i < index) continue;
        *ret = choices[i];
        return true;
    }
    return false;
}

static bool name_at(const struct option *row, size_t index, struct option_choice *ret) {
    return options_name_at(row->choices, row->names, NULL, index, ret);
}

const char *options_list_names(const struct invocation *call, const struct option *option) {
    struct text names = {.arena = call->arena};
    struct option_choice choice, next;
    for (size_t i = 0; name_at(option, i, &choice); i++) {
        if (i > 0) text_append(&names, name_at(option, i + 1, &next) ? ", " : " or ");
        text_append(&names, choice.name);
    }
    return text_string(&names);
}

/* Sets *ret to the choice with this name, or refuses it and lists the names. */
static int read_choice(const struct parse *parse, const struct option *row, const char *name,
                       size_t length, struct option_choice *ret) {
    for (size_t i = 0; name_at(row, i, ret); i++)
        if (strlen(ret->name) == length && memcmp(ret->name, name, length) == 0) return CM_OK;
    return options_fault(parse->call, "option --%s requires %s, got '%.*s'", row->name,
                         options_list_names(parse->call, row), (int)length, name);
}

int options_split(const struct invocation *call, const char *option, const char *text,
                  size_t *ret_n, const char *const **ret) {
    const char **items = arena_array(call->arena, MAX_ITEMS, sizeof(*items));
    if (items == NULL) return diag_no_memory(call->diag);
    for (const char *at = text; at != NULL; ++*ret_n) {
        const size_t length = strcspn(at, ",");
        if (*ret_n == MAX_ITEMS)
            return options_fault(call, "option --%s takes at most %d values", option,
                                 MAX_ITEMS);
        if (length == 0)
            return options_fault(
                call, "option --%s requires names separated by commas, got '%s'", option, text);
        items[*ret_n] = arena_strndup(call->arena, at, length);
        if (items[*ret_n] == NULL) return diag_no_memory(call->diag);
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    *ret = items;
    return CM_OK;
}

/* Parses "fp32,fp16". */
static int read_choices(const struct parse *parse, const struct option *row, const char *value,
                        struct option_choices *ret) {
    struct option_choices list = {.text = value};
    for (const char *at = value; at != NULL;) {
        const size_t length = strcspn(at, ",");
        struct option_choice choice;
        const int status = read_choice(parse, row, at, length, &choice);
        if (status != CM_OK) return status;
        for (size_t i = 0; i < list.n; i++)
            if (list.values[i] == choice.value)
                return options_fault(parse->call, "option --%s has '%s' twice", row->name,
                                     choice.name);
        BUG_ON(list.n == MAX_CHOICES);
        list.values[list.n++] = choice.value;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    *ret = list;
    return CM_OK;
}

/* Stores the value of an option in the target; kinds that take no value ignore it. */
static int store(const struct parse *parse, const struct walk *at, const char *value) {
    const struct option *row = at->row;
    void *field = parse->target + at->base + row->offset;
    struct option_choice choice;
    int64_t integer = 0;
    int status = CM_OK;
    switch (row->kind) {
    case OPTION_SET:
    case OPTION_UNSET:
        *(bool *)field = row->kind == OPTION_SET;
        return CM_OK;
    case OPTION_INT:
        status = read_integer(parse, row, value, &integer);
        if (status == CM_OK) *(int *)field = (int)integer;
        return status;
    case OPTION_INT64:
        return read_integer(parse, row, value, field);
    case OPTION_INT64S:
        return read_integers(parse, row, value, field);
    case OPTION_BYTES:
        if (text_to_bytes(value, field) && *(const int64_t *)field > 0) return CM_OK;
        return options_fault(
            parse->call, "option --%s requires a size such as 16GiB, 1.5GB or 512MiB, got '%s'",
            row->name, value);
    case OPTION_REAL:
        if (text_to_real(value, field) && *(const double *)field >= 0 &&
            *(const double *)field <= (double)row->max)
            return CM_OK;
        return options_fault(parse->call,
                             "option --%s requires a number from 0 to %" PRId64 ", got '%s'",
                             row->name, row->max, value);
    case OPTION_CHOICE:
        status = read_choice(parse, row, value, strlen(value), &choice);
        if (status == CM_OK) *(int *)field = choice.value;
        return status;
    case OPTION_CHOICES:
        return read_choices(parse, row, value, field);
    case OPTION_NAME:
        status = read_choice(parse, row, value, strlen(value), &choice);
        if (status == CM_OK) *(const char **)field = value;
        return status;
    case OPTION_TEXT:
        *(const char **)field = value;
        return CM_OK;
    case OPTION_LIST:
        return append(parse->call, field, value);
    }
    BUG("a kind of option without a rule");
}

/* Stores the option's value: `attached` (from --name=VALUE; NULL: none) or the next argument.
 * An argument that starts with two dashes is the next option, not a value. */
static int store_value(struct parse *parse, const struct walk *at, const char *attached) {
    const struct invocation *call = parse->call;
    const struct option *row = at->row;
    if (row->value == NULL && attached != NULL)
        return options_fault(call, "option --%s takes no value, got '%s'", row->name, attached);
    if (row->value == NULL) return store(parse, at, "");
    if (row->alone != NULL && attached == NULL) return store(parse, at, row->alone);
    if (attached == NULL && parse->next < call->argc &&
        !text_starts_with(call->argv[parse->next], "--"))
        attached = call->argv[parse->next++];
    if (attached == NULL || attached[0] == '\0')
        return options_fault(call, "option --%s requires a value: %s", row->name, row->value);
    return store(parse, at, attached);
}

/* Returns the option whose name is the `length` bytes, or that has the letter; without a row,
 * *ret_near is a similar name, or NULL. */
static struct walk find(const struct option *table, const char *name, size_t length,
                        char letter, const char **ret_near) {
    struct suggestion suggestion;
    struct walk at = walk_begin(table);
    suggest_init(&suggestion, name, length);
    for (; at.row != NULL; walk_next(&at)) {
        if (letter != '\0' && at.row->letter == letter) break;
        if (strlen(at.row->name) == length && memcmp(at.row->name, name, length) == 0) break;
        if (!at.row->hidden) suggest_offer(&suggestion, at.row->name);
    }
    *ret_near = suggestion.best;
    return at;
}

const struct option *options_find(const struct option *table, const char *name, size_t length,
                                  char letter, const char **ret_near) {
    return find(table, name, length, letter, ret_near).row;
}

static int parse_long(struct parse *parse, const char *name) {
    const size_t length = strcspn(name, "=");
    const char *near = NULL;
    struct walk at = find(parse->table, name, length, '\0', &near);
    if (at.row != NULL)
        return store_value(parse, &at, name[length] == '=' ? name + length + 1 : NULL);
    if (near == NULL)
        return options_fault(parse->call, "unknown option '--%.*s'", (int)length, name);
    return options_fault(parse->call, "unknown option '--%.*s', did you mean '--%s'?",
                         (int)length, name, near);
}

static int parse_letter(struct parse *parse, const char *letters) {
    const char *near = NULL;
    const struct walk at = find(parse->table, "", 0, letters[0], &near);
    if (at.row == NULL) return options_fault(parse->call, "unknown option '-%s'", letters);
    return store_value(parse, &at, letters[1] == '\0' ? NULL : letters + 1);
}

int options_parse(const struct option *table, const struct invocation *call, void *target,
                  struct option_list *operands) {
    struct parse parse = {.table = table, .call = call, .target = target};
    bool ended = false; /* `--` was seen */
    while (parse.next < call->argc) {
        const char *argument = call->argv[parse.next++];
        int status = CM_OK;
        if (ended || argument[0] != '-' || argument[1] == '\0')
            status = append(call, operands, argument);
        else if (argument[1] != '-')
            status = parse_letter(&parse, argument + 1);
        else if (argument[2] != '\0')
            status = parse_long(&parse, argument + 2);
        else
            ended = true;
        if (status != CM_OK) return status;
    }
    return CM_OK;
}

static bool differs(const struct option *row, const char *target, const char *defaults) {
    const void *have = target + row->offset;
    const void *was = defaults + row->offset;
    switch (row->kind) {
    case OPTION_SET:
    case OPTION_UNSET:
        return *(const bool *)have != *(const bool *)was;
    case OPTION_INT:
    case OPTION_CHOICE:
        return *(const int *)have != *(const int *)was;
    case OPTION_INT64:
    case OPTION_BYTES:
        return *(const int64_t *)have != *(const int64_t *)was;
    case OPTION_REAL:
        return memcmp(have, was, sizeof(double)) != 0;
    case OPTION_CHOICES: {
        const struct option_choices *list = have;
        const struct option_choices *before = was;
        return list->n != before->n ||
               memcmp(list->values, before->values, list->n * sizeof(list->values[0])) != 0;
    }
    case OPTION_INT64S:
        return ((const struct option_integers *)have)->n > 0;
    case OPTION_NAME:
    case OPTION_TEXT:
        return !text_equal(*(const char *const *)have, *(const char *const *)was);
    case OPTION_LIST:
        return ((const struct option_list *)have)->n != ((const struct option_list *)was)->n;
    }
    BUG("a kind of option without a rule");
}

const char *options_changed(const struct option *table, const void *target,
                            const void *defaults, unsigned rules) {
    for (struct walk walk = walk_begin(table); walk.row != NULL; walk_next(&walk)) {
        if (rules != 0 && (walk.row->rules & rules) == 0) continue;
        const char *have = (const char *)target + walk.base;
        if (differs(walk.row, have, (const char *)defaults + walk.base)) return walk.row->name;
    }
    return NULL;
}

void options_visit(const struct option *table,
                   void (*visit)(const struct option *option, const void *context),
                   const void *context) {
    for (struct walk walk = walk_begin(table); walk.row != NULL; walk_next(&walk))
        visit(walk.row, context);
}

#define HELP_COLUMN 28
#define HELP_WIDTH  102

bool options_describe_name(const struct option *option, size_t index, char *ret, size_t size) {
    const bool has_names = option->kind == OPTION_NAME || option->kind == OPTION_CHOICE ||
                           option->kind == OPTION_CHOICES;
    struct option_choice choice, next;
    if (!has_names || !name_at(option, index, &choice)) return false;
    const bool is_last = !name_at(option, index + 1, &next);
    const char *separator = is_last ? "" : name_at(option, index + 2, &next) ? "," : " or";
    const char *about = choice.about && !option->brief ? choice.about : "";
    snprintf(ret, size, about[0] ? "%s (%s)%s" : "%s%s%s", choice.name, about, separator);
    return true;
}

/* Prints the names of the values, folded between words. */
static void help_names(const struct option *row, FILE *out) {
    char item[OPTION_ITEM];
    if (!options_describe_name(row, 0, item, sizeof item)) return;
    int column = fprintf(out, "%*s", HELP_COLUMN, "");
    for (size_t i = 0; options_describe_name(row, i, item, sizeof item); i++) {
        for (const char *word = item; *word != '\0';) {
            const size_t length = strcspn(word, " ");
            if (column + 1 + (int)length > HELP_WIDTH) {
                fprintf(out, "\n%*s", HELP_COLUMN, "");
                column = HELP_COLUMN;
            }
            column +=
                fprintf(out, "%s%.*s", column > HELP_COLUMN ? " " : "", (int)length, word);
            word += length + strspn(word + length, " ");
        }
    }
    fputc('\n', out);
}

static void help_row(const struct option *row, FILE *out) {
    char letter[8] = "    ";
    if (row->letter != '\0') snprintf(letter, sizeof letter, "-%c, ", row->letter);
    const char *value = row->value == NULL ? "" : row->value;
    int column = row->alone != NULL ? fprintf(out, "  %s--%s[=%s]", letter, row->name, value)
                                    : fprintf(out, "  %s--%s%s%s", letter, row->name,
                                              value[0] == '\0' ? "" : " ", value);
    for (const char *line = row->help; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        if (column > HELP_COLUMN - 2) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%*s%.*s\n", HELP_COLUMN - column, "", (int)length, line);
        column = 0;
        line += line[length] == '\n' ? length + 1 : length;
    }
    help_names(row, out);
}

void options_help_common(const struct option *table, FILE *out) {
    for (struct walk walk = walk_begin(table); walk.row != NULL; walk_next(&walk))
        if (walk.row->common) help_row(walk.row, out);
}

void options_help(const struct option *table, FILE *out) {
    for (struct walk walk = walk_begin(table); walk.row != NULL; walk_next(&walk)) {
        if (walk.row->heading != NULL) fprintf(out, "\n%s:\n", walk.row->heading);
        if (!walk.row->hidden) help_row(walk.row, out);
    }
}
