/* SPDX-License-Identifier: Apache-2.0 */
/* Fit of the efficiencies of a modelled device to measured times (docs/times.md). */
#ifndef COSTMODEL_FIT_H
#define COSTMODEL_FIT_H

#include "costmodel/costmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One measured time, of a model or of one of its nodes. Texts are borrowed. */
struct cm_measured_time {
    const char *model; /* path of the ONNX file */
    const char *node;  /* name of a node; NULL: the whole model */
    int64_t batch;     /* 0: that of the file */
    enum cm_precision precision;
    enum cm_layout layout;
    size_t n_dims; /* sizes of symbolic dims */
    const struct cm_dim_option *dims;
    const char *optimizer; /* the time is that of a training step; NULL: of forward */
    double seconds;        /* > 0 */
    bool held_out;         /* not used by the fit, only compared with it */
    double expected;       /* set by the fit: modelled seconds; 0: no time is modelled */
    double lower_bound;    /* set by the fit: seconds */
    double low, high;      /* set by the fit: interval of the expected time, seconds */
};

/*
 * Fits the efficiencies of `device` (a built-in name or the path of a .json file) for one
 * runtime to `times`, sets `expected` and `lower_bound` of each, and writes the value of the
 * key "calibration" of the device's file as JSON. `basis` names the measurements. The fit
 * minimizes the errors of log(time), with less weight for outliers and a weak prior that keeps
 * each efficiency near its present value. A model that is refused is left out with a warning.
 * CM_OK, CM_USAGE (NULL, unknown device or optimizer, or no time left to fit to), CM_NO_MEMORY.
 */
CM_API int cm_device_fit(const char *device, enum cm_runtime runtime, const char *basis,
                         struct cm_measured_time *times, size_t n_times,
                         struct cm_diagnostics *diagnostics, FILE *out) CM_MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
