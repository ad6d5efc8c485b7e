/* SPDX-License-Identifier: Apache-2.0 */
#include "support/option_names.h"

#include "costmodel/backend.h"
#include "costmodel/costmodel.h"
#include "support/text.h"

/* clang-format off */
static const char *const precision_names[CM_N_PRECISIONS] = {
    [CM_PRECISION_AS_STORED] = "file", [CM_PRECISION_TF32] = "tf32",
    [CM_PRECISION_FP16] = "fp16", [CM_PRECISION_BF16] = "bf16", [CM_PRECISION_INT8] = "int8",
    [CM_PRECISION_FP8] = "fp8",
    [CM_PRECISION_AMP] = "amp",
    [CM_PRECISION_FP32] = "fp32",
};

static const char *const runtime_names[CM_N_RUNTIMES] = {
    [CM_RUNTIME_AUTO] = "auto",
    [CM_RUNTIME_TORCH_COMPILE] = "torch-compile",
    [CM_RUNTIME_TORCH_EAGER] = "torch-eager",
    [CM_RUNTIME_TENSORRT] = "tensorrt",
    [CM_RUNTIME_ORT_CUDA] = "ort-cuda",
    [CM_RUNTIME_ORT_CPU] = "ort-cpu",
    [CM_RUNTIME_OPENVINO] = "openvino",
    [CM_RUNTIME_NCNN] = "ncnn",
};

static const char *const layout_names[CM_N_LAYOUTS] = {
    [CM_LAYOUT_AUTO] = "auto", [CM_LAYOUT_NCHW] = "nchw", [CM_LAYOUT_NHWC] = "nhwc",
};

static const char *const offload_names[] = {
    [CM_OFFLOAD_NONE] = "", [CM_OFFLOAD_OPTIMIZER] = "optimizer", [CM_OFFLOAD_ALL] = "all",
};
/* clang-format on */

static const char *name_in(const char *const *names, int32_t n, int32_t index) {
    return index >= 0 && index < n ? names[index] : "?";
}

const char *option_precision_name(int32_t precision) {
    return name_in(precision_names, CM_N_PRECISIONS, precision);
}

const char *option_layout_name(int32_t layout) {
    return name_in(layout_names, CM_N_LAYOUTS, layout);
}

const char *option_runtime_name(int32_t runtime) {
    return name_in(runtime_names, CM_N_RUNTIMES, runtime);
}

int32_t option_runtime_find(const char *name) {
    int32_t runtime = 0;
    if (text_equal(name, "compiled")) return CM_RUNTIME_TORCH_COMPILE;
    if (text_equal(name, "eager")) return CM_RUNTIME_TORCH_EAGER;
    while (runtime < CM_N_RUNTIMES && !text_equal(name, runtime_names[runtime])) runtime++;
    return runtime;
}

const char *option_offload_name(int32_t offload) {
    return name_in(offload_names, CM_OFFLOAD_ALL + 1, offload);
}
