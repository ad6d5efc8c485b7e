/* SPDX-License-Identifier: Apache-2.0 */
/* Loads NVIDIA's libraries in versions that work with driver and device. */
#include "backends/cuda/api.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "backends/cuda/refuse.h"

#define N(array)          (sizeof(array) / sizeof((array)[0]))
#define MESSAGE_SIZE      4096
#define MAX_ARCHITECTURES 64

/* EXPANDED(name): text of a name after expansion of the header's macros. */
#define TEXT_OF(name)  #name
#define EXPANDED(name) TEXT_OF(name)

#define DRIVER_ROW(name)          {EXPANDED(name), offsetof(struct cuda_driver, name), false},
#define DRIVER_OPTIONAL_ROW(name) {EXPANDED(name), offsetof(struct cuda_driver, name), true},
#define DRIVER_PLAIN_ROW(name)    {#name, offsetof(struct cuda_driver, name), false},
#define DRIVER_FIRST_ROW(name, _) {#name, offsetof(struct cuda_driver, name), true},
#define CUDNN_ROW(name)           {EXPANDED(name), offsetof(struct cuda_cudnn, name), false},
#define CUBLASLT_ROW(name)        {EXPANDED(name), offsetof(struct cuda_cublaslt, name), false},
#define NVRTC_ROW(name)           {EXPANDED(name), offsetof(struct cuda_nvrtc, name), false},

static const struct library_symbol driver_symbols[] = {
    CUDA_DRIVER_FUNCTIONS(DRIVER_ROW) CUDA_DRIVER_OPTIONAL(DRIVER_OPTIONAL_ROW)
        CUDA_DRIVER_PLAIN(DRIVER_PLAIN_ROW) CUDA_DRIVER_FIRST(DRIVER_FIRST_ROW)};
static const struct library_symbol cudnn_symbols[] = {CUDA_CUDNN_FUNCTIONS(CUDNN_ROW)};
static const struct library_symbol cublaslt_symbols[] = {CUDA_CUBLASLT_FUNCTIONS(CUBLASLT_ROW)};
static const struct library_symbol nvrtc_symbols[] = {CUDA_NVRTC_FUNCTIONS(NVRTC_ROW)};

int api_load_driver(const struct library_folders *folders, struct cuda_driver *ret,
                    struct cm_reason *reason) {
    static const struct library_name name = {"NVIDIA driver", {"libcuda.so.1", NULL}, true};
    return library_load(&name, folders, driver_symbols, N(driver_symbols), ret, reason);
}

int api_load_cudnn(const struct library_folders *folders, const struct api_wanted *wanted,
                   struct cuda_cudnn *ret, struct cm_reason *reason) {
    static const struct library_name name = {"cuDNN", {"libcudnn.so.9", NULL}, false};
    const int status =
        library_load(&name, folders, cudnn_symbols, N(cudnn_symbols), ret, reason);
    if (status != CM_BACKEND_OK || wanted->sm == 0 || wanted->sm >= API_FIRST_SM) return status;
    const size_t version = ret->cudnnGetVersion();
    if (version < API_OLDER_CUDNN) return status;
    return cuda_refuse(reason, CM_BACKEND_REFUSED,
                       "sm_%d requires cuDNN 9.10 or earlier, got %zu.%zu.%zu", wanted->sm,
                       version / 10000, version / 100 % 100, version % 100);
}

/* Returns true if only libraries of CUDA 12 work. Those of CUDA 13 can be loaded, but fail at
 * their first call under a driver for CUDA 12 and have no kernels for older devices. */
static bool is_older(const struct api_wanted *wanted) {
    return wanted->major == 12 || (wanted->sm > 0 && wanted->sm < API_FIRST_SM);
}

int api_load_cublaslt(const struct library_folders *folders, const struct api_wanted *wanted,
                      struct cuda_cublaslt *ret, struct cm_reason *reason) {
    static const struct library_name names[] = {
        {"cuBLASLt", {"libcublasLt.so.13", "libcublasLt.so.12", NULL}, false},
        {"cuBLASLt of CUDA 12", {"libcublasLt.so.12", NULL}, false}};
    return library_load(&names[is_older(wanted)], folders, cublaslt_symbols,
                        N(cublaslt_symbols), ret, reason);
}

int api_load_nvrtc(const struct library_folders *folders, const struct api_wanted *wanted,
                   struct cuda_nvrtc *ret, struct cm_reason *reason) {
    static const struct library_name names[] = {
        {"NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12", NULL}, false},
        {"NVRTC of CUDA 12", {"libnvrtc.so.12", NULL}, false}};
    return library_load(&names[is_older(wanted)], folders, nvrtc_symbols, N(nvrtc_symbols), ret,
                        reason);
}

/* For each engine, cuDNN's message has the input `{"engineId":1,...}` and a line
 * `Warning: STATUS; Reason: the check` per failed check, innermost first. Prints the first
 * check of the message. */
void api_cudnn_error(const struct cuda_cudnn *cudnn, cudnnStatus_t status, char *ret,
                     size_t size) {
    char message[MESSAGE_SIZE] = "";
    cudnn->cudnnGetLastErrorString(message, sizeof(message));
    message[sizeof(message) - 1] = '\0';
    const char *first = strstr(message, "Reason: ");
    const char *reason = first != NULL ? first + strlen("Reason: ") : message;
    const int length = (int)strcspn(reason, "\n");
    (void)snprintf(ret, size, "%s%s%.*s", cudnn->cudnnGetErrorString(status),
                   length > 0 ? ", " : "", length, reason);
}

int api_newest_sm(const struct cuda_nvrtc *nvrtc, int sm) {
    int architectures[MAX_ARCHITECTURES];
    int n = 0;
    int ret = 0;
    if (nvrtc->nvrtcGetNumSupportedArchs(&n) != NVRTC_SUCCESS || n > MAX_ARCHITECTURES ||
        nvrtc->nvrtcGetSupportedArchs(architectures) != NVRTC_SUCCESS)
        return 0;
    for (int i = 0; i < n; i++)
        if (architectures[i] <= sm && architectures[i] > ret) ret = architectures[i];
    return ret;
}
