/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes well-known formats in a file that is not an ONNX model. */
#ifndef FRONTEND_WIRE_SNIFF_H
#define FRONTEND_WIRE_SNIFF_H

struct cm_diagnostics;
struct source;

/* Replaces the newest message, and its hint, if the file begins like a well-known format. */
void sniff_explain(struct source *source, struct cm_diagnostics *diag);

#endif
