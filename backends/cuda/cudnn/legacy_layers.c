/* SPDX-License-Identifier: Apache-2.0 */
/* Softmax, reductions, pools, batch norms with given statistics, convolutions. */
#include "backends/cuda/cudnn/legacy.h"
#include "backends/cuda/operands.h"
#include "support/checked.h"

#include "support/banned.h"

#define MOST_ALGORITHMS 8

static cudnnStatus_t run_softmax(const struct legacy *legacy,
                                 const struct cuda_operands *operands) {
    const bool is_log = legacy->algorithm == CM_SOFTMAX_LOG;
    return legacy->device->cudnn.cudnnSoftmaxForward(
        legacy->device->cudnn_handle, is_log ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE,
        CUDNN_SOFTMAX_MODE_CHANNEL, legacy_scale(legacy, 1), legacy->x,
        legacy_pointer(operands->inputs[0]), legacy_scale(legacy, 0), legacy->y,
        legacy_pointer(operands->outputs[0]));
}

/* [before, axis, after] as N C H. */
cudnnStatus_t legacy_softmax(struct legacy *legacy, int32_t candidate) {
    const struct cm_tensor *x = &legacy->primitive->inputs[0];
    const struct cm_tensor *y = &legacy->primitive->outputs[0];
    const int32_t axis = legacy->primitive->axis;
    (void)candidate;
    if (axis < 0 || axis >= x->rank || !operands_packed(x) || !operands_packed(y) ||
        x->element != y->element)
        return CUDNN_STATUS_NOT_SUPPORTED;
    const int64_t after = operands_elements(x, axis + 1, x->rank);
    const struct cm_tensor three = {
        .element = x->element,
        .rank = 3,
        .dims = {operands_elements(x, 0, axis), x->dims[axis], after},
        .strides = {checked_mul(x->dims[axis], after), after, 1},
    };
    legacy->run = run_softmax;
    const cudnnStatus_t status = legacy_tensor(legacy, &three, &legacy->x);
    return status == CUDNN_STATUS_SUCCESS ? legacy_tensor(legacy, &three, &legacy->y) : status;
}

static cudnnStatus_t run_reduce(const struct legacy *legacy,
                                const struct cuda_operands *operands) {
    return legacy->device->cudnn.cudnnReduceTensor(
        legacy->device->cudnn_handle, legacy->reduction, NULL, 0,
        legacy_pointer(operands->workspace), (size_t)legacy->workspace_bytes,
        legacy_scale(legacy, 1), legacy->x, legacy_pointer(operands->inputs[0]),
        legacy_scale(legacy, 0), legacy->y, legacy_pointer(operands->outputs[0]));
}

cudnnStatus_t legacy_reduce(struct legacy *legacy, int32_t candidate) {
    static const struct {
        int32_t algorithm;
        cudnnReduceTensorOp_t op;
    } ops[] = {
        {CM_REDUCE_SUM, CUDNN_REDUCE_TENSOR_ADD},     {CM_REDUCE_MEAN, CUDNN_REDUCE_TENSOR_AVG},
        {CM_REDUCE_MAX, CUDNN_REDUCE_TENSOR_MAX},     {CM_REDUCE_MIN, CUDNN_REDUCE_TENSOR_MIN},
        {CM_REDUCE_PRODUCT, CUDNN_REDUCE_TENSOR_MUL}, {CM_REDUCE_L1, CUDNN_REDUCE_TENSOR_NORM1},
        {CM_REDUCE_L2, CUDNN_REDUCE_TENSOR_NORM2}};
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const struct cm_primitive *primitive = legacy->primitive;
    const cudnnDataType_t compute = legacy->in_double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
    size_t bytes = 0;
    size_t i = 0;
    (void)candidate;
    while (i < sizeof(ops) / sizeof(ops[0]) && ops[i].algorithm != primitive->algorithm) i++;
    if (i == sizeof(ops) / sizeof(ops[0]) ||
        primitive->inputs[0].element != primitive->outputs[0].element)
        return CUDNN_STATUS_NOT_SUPPORTED;
    legacy->run = run_reduce;
    cudnnStatus_t status = legacy_tensor(legacy, &primitive->inputs[0], &legacy->x);
    if (status == CUDNN_STATUS_SUCCESS)
        status = legacy_tensor(legacy, &primitive->outputs[0], &legacy->y);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnCreateReduceTensorDescriptor(&legacy->reduction);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetReduceTensorDescriptor(
            legacy->reduction, ops[i].op, compute, CUDNN_NOT_PROPAGATE_NAN,
            CUDNN_REDUCE_TENSOR_NO_INDICES, CUDNN_32BIT_INDICES);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnGetReductionWorkspaceSize(
            legacy->device->cudnn_handle, legacy->reduction, legacy->x, legacy->y, &bytes);
    legacy->workspace_bytes = (int64_t)bytes;
    return status;
}

