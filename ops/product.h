/* SPDX-License-Identifier: Apache-2.0 */
/* MACs as a product of named factors, used to count and to explain them. Example, Conv: output
 * elements x channels of a group x kernel. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct op_context;

#define PRODUCT_MAX 6

struct factor {
    const char *name; /* "output elements"; outlives the analysis */
    int64_t size;     /* may be DIM_UNKNOWN or DIM_OVERFLOW */
};

struct product {
    size_t n;
    struct factor factors[PRODUCT_MAX];
};

void product_add(struct product *product, const char *name, int64_t size);
int64_t product_value(const struct product *product);

/* Returns the MACs of one run of the node; 0 if its row has no `macs` function. */
int64_t product_macs(const struct op_context *context);
