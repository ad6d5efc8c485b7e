/* SPDX-License-Identifier: Apache-2.0 */
/* Device models from published figures: built in, or from the user's file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/backend.h"

struct arena;

/* Peak dense rates, in operations per second; a multiply-add counts as two. */
enum device_rate {
    RATE_NONE,
    RATE_FP64,
    RATE_FP32,
    RATE_FP16,
    RATE_INT8,
    RATE_MATRIX_FP64, /* MATRIX: units for matrix products only */
    RATE_MATRIX_FP32,
    RATE_MATRIX_TF32,
    RATE_MATRIX_FP16,
    RATE_MATRIX_BF16,
    RATE_MATRIX_FP8,
    RATE_MATRIX_INT8,
    N_RATES
};

/* Widths of the operands of products. Kernels of each width reach other shares of the rates, so
 * a calibration is that of one width. */
enum device_width {
    WIDTH_ANY, /* not stated: of all */
    WIDTH_FP32,
    WIDTH_TF32,
    WIDTH_FP16, /* and bf16 */
    WIDTH_FP8,
    WIDTH_INT8,
    N_WIDTHS
};

/* Efficiencies of the kernels of one runtime on a device. "of X: K" means: the share of X that
 * the kernels K reach. */
struct device_efficiency {
    double product;         /* of the rate: matrix products of full tiles */
    double convolution;     /* of the rate: convolutions of full tiles */
    double attention;       /* of the rate: fused attention */
    double bandwidth;       /* of the bandwidth: elementwise kernels and operands of products */
    double reduction;       /* of the bandwidth: norms, softmax, reductions */
    double pool;            /* of the bandwidth: pooling, resizing */
    double depthwise;       /* of the bandwidth: depthwise convolutions */
    double cache_bandwidth; /* bytes per second, from the last-level cache to all units */
    double resident;        /* share of the last-level cache that holds earlier operands */
    double group_tile;      /* channels to which each group of a convolution is padded */
    double winograd;        /* speed-up of fp32 3x3 convolutions of stride 1 */
    double tile_seconds;    /* seconds before and after the inner loop of a tile */
    double launch;          /* seconds of an empty kernel */
    double group_launch;    /* seconds per group of a grouped convolution */
    double host;            /* seconds in which the host launches a kernel */
    double run;             /* seconds of a run besides its kernels */
    double transfer;        /* bytes per second from and to the host: inputs, outputs */
    double gradient;        /* of the forward rates: backward kernels */
    double grouped_gradient; /* the same for grouped and depthwise convolutions */
    double int8_product;     /* of `product` and `convolution`: kernels on 8-bit integers */
    double attention_tile;   /* seconds of a tile of causal attention besides its arithmetic */
    double attention_cache;  /* seconds of attention of few queries over a cache besides its
                                work: the parts of the keys are combined */
};

/* The efficiencies of one runtime and width. */
struct device_calibration {
    enum cm_runtime runtime;
    enum device_width width;
    const char *basis; /* the measured times, as reports name them; NULL: none */
    struct device_efficiency efficiency;
    struct cm_calibration fit; /* the error; host, run and transfer are those of `efficiency` */
};

/* Eight of ten times of a device that no calibration has seen are within this interval, as
 * multiples of the expected time. */
#define DEVICE_UNSEEN_LOW  0.6
#define DEVICE_UNSEEN_HIGH 1.8

#define DEVICE_MAX_CALIBRATIONS (CM_N_RUNTIMES * N_WIDTHS)

/* A link between the GPUs of a node, or the network between nodes. Constants are fitted to
 * measured collectives; 0 if unset. */
struct device_link {
    const char *name;   /* "NVLink 4"; NULL if the device has none */
    double bytes_per_s; /* of a GPU in one direction, as published */
    double launch;      /* seconds of a collective on few bytes; of a network: of a dispatch */
    double step;        /* seconds of a step of a ring; of a network: per further node */
    double share;       /* of bytes_per_s, that long transfers reach */
    double fill;        /* seconds that a long transfer takes longer, at most */
    double contention;  /* exponent: n GPUs reach (2/n)^contention of the rate of two */
    double in_network;  /* of bytes_per_s: all-reduces that switches sum; 0: they do not */
    double peers;       /* GPUs to which the rate is divided; 0: a switch reaches all */
};

