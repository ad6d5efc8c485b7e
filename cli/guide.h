/* SPDX-License-Identifier: Apache-2.0 */
/* The guides of docs/guides/, embedded by the build (cmake/Library.cmake). */
#pragma once

#include <stddef.h>

struct guide {
    const char *name; /* file name without .md; NULL ends the table */
    const char *text; /* Markdown; the first line is "# Title" */
};

extern const struct guide guides[];
