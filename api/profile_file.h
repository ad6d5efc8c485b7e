/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles given in place of a model: detects and reads them. */
#ifndef API_PROFILE_FILE_H
#define API_PROFILE_FILE_H

#include <stdbool.h>

#include "costmodel/costmodel.h"

struct source;

/* Detects JSON at the position of the source, which does not change. CM_OK, CM_IO. */
int profile_file_is(struct source *source, struct cm_diagnostics *diag,
                    bool *ret) CM_MUST_CHECK;

/* Reads the rest of the source as a result. CM_OK, CM_REFUSED, CM_IO, CM_NO_MEMORY. */
int profile_file_read(struct source *source, struct cm_diagnostics *diag,
                      struct cm_result **ret) CM_MUST_CHECK;

#endif
