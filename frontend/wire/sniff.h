/* SPDX-License-Identifier: Apache-2.0 */
/* What a file that is no ONNX model looks like instead. */
#ifndef FRONTEND_WIRE_SNIFF_H
#define FRONTEND_WIRE_SNIFF_H

struct cm_diagnostics;
struct source;

/* Adds a hint to the newest message when the file begins like something well known. */
void sniff_hint(struct source *source, struct cm_diagnostics *diag);

#endif
