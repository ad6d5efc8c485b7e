/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What torch.nn prints in a module's brackets (its extra_repr), so that a profile reads like
 * print(model). All return 0; a text that ran out of memory remembers it itself.
 */
#ifndef OPS_DESCRIBE_H
#define OPS_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/op_context.h"
#include "support/text.h"

/* An integer, "?" where it is not known. */
void describe_int(struct text *out, int64_t value);
/* The shortest decimal that rounds to this float32, as Python's repr: 1e-05, 0.001, 1.0. */
void describe_real(struct text *out, double value);
/* "(3, 2)", "(1,)". */
void describe_tuple(struct text *out, size_t n, const int64_t *values);
/* "3" when all are equal, else the tuple. */
void describe_sizes(struct text *out, size_t n, const int64_t *values);
/* "in_features=1024, out_features=512, bias=True" */
int describe_linear(int64_t in, int64_t out_features, bool bias, struct text *out);
/* "NAME=0.01" of the float attribute `attr`. */
int describe_float_attr(const struct op_context *context, const char *name, const char *attr,
                        struct text *out);
bool describe_all_equal(size_t n, const int64_t *values, int64_t value);

#endif
