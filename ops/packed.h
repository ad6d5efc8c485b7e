/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that pack several numbers into one element, such as two 4-bit weights into a byte.
 */
#ifndef OPS_PACKED_H
#define OPS_PACKED_H

#include <stddef.h>
#include <stdint.h>

struct op_context;

/* How many numbers operand `slot` holds: its elements, where nothing is packed. */
int64_t packed_numbers(const struct op_context *context, size_t slot);

#endif
