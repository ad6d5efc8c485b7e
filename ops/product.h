/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MACs as the product that they are, factor by factor, so that what counts them and what
 * explains them are one rule: Conv is outputs x channels of a group x kernel.
 */
#ifndef OPS_PRODUCT_H
#define OPS_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

struct op_context;

#define PRODUCT_MAX 6

struct factor {
    const char *name; /* "output elements"; outlives the analysis */
    int64_t size;     /* DIM_UNKNOWN, DIM_OVERFLOW pass */
};

struct product {
    size_t n;
    struct factor factors[PRODUCT_MAX];
};

void product_add(struct product *product, const char *name, int64_t size);
int64_t product_value(const struct product *product);

/* The MACs of one run of the node: 0 where its row has no rule for them. */
int64_t product_macs(const struct op_context *context);

#endif
