/* SPDX-License-Identifier: Apache-2.0 */
/* Modules that an exporter takes apart where the opset has no operator for them: LayerNorm
 * before 17, GELU before 20, SiLU, Hardswish, GroupNorm. */
#ifndef PASSES_MODULE_CHAINS_H
#define PASSES_MODULE_CHAINS_H

#include <stddef.h>
#include <stdint.h>

#include "costmodel/costmodel.h"

struct analysis;
struct module;

/* Sets type, arguments and type_known where the nodes are a known chain. CM_OK, CM_NO_MEMORY.
 */
int chains_type(const struct analysis *analysis, const uint32_t *nodes, size_t n,
                struct module *module) CM_MUST_CHECK;

#endif
