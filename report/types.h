/* SPDX-License-Identifier: Apache-2.0 */
/* Types as text: "float[32, 3, ?]", "sequence(float[...])", "map(int64: float[2])". */
#pragma once

struct cm_type;
struct text;

/* Appends a type: "?" is an unknown dim or dtype, "<=5" an upper bound, "[...]" any rank. */
void type_append(struct text *text, const struct cm_type *type);

/* Maximum nesting of sequences in reports; ONNX models have one or two levels. */
#define TYPE_MAX_DEPTH 64
