/* SPDX-License-Identifier: Apache-2.0 */
/* The CUDA module, loaded against the doubles of NVIDIA's libraries (double/). */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "double/double.h"
#include "works.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

struct fixture {
    const struct cm_backend *backend;
    struct double_state *seen;
};

/* Loads the module and the doubles, once for a group of tests. */
int harness_make(void **state);
int harness_end(void **state);
/* Before each test: a device without faults. After it: fails if an object is left or a call was
 * wrong. */
int harness_reset(void **state);
int harness_clean(void **state);

#define CASE(name) cmocka_unit_test_setup_teardown(name, harness_reset, harness_clean)

/* The setting that names the folder of the doubles. */
extern const struct cm_setting doubles;

int open_with(const struct fixture *f, struct cm_settings settings, struct cm_device **ret,
              struct cm_reason *reason);
struct cm_device *open_device(const struct fixture *f);
/* Fails the test if the device opens or the reason differs. */
void refuses(const struct fixture *f, struct cm_settings settings, int status, const char *why);
struct cm_plan *plan(const struct fixture *f, struct cm_device *device,
                     const struct cm_primitive *work);
/* Returns the seconds of `n` executions. */
double run(const struct fixture *f, struct cm_plan *made, uint32_t n, enum cm_cache cache);
