/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the invariants of a model: ids in range, one producer per value, execution order,
 * consistent use lists. A violation is a bug of the program, not of the file: verify_model
 * aborts and names the entry. */
#pragma once

struct model;

void verify_model(const struct model *model);
