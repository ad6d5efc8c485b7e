/* SPDX-License-Identifier: Apache-2.0 */
/* Products of named factors: see product.h. */
#include "ops/product.h"

#include "ops/op_context.h"
#include "support/checked.h"
#include "support/diag.h"

void product_add(struct product *product, const char *name, int64_t size) {
    BUG_ON(product->n == PRODUCT_MAX);
    product->factors[product->n++] = (struct factor){name, size};
}

int64_t product_value(const struct product *product) {
    int64_t value = 1;
    for (size_t i = 0; i < product->n; i++)
        value = checked_mul(value, product->factors[i].size);
    return value;
}

int64_t product_macs(const struct op_context *context) {
    if (!context->op->cost.macs) return 0;
    struct product product = {.n = 0};
    context->op->cost.macs(context, &product);
    return product_value(&product);
}
