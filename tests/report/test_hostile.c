/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes hostile names of modules and nodes through every writer: for a terminal, a
 * spreadsheet, a page of Markdown or HTML, a diagram, a flame graph. Any file may contain them.
 */
#include "fixture.h"
#include "report/report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/text.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {
    "\033]0;title\007\033[2J",
    "a\"b'c\\d\\\"",
    "a|b\\|c`d``e",
    "<script>alert(1)</script>&amp;",
    "line\nline\r\n# head\t",
    "=cmd()",
    "+1",
    "-1+1",
    "@sum(A1)",
    "\t=1",
    "\r=1",
    "a;b c",
    "\xe9\xff broken",
    "\xe2\x80\xae"
    "drawkcab",
    "[x](javascript:y) ![z](u) *b*",
    "--> m0; subgraph end %% click",
    " leading and trailing ",
    "\x7f\xc2\x9b"
    "31m",
    "",
    "a,b",
    "\\N\\G\n\"];",
    "#35;#quot;",
    "::error file=a::forged",
    " ::error::forged",
    "\n::error::forged",
    "##[error]forged",
    "\xef\xbb\xbfin\xe2\x80\x8bvisible",
};

/* A root with one module per name; each module has one node. */
struct hostile {
    struct cm_module modules[N(names) + 1];
    struct cm_node nodes[N(names)];
    size_t children[N(names)];
    struct cm_sweep_row rows[N(names)];
    struct cm_layer_time times[N(names)];
    struct cm_sweep_layer layers[N(names)];
    struct cm_name_count custom[N(names)];
    struct cm_diagnostic notes[N(names)];
    struct cm_result result;
    struct cm_sweep sweep;
};

static const struct cm_value output = {
    "y", {.kind = CM_TYPE_TENSOR, .dtype = "=\"|<", .rank = 0}, 4};

static void make(struct hostile *ret) {
    memset(ret, 0, sizeof(*ret));
    ret->modules[0] = (struct cm_module){.path = "",
                                         .name = names[0],
                                         .type = names[1],
                                         .arguments = names[2],
                                         .parent = CM_NO_INDEX,
                                         .n_children = N(names),
                                         .children = ret->children};
    for (size_t i = 0; i < N(names); i++) {
        ret->children[i] = i + 1;
        ret->modules[i + 1] = (struct cm_module){.path = names[i],
                                                 .name = names[i],
                                                 .type = names[i],
                                                 .arguments = names[i],
                                                 .depth = 1,
                                                 .n_outputs = 1,
                                                 .outputs = &output,
                                                 .costs = {.macs = 7}};
        ret->nodes[i] = (struct cm_node){.index = i,
                                         .name = names[i],
                                         .op = names[i],
                                         .domain = names[i],
                                         .module = i + 1,
                                         .n_outputs = 1,
                                         .outputs = &output,
                                         .costs = {.macs = 7}};
        ret->custom[i] = (struct cm_name_count){names[i], 1};
        ret->times[i] = (struct cm_layer_time){.latency_ps = 7,
                                               .state = names[i],
                                               .primitive = names[i],
                                               .provider = names[i],
                                               .algorithm = names[i],
                                               .tensor_cores = names[i]};
        ret->layers[i] = (struct cm_sweep_layer){.op = names[i],
                                                 .path = names[i],
                                                 .node = names[i],
                                                 .nodes = 1,
                                                 .n_times = 1,
                                                 .times = &ret->times[i]};
        ret->rows[i] =
            (struct cm_sweep_row){.batch = 1, .state = names[i], .problem = names[i]};
        ret->notes[i] = (struct cm_diagnostic){CM_WARNING, names[i], names[i],
                                               names[i],   names[i], names[i]};
    }
    ret->result = (struct cm_result){
        .model = {names[0], names[3], 8, 0, NULL, 0, NULL, 0, NULL},
        .options = {1, 0, NULL, names[3], names[1], "", "", "file", NULL, 0, NULL, NULL, NULL,
                    CM_UNKNOWN},
        .totals = {.macs = 7 * (int64_t)N(names)},
        .n_modules = N(ret->modules),
        .modules = ret->modules,
        .n_nodes = N(ret->nodes),
        .nodes = ret->nodes,
        .coverage = {.n_custom_ops = N(names), .custom_ops = ret->custom},
    };
    ret->sweep = (struct cm_sweep){.model = names[0],
                                   .convention = names[3],
                                   .backend = names[1],
                                   .device = names[2],
                                   .times = names[3],
                                   .memory_limit = CM_UNKNOWN,
                                   .n_rows = N(names),
                                   .rows = ret->rows,
                                   .n_custom_ops = N(names),
                                   .custom_ops = ret->custom,
                                   .n_diagnostics = N(names),
                                   .diagnostics = ret->notes,
                                   .n_layers = N(names),
                                   .layers = ret->layers};
}

