/* SPDX-License-Identifier: Apache-2.0 */
/* numpy's matmul on operands at any place: what the quantized ones share with MatMul. */
#ifndef OPS_MATMUL_H
#define OPS_MATMUL_H

#include <stddef.h>
#include <stdint.h>

#include "ir/dtype.h"

struct product;
struct rule;

/* Output 0 = input a @ input b of that dtype; 1-D operands as numpy treats them. */
int matmul_infer(struct rule *rule, size_t a, size_t b, enum dtype dtype)
    __attribute__((warn_unused_result));
/* out * K, K the last axis of a */
void matmul_macs(const struct rule *rule, size_t a, size_t b, struct product *ret);

#endif
