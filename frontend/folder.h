/* SPDX-License-Identifier: Apache-2.0 */
/* Recognizes a folder with a model, which users pass instead of the file. */
#ifndef FRONTEND_FOLDER_H
#define FRONTEND_FOLDER_H

struct cm_diagnostics;

/* Adds a hint to the newest message if `path` is a folder with a well-known file. */
void folder_explain(const char *path, struct cm_diagnostics *diag);

#endif