enum kind { TEXT, DEEPSPEED, TABLE, CSV, MARKDOWN, FOLDED, DOT, MERMAID, HTML, JSON, N_KINDS };

static report_writer *const writers[N_KINDS] = {
    [TEXT] = report_write_text,         [DEEPSPEED] = report_write_deepspeed,
    [TABLE] = report_write_table,       [CSV] = report_write_csv,
    [MARKDOWN] = report_write_markdown, [FOLDED] = report_write_folded,
    [DOT] = report_write_dot,           [MERMAID] = report_write_mermaid,
    [HTML] = report_write_html,         [JSON] = report_write_json,
};

static int write_result(enum kind kind, const struct cm_result *result,
                        const struct cm_table_options *options, FILE *out) {
    struct cm_text_options text;
    cm_text_options_init(&text);
    return writers[kind](
        &(struct report){.result = result, .text = &text, .table = options, .out = out});
}

static int write_sweep(enum kind kind, const struct cm_sweep *sweep,
                       const struct cm_table_options *options, FILE *out) {
    struct cm_text_options text;
    report_writer *const writer = kind == TEXT ? report_write_sweep : writers[kind];
    cm_text_options_init(&text);
    return writer(
        &(struct report){.sweep = sweep, .text = &text, .table = options, .out = out});
}

/* Returns all columns of these rows, or those of a sweep if `sweep`. */
static char *written(enum kind kind, enum cm_rows rows, bool sweep) {
    struct hostile hostile;
    struct cm_table_options options;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    make(&hostile);
    cm_table_options_init(&options);
    options.rows = rows;
    options.columns = "all";
    assert_int_equal(sweep ? write_sweep(kind, &hostile.sweep, &options, out)
                           : write_result(kind, &hostile.result, &options, out),
                     CM_OK);
    fclose(out);
    return text;
}

/* Expects no control characters except line ends, no bidi or invisible characters, and no
 * commands of CI workflows. */
static void expect_tame(enum kind kind, const char *text) {
    assert_true(text_is_utf8(text, strlen(text)));
    assert_null(strstr(text, "\xe2\x80\xae"));
    assert_null(strstr(text, "\xc2\x9b"));
    assert_null(strstr(text, "\xe2\x80\x8b"));
    assert_null(strstr(text, "\xef\xbb\xbf"));
    assert_null(strstr(text, "##["));
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at != '\0')
        assert_false(text_starts_with(at + strspn(at, " "), "::"));
    for (const char *at = text; *at != '\0'; at++) {
        if (*at == '\r' && kind == CSV) assert_int_equal(at[1], '\n');
        if ((*at == '\r' && kind == CSV) || *at == '\n') continue;
        if ((unsigned char)*at < 0x20 || *at == 0x7F) fail_msg("%d: byte %d", kind, *at);
    }
}

