/* SPDX-License-Identifier: Apache-2.0 */
/* What a struct cm_model is to the files of this layer. */
#ifndef API_HANDLE_H
#define API_HANDLE_H

#include "api/assemble.h"

struct arena;
struct model;
struct source;

struct cm_model {
    struct arena *arena; /* that it lives in itself */
    struct source *source;
    struct model *model;
    struct message_list notes; /* what loading had to say, for every result */
};

/* Names and sizes that no model could have. CM_OK, CM_USAGE, CM_NO_MEMORY. */
int model_check_options(const struct cm_options *options, struct arena *arena,
                        struct cm_diagnostics *diagnostics) CM_MUST_CHECK;

#endif
