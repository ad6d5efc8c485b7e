/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the primitives that measure the ceilings of a device, and of the ceilings computed
 * from their times. */
#include "backends/device/ceilings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

/* A simulated device with these rates, and the primitives that it has measured. */
struct machine {
    double flops_per_s;
    double bytes_per_s;
    int32_t state;
    int64_t largest_copy; /* bytes read */
    int64_t largest_gemm; /* rows of its matrices */
    int n_asked;
};

static void measure(void *context, const struct cm_primitive *primitive,
                    struct cm_measurement *ret) {
    struct machine *machine = context;
    const double bytes = (double)(primitive->bytes_read + primitive->bytes_written);
    double seconds = 1e-6 + bytes / machine->bytes_per_s;
    memset(ret, 0, sizeof(*ret));
    machine->n_asked++;
    if (primitive->kind == CM_COPY) machine->largest_copy = primitive->bytes_read;
    if (primitive->kind == CM_GEMM) {
        machine->largest_gemm = primitive->inputs[0].dims[0];
        seconds = (double)primitive->flops / machine->flops_per_s;
    }
    ret->state = machine->state;
    ret->cold.median = seconds;
    ret->warm.median = seconds / 2;
}

static struct ceilings survey(struct machine *machine, struct cm_device_facts facts,
                              int32_t element) {
    const struct ceilings_job job = {measure, machine};
    bool wanted[CM_N_ELEMENTS] = {false};
    struct ceilings ceilings;
    if (element != CM_ELEMENT_NONE) wanted[element] = true;
    ceilings_measure(&job, &facts, wanted, &ceilings);
    return ceilings;
}

static void near(double have, double want) {
    assert_true(have > want * 0.99 && have < want * 1.01);
}

static void grows_sizes_on_fast_device(void **state) {
    struct machine machine = {1e15, 4e12, CM_MEASURED, 0, 0, 0};
    const struct ceilings got = survey(&machine, (struct cm_device_facts){0}, CM_F16);
    (void)state;
    near(got.flops_per_s[CM_F16], 1e15);
    near(got.copy_bytes_per_s, 4e12);
    near(got.floor_s, 0.5e-6);
    assert_int_equal(machine.largest_gemm, 8192);
    assert_int_equal(machine.largest_copy, 1 << 30);
    assert_false(got.invented);
    assert_true(got.flops_per_s[CM_F32] == 0);
}

/* 2 * 1024^3 operations take this device 21 ms, a copy of 64 MiB takes it 0.1 s. */
static void measures_smallest_sizes_on_slow_device(void **state) {
    struct machine machine = {1e11, 1.3e9, CM_MEASURED, 0, 0, 0};
    const struct ceilings got = survey(&machine, (struct cm_device_facts){0}, CM_F32);
    (void)state;
    near(got.flops_per_s[CM_F32], 1e11);
    assert_int_equal(machine.largest_gemm, 1024);
    assert_int_equal(machine.largest_copy, 64 << 20);
    assert_int_equal(machine.n_asked, 3);
}

static void limits_operands_to_quarter_of_memory(void **state) {
    struct machine machine = {1e15, 4e12, CM_MEASURED, 0, 0, 0};
    const struct cm_device_facts facts = {.memory_bytes = (int64_t)1 << 30};
    (void)state;
    (void)survey(&machine, facts, CM_F32);
    assert_int_equal(machine.largest_gemm, 4096);     /* 3 matrices of 64 MiB */
    assert_int_equal(machine.largest_copy, 64 << 20); /* 64 MiB read and 64 MiB written */
}

static void sizes_copy_above_cache(void **state) {
    struct machine machine = {1e15, 1e9, CM_MEASURED, 0, 0, 0};
    const struct cm_device_facts facts = {.cache_bytes = (int64_t)32 << 20};
    (void)state;
    (void)survey(&machine, facts, CM_ELEMENT_NONE);
    assert_int_equal(machine.largest_copy, 256 << 20);
}

static void ignores_proxies_for_ceilings(void **state) {
    static const int32_t states[] = {CM_PROXY, CM_UNSUPPORTED, CM_CRASHED, CM_PLANNED,
                                     CM_MODELLED};
    (void)state;
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++) {
        struct machine machine = {1e15, 4e12, states[i], 0, 0, 0};
        const struct ceilings got = survey(&machine, (struct cm_device_facts){0}, CM_F32);
        assert_false(ceilings_any(&got));
        assert_int_equal(machine.n_asked, 3);
    }
}

static void marks_times_of_table(void **state) {
    struct machine machine = {1e15, 4e12, CM_INVENTED, 0, 0, 0};
    const struct ceilings got = survey(&machine, (struct cm_device_facts){0}, CM_F32);
    (void)state;
    assert_true(got.invented);
    assert_true(ceilings_any(&got));
}

static void reports_the_element_type_of_products(void **state) {
    const struct cm_primitive primitives[] = {fixture_conv(), fixture_gemm(CM_BF16, 4, 4, 4)};
    const struct cm_primitive relu = fixture_relu(8);
    bool wanted[CM_N_ELEMENTS];
    (void)state;
    ceilings_wanted(primitives, 2, wanted);
    assert_true(wanted[CM_F32] && wanted[CM_BF16] && !wanted[CM_F16]);
    ceilings_wanted(&relu, 1, wanted);
    assert_false(wanted[CM_F32]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grows_sizes_on_fast_device),
        cmocka_unit_test(measures_smallest_sizes_on_slow_device),
        cmocka_unit_test(limits_operands_to_quarter_of_memory),
        cmocka_unit_test(sizes_copy_above_cache),
        cmocka_unit_test(ignores_proxies_for_ceilings),
        cmocka_unit_test(marks_times_of_table),
        cmocka_unit_test(reports_the_element_type_of_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