static void every_writer_escapes_control_characters(void **state) {
    (void)state;
    for (enum kind kind = TEXT; kind <= MERMAID; kind++) {
        for (int rows = CM_ROWS_MODULES; rows <= CM_ROWS_OPERATORS; rows++) {
            char *text = written(kind, (enum cm_rows)rows, false);
            expect_tame(kind, text);
            free(text);
        }
    }
    for (enum kind kind = TEXT; kind <= MARKDOWN; kind++) {
        if (kind == DEEPSPEED) continue;
        char *text = written(kind, CM_ROWS_MODULES, true);
        expect_tame(kind, text);
        free(text);
    }
}

/* Reads a field of a record by RFC 4180; returns its end, sets *ret_first to its first
 * character. */
static const char *read_field(const char *at, char *ret_first) {
    const bool quoted = *at == '"';
    const bool empty = *at == ',' || *at == '\r';
    *ret_first = quoted ? at[1] : empty ? '0' : *at;
    if (!quoted) return at + strcspn(at, ",\r");
    for (at++; *at != '"' || at[1] == '"'; at++) {
        assert_int_not_equal(*at, '\0');
        if (*at == '"') at++;
    }
    return at + 1;
}

static size_t check_record(const char **at) {
    size_t n = 0;
    for (;; (*at)++) {
        char first = '\0';
        *at = read_field(*at, &first);
        n++;
        assert_null(strchr("=+-@\t\r", first));
        if (**at == ',') continue;
        assert_memory_equal(*at, "\r\n", 2);
        *at += 2;
        return n;
    }
}

static void check_csv(const char *text) {
    const char *at = text;
    const size_t n = check_record(&at);
    size_t n_records = 0;
    for (; *at != '\0'; n_records++) assert_int_equal(check_record(&at), n);
    assert_true(n_records >= N(names) || n_records == 0);
}

static void csv_escapes_formulas_and_quotes(void **state) {
    (void)state;
    for (int rows = CM_ROWS_MODULES; rows <= CM_ROWS_NODES; rows++) {
        char *text = written(CSV, (enum cm_rows)rows, false);
        check_csv(text);
        free(text);
    }
    char *text = written(CSV, CM_ROWS_MODULES, true);
    assert_non_null(strstr(text, "\"'=cmd()\""));
    assert_non_null(strstr(text, "\"a,b\""));
    assert_non_null(strstr(text, "\"a\"\"b'c\\d\\\"\"\""));
    check_csv(text);
    free(text);
}

static size_t count_pipes(const char *line, size_t length) {
    size_t n = 0;
    for (size_t i = 0; i < length; i++) n += line[i] == '|';
    return n;
}

/* Expects that every | ends a cell and every < belongs to a <code> tag. */
static void check_markdown(const char *text) {
    const char *at = strstr(text, "\n| ");
    size_t n = 0;
    assert_non_null(at);
    for (at++; *at == '|'; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "\n");
        if (n == 0) n = count_pipes(at, length);
        assert_int_equal(count_pipes(at, length), n);
    }
    for (at = text; (at = strchr(at, '<')) != NULL; at++)
        assert_true(text_starts_with(at, "<code>") || text_starts_with(at, "</code>"));
}

static void markdown_escapes_cells_and_html(void **state) {
    (void)state;
    for (int rows = CM_ROWS_MODULES; rows <= CM_ROWS_NODES; rows++) {
        char *text = written(MARKDOWN, (enum cm_rows)rows, false);
        check_markdown(text);
        free(text);
    }
    char *text = written(MARKDOWN, CM_ROWS_MODULES, true);
    assert_non_null(strstr(text, "`=cmd()`"));
    assert_non_null(strstr(text, "<code>a&#124;b&#92;&#124;c&#96;d&#96;&#96;e</code>"));
    check_markdown(text);
    free(text);
}

/* Lines are `frame;frame;operator N`; the sum of N is that of the nodes. */
static void folded_stacks_escape_blanks_and_add_up(void **state) {
    int64_t sum = 0;
    char *text = written(FOLDED, CM_ROWS_MODULES, false);
    (void)state;
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "\n");
        const size_t blank = strcspn(at, " ");
        int64_t value = 0;
        assert_true(blank < length);
        assert_true(text_to_int64(at + blank + 1, length - blank - 1, &value));
        assert_non_null(memchr(at, ';', length));
        sum += value;
    }
    assert_int_equal(sum, 7 * N(names));
    free(text);
}

