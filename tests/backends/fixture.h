/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that make primitives and temporary files for tests. */
#pragma once

#include <stdint.h>

#include "costmodel/backend.h"
#include "tests/temporary.h"

/* Returns a packed tensor of `rank` dims. */
struct cm_tensor fixture_tensor(int32_t element, int32_t rank, const int64_t *dims);

/* The first convolution of ResNet-50 at batch 1. */
struct cm_primitive fixture_conv(void);
/* ReLU of `n` elements. */
struct cm_primitive fixture_relu(int64_t n);
/* [m, k] times [k, n]. */
struct cm_primitive fixture_gemm(int32_t element, int64_t m, int64_t k, int64_t n);

/* Returns the text of a primitive; the caller frees it. */
char *fixture_print(const struct cm_primitive *primitive);

/* Writes `text` to a new file and sets `path`, which has room for FIXTURE_PATH bytes. The
 * caller unlinks the file. */
#define FIXTURE_PATH TEMPORARY_PATH
void fixture_write(const char *text, char *path);
