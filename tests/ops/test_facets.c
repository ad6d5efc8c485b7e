/* SPDX-License-Identifier: Apache-2.0 */
/* Every operator states or declines each facet of its row: see ops/op.h and ops/onnx/facets.h.
 */
#include "ops/op.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "ops/registry/registry.h"

static bool has_fold(const struct op *op) {
    return op->fold != NULL;
}

static bool has_algebra(const struct op *op) {
    return op->algebra != ALGEBRA_NONE;
}

static bool has_module(const struct op *op) {
    return op->module != NULL;
}

static bool has_exact(const struct op *op) {
    return op->cost.macs != NULL || op->facets->flops[FLOPS_EXACT] != NULL;
}

static bool has_bounds(const struct op *op) {
    return op->facets->bounds != NULL;
}

static bool has_qdq(const struct op *op) {
    return op->facets->qdq.moves != NULL || op->facets->qdq.sums != NULL;
}

static const struct facet {
    enum op_facet bit;
    const char *name;
    bool (*has)(const struct op *op);
} facets[] = {
    {FACET_FOLD, "fold", has_fold},       {FACET_ALGEBRA, "algebra", has_algebra},
    {FACET_MODULE, "module", has_module}, {FACET_EXACT, "exact", has_exact},
    {FACET_BOUNDS, "bounds", has_bounds}, {FACET_QDQ, "qdq", has_qdq},
};
#define N_FACETS (sizeof(facets) / sizeof(facets[0]))

static bool does_no_work(const struct op *op) {
    return op->memory == MEMORY_VIEW || op->memory == MEMORY_SHAPE_ONLY ||
           op->memory == MEMORY_CONTROL;
}

/* Returns the number of facets that no family may decline and that the operator lacks. */
static size_t count_missing(const struct op_family *family, const struct op *op) {
    const struct op_lowering *lowering = op->facets ? &op->facets->lowering : NULL;
    const char *reason = registry_free(family, op);
    const struct {
        const char *name;
        bool is_stated;
    } required[] = {
        {"facets", op->facets != NULL},
        {"shape rule", op->infer != NULL},
        {"cost, or why it has none", !reason || *reason},
        {"saved_for_backward", op->backward.saved_for_backward != NULL},
        {"param_roles", op->param_roles != NULL},
        {"primitive, or why it has none",
         does_no_work(op) || (lowering && (lowering->lower || lowering->why))},
        {"no primitive: it does no work",
         !does_no_work(op) || (lowering && !lowering->lower && !lowering->why)},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
        if (required[i].is_stated) continue;
        print_message("%s in %s does not state: %s\n", op->type, family->name,
                      required[i].name);
        n++;
    }
    return n;
}

static void every_operator_states_or_declines_each_facet(void **state) {
    size_t n_missing = 0;
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++) {
        const struct op_family *family = registry_family(f);
        for (size_t i = 0; i < family->n_rows; i++) {
            const struct op *op = &family->rows[i];
            n_missing += count_missing(family, op);
            for (size_t k = 0; op->facets && k < N_FACETS; k++) {
                if (facets[k].has(op) || family->declines & (unsigned)facets[k].bit) continue;
                print_message("%s in %s neither states nor declines: %s\n", op->type,
                              family->name, facets[k].name);
                n_missing++;
            }
        }
    }
    assert_int_equal(n_missing, 0);
}

static void a_family_declines_only_what_an_operator_lacks(void **state) {
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++) {
        const struct op_family *family = registry_family(f);
        for (size_t k = 0; k < N_FACETS; k++) {
            size_t n_lacking = 0;
            for (size_t i = 0; i < family->n_rows; i++)
                n_lacking += !facets[k].has(&family->rows[i]);
            if (family->declines & (unsigned)facets[k].bit && n_lacking == 0)
                fail_msg("%s declines %s, which all its operators have", family->name,
                         facets[k].name);
        }
    }
}

static void every_count_of_a_convention_has_a_description(void **state) {
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++)
        for (size_t i = 0; i < registry_family(f)->n_rows; i++)
            for (size_t k = 0; k < FLOPS_N; k++) {
                const struct op_flops *flops = registry_family(f)->rows[i].facets->flops[k];
                if (!flops) continue;
                assert_true((flops->extra != NULL) == (flops->extra_description != NULL));
            }
}

static void bounds_and_qdq_are_well_formed(void **state) {
    (void)state;
    for (size_t f = 0; f < registry_n_families(); f++)
        for (size_t i = 0; i < registry_family(f)->n_rows; i++) {
            const struct op_facets *own = registry_family(f)->rows[i].facets;
            const char *bounds = own->bounds ? own->bounds : "-";
            assert_true(*bounds != '\0');
            assert_int_equal(strspn(bounds, "-dvpf"), strlen(bounds));
            assert_false(own->qdq.moves && own->qdq.sums);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operator_states_or_declines_each_facet),
        cmocka_unit_test(a_family_declines_only_what_an_operator_lacks),
        cmocka_unit_test(every_count_of_a_convention_has_a_description),
        cmocka_unit_test(bounds_and_qdq_are_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
