/* SPDX-License-Identifier: Apache-2.0 */
/* Operands in which several numbers stand in one element: weights of 4 bits, two in a byte. */
#ifndef OPS_PACKED_H
#define OPS_PACKED_H

#include <stddef.h>
#include <stdint.h>

struct op_context;

/* How many numbers operand `slot` holds: its elements, where nothing is packed. */
int64_t packed_numbers(const struct op_context *context, size_t slot);

#endif
