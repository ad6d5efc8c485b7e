/* SPDX-License-Identifier: Apache-2.0 */
/* From a primitive of ours to one of oneDNN's: its description and its operands. */
#ifndef BACKENDS_ONEDNN_BUILD_H
#define BACKENDS_ONEDNN_BUILD_H

#include "backends/onednn/calls.h"

#define MOST_ARGS 12

struct built_arg {
    int id; /* DNNL_ARG_... */
    onednn_desc desc;
    dnnl_data_type_t type;
};

struct built {
    dnnl_primitive_desc_t primitive;
    struct onednn_descs descs;
    int n_args;
    struct built_arg args[MOST_ARGS];
    int32_t state;            /* CM_MEASURED, CM_PROXY or CM_VIEW */
    struct cm_reason instead; /* what stands for it, of a proxy */
};

/*
 * `plain`: convolutions keep the layout of the primitive instead of the one that oneDNN likes
 * best. CM_BACKEND_OK: *ret is to be dropped. CM_BACKEND_REFUSED has a reason.
 */
int build_primitive(const struct onednn *lib, const struct cm_primitive *primitive, bool plain,
                    struct built *ret, struct cm_reason *reason);
void build_drop(const struct onednn *lib, struct built *built);

/* The builders, one for each kind, behind the first; they leave a status of oneDNN. */
struct building {
    const struct onednn *lib;
    const struct cm_primitive *primitive;
    bool plain;
    struct built *built;
    struct cm_reason *reason; /* set where the status is dnnl_invalid_arguments of our own */
};

dnnl_status_t build_products(struct building *building);
dnnl_status_t build_pool(struct building *building);
dnnl_status_t build_norm(struct building *building);
dnnl_status_t build_eltwise(struct building *building);
dnnl_status_t build_softmax(struct building *building);
dnnl_status_t build_reduce(struct building *building);
dnnl_status_t build_copy(struct building *building);
/* In place of oneDNN's reference code: the last axis instead of another; a sum. */
dnnl_status_t build_softmax_rows(struct building *building);
dnnl_status_t build_sum(struct building *building);
/* A copy of as many bytes as the primitive moves. */
dnnl_status_t build_proxy(struct building *building);

/* What they share. dnnl_data_type_undef where oneDNN has no such element. */
dnnl_data_type_t build_type(int32_t element);
dnnl_status_t build_desc(struct building *building, const struct cm_tensor *tensor,
                         onednn_desc *ret);
dnnl_status_t build_any(struct building *building, const struct cm_tensor *tensor,
                        onednn_desc *ret);
void build_arg(struct building *building, int id, onednn_desc desc, int32_t element);
/* Says what a proxy stands for. */
void build_instead(struct building *building, const char *what);
struct onednn_window build_window(const struct cm_window *window);

#endif
