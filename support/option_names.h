/* SPDX-License-Identifier: Apache-2.0 */
/* Names of enumerators of cm_options, as in options and in results; "?" past the last. */
#pragma once

#include <stdint.h>

const char *option_precision_name(int32_t precision); /* "fp16" */
const char *option_layout_name(int32_t layout);       /* "nhwc" */
const char *option_runtime_name(int32_t runtime);     /* "tensorrt" */
const char *option_offload_name(int32_t offload);     /* "optimizer"; none: "" */

/* Returns the runtime of this name, or of its alias "compiled" or "eager"; CM_N_RUNTIMES if
 * there is none. */
int32_t option_runtime_find(const char *name);
