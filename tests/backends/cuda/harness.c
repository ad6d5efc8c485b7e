/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the CUDA module and the doubles, and resets the doubles for each test. */
#include "harness.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "backends/plugin/loader.h"

int harness_make(void **state) {
    struct fixture *f = calloc(1, sizeof(*f));
    struct cm_reason reason = {""};
    if (f == NULL) return 1;
    *state = f;
    const char *mutant = getenv("TEST_CUDA_MUTANT"); /* set by test_mutants */
    if (loader_load(mutant != NULL ? mutant : TEST_CUDA_MODULE, true, &f->backend, &reason) !=
        CM_BACKEND_OK) {
        print_error("%s\n", reason.text);
        return 1;
    }
    void *driver = dlopen(TEST_CUDA_DOUBLES "/all/libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (driver == NULL) {
        print_error("%s\n", dlerror());
        return 1;
    }
    f->seen = dlsym(driver, "double_state");
    return f->seen == NULL;
}

int harness_end(void **state) {
    free(*state);
    return 0;
}

/* Before each test: resets the doubles to a device without faults. */
int harness_reset(void **state) {
    const struct fixture *f = *state;
    memset(f->seen, 0, sizeof(*f->seen));
    f->seen->memory = (size_t)64 << 20;
    f->seen->driver_version = 13000;
    f->seen->sm = 90;
    f->seen->cudnn_version = 90100;
    f->seen->nvrtc_first = 75;
    f->seen->cudnn_launches = 1;
    f->seen->sm_mhz = 1500;
    f->seen->cache_bytes = 1 << 20;
    f->seen->n_devices = 1;
    f->seen->n_processes = 1;
    (void)unsetenv("NVIDIA_TF32_OVERRIDE");
    return 0;
}

/* After each test: fails it if objects or allocations are left, or if a call was a misuse. */
int harness_clean(void **state) {
    const struct fixture *f = *state;
    if (f->seen->misuse[0] != '\0') {
        print_error("%s\n", f->seen->misuse);
        return 1;
    }
    if (f->seen->n_objects == 0 && f->seen->n_allocations == 0) return 0;
    print_error("%zu objects and %zu allocations are left\n", f->seen->n_objects,
                f->seen->n_allocations);
    return 1;
}

const struct cm_setting doubles = {"libraries", TEST_CUDA_DOUBLES "/all"};

int open_with(const struct fixture *f, struct cm_settings settings, struct cm_device **ret,
              struct cm_reason *reason) {
    if (settings.items == NULL) {
        settings.items = &doubles;
        settings.n = 1;
    }
    return f->backend->open(&settings, ret, reason);
}

struct cm_device *open_device(const struct fixture *f) {
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    if (open_with(f, (struct cm_settings){.n = 0}, &device, &reason) != CM_BACKEND_OK)
        fail_msg("%s", reason.text);
    return device;
}

struct cm_plan *plan(const struct fixture *f, struct cm_device *device,
                     const struct cm_primitive *work) {
    struct cm_plan *ret = NULL;
    struct cm_reason reason = {""};
    if (f->backend->plan(device, work, &ret, &reason) != CM_BACKEND_OK)
        fail_msg("%s", reason.text);
    return ret;
}

double run(const struct fixture *f, struct cm_plan *made, uint32_t n, enum cm_cache cache) {
    double seconds = 0;
    struct cm_reason reason = {""};
    if (f->backend->run(made, n, cache, &seconds, &reason) != CM_BACKEND_OK)
        fail_msg("%s", reason.text);
    return seconds;
}

void refuses(const struct fixture *f, struct cm_settings settings, int status,
             const char *why) {
    struct cm_device *device = NULL;
    struct cm_reason reason = {""};
    assert_int_equal(open_with(f, settings, &device, &reason), status);
    assert_string_equal(reason.text, why);
    assert_null(device);
}
