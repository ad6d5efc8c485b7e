/* SPDX-License-Identifier: Apache-2.0 */
/* A library that reports an unsupported version of oneDNN. */
#include <oneapi/dnnl/dnnl.h>

__attribute__((visibility("default"))) const dnnl_version_t *dnnl_version(void);

const dnnl_version_t *dnnl_version(void) {
    static const dnnl_version_t version = {.major = 99, .minor = 1};
    return &version;
}
