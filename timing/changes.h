/* SPDX-License-Identifier: Apache-2.0 */
/* Changes that make a model faster on a modelled device. */
#pragma once

#include "timing/timing.h"

/* If times are modelled, evaluates changes, and puts those that help before the advice of pass
 * advice. The passes of `timing` have run. Returns CM_OK or CM_NO_MEMORY (reported). */
int changes_evaluate(struct timing *timing) __attribute__((warn_unused_result));
