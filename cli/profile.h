/* SPDX-License-Identifier: Apache-2.0 */
/* The options of `costmodel profile`, which main prints in the program's own help too. */
#ifndef CLI_PROFILE_H
#define CLI_PROFILE_H

#include "cli/options.h"

extern const struct option profile_options[];

#endif
