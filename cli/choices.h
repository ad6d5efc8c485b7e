/* SPDX-License-Identifier: Apache-2.0 */
/* Words that several commands take for the same. */
#ifndef CLI_CHOICES_H
#define CLI_CHOICES_H

#include "cli/options.h"

extern const struct option_choice choices_units[]; /* enum cm_units */
extern const struct option_choice choices_color[]; /* enum color_choice */

#endif