/* 0 or NULL if unknown; name, title and bandwidth are always set. */
struct device_model {
    const char *name;         /* "h200", or the path of the file */
    const char *title;        /* "NVIDIA H200 SXM" */
    const char *source;       /* source documents of the figures */
    const char *architecture; /* "sm_90" */
    double rates[N_RATES];
    /* Highest clock of such boards / the clock of the rates: */
    double clock_headroom;
    double bandwidth;           /* bytes per second */
    double floor;               /* seconds per empty kernel; vendors do not publish it */
    double host_link;           /* bytes per second from the host, one direction */
    struct device_link link;    /* between the GPUs of a node */
    struct device_link network; /* between nodes */
    int64_t memory_bytes;
    int64_t cache_bytes; /* last-level cache */
    int32_t n_units;     /* multiprocessors, compute units or cores */
    int32_t threads_a_unit;
    const char *basis; /* of the calibrations that name none */
    size_t n_calibrations;
    struct device_calibration *calibrations; /* room for DEVICE_MAX_CALIBRATIONS; as in the
                                                file: unset efficiencies are 0 */
};

/* Returns "fp16", the name of a width in a device file; "" for WIDTH_ANY. */
const char *device_width_name(enum device_width width);
enum device_width device_width_of(enum cm_element element, enum cm_precision precision);

/* Returns the calibration of the runtime and width. If the device has none, that of the nearest
 * runtime and width; if there is none either, one of defaults of the device's generation, which
 * also replace unset efficiencies. ret.fit.match states which. */
struct device_calibration device_calibration_find(const struct device_model *model,
                                                  enum cm_runtime runtime,
                                                  enum device_width width);
/* Returns true if libraries compute products of fp16 at the rate of fp16: they sum in fp16. */
bool device_sums_in_fp16(const struct device_model *model);
/* Returns the runtime that a report without --runtime models. */
enum cm_runtime device_default_runtime(const struct device_model *model);

/* Return the key in a device file of the index-th member of struct device_efficiency, NULL past
 * the last, and a pointer to that member. */
const char *device_efficiency_name(size_t index);
double *device_efficiency_at(struct device_efficiency *efficiency, size_t index);
/* Returns how strongly a fit keeps that member near its value before: the weight of a change of
 * its logarithm by 1, if the errors of all times together have weight 1. */
double device_efficiency_prior(size_t index);
/* Writes key and value of a calibration in the object "calibration" of a device file: the
 * efficiencies above 0, and the error if it is known. */
struct json_writer;
void device_calibration_write(const struct device_calibration *calibration,
                              struct json_writer *json);
/* Returns "convolution", ..: the keys of "intervals" in a calibration. */
const char *device_time_kind_name(enum cm_time_kind kind);

/* Text of a file of devices/, embedded by the build (cmake/Devices.cmake). */
struct device_text {
    const char *name; /* file name without .json; NULL ends the table */
    const char *text;
};

extern const struct device_text device_texts[];

/* Returns "fp32", "matrix_fp16", ..: the keys of a device file. */
const char *device_rate_name(enum device_rate rate);
bool device_rate_is_matrix(enum device_rate rate);

/* Return the rate of products, or of elementwise work, on this element type: the first
 * candidate that the device has; RATE_NONE if it has none. */
enum device_rate device_product_rate(const struct device_model *model, enum cm_element element,
                                     enum cm_precision precision);
enum device_rate device_plain_rate(const struct device_model *model, enum cm_element element);

/* Returns the name of a built-in device; NULL past the last. */
const char *device_name_at(size_t index);
bool device_is_built_in(const char *name);

/* Sets *ret to the built-in name that `name` abbreviates: case and punctuation are ignored
 * ("RTX4090"), and a part before a "-" is enough if it is unique ("titan"). The path of a .json
 * file is returned unchanged. Returns CM_BACKEND_OK, or CM_BACKEND_REFUSED with a reason that
 * lists the matching or similar names. */
int device_resolve(const char *name, const char **ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));

/* Readers of a device description (docs/devices.md). Texts of *ret are in `arena`. Each returns
 * CM_BACKEND_OK, CM_BACKEND_REFUSED or CM_BACKEND_NO_MEMORY. device_built_in reads the built-in
 * device with exactly this name. */
int device_built_in(const char *name, struct arena *arena, struct device_model *ret,
                    struct cm_reason *reason) __attribute__((warn_unused_result));
/* Reads a built-in device by its name or abbreviation, or a file whose name ends in .json. */
int device_find(const char *name, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));
/* Read the file `path`; or `text`, which messages call `path`. */
int device_read(const char *path, struct arena *arena, struct device_model *ret,
                struct cm_reason *reason) __attribute__((warn_unused_result));
int device_parse(const char *path, const char *text, struct arena *arena,
                 struct device_model *ret, struct cm_reason *reason)
    __attribute__((warn_unused_result));
