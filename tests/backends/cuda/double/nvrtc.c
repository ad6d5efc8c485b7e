/* SPDX-License-Identifier: Apache-2.0 */
/* Double of NVRTC: it returns the source text as the compiled program. */
#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "double.h"

#define HEAD "// sm_%4d\n"

#define EXPORT __attribute__((visibility("default")))

struct _nvrtcProgram {
    char *text;
    int sm; /* 0: not compiled */
    bool ptx;
};

EXPORT nvrtcResult nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return NVRTC_SUCCESS;
}

EXPORT const char *nvrtcGetErrorString(nvrtcResult result) {
    return result == NVRTC_ERROR_COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

EXPORT nvrtcResult nvrtcCreateProgram(nvrtcProgram *ret, const char *text, const char *name,
                                      int n, const char *const *headers,
                                      const char *const *names) {
    int with = 0;
    if (double_fails("nvrtcCreateProgram", &with)) return (nvrtcResult)with;
    (void)name, (void)n, (void)headers, (void)names;
    *ret = double_make("program", sizeof(**ret));
    (*ret)->text = malloc(strlen(text) + 1);
    memcpy((*ret)->text, text, strlen(text) + 1);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    free((*program)->text);
    double_drop("program", *program, "nvrtcDestroyProgram");
    return NVRTC_SUCCESS;
}

/* Some of the architectures that CUDA 13 supports. */
static const int architectures[] = {75, 80, 86, 89, 90};
#define N_ARCHITECTURES (int)(sizeof(architectures) / sizeof(architectures[0]))

EXPORT nvrtcResult nvrtcGetSupportedArchs(int *ret) {
    for (int i = 0; i < N_ARCHITECTURES; i++)
        if (architectures[i] >= double_state.nvrtc_first) *ret++ = architectures[i];
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetNumSupportedArchs(int *ret) {
    *ret = 0;
    for (int i = 0; i < N_ARCHITECTURES; i++)
        *ret += architectures[i] >= double_state.nvrtc_first;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int n,
                                       const char *const *options) {
    int with = 0;
    int sm = 0;
    bool known = false;
    program->ptx = strncmp(options[0], "--gpu-architecture=compute_", 27) == 0;
    if (n != 1 ||
        sscanf(options[0],
               program->ptx ? "--gpu-architecture=compute_%d" : "--gpu-architecture=sm_%d",
               &sm) != 1)
        return NVRTC_ERROR_INVALID_OPTION;
    for (int i = 0; i < N_ARCHITECTURES; i++) known |= architectures[i] == sm;
    if (!known) return NVRTC_ERROR_INVALID_OPTION;
    if (double_fails("nvrtcCompileProgram", &with)) return (nvrtcResult)with;
    program->sm = sm;
    return NVRTC_SUCCESS;
}

static const char log_text[] = "costmodel.cu(1): error: failure requested\nmore";

EXPORT nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *ret) {
    (void)program;
    *ret = sizeof(log_text);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *ret) {
    (void)program;
    memcpy(ret, log_text, sizeof(log_text));
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *ret) {
    if (program->sm == 0 || program->ptx) return NVRTC_ERROR_INVALID_PROGRAM;
    *ret = sizeof("// sm_0000\n") + strlen(program->text);
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *ret) {
    if (program->sm == 0 || program->ptx) return NVRTC_ERROR_INVALID_PROGRAM;
    const int head = snprintf(ret, sizeof("// sm_0000\n"), HEAD, program->sm);
    memcpy(ret + head, program->text, strlen(program->text) + 1);
    return NVRTC_SUCCESS;
}

/* PTX names no architecture: the driver compiles it for any newer device. */
EXPORT nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *ret) {
    if (program->sm == 0) return NVRTC_ERROR_INVALID_PROGRAM;
    *ret = strlen(program->text) + 1;
    return NVRTC_SUCCESS;
}

EXPORT nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *ret) {
    if (program->sm == 0) return NVRTC_ERROR_INVALID_PROGRAM;
    memcpy(ret, program->text, strlen(program->text) + 1);
    return NVRTC_SUCCESS;
}
