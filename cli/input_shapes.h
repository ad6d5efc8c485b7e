/* SPDX-License-Identifier: Apache-2.0 */
/* Parsers of --dim, --trip-count, --input and --value. */
#ifndef CLI_INPUT_SHAPES_H
#define CLI_INPUT_SHAPES_H

#include "costmodel/costmodel.h"

struct invocation;
struct option_list;

/* Each sets the array of its option in *ret, allocated in call->arena. CM_OK, CM_USAGE,
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
