/* SPDX-License-Identifier: Apache-2.0 */
/* The registry, and what holds of every row: see ops/registry.h and ops/op.h. */
#include "ops/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void the_newest_row_not_above_the_opset_holds(void **state) {
    static const struct {
        const char *domain, *type;
        int64_t opset;
        int32_t since; /* 0: none is wanted */
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
    assert_non_null(row->roles);
    assert_true(strlen(row->roles) > 0 || row->max_inputs == 0);
    assert_int_equal(strspn(row->roles, "WwnespmixX"), strlen(row->roles));
    assert_true(row->since >= 1);
    assert_in_range(row->min_inputs, 0, row->max_inputs);
    assert_in_range(row->min_outputs, 0, row->max_outputs);
    if (row->describe) assert_non_null(row->module);
    assert_true((row->cost.extra != NULL) == (row->cost.extra_is != NULL));
    for (const struct op_attr *attr = row->attrs; attr && attr->name; attr++) {
        assert_int_not_equal(attr->kind, ATTR_NONE);
        assert_false(attr->required && attr->has_default);
        if (attr->has_default && attr->kind == ATTR_STRING) assert_non_null(attr->s);
    }
}

static void every_row_is_whole_and_found_under_its_own_name(void **state) {
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++) {
        const struct op_family *family = registry_family(f);
        for (size_t i = 0; i < family->n_rows; i++) {
            const struct op *row = &family->rows[i];
            if (registry_find(row->domain, row->type, row->since) != row)
                fail_msg("%s-%d in %s is not what the registry finds", row->type, row->since,
                         family->name);
            check_row(row);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_row_not_above_the_opset_holds),
        cmocka_unit_test(every_row_is_whole_and_found_under_its_own_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
