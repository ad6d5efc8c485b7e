/* SPDX-License-Identifier: Apache-2.0 */
/* Prints constructor arguments as torch.nn modules do (extra_repr), so that a profile looks
 * like print(model). Functions that return int return 0; `out` records failed allocations. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/op_context.h"
#include "support/text.h"

/* Prints an integer; "?" if it is unknown. */
void describe_int(struct text *out, int64_t value);
/* Prints the shortest decimal that rounds to this float32, as Python's repr: 1e-05, 1.0. */
void describe_real(struct text *out, double value);
/* Prints "(3, 2)" or "(1,)". */
void describe_tuple(struct text *out, size_t n, const int64_t *values);
/* Prints "3" if all values are equal, else the tuple. */
void describe_sizes(struct text *out, size_t n, const int64_t *values);
/* Prints "in_features=1024, out_features=512, bias=True". */
int describe_linear(int64_t in, int64_t out_features, bool bias, struct text *out);
/* Prints "NAME=0.01" with the value of the float attribute `attr`. */
int describe_float_attr(const struct op_context *context, const char *name, const char *attr,
                        struct text *out);
bool describe_all_equal(size_t n, const int64_t *values, int64_t value);
