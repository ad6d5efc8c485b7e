/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes a folder that a user passed instead of the model file in it. */
#ifndef FRONTEND_FOLDER_H
#define FRONTEND_FOLDER_H

struct cm_diagnostics;

/* Adds a hint to the newest message if `path` is a folder with a well-known file. */
void folder_explain(const char *path, struct cm_diagnostics *diag);

#endif
