/* SPDX-License-Identifier: Apache-2.0 */
/* The status codes that functions of the library return, and attributes of its functions. */
#ifndef COSTMODEL_STATUS_H
#define COSTMODEL_STATUS_H

#if defined(__GNUC__) || defined(__clang__)
#define CM_MUST_CHECK __attribute__((warn_unused_result))
#define CM_API        __attribute__((visibility("default")))
#else
#define CM_MUST_CHECK
#define CM_API
#endif

/*
 * Status of a call: CM_OK or one of the negative values. Each failure adds at least one message
 * of severity CM_ERROR to the diagnostics of the call. Exception: on CM_NO_MEMORY the message
 * itself may not fit.
 */
enum cm_status {
    CM_OK = 0,
    CM_REFUSED = -1,   /* the model is invalid, or cannot be analysed with these options */
    CM_USAGE = -2,     /* an option is invalid: an unbound dim, an unknown input name */
    CM_NO_MEMORY = -3, /* out of memory */
    CM_IO = -4,        /* the file cannot be opened, read or written */
};

#endif
