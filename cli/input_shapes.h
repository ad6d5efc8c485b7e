/* SPDX-License-Identifier: Apache-2.0 */
/* The values of --dim, --input and --value: a name of the model, and a size, a shape or
 * contents for it. */
#ifndef CLI_INPUT_SHAPES_H
#define CLI_INPUT_SHAPES_H

#include "costmodel/costmodel.h"

struct invocation;
struct option_list;

/* Each fills its part of *ret; the arrays are in the arena of `call`. CM_OK, CM_USAGE,
 * CM_NO_MEMORY. */
int shapes_read_dims(const struct invocation *call, const struct option_list *given,
                     struct cm_options *ret) CM_MUST_CHECK;
int shapes_read_inputs(const struct invocation *call, const struct option_list *given,
                       struct cm_options *ret) CM_MUST_CHECK;
int shapes_read_trips(const struct invocation *call, const struct option_list *given,
                      struct cm_options *ret) CM_MUST_CHECK;
int shapes_read_values(const struct invocation *call, const struct option_list *given,
                       struct cm_options *ret) CM_MUST_CHECK;

#endif
