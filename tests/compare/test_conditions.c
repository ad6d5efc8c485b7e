/* SPDX-License-Identifier: Apache-2.0 */
/* Profiling conditions: which differences prevent a comparison. */
#include "costmodel/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tree.h"

#define NET ". Net 1 1\n"

/* Returns the strongest condition as "batch: 1, 8"; "" if there is none. */
static void expect_condition(const struct cm_result *was, const struct cm_result *is,
                             enum cm_condition_weight weight, const char *want) {
    char have[200] = "";
    struct cm_diff *diff = NULL;
    assert_int_equal(cm_diff_make(was, is, NULL, &diff), CM_OK);
    if (diff->n_conditions > 0) {
        const struct cm_condition *first = &diff->conditions[0];
        assert_int_equal(first->weight, weight);
        snprintf(have, sizeof(have), "%s: %s, %s", first->key, first->old_value,
                 first->new_value);
    }
    assert_string_equal(have, want);
    assert_int_equal(cm_diff_comparable(diff), want[0] == '\0' || weight < CM_CONDITION_BREAKS);
    cm_diff_free(diff);
}

static const struct cm_named_size seq_128 = {"seq", 128};
static const struct cm_named_size seq_64 = {"seq", 64};
static const struct cm_named_size other = {"other", 64};
static const struct cm_measure roofline = {
    .problem = "", .modelled = true, .device = "H200", .layout = "auto", .version = ""};
static const struct cm_measure other_device = {
    .problem = "", .modelled = true, .device = "A100", .layout = "auto", .version = ""};
static const struct cm_measure no_device = {.problem = "no device", .device = ""};
static const struct cm_name_count unknown_op = {"com.acme::Magic", 3};

static void set_batch(struct cm_result *is) {
    is->options.batch = 8;
}
static void set_no_batch(struct cm_result *is) {
    is->options.batch = CM_UNKNOWN;
}
static void set_precision(struct cm_result *is) {
    is->options.precision = "amp";
}
static void set_convention(struct cm_result *is) {
    is->options.convention = "fvcore";
}
static void set_mode(struct cm_result *is) {
    is->options.mode = "training";
}
static void set_dim(struct cm_result *is) {
    is->options.n_dims = 1;
    is->options.dims = &seq_64;
}
static void set_other_dim(struct cm_result *is) {
    is->options.n_dims = 1;
    is->options.dims = &other;
}
static void set_schedule(struct cm_result *is) {
    is->options.schedule = "min-memory";
}
static void set_group(struct cm_result *is) {
    is->options.group = "x.*";
}
static void set_alignment(struct cm_result *is) {
    is->memory.alignment = 64;
}
static void set_optimizer(struct cm_result *is) {
    is->training = (struct cm_training){.present = true, .optimizer = "sgd"};
}
static void set_micro_batches(struct cm_result *is) {
    is->training.micro_batches = 4;
}
static void set_times(struct cm_result *is) {
    is->measure = &roofline;
}
static void set_unknown_op(struct cm_result *is) {
    is->coverage.n_unknown_ops = 1;
    is->coverage.unknown_ops = &unknown_op;
}
static void set_unknown_shapes(struct cm_result *is) {
    is->coverage.unknown_shapes = 2;
}

