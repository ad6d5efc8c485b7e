/* SPDX-License-Identifier: Apache-2.0 */
/* Option values that several commands share. */
#ifndef CLI_CHOICES_H
#define CLI_CHOICES_H

#include "cli/options.h"

extern const struct option_choice choices_units[]; /* enum cm_units */
extern const struct option_choice choices_color[]; /* enum color_choice */

#endif
