/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sequences and optionals. Of a sequence one fact is kept, which holds of every element: their
 * number and their order are not. So what one position gives is what all have in common.
 */
#include "ops/common.h"
#include "ops/families.h"
#include "ops/merge.h"

#include "support/banned.h"

/* The operand is of that kind, or nothing is known of it. */
static int check_kind(const struct rule *rule, size_t i, enum cm_type_kind kind,
                      const char *name) {
    enum cm_type_kind have = rule_input(rule, i)->kind;
    if (have == kind || have == CM_TYPE_UNKNOWN) return 0;
    return rule_fail(rule, DIAG_TYPE, "input %zu is no %s", i, name);
}

static int check_sequence(const struct rule *rule) {
    return check_kind(rule, 0, CM_TYPE_SEQUENCE, "sequence");
}

static int output_sequence(struct rule *rule, const struct fact *element) {
    struct fact sequence;
    int status = merge_container(rule, CM_TYPE_SEQUENCE, element, &sequence);
    return status ? status : rule_output_fact(rule, 0, &sequence);
}

static int infer_sequence_construct(struct rule *rule) {
    struct fact element = *rule_input(rule, 0);
    for (size_t i = 1; i < rule->n_inputs; i++) {
        int status = merge_facts(rule, &element, rule_input(rule, i), &element);
        if (status) return status;
    }
    return output_sequence(rule, &element);
}

static int infer_sequence_empty(struct rule *rule) {
    enum dtype dtype = rule_has_attr(rule, "dtype")
                           ? dtype_from_onnx(rule_attr_int(rule, "dtype"))
                           : DTYPE_FLOAT;
    if (dtype == DTYPE_UNDEFINED)
        return rule_fail(rule, DIAG_ATTRIBUTE, "attribute 'dtype' is no element type");
    const struct fact element = fact_tensor(dtype, shape_unknown());
    return output_sequence(rule, &element);
}

static int infer_sequence_insert(struct rule *rule) {
    struct fact element = merge_element(rule_input(rule, 0));
    int status = check_sequence(rule);
    if (!status) status = merge_facts(rule, &element, rule_input(rule, 1), &element);
    return status ? status : output_sequence(rule, &element);
}

/* The lengths of the parts along the axis, in one number: DIM_UNKNOWN where they differ. */
static int common_part(struct rule *rule, int64_t dim, int64_t *ret) {
    struct int_list split;
    bool scalar = rule_rank(rule, 1) == 0;
    int status = rule_int_list(rule, 1, &split);
    if (status) return status;
    *ret = split.given ? DIM_UNKNOWN : 1;
    if (!split.known || split.n == 0) return 0;
    for (size_t i = 0; i < split.n; i++)
        if (split.values[i] < (scalar ? 1 : 0))
            return rule_fail(rule, DIAG_VALUE, "part %zu of split is %lld", i,
                             (long long)split.values[i]);
    int64_t part = split.values[0];
    if (!scalar) {
        *ret = describe_all_equal(split.n, split.values, part) ? part : DIM_UNKNOWN;
        return 0;
    }
    /* Chunks of that length, the last one smaller where it does not come out even. */
    if (is_known(dim) && dim % part == 0)
        *ret = part;
    else if (is_known(dim) && dim < part)
        *ret = dim;
    return 0;
}

static int infer_split_to_sequence(struct rule *rule) {
    const struct shape *input = rule_shape(rule, 0);
    int64_t dims[SHAPE_MAX_RANK];
    struct shape shape = {0, dims};
    int axis = 0;
    if (!shape_has_rank(input)) {
        const struct fact element = fact_tensor(rule_dtype(rule, 0), *input);
        return output_sequence(rule, &element);
    }
    int status = rule_normalize_axis(rule, rule_attr_int(rule, "axis"), input->rank, &axis);
    if (status) return status;
    /* keepdims is looked at only where there is no split: each part is one slice then. */
    bool drops = !rule_has_input(rule, 1) && rule_attr_int(rule, "keepdims") == 0;
    for (int i = 0; i < input->rank; i++)
        if (i != axis || !drops) dims[shape.rank++] = input->dims[i];
    if (!drops) status = common_part(rule, input->dims[axis], &dims[axis]);
    if (status) return status;
    struct fact element = fact_tensor(rule_dtype(rule, 0), shape_unknown());
    if (shape_make(rule->arena, shape.rank, dims, &element.shape) < 0)
        return diag_no_memory(rule->diag);
    return output_sequence(rule, &element);
}

static int infer_sequence_at(struct rule *rule) {
    struct fact element = merge_element(rule_input(rule, 0));
    int status = check_sequence(rule);
    return status ? status : rule_output_fact(rule, 0, &element);
}

static int infer_sequence_erase(struct rule *rule) {
    int status = check_sequence(rule);
    return status ? status : rule_output_like(rule, 0, 0);
}

