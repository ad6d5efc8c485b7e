/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured times of another tool (docs/import.md): a profile of ONNX Runtime, a trace of
 * PyTorch, counters of OpenVINO, the profile or the layer information of TensorRT's trtexec, or
 * CSV.
 *
 *     struct cm_times *times = NULL;
 *     if (cm_times_load_file("profile.json", diagnostics, &times) == CM_OK) {
 *         const struct cm_times *const all[] = {times};
 *         options.n_times = 1;
 *         options.times = all;
 *     }
 *
 * A cm_times is immutable, so threads may share it. It must outlive the calls that use it;
 * results do not point into it.
 */
#ifndef COSTMODEL_TIMES_H
#define COSTMODEL_TIMES_H

#include "costmodel/costmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Reads a file of at most 128 MiB; its content decides the format. On CM_OK the caller owns
 * *ret_times. CM_OK, CM_REFUSED (unknown format, or an error in the file), CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_times_load_file(const char *path, struct cm_diagnostics *diagnostics,
                              struct cm_times **ret_times) CM_MUST_CHECK;
/* The same from `size` bytes that need not end in NUL; `name` is their location in messages. */
CM_API int cm_times_load_memory(const char *text, size_t size, const char *name,
                                struct cm_diagnostics *diagnostics,
                                struct cm_times **ret_times) CM_MUST_CHECK;
CM_API void cm_times_free(struct cm_times *times);

#ifdef __cplusplus
}
#endif

#endif
