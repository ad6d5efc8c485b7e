/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of CSV. */
#pragma once

#include <stdio.h>

struct text;

/* Writes a text as a field: quoted if necessary, never a formula. Overwrites `safe`. */
void csv_put_text(const char *name, struct text *safe, FILE *out);