static int infer_sequence_length(struct rule *rule) {
    int status = check_sequence(rule);
    return status ? status : rule_output_dims(rule, 0, DTYPE_INT64, 0, NULL);
}

/* The elements along `axis`, an old one or a new one; how many there are is not known. */
static int infer_concat_from_sequence(struct rule *rule) {
    const struct fact element = merge_element(rule_input(rule, 0));
    int64_t dims[SHAPE_MAX_RANK + 1];
    bool new_axis = rule_attr_int(rule, "new_axis") != 0;
    int axis = 0;
    int status = check_sequence(rule);
    if (status) return status;
    if (!shape_has_rank(&element.shape))
        return rule_output_dims(rule, 0, element.dtype, RANK_UNKNOWN, NULL);
    int rank = element.shape.rank + new_axis;
    status = rule_normalize_axis(rule, rule_attr_int(rule, "axis"), rank, &axis);
    if (status) return status;
    for (int i = 0, from = 0; i < rank; i++)
        if (i != axis || !new_axis) dims[i] = element.shape.dims[from++];
    dims[axis] = DIM_UNKNOWN;
    return rule_output_dims(rule, 0, element.dtype, rank, dims);
}

static int infer_optional(struct rule *rule) {
    struct fact optional;
    int status = merge_container(rule, CM_TYPE_OPTIONAL, rule_input(rule, 0), &optional);
    return status ? status : rule_output_fact(rule, 0, &optional);
}

/* From 18 on, what is no optional is its own element. */
static int infer_optional_get_element(struct rule *rule) {
    const struct fact *input = rule_input(rule, 0);
    if (input->kind != CM_TYPE_OPTIONAL && rule->op->since >= 18)
        return rule_output_like(rule, 0, 0);
    struct fact element = merge_element(input);
    int status = check_kind(rule, 0, CM_TYPE_OPTIONAL, "optional");
    return status ? status : rule_output_fact(rule, 0, &element);
}

static int infer_optional_has_element(struct rule *rule) {
    return rule_output_dims(rule, 0, DTYPE_BOOL, 0, NULL);
}

static const struct op_attr sequence_empty[] = {OPTIONAL_ATTR("dtype", ATTR_INT), {0}};
static const struct op_attr split_to_sequence[] = {
    INT_ATTR("axis", 0), INT_ATTR("keepdims", 1), {0}};
static const struct op_attr concat_from_sequence[] = {
    REQUIRED_ATTR("axis", ATTR_INT), INT_ATTR("new_axis", 0), {0}};
static const struct op_attr optional[] = {OPTIONAL_ATTR("type", ATTR_OTHER), {0}};

#define ROW(name, from, least, most, attributes, rule, letters, keeps)                         \
    {                                                                                          \
        .domain = "", .type = name, .since = from, .min_inputs = least, .max_inputs = most,    \
        .min_outputs = 1, .max_outputs = 1, .attrs = attributes, .infer = rule,                \
        .roles = letters, .backward.gradients = keeps                                          \
    }

/* clang-format off */
static const struct op rows[] = {
    /*  type               since in         attributes            rule                        roles       gradients */
    ROW("SequenceConstruct",  11, 1, VARIADIC, NULL,                 infer_sequence_construct,   "p",     ""),
    ROW("SequenceEmpty",      11, 0, 0,        sequence_empty,       infer_sequence_empty,       "x",     "-"),
    ROW("SequenceInsert",     11, 2, 3,        NULL,                 infer_sequence_insert,      "ppi", ",,-"),
    ROW("SequenceAt",         11, 2, 2,        NULL,                 infer_sequence_at,          "pi",   ",-"),
    ROW("SequenceErase",      11, 1, 2,        NULL,                 infer_sequence_erase,       "pi",   ",-"),
    ROW("SequenceLength",     11, 1, 1,        NULL,                 infer_sequence_length,      "i",     "-"),
    ROW("SplitToSequence",    11, 1, 2,        split_to_sequence,    infer_split_to_sequence,    "pi",   ",-"),
    ROW("ConcatFromSequence", 11, 1, 1,        concat_from_sequence, infer_concat_from_sequence, "p",     ""),
    ROW("Optional",           15, 0, 1,        optional,             infer_optional,             "p",     ""),
    ROW("OptionalGetElement", 15, 1, 1,        NULL,                 infer_optional_get_element, "p",     ""),
    ROW("OptionalGetElement", 18, 1, 1,        NULL,                 infer_optional_get_element, "p",     ""),
    ROW("OptionalHasElement", 15, 1, 1,        NULL,                 infer_optional_has_element, "i",     "-"),
    ROW("OptionalHasElement", 18, 0, 1,        NULL,                 infer_optional_has_element, "i",     "-"),
};
/* clang-format on */

const struct op_family family_sequence = {"sequence", rows, sizeof rows / sizeof *rows};
