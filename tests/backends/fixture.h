/* SPDX-License-Identifier: Apache-2.0 */
/* Primitives made by hand, and files that last as long as a test. */
#ifndef TESTS_BACKENDS_FIXTURE_H
#define TESTS_BACKENDS_FIXTURE_H

#include <stdint.h>

#include "costmodel/backend.h"
#include "tests/temporary.h"

/* Packed, of `rank` dims. */
struct cm_tensor fixture_tensor(int32_t element, int32_t rank, const int64_t *dims);

/* The first convolution of ResNet-50 at batch 1. */
struct cm_primitive fixture_conv(void);
/* ReLU of `n` elements. */
struct cm_primitive fixture_relu(int64_t n);
/* [m, k] times [k, n]. */
struct cm_primitive fixture_gemm(int32_t element, int64_t m, int64_t k, int64_t n);

/* The text of a primitive, the caller's to free. */
char *fixture_print(const struct cm_primitive *primitive);

/* A file with this text; `path` has room for FIXTURE_PATH. The caller unlinks it. */
#define FIXTURE_PATH TEMPORARY_PATH
void fixture_write(const char *text, char *path);

#endif
