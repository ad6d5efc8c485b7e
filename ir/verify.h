/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what every pass takes for granted of a model: ids in range, one producer a value,
 * order, use lists that agree. A breach is a bug of ours, not of the file: verify_model aborts
 * with its place. */
#ifndef IR_VERIFY_H
#define IR_VERIFY_H

struct model;

void verify_model(const struct model *model);

#endif
