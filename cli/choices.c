/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/choices.h"

#include "cli/streams.h"
#include "costmodel/costmodel.h"

#include "support/banned.h"

const struct option_choice choices_units[] = {
    {"auto", CM_UNITS_AUTO},
    {"exact", CM_UNITS_EXACT},
    {"si", CM_UNITS_SI},
    {"binary", CM_UNITS_BINARY},
    {NULL, 0},
};

const struct option_choice choices_color[] = {
    {"auto", COLOR_AUTO},
    {"always", COLOR_ALWAYS},
    {"never", COLOR_NEVER},
    {NULL, 0},
};