static void lists_differing_conditions_with_their_weight(void **state) {
    static const struct {
        void (*set)(struct cm_result *is);
        enum cm_condition_weight weight;
        const char *want;
    } cases[] = {
        {set_batch, CM_CONDITION_BREAKS, "batch: 1, 8"},
        {set_no_batch, CM_CONDITION_NOTE, "batch: 1, none"},
        {set_precision, CM_CONDITION_BREAKS, "precision: fp32, amp"},
        {set_convention, CM_CONDITION_BREAKS, "convention: deepspeed, fvcore"},
        {set_mode, CM_CONDITION_BREAKS, "mode: model, training"},
        {set_dim, CM_CONDITION_BREAKS, "dims.seq: 128, 64"},
        {set_other_dim, CM_CONDITION_NOTE, ""},
        {set_schedule, CM_CONDITION_BREAKS, "schedule: file, min-memory"},
        {set_group, CM_CONDITION_NOTE, "group: none, x.*"},
        {set_alignment, CM_CONDITION_BREAKS, "memory_alignment: 0, 64"},
        {set_optimizer, CM_CONDITION_NOTE, "optimizer: none, sgd"},
        {set_micro_batches, CM_CONDITION_BREAKS, "micro_batches: 1, 4"},
        {set_times, CM_CONDITION_TIMES, "times: none, modelled"},
        {set_unknown_op, CM_CONDITION_INCOMPLETE, "unknown_operators: 0, 3"},
        {set_unknown_shapes, CM_CONDITION_NOTE, "unknown_shapes: 0, 2"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_result *was = tree_make(NET);
        struct cm_result *is = tree_make(NET);
        was->options.n_dims = 1;
        was->options.dims = &seq_128;
        is->options = was->options;
        cases[i].set(is);
        expect_condition(was, is, cases[i].weight, cases[i].want);
        tree_free(was);
        tree_free(is);
    }
}

static void lists_no_condition_for_equal_options(void **state) {
    struct cm_result *was = tree_make(NET);
    (void)state;
    set_times(was);
    set_optimizer(was);
    set_dim(was);
    expect_condition(was, was, CM_CONDITION_NOTE, "");
    tree_free(was);
}

/* Both profiles have the operator, but their sums are incomplete. */
static void reports_operators_unknown_on_both_sides(void **state) {
    struct cm_result *was = tree_make(NET);
    (void)state;
    set_unknown_op(was);
    expect_condition(was, was, CM_CONDITION_INCOMPLETE, "unknown_operators: 3, 3");
    tree_free(was);
}

static void reports_gradients_unknown_on_both_sides(void **state) {
    struct cm_result *was = tree_make(NET);
    (void)state;
    was->coverage.n_unknown_gradients = 1;
    was->coverage.unknown_gradients = &unknown_op;
    expect_condition(was, was, CM_CONDITION_INCOMPLETE, "unknown_gradients: 3, 3");
    tree_free(was);
}

static struct cm_result *with_trips(const struct cm_named_size *trips, size_t n) {
    struct cm_result *result = tree_make(NET);
    result->options.trip_counts = trips;
    result->options.n_trip_counts = n;
    return result;
}

static void requires_equal_trip_counts(void **state) {
    static const struct cm_named_size twelve[] = {{"decode", 12}};
    static const struct cm_named_size more[] = {{"beam", 4}, {"decode", 20}};
    struct cm_result *none = with_trips(NULL, 0);
    struct cm_result *was = with_trips(twelve, 1);
    struct cm_result *is = with_trips(more, 2);
    (void)state;
    expect_condition(was, was, CM_CONDITION_NOTE, "");
    expect_condition(none, was, CM_CONDITION_BREAKS, "trip_counts.decode: none, 12");
    expect_condition(was, none, CM_CONDITION_BREAKS, "trip_counts.decode: 12, none");
    expect_condition(was, is, CM_CONDITION_BREAKS, "trip_counts.beam: none, 4");
    is->options.trip_counts++;
    is->options.n_trip_counts--;
    expect_condition(was, is, CM_CONDITION_BREAKS, "trip_counts.decode: 12, 20");
    tree_free(none);
    tree_free(was);
    tree_free(is);
}

/* State of the operator in each profile: absent, unknown or described. */
static void requires_equal_descriptions_of_custom_operators(void **state) {
    static const struct cm_description one = {"com.acme::Magic", "1", false};
    static const struct cm_description another = {"com.acme::Magic", "2", false};
    static const struct cm_description in_place = {"com.acme::Magic", "1", true};
    static const struct {
        const struct cm_description *was;
        const struct cm_description *is;
        bool was_unknown;
        bool was_counted; /* by a program that keeps no digests */
        const char *want;
    } cases[] = {
        {&one, &one, false, true, ""},
        {&one, &another, false, true, "op_costs.com.acme::Magic: 1, 2"},
        {NULL, &one, false, false, ""},
        {NULL, &one, true, false, "op_costs.com.acme::Magic: none, 1"},
        {NULL, &one, false, true, ""},
        {NULL, &in_place, false, false, "op_costs.com.acme::Magic: none, 1"},
        {NULL, &in_place, false, true, ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cm_result *was = tree_make(NET);
        struct cm_result *is = tree_make(NET);
        was->coverage.descriptions = cases[i].was;
        was->coverage.n_descriptions = cases[i].was != NULL;
        was->coverage.custom_ops = &unknown_op;
        was->coverage.n_custom_ops = cases[i].was_counted;
        if (cases[i].was_unknown) set_unknown_op(was);
        is->coverage.descriptions = cases[i].is;
        is->coverage.n_descriptions = 1;
        expect_condition(was, is, CM_CONDITION_BREAKS, cases[i].want);
        tree_free(was);
        tree_free(is);
    }
}

static void refuses_a_custom_operator_without_its_description(void **state) {
    static const struct cm_description one = {"com.acme::Magic", "1", false};
    struct cm_result *was = tree_make(NET);
    struct cm_result *is = tree_make(NET);
    (void)state;
    was->coverage.descriptions = &one;
    was->coverage.n_descriptions = 1;
    expect_condition(was, is, CM_CONDITION_NOTE, "");
    set_unknown_op(is);
    expect_condition(was, is, CM_CONDITION_BREAKS, "op_costs.com.acme::Magic: 1, none");
    tree_free(was);
    tree_free(is);
}

static void does_not_compare_times_of_different_devices(void **state) {
    struct cm_result *was = tree_make(NET);
    struct cm_result *is = tree_make(NET);
    (void)state;
    was->measure = &roofline;
    is->measure = &other_device;
    expect_condition(was, is, CM_CONDITION_TIMES, "device: H200, A100");
    is->measure = &no_device;
    expect_condition(was, is, CM_CONDITION_TIMES, "times: modelled, no device");
    tree_free(was);
    tree_free(is);
}

static void requires_equal_training_options(void **state) {
    static const char *const pattern[] = {"layer1.*"};
    struct cm_result *was = tree_make(NET);
    struct cm_result *is = tree_make(NET);
    (void)state;
    set_optimizer(was);
    set_optimizer(is);
    is->training.optimizer = "adam";
    expect_condition(was, is, CM_CONDITION_BREAKS, "optimizer: sgd, adam");
    is->training.optimizer = "sgd";
    is->training.restored_norms = 20; /* one of them with --as-exported */
    expect_condition(was, is, CM_CONDITION_NOTE, "restored_norms: 0, 20");
    is->training.restored_norms = 0;
    is->training.n_freeze = 1;
    is->training.freeze = pattern;
    expect_condition(was, is, CM_CONDITION_BREAKS, "freeze: none, layer1.*");
    is->training.n_freeze = 0;
    is->training.n_trainable = 1;
    is->training.trainable = pattern;
    expect_condition(was, is, CM_CONDITION_BREAKS, "trainable: none, layer1.*");
    is->training.n_trainable = 0;
    is->training.shard_gpus = 8;
    expect_condition(was, is, CM_CONDITION_BREAKS, "shard_gpus: 0, 8");
    is->training.shard_gpus = CM_UNKNOWN; /* a former version wrote it */
    is->training.zero_stage = 3;
    expect_condition(was, is, CM_CONDITION_BREAKS, "zero_stage: 0, 3");
    is->training.zero_stage = CM_UNKNOWN;
    is->training.offload = "all";
    expect_condition(was, is, CM_CONDITION_BREAKS, "offload: none, all");
    is->training.offload = "";
    is->training.n_checkpoint = 1;
    is->training.checkpoint = pattern;
    expect_condition(was, is, CM_CONDITION_BREAKS, "checkpoint: none, layer1.*");
    tree_free(was);
    tree_free(is);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_differing_conditions_with_their_weight),
        cmocka_unit_test(lists_no_condition_for_equal_options),
        cmocka_unit_test(reports_operators_unknown_on_both_sides),
        cmocka_unit_test(reports_gradients_unknown_on_both_sides),
        cmocka_unit_test(requires_equal_trip_counts),
        cmocka_unit_test(requires_equal_descriptions_of_custom_operators),
        cmocka_unit_test(refuses_a_custom_operator_without_its_description),
        cmocka_unit_test(does_not_compare_times_of_different_devices),
        cmocka_unit_test(requires_equal_training_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
