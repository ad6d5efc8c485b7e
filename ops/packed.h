/* SPDX-License-Identifier: Apache-2.0 */
/* Operands that pack several numbers into one element, as two 4-bit weights into a byte. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct op_context;

/* Returns how many numbers operand `slot` holds: its number of elements unless it is packed. */
int64_t packed_numbers(const struct op_context *context, size_t slot);
