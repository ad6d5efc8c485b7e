/* SPDX-License-Identifier: Apache-2.0 */
/* Operators on strings. MACs 0, FLOPs 0. The numbers of words and parts are data-dependent:
 * known only if the strings are. */
#include "ops/common.h"

#include "ops/onnx/facets.h"
#include <string.h>

static const struct constant *texts_of(const struct op_context *context) {
    const struct constant *value = common_contents(context, 0);
    bool readable =
        value && value->dtype == DTYPE_STRING && (value->texts || !value->n_elements);
    return readable ? value : NULL;
}

static const char *text_at(const struct constant *texts, int64_t i) {
    return texts->texts[texts->place == CONSTANT_SPLAT ? 0 : i];
}

static int infer_concat(struct op_context *context) {
    return common_broadcast_to(context, 0, DTYPE_STRING);
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool equal_words(const char *a, const char *b, bool exact) {
    for (; *a && *b; a++, b++)
        if (exact ? *a != *b : lower(*a) != lower(*b)) return false;
    return *a == *b;
}

static bool is_ascii(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text > 127) return false;
    return true;
}

/* Returns the number of words that are not stopwords, at least 1; DIM_UNKNOWN if the texts are
 * unknown, or if a comparison without case depends on the locale. */
static int64_t words_left(const struct op_context *context, const struct attr *stopwords) {
    const bool exact = op_attr_int(context, "is_case_sensitive") != 0;
    const struct constant *texts = texts_of(context);
    bool ascii = true;
    int64_t left = 0;
    if (!texts) return DIM_UNKNOWN;
    for (size_t k = 0; k < stopwords->n; k++) ascii = ascii && is_ascii(stopwords->strings[k]);
    for (int64_t i = 0; i < texts->n_elements; i++) {
        const char *text = text_at(texts, i);
        bool stops = false;
        ascii = ascii && is_ascii(text);
        for (size_t k = 0; k < stopwords->n && !stops; k++)
            stops = equal_words(text, stopwords->strings[k], exact);
        left += !stops;
    }
    if (!exact && !ascii) return DIM_UNKNOWN;
    return left > 0 ? left : 1;
}

/* Infers [C] or [1, C] without the stopwords. */
static int infer_normalizer(struct op_context *context) {
    const struct attr *stopwords = node_attr(context->node, "stopwords");
    const int rank = op_rank(context, 0);
    if (rank != RANK_UNKNOWN && rank != 1 && (rank != 2 || op_dim(context, 0, 0) > 1))
        return op_fail(context, DIAG_SHAPE, "input 0 must have shape [C] or [1,C], got %s",
                       op_shape_text(context, op_shape(context, 0)));
    if (rank == RANK_UNKNOWN || !stopwords || stopwords->n == 0)
        return common_infer_same_shape(context, DTYPE_STRING);
    const int64_t words = op_dim(context, 0, rank - 1);
    const int64_t limit = words == 0 ? 1 : words;
    const int64_t dims[] = {
        1, op_data_dependent_dim(context, words_left(context, stopwords), limit)};
    return op_output_dims(context, 0, DTYPE_STRING, rank, dims + 2 - rank);
}

/* Returns the number of parts between delimiters, limited to `limit`; 0 for an empty string. */
static int64_t count_parts(const char *text, const char *delimiter, int64_t limit) {
    const size_t length = strlen(delimiter);
    int64_t parts = 1;
    if (!*text) return 0;
    while (parts < limit && (text = strstr(text, delimiter))) {
        text += length;
        parts++;
    }
    return parts;
}

/* Returns the number of words separated by white space, limited to `limit`. */
static int64_t count_words(const char *text, int64_t limit) {
    static const char space[] = " \t\n\r\f\v";
    int64_t words = 0;
    text += strspn(text, space);
    while (*text && words < limit) {
        words++;
        text += strcspn(text, space);
        text += strspn(text, space);
    }
    return words;
}

/* Returns the largest number of parts of any string; DIM_UNKNOWN if the strings are unknown. */
static int64_t max_parts(const struct op_context *context) {
    const struct constant *texts = texts_of(context);
    const char *delimiter = op_attr_string(context, "delimiter");
    const bool limited = op_has_attr(context, "maxsplit");
    const int64_t limit =
        limited ? checked_add(op_attr_int(context, "maxsplit"), 1) : INT64_MAX;
    int64_t parts = 0;
    if (op_elements(context, 0) == 0) return 0;
    if (!texts)
        return op_data_dependent_dim(context, DIM_UNKNOWN, limited ? limit : DIM_UNKNOWN);
    for (int64_t i = 0; i < texts->n_elements; i++) {
        const char *text = text_at(texts, i);
        const int64_t n =
            *delimiter ? count_parts(text, delimiter, limit) : count_words(text, limit);
        if (n > parts) parts = n;
    }
    return parts;
}

/* Outputs: the parts of each string, padded with empty strings; their number. */
static int infer_split(struct op_context *context) {
    const struct shape *texts = op_shape(context, 0);
    int status = common_output_appended(context, 0, DTYPE_STRING, texts, max_parts(context));
    return status < 0 ? status : op_output(context, 1, DTYPE_INT64, texts);
}

/* The last axis gets the size 1 + the largest of ngram_indexes. */
static int infer_tf_idf(struct op_context *context) {
    const struct shape *words = op_shape(context, 0);
    size_t n = 0;
    const int64_t *places = op_attr_ints(context, "ngram_indexes", &n);
    int64_t last = -1;
    if (shape_has_rank(words) && (words->rank < 1 || words->rank > 2))
        return op_fail(context, DIAG_SHAPE, "input 0 must have shape [C] or [B,C], got %s",
                       op_shape_text(context, words));
    for (size_t i = 0; i < n; i++)
        if (places[i] > last) last = places[i];
    const int64_t dims[] = {words->rank == 2 ? words->dims[0] : 1, checked_add(last, 1)};
    if (!shape_has_rank(words))
        return op_output_dims(context, 0, DTYPE_FLOAT, RANK_UNKNOWN, NULL);
    return op_output_dims(context, 0, DTYPE_FLOAT, words->rank, dims + 2 - words->rank);
}

/* clang-format off */
#define ROW(name, from, infer_fn)                                                              \
    {                                                                                          \
        SIGNATURE(ONNX, name, from, NO_PRIMITIVE(NO_STRING), BOUNDS("d")),                     \
        .infer = infer_fn, .param_roles = "x", .backward.saved_for_backward = "-"              \
    }

static const struct op rows[] = {
    ROW(StringConcat,     20, infer_concat),
    ROW(StringNormalizer, 10, infer_normalizer),
    ROW(StringSplit,      20, infer_split),
    ROW(RegexFullMatch,   20, common_infer_bool),
    ROW(TfIdfVectorizer,   9, infer_tf_idf),
};
/* clang-format on */

OP_FAMILY(string, .why_free = "works on texts", .declines = FACETS_RARE | FACET_EXACT);