/* Windows of cuDNN begin and end with the same padding. One spatial dim gets another of one. */
struct windows {
    int n;
    int kernel[CM_MAX_SPATIAL], pads[CM_MAX_SPATIAL], strides[CM_MAX_SPATIAL];
    int dilations[CM_MAX_SPATIAL];
};

static bool read_windows(const struct cm_window *window, struct windows *ret) {
    ret->n = window->n_spatial < 2 ? 2 : window->n_spatial;
    for (int i = 0; i < ret->n; i++) {
        const bool own = i < window->n_spatial;
        if (own && (window->pads_begin[i] != window->pads_end[i] || window->pads_begin[i] < 0 ||
                    window->kernel[i] > INT32_MAX || window->pads_begin[i] > INT32_MAX ||
                    window->strides[i] > INT32_MAX || window->dilations[i] > INT32_MAX))
            return false;
        ret->kernel[i] = own ? (int)window->kernel[i] : 1;
        ret->pads[i] = own ? (int)window->pads_begin[i] : 0;
        ret->strides[i] = own ? (int)window->strides[i] : 1;
        ret->dilations[i] = own ? (int)window->dilations[i] : 1;
    }
    return true;
}

static cudnnStatus_t describe_both(struct legacy *legacy) {
    const struct cm_primitive *primitive = legacy->primitive;
    const cudnnStatus_t status = legacy_tensor(legacy, &primitive->inputs[0], &legacy->x);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    return legacy_tensor(legacy, &primitive->outputs[0], &legacy->y);
}

static cudnnStatus_t run_pool(const struct legacy *legacy,
                              const struct cuda_operands *operands) {
    return legacy->device->cudnn.cudnnPoolingForward(
        legacy->device->cudnn_handle, legacy->pooling, legacy_scale(legacy, 1), legacy->x,
        legacy_pointer(operands->inputs[0]), legacy_scale(legacy, 0), legacy->y,
        legacy_pointer(operands->outputs[0]));
}

cudnnStatus_t legacy_pool(struct legacy *legacy, int32_t candidate) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const int32_t which = legacy->primitive->algorithm;
    struct windows windows;
    (void)candidate;
    if (!read_windows(&legacy->primitive->window, &windows)) return CUDNN_STATUS_NOT_SUPPORTED;
    for (int i = 0; i < windows.n; i++)
        if (windows.dilations[i] != 1) return CUDNN_STATUS_NOT_SUPPORTED;
    legacy->run = run_pool;
    cudnnStatus_t status = describe_both(legacy);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnCreatePoolingDescriptor(&legacy->pooling);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetPoolingNdDescriptor(
            legacy->pooling,
            which == CM_POOL_MAX               ? CUDNN_POOLING_MAX
            : which == CM_POOL_AVERAGE_PADDING ? CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING
                                               : CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING,
            CUDNN_NOT_PROPAGATE_NAN, windows.n, windows.kernel, windows.pads, windows.strides);
    return status;
}

