/* SPDX-License-Identifier: Apache-2.0 */
/* Opens files below a folder by an untrusted relative path. */
#pragma once

/* Opens `path`, which must be relative to `folder`, for reading, and returns the descriptor. On
 * failure returns -1 and sets errno: EXDEV if the path has a step ".." or leads outside the
 * folder. The kernel resolves the path so that no step of it, symbolic links included, leaves
 * the folder; a concurrent change of the path cannot defeat this. Does not wait for the writer
 * of a FIFO. */
int beneath_open(const char *folder, const char *path);

/* The same on systems without openat2: opens one step after the other and follows no symbolic
 * links, not even inside the folder (ELOOP, or ENOTDIR if a folder is a link). */
int beneath_open_steps(const char *folder, const char *path);
