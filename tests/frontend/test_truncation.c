/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real files, truncated at every byte or with changed bytes, load or give an error. Each prefix
 * is a separate allocation, so that ASan detects overruns.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "loading.h"

#define N_MUTATIONS 2000

/* Returns the whole file; the caller frees it. */
static uint8_t *read_whole(const char *name, size_t *ret_size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TEST_MODELS_DIR, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    const long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    uint8_t *bytes = malloc((size_t)size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
    fclose(file);
    *ret_size = (size_t)size;
    return bytes;
}

static void assert_cut_is_refused(const uint8_t *bytes, size_t size) {
    uint8_t *cut = malloc(size > 0 ? size : 1);
    assert_non_null(cut);
    memcpy(cut, bytes, size);
    struct loading loading = load_memory(cut, size);
    if (loading.status != CM_REFUSED || loading_message(&loading)[0] == '\0') {
        fail_msg("cut at %zu: status %d, message '%s'", size, loading.status,
                 loading_message(&loading));
    }
    loading_free(&loading);
    free(cut);
}

/* These files end with their opset imports, so no proper prefix is a valid model. */
static void refuses_a_file_truncated_at_any_byte(void **state) {
    static const struct {
        const char *name;
        size_t step;
    } files[] = {
        {"loop_if.onnx", 1}, {"lstm.onnx", 1}, {"unet.onnx", 1}, {"pointnet.onnx", 97}};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t size = 0;
        uint8_t *bytes = read_whole(files[i].name, &size);
        for (size_t n = 0; n < size; n += files[i].step) assert_cut_is_refused(bytes, n);
        free(bytes);
    }
}

/* xorshift64*: the same changes in every run. */
static uint64_t next_random(uint64_t *random) {
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return *random * 2685821657736338717u;
}

static void loads_or_refuses_a_file_with_changed_bytes(void **state) {
    static const char *const files[] = {"loop_if.onnx", "qdq.onnx", "pointnet_functions.onnx"};
    uint64_t random = 1;
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        size_t size = 0;
        uint8_t *bytes = read_whole(files[i], &size);
        uint8_t *changed = malloc(size);
        assert_non_null(changed);
        for (int k = 0; k < N_MUTATIONS; k++) {
            memcpy(changed, bytes, size);
            for (uint64_t n = 1 + next_random(&random) % 4; n > 0; n--) {
                changed[next_random(&random) % size] = (uint8_t)next_random(&random);
            }
            struct loading loading = load_memory(changed, size);
            assert_true(loading.status == CM_OK ||
                        (loading.status == CM_REFUSED && loading_message(&loading)[0] != '\0'));
            loading_free(&loading);
        }
        free(changed);
        free(bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_a_file_truncated_at_any_byte),
        cmocka_unit_test(loads_or_refuses_a_file_with_changed_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
