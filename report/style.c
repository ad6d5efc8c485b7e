/* SPDX-License-Identifier: Apache-2.0 */
/* Most styles are attributes, not colours: attributes are readable on any background. */
#include "report/style.h"

#include "support/banned.h"

static const char *const sequences[] = {
    [STYLE_PLAIN] = "",        [STYLE_TITLE] = "\033[1m",    [STYLE_NAME] = "\033[1m",
    [STYLE_SHARE] = "\033[2m", [STYLE_WARNING] = "\033[33m", [STYLE_BAR] = "\033[36m",
};

const char *style_on(enum style style) {
    return sequences[style];
}

const char *style_off(enum style style) {
    return style == STYLE_PLAIN ? "" : "\033[0m";
}
