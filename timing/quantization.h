/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a quantized model on a modelled device with its float model. */
#pragma once

#include "timing/timing.h"

/* If times are modelled, and the precision is int8 or the file is quantized (QDQ), runs the
 * passes of the float model in fp32 and, if the device has a rate for it, in fp16, and sets
 * timing->quantization: what int8 gains over the faster one. The passes of `timing` have run.
 * Returns CM_OK or CM_NO_MEMORY (reported). */
int quantization_find(struct timing *timing) CM_MUST_CHECK;
