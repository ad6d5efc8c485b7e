/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the parts of the module that require neither a device nor a library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cuda/device.h"
#include "backends/cuda/fill.h"
#include "backends/cuda/gemm.h"
#include "backends/cuda/jit/jit.h"
#include "backends/cuda/library.h"
#include "backends/cuda/replay.h"
#include "works.h"

static void never_searches_relative_paths(void **state) {
    struct library_folders folders;
    struct cm_reason reason = {""};
    (void)state;
    (void)setenv("CUDA_HOME", "relative", 1);
    (void)setenv("CONDA_PREFIX", "", 1);
    assert_int_equal(library_find_folders("/first:/second", &folders, &reason), CM_BACKEND_OK);
    assert_string_equal(folders.items[0], "/first");
    assert_string_equal(folders.items[1], "/second");
    assert_string_equal(folders.items[2], "");
    for (size_t i = 0; i < folders.n; i++) assert_true(i == 2 || folders.items[i][0] == '/');
    library_drop_folders(&folders);
    assert_int_equal(library_find_folders("/first:second", &folders, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "libraries must be absolute paths");
    (void)unsetenv("CUDA_HOME");
    (void)unsetenv("CONDA_PREFIX");
}

static void names_missing_library(void **state) {
    static char places[2][LIBRARY_PATH] = {"", "/nonexistent"};
    const struct library_folders folders = {2, places};
    struct library_name name = {"thing", {"libnowhere.so.1", NULL}, true};
    struct cm_reason reason = {""};
    void *table = NULL;
    const struct library_symbol symbol = {"nowhere", 0, false};
    (void)state;
    assert_int_equal(library_load(&name, &folders, &symbol, 1, (void *)&table, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "no thing: libnowhere.so.1 is not on this machine");
    name.of_system = false;
    assert_int_equal(library_load(&name, &folders, &symbol, 1, (void *)&table, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text,
                        "no thing: libnowhere.so.1 is neither where the loader looks nor in 1 "
                        "folders of deb, rpm, conda, pip and the toolkit; "
                        "cuda:libraries=PATH names another");
    name.sonames[0] = "libc.so.6";
    assert_int_equal(library_load(&name, &folders, &symbol, 1, (void *)&table, &reason),
                     CM_BACKEND_REFUSED);
    assert_string_equal(reason.text,
                        "thing (libc.so.6) has no function 'nowhere': version too old");
}

/* Decodes a normal number without its sign: 2^(e - bias) * (1 + m / 2^mantissa). */
static double value_of(uint64_t bits, int exponent, int mantissa) {
    const int biased = (int)(bits >> mantissa & ((1U << exponent) - 1U));
    double value = 1 + (double)(bits & (((uint64_t)1 << mantissa) - 1)) /
                           (double)((uint64_t)1 << mantissa);
    assert_true(biased > 0 && biased < (1 << exponent) - 1);
    for (int e = (1 << (exponent - 1)) - 1; e > biased; e--) value /= 2;
    return value;
}

static void fills_operands_with_magnitudes_below_one_half(void **state) {
    static const struct {
        int32_t element;
        size_t size;
        int exponent, mantissa;
    } formats[] = {{CM_F32, 4, 8, 23},  {CM_F16, 2, 5, 10},   {CM_BF16, 2, 8, 7},
                   {CM_F64, 8, 11, 52}, {CM_F8E4M3, 1, 4, 3}, {CM_F8E5M2, 1, 5, 2}};
    char pattern[8192];
    (void)state;
    for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++) {
        const struct fill fill = {.element = formats[f].element};
        const size_t n = sizeof(pattern) / formats[f].size;
        size_t n_negative = 0;
        fill_pattern(&fill, pattern, sizeof(pattern));
        for (size_t i = 0; i < n; i++) {
            uint64_t bits = 0;
            memcpy(&bits, pattern + i * formats[f].size, formats[f].size);
            const int sign = formats[f].exponent + formats[f].mantissa;
            n_negative += bits >> sign & 1;
            bits &= ((uint64_t)1 << sign) - 1;
            const double value = value_of(bits, formats[f].exponent, formats[f].mantissa);
            assert_true(value >= 0x1p-6 && value < 0.5);
        }
        assert_true(n_negative > n * 2 / 5 && n_negative < n * 3 / 5);
    }
}

static void indices_stay_within_their_axis(void **state) {
    struct cm_primitive gather =
        works_of(CM_GATHER, 0, fixture_tensor(CM_F32, 2, (const int64_t[]){37, 64}),
                 fixture_tensor(CM_F32, 2, (const int64_t[]){1024, 64}));
    int64_t pattern[1024];
    int64_t most = 0;
    (void)state;
    gather.n_inputs = 2;
    gather.inputs[1] = works_line(CM_I64, 1024);
    const struct fill fill = fill_for(&gather, 1);
    fill_pattern(&fill, pattern, sizeof(pattern));
    for (int i = 0; i < 1024; i++) {
        assert_true(pattern[i] >= 0 && pattern[i] < 37);
        most = pattern[i] > most ? pattern[i] : most;
    }
    assert_int_equal(most, 36);
}

static void reads_products_in_terms_of_blas(void **state) {
    struct cm_primitive work = fixture_gemm(CM_F32, 3, 5, 7);
    struct gemm gemm;
    struct cm_reason reason = {""};
    (void)state;
    work.inputs[1].strides[0] = 1; /* b is a transposed [7, 5] */
    work.inputs[1].strides[1] = 5;
    work.n_inputs = 3;
    work.inputs[2] = works_line(CM_F32, 7);
    assert_int_equal(gemm_read(&work, &gemm, &reason), CM_BACKEND_OK);
    assert_int_equal(gemm.m, 3);
    assert_int_equal(gemm.n, 7);
    assert_int_equal(gemm.k, 5);
    assert_false(gemm.matrices[GEMM_A].column_major);
    assert_int_equal(gemm.matrices[GEMM_A].leading, 5);
    assert_true(gemm.matrices[GEMM_B].column_major);
    assert_int_equal(gemm.matrices[GEMM_B].leading, 5);
    assert_int_equal(gemm.matrices[GEMM_Y].leading, 7);
    assert_int_equal(gemm.addend, GEMM_BIAS);
    work.inputs[2] = works_line(CM_F32, 2);
    assert_int_equal(gemm_read(&work, &gemm, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "the batches or the addend do not match");
    work.n_inputs = 2;
    work.inputs[0] = works_line(CM_F32, 5);
    assert_int_equal(gemm_read(&work, &gemm, &reason), CM_BACKEND_REFUSED);
    assert_string_equal(reason.text, "an operand is not a matrix");
}

static void merges_batches_of_one_stride(void **state) {
    struct cm_primitive work = fixture_gemm(CM_F32, 8, 8, 8);
    struct gemm gemm;
    struct cm_reason reason = {""};
    const int64_t dims[] = {2, 3, 8, 8};
    (void)state;
    for (int i = 0; i < 2; i++) work.inputs[i] = fixture_tensor(CM_F32, 4, dims);
    work.outputs[0] = fixture_tensor(CM_F32, 4, dims);
    assert_int_equal(gemm_read(&work, &gemm, &reason), CM_BACKEND_OK);
    assert_int_equal(gemm.batch, 6);
    assert_int_equal(gemm.n_calls, 1);
    assert_int_equal(gemm.matrices[GEMM_A].batch, 64);
    work.inputs[1] = fixture_tensor(CM_F32, 2, dims + 2);
    assert_int_equal(gemm_read(&work, &gemm, &reason), CM_BACKEND_OK);
    assert_int_equal(gemm.batch, 6);
    assert_int_equal(gemm.matrices[GEMM_B].batch, 0);
}

static void merges_contiguous_axes(void **state) {
    const struct cm_tensor x = works_image(CM_F32, 2, 3, 4, 8);
    const struct cm_tensor bias = fixture_tensor(CM_F32, 3, (const int64_t[]){3, 1, 1});
    const struct cm_tensor *const operands[] = {&x, &bias, &x};
    struct jit_index index;
    (void)state;
    assert_true(jit_index_read(&x, operands, 3, &index));
    assert_int_equal(index.rank, 3);
    assert_int_equal(index.dims[2], 32);
    assert_int_equal(index.strides[1][0], 0);
    assert_int_equal(index.strides[1][1], 1);
    assert_int_equal(index.strides[1][2], 0);
    assert_int_equal(jit_index_vector(&index, 4), 4);
    const struct cm_tensor *const same[] = {&x, &x};
    assert_true(jit_index_read(&x, same, 2, &index));
    assert_int_equal(index.rank, 1);
    assert_int_equal(jit_index_elements(&index), 192);
}

static size_t some_version(void) {
    return 91900;
}

static void warns_of_missing_parts_of_driver(void **state) {
    struct cm_device device = {.has_driver = true};
    struct cm_device_facts facts;
    (void)state;
    device.has_cudnn.available = device.has_nvrtc.available = true;
    device.cudnn.cudnnGetVersion = some_version;
    device_facts(&device, &facts);
    assert_string_equal(facts.warning,
                        "no NVML: clocks and throttling are unknown; kernel names "
                        "require a driver for CUDA 12.3 or later");
}

static void names_of_templates_are_demangled(void **state) {
    static const struct {
        const char *mangled, *name;
    } cases[] = {
        {"_ZN7cutlass7Kernel2I33cutlass_80_tensorop_s1688gemm_nnEEvT_",
         "_ZN7cutlass7Kernel2I33cutlass_80_tensorop_s1688gemm_nnEEvT_"}, /* not valid */
        {"_ZN7cutlass6KernelI4gemmEEvNT_6ParamsE", "void cutlass::Kernel<gemm>(gemm::Params)"},
        {"_Z6kernelPKfPfi", "kernel(float const*, float*, int)"},
        {"nvjet_hsh_128x256", "nvjet_hsh_128x256"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[256];
        (void)snprintf(name, sizeof(name), "%s", cases[i].mangled);
        replay_demangle(name, sizeof(name));
        assert_string_equal(name, cases[i].name);
    }
    char name[8] = "_Z1fv";
    replay_demangle(name, 4); /* truncated */
    assert_string_equal(name, "f()");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_searches_relative_paths),
        cmocka_unit_test(names_missing_library),
        cmocka_unit_test(fills_operands_with_magnitudes_below_one_half),
        cmocka_unit_test(indices_stay_within_their_axis),
        cmocka_unit_test(reads_products_in_terms_of_blas),
        cmocka_unit_test(merges_batches_of_one_stride),
        cmocka_unit_test(merges_contiguous_axes),
        cmocka_unit_test(warns_of_missing_parts_of_driver),
        cmocka_unit_test(names_of_templates_are_demangled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