static cudnnStatus_t run_norm(const struct legacy *legacy,
                              const struct cuda_operands *operands) {
    return legacy->device->cudnn.cudnnBatchNormalizationForwardInference(
        legacy->device->cudnn_handle, CUDNN_BATCHNORM_SPATIAL, legacy_scale(legacy, 1),
        legacy_scale(legacy, 0), legacy->x, legacy_pointer(operands->inputs[0]), legacy->y,
        legacy_pointer(operands->outputs[0]), legacy->more, legacy_pointer(operands->inputs[1]),
        legacy_pointer(operands->inputs[2]), legacy_pointer(operands->inputs[3]),
        legacy_pointer(operands->inputs[4]), legacy->epsilon);
}

static cudnnStatus_t run_lrn(const struct legacy *legacy,
                             const struct cuda_operands *operands) {
    return legacy->device->cudnn.cudnnLRNCrossChannelForward(
        legacy->device->cudnn_handle, legacy->lrn, CUDNN_LRN_CROSS_CHANNEL_DIM1,
        legacy_scale(legacy, 1), legacy->x, legacy_pointer(operands->inputs[0]),
        legacy_scale(legacy, 0), legacy->y, legacy_pointer(operands->outputs[0]));
}

/* The constants make no difference to the time, so they are no part of the primitive. */
static cudnnStatus_t describe_lrn(struct legacy *legacy) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const int64_t width = legacy->primitive->window.kernel[0];
    if (width < CUDNN_LRN_MIN_N || width > CUDNN_LRN_MAX_N) return CUDNN_STATUS_NOT_SUPPORTED;
    legacy->run = run_lrn;
    cudnnStatus_t status = describe_both(legacy);
    if (status == CUDNN_STATUS_SUCCESS) status = api->cudnnCreateLRNDescriptor(&legacy->lrn);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetLRNDescriptor(legacy->lrn, (unsigned)width, 1e-4, 0.75, 1.0);
    return status;
}

/* Statistics are of 32 bits at least: those of 16 would be read past their end. */
cudnnStatus_t legacy_norm(struct legacy *legacy, int32_t candidate) {
    const struct cm_primitive *primitive = legacy->primitive;
    const struct cm_tensor *x = &primitive->inputs[0];
    const int32_t element = legacy->in_double ? CM_F64 : CM_F32;
    struct cm_tensor channels = {.element = element, .rank = x->rank};
    (void)candidate;
    if (primitive->algorithm == CM_NORM_LRN) return describe_lrn(legacy);
    if (primitive->algorithm != CM_NORM_BATCH || primitive->n_inputs != 5 || x->rank < 2)
        return CUDNN_STATUS_NOT_SUPPORTED;
    for (int i = 1; i < 5; i++)
        if (primitive->inputs[i].element != element) return CUDNN_STATUS_NOT_SUPPORTED;
    for (int32_t i = 0; i < x->rank; i++) {
        channels.dims[i] = i == 1 ? x->dims[1] : 1;
        channels.strides[i] = i == 0 ? x->dims[1] : 1;
    }
    legacy->run = run_norm;
    const cudnnStatus_t status = describe_both(legacy);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    return legacy_tensor(legacy, &channels, &legacy->more);
}

static cudnnStatus_t run_conv(const struct legacy *legacy,
                              const struct cuda_operands *operands) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const cudnnStatus_t status = api->cudnnConvolutionForward(
        legacy->device->cudnn_handle, legacy_scale(legacy, 1), legacy->x,
        legacy_pointer(operands->inputs[0]), legacy->filter,
        legacy_pointer(operands->inputs[1]), legacy->convolution, legacy->chosen.algo,
        legacy_pointer(operands->workspace), (size_t)legacy->workspace_bytes,
        legacy_scale(legacy, 0), legacy->y, legacy_pointer(operands->outputs[0]));
    if (status != CUDNN_STATUS_SUCCESS || legacy->more == NULL) return status;
    return api->cudnnAddTensor(legacy->device->cudnn_handle, legacy_scale(legacy, 1),
                               legacy->more, legacy_pointer(operands->inputs[2]),
                               legacy_scale(legacy, 1), legacy->y,
                               legacy_pointer(operands->outputs[0]));
}

