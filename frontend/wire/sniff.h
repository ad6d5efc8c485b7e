/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes well-known formats in a file that is not an ONNX model. */
#ifndef FRONTEND_WIRE_SNIFF_H
#define FRONTEND_WIRE_SNIFF_H

struct cm_diagnostics;
struct source;

/* Adds a hint to the newest message if the file begins like a well-known format. */
void sniff_hint(struct source *source, struct cm_diagnostics *diag);

#endif