/* Expects one label per module, without unescaped characters of `never`. */
static void check_labels(const char *text, const char *begin, const char *end,
                         const char *never) {
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, begin)) != NULL; n++) {
        at += strlen(begin);
        const char *stop = strstr(at, end);
        assert_non_null(stop);
        assert_true(memchr(at, '\n', (size_t)(stop - at)) == NULL);
        for (const char *letter = never; *letter != '\0'; letter++)
            for (const char *in = at; in < stop; in++)
                if (*in == *letter && in[-1] != '\\') fail_msg("%.*s", (int)(stop - at), at);
        at = stop;
    }
    assert_int_equal(n, N(names) + 1);
}

static void labels_of_diagrams_escape_their_delimiters(void **state) {
    (void)state;
    char *dot = written(DOT, CM_ROWS_MODULES, false);
    check_labels(dot, "[label=\"", "\"];\n", "\"");
    assert_non_null(strstr(dot, "\\\\N\\\\G"));
    free(dot);
    char *mermaid = written(MERMAID, CM_ROWS_MODULES, false);
    check_labels(mermaid, "[\"", "\"]\n", "\"'`()[]{}|");
    free(mermaid);
}

/* Returns true at a tag of the static report. */
static bool is_tag(const char *at) {
    static const char *const tags[] = {"h1>",    "h2>",  "section", "table", "thead>",
                                       "tbody>", "tr>",  "th ",     "td>",   "td ",
                                       "p>",     "pre>", "main>",   "main "};
    at += at[1] == '/' ? 2 : 1;
    for (size_t i = 0; i < N(tags); i++)
        if (text_starts_with(at, tags[i])) return true;
    return false;
}

/* Expects that every < begins a tag of the report, every & an entity, and every " ends an
 * attribute. */
static void check_page(bool sweep) {
    char *text = written(HTML, CM_ROWS_MODULES, sweep);
    char *begin = strstr(text, "<main ");
    char *end = strstr(begin, "</main>");
    assert_non_null(strstr(begin, "&lt;script&gt;alert(1)&lt;/script&gt;&amp;amp;"));
    assert_null(strstr(strstr(text, "<title>"), "<script>alert"));
    assert_null(strstr(end, "<script>alert"));
    *end = '\0';
    for (const char *at = begin; *at != '\0'; at++) {
        if (*at == '<') assert_true(is_tag(at));
        if (*at == '&') assert_true(memchr(at, ';', 6) != NULL);
        assert_int_not_equal(*at, '\'');
        if (*at == '"') assert_true(at[1] == '>' || at[1] == ' ' || at[-1] == '=');
    }
    expect_tame(HTML, begin);
    free(text);
}

static void pages_have_no_markup_of_names(void **state) {
    (void)state;
    if (cm_html_check(NULL) != CM_OK) skip();
    check_page(false);
    check_page(true);
}

static void json_round_trip_keeps_the_names(void **state) {
    struct cm_result *result = NULL;
    char *text = written(JSON, CM_ROWS_MODULES, false);
    (void)state;
    assert_int_equal(cm_result_read_json(text, strlen(text), "p", NULL, &result), CM_OK);
    for (size_t i = 0; i < N(names); i++)
        if (text_is_utf8(names[i], strlen(names[i])))
            assert_string_equal(result->modules[i + 1].name, names[i]);
    arena_free(result->arena);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_writer_escapes_control_characters),
        cmocka_unit_test(csv_escapes_formulas_and_quotes),
        cmocka_unit_test(markdown_escapes_cells_and_html),
        cmocka_unit_test(folded_stacks_escape_blanks_and_add_up),
        cmocka_unit_test(labels_of_diagrams_escape_their_delimiters),
        cmocka_unit_test(pages_have_no_markup_of_names),
        cmocka_unit_test(json_round_trip_keeps_the_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