static cudnnStatus_t describe_filter(struct legacy *legacy) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const struct cm_tensor *weight = &legacy->primitive->inputs[1];
    int dims[CM_MAX_RANK];
    cudnnDataType_t type = CUDNN_DATA_FLOAT;
    const bool last = weight->rank > 2 && weight->strides[1] == 1 && weight->dims[1] > 1;
    int rank = 0;
    if (!last && !operands_packed(weight)) return CUDNN_STATUS_NOT_SUPPORTED;
    for (; rank < weight->rank; rank++) {
        if (weight->dims[rank] > INT32_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
        dims[rank] = (int)weight->dims[rank];
    }
    for (; rank < 4; rank++) dims[rank] = 1;
    cudnnStatus_t status = legacy_type(weight->element, &type);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnCreateFilterDescriptor(&legacy->filter);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetFilterNdDescriptor(
            legacy->filter, type, last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, rank, dims);
    return status;
}

/* fp32 is multiplied as such unless the user lets it be rounded. */
static cudnnStatus_t describe_conv(struct legacy *legacy, const struct windows *windows) {
    const struct cuda_cudnn *api = &legacy->device->cudnn;
    const bool strict = legacy->primitive->inputs[0].element == CM_F32 &&
                        legacy->device->wishes.precision != CM_PRECISION_TF32;
    const int64_t groups = legacy->primitive->groups > 0 ? legacy->primitive->groups : 1;
    if (groups > INT32_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
    cudnnStatus_t status = api->cudnnCreateConvolutionDescriptor(&legacy->convolution);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetConvolutionNdDescriptor(
            legacy->convolution, windows->n, windows->pads, windows->strides,
            windows->dilations, CUDNN_CROSS_CORRELATION,
            legacy->in_double ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetConvolutionGroupCount(legacy->convolution, (int)groups);
    if (status == CUDNN_STATUS_SUCCESS)
        status = api->cudnnSetConvolutionMathType(
            legacy->convolution, strict ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH);
    return status;
}

static cudnnStatus_t choose_conv(struct legacy *legacy, int32_t candidate) {
    cudnnConvolutionFwdAlgoPerf_t results[MOST_ALGORITHMS];
    const struct cm_device *device = legacy->device;
    int n = 0;
    const cudnnStatus_t status = device->cudnn.cudnnGetConvolutionForwardAlgorithm_v7(
        device->cudnn_handle, legacy->x, legacy->filter, legacy->convolution, legacy->y,
        MOST_ALGORITHMS, &n, results);
    if (status != CUDNN_STATUS_SUCCESS) return status;
    for (int i = 0; i < n; i++) {
        if (results[i].status != CUDNN_STATUS_SUCCESS ||
            (int64_t)results[i].memory > device->wishes.workspace_bytes || candidate-- > 0)
            continue;
        legacy->chosen = results[i];
        legacy->workspace_bytes = (int64_t)results[i].memory;
        return CUDNN_STATUS_SUCCESS;
    }
    return CUDNN_STATUS_NOT_SUPPORTED;
}

cudnnStatus_t legacy_conv(struct legacy *legacy, int32_t candidate) {
    const struct cm_primitive *primitive = legacy->primitive;
    struct cm_tensor channels = {.element = primitive->outputs[0].element,
                                 .rank = primitive->outputs[0].rank};
    struct windows windows;
    if (!read_windows(&primitive->window, &windows)) return CUDNN_STATUS_NOT_SUPPORTED;
    legacy->run = run_conv;
    cudnnStatus_t status = describe_both(legacy);
    if (status == CUDNN_STATUS_SUCCESS) status = describe_filter(legacy);
    if (status == CUDNN_STATUS_SUCCESS) status = describe_conv(legacy, &windows);
    if (status == CUDNN_STATUS_SUCCESS && primitive->n_inputs > 2) {
        for (int32_t i = 0; i < channels.rank; i++) {
            channels.dims[i] = i == 1 ? primitive->outputs[0].dims[1] : 1;
            channels.strides[i] = i == 0 ? channels.dims[1] : 1;
        }
        channels.strides[0] = primitive->outputs[0].dims[1];
        status = legacy_tensor(legacy, &channels, &legacy->more);
    }
    return status == CUDNN_STATUS_SUCCESS ? choose_conv(legacy, candidate) : status;
}
