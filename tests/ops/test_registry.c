/* SPDX-License-Identifier: Apache-2.0 */
/* The registry, and checks of every row: see ops/registry/registry.h and ops/op.h. */
#include "ops/registry/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void finds_the_newest_row_not_above_the_opset(void **state) {
    static const struct {
        const char *domain, *type;
        int64_t opset;
        int32_t since; /* 0: none is expected */
    } cases[] = {
        {"", "Dropout", 1, 1},
        {"", "Dropout", 9, 7},
        {"", "Dropout", 11, 10},
        {"", "Dropout", 21, 12},
        {"ai.onnx", "Dropout", 13, 12},
        {"", "LayerNormalization", 16, 0},
        {"", "Nonsense", 13, 0},
        {"com.example", "Relu", 13, 0},
        {"", "Relu", 0, 0},
        {"", "Relu", 2147483648, 6},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct op *op = registry_find(cases[i].domain, cases[i].type, cases[i].opset);
        assert_int_equal(op ? op->since : 0, cases[i].since);
    }
}

static void check_row(const struct op *row) {
    assert_non_null(row->domain);
    assert_non_null(row->type);
    assert_non_null(row->infer);
    assert_non_null(row->param_roles);
    assert_true(strlen(row->param_roles) > 0 || row->max_inputs == 0);
    assert_int_equal(strspn(row->param_roles, "WwnespmixcX"), strlen(row->param_roles));
    assert_true(row->since >= 1);
    assert_in_range(row->min_inputs, 0, row->max_inputs);
    assert_in_range(row->min_outputs, 0, row->max_outputs);
    if (row->describe) assert_non_null(row->module);
    assert_true((row->cost.macs != NULL) == (row->cost.macs_formula != NULL));
    for (const struct op_attr *attr = row->attrs; attr && attr->name; attr++) {
        assert_int_not_equal(attr->kind, ATTR_NONE);
        assert_false(attr->required && attr->has_default);
        if (attr->has_default && attr->kind == ATTR_STRING) assert_non_null(attr->s);
    }
}

/* Checks one cell of the row's saved_for_backward, which ends before `end`. */
static void check_gradient(const struct op *row, const char *cell, const char *end) {
    const size_t length = (size_t)(end - cell);
    if (strspn(cell, "0123456789ayze") < length && !(length == 1 && *cell == '-'))
        fail_msg("%s-%d: '%.*s' is not a valid cell", row->type, row->since, (int)length, cell);
    for (; cell < end; cell++) {
        if (*cell >= '0' && *cell <= '9') assert_true(*cell - '0' < row->max_inputs);
        if (*cell == 'z') assert_true(row->max_outputs > 1);
        if (*cell == 'e') assert_non_null(row->backward.extra);
    }
}

/* Every row states what it saves for backward, or that it has no gradient. */
static void check_backward(const struct op *row) {
    const struct op_backward *backward = &row->backward;
    if (!backward->saved_for_backward)
        fail_msg("%s-%d does not say what its gradients need", row->type, row->since);
    const bool passes = strcmp(backward->saved_for_backward, "-") != 0;
    const bool has_cost = backward->factors > 0 || backward->macs;
    assert_true(has_cost == (passes && row->cost.macs));
    assert_false(backward->extra && !strchr(backward->saved_for_backward, 'e'));
    const char *cell = backward->saved_for_backward;
    for (const char *at = cell;; at++) {
        if (*at != ',' && *at != '\0') continue;
        check_gradient(row, cell, at);
        if (*at == '\0') return;
        cell = at + 1;
    }
}

static void every_row_is_complete_and_found_by_name(void **state) {
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++) {
        const struct op_family *family = registry_family(f);
        for (size_t i = 0; i < family->n_rows; i++) {
            const struct op *row = &family->rows[i];
            if (registry_find(row->domain, row->type, row->since) != row)
                fail_msg("%s-%d in %s is not what the registry finds", row->type, row->since,
                         family->name);
            check_row(row);
            check_backward(row);
        }
    }
}

static void every_row_has_a_cost_or_a_reason(void **state) {
    size_t n_silent = 0;
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++)
        for (size_t i = 0; i < registry_family(f)->n_rows; i++) {
            const struct op *row = &registry_family(f)->rows[i];
            const char *reason = registry_free(registry_family(f), row);
            if (!reason || *reason) continue;
            print_message("%s in %s costs nothing, and does not say why\n", row->type,
                          registry_family(f)->name);
            n_silent++;
        }
    assert_int_equal(n_silent, 0);
}

static void the_last_gradient_applies_to_all_later_operands(void **state) {
    const char *dropout = registry_find("", "Dropout", 13)->backward.saved_for_backward;
    const char *product = registry_find("", "MatMul", 13)->backward.saved_for_backward;
    const char *unknown = NULL;
    (void)state;
    assert_int_equal(*op_gradient(product, 0), '1');
    assert_int_equal(*op_gradient(product, 1), '0');
    assert_true(op_has_gradient(dropout, 0));
    assert_false(op_has_gradient(dropout, 1));
    assert_false(op_has_gradient(dropout, 2));
    assert_true(op_has_gradient(unknown, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_newest_row_not_above_the_opset),
        cmocka_unit_test(every_row_is_complete_and_found_by_name),
        cmocka_unit_test(every_row_has_a_cost_or_a_reason),
        cmocka_unit_test(the_last_gradient_applies_to_all_later_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
