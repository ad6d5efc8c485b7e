/* SPDX-License-Identifier: Apache-2.0 */
/* From a primitive of ours to one of oneDNN's: its description and its operands. */
#ifndef BACKENDS_ONEDNN_BUILD_H
#define BACKENDS_ONEDNN_BUILD_H

#include "backends/onednn/calls.h"

#define MAX_ARGS     12
#define MAX_PARTS    5
#define MAX_OPERANDS 20

/* Whose an operand is. Every BUILT_OWN is one more. */
enum built_role {
    BUILT_OWN = -1,       /* of nobody but the plan: what a proxy copies, initial states */
    BUILT_INPUT = 0,      /* + i: of the primitive */
    BUILT_OUTPUT = 16,    /* + i */
    BUILT_TEMPORARY = 32, /* + i: one part writes it, the next one reads it */
};

struct built_operand {
    int role; /* enum built_role */
    size_t bytes;
    dnnl_data_type_t type;
    /* Where it stands in a layout of oneDNN's: that of the primitive; of weights, grouped. */
    onednn_desc plain;
};

struct built_arg {
    int id; /* DNNL_ARG_... */
    int operand;
    onednn_desc desc;
};

/* One primitive of oneDNN. */
struct built_part {
    dnnl_primitive_desc_t primitive;
    int n_args;
    struct built_arg args[MAX_ARGS];
};

struct built {
    int n_parts; /* that run one after the other */
    struct built_part parts[MAX_PARTS];
    int n_operands;
    struct built_operand operands[MAX_OPERANDS];
    struct onednn_descs descs;
    const char *algorithm;       /* NULL: the name that oneDNN gives to the one part */
    int32_t state;               /* CM_MEASURED, CM_PROXY or CM_VIEW */
    struct cm_reason proxy_note; /* what stands for it, of a proxy */
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
dnnl_status_t build_rnn(struct building *building);
dnnl_status_t build_attention(struct building *building);
dnnl_status_t build_resample(struct building *building);
/* In place of oneDNN's reference code: the last axis instead of another; a sum. */
dnnl_status_t build_softmax_rows(struct building *building);
dnnl_status_t build_sum(struct building *building);
/* A copy of as many bytes as the primitive moves. */
dnnl_status_t build_proxy(struct building *building);

/* Bytes of an element. */
int64_t build_element_size(int32_t element);
/* What they share. dnnl_data_type_undef where oneDNN has no such element. */
dnnl_data_type_t build_type(int32_t element);
dnnl_status_t build_desc(struct building *building, const struct cm_tensor *tensor,
                         onednn_desc *ret);
dnnl_status_t build_any(struct building *building, const struct cm_tensor *tensor,
                        onednn_desc *ret);
/* The part that calls add operands to, and whose description they fill in. */
struct built_part *build_part(struct building *building);
/* The next call adds to a part behind. */
void build_next_part(struct building *building);
/* An operand of the part; `role` is one of enum built_role. */
void build_arg(struct building *building, int id, onednn_desc desc, int32_t element, int role);
/* The same of the index-th operand of its sort, whose layout is oneDNN's; the model has
 * `plain`, NULL: nothing like it. */
void build_arg_any(struct building *building, int id, dnnl_query_t what, int index,
                   onednn_desc plain, int32_t element, int role);
/* Says what a proxy stands for. */
void build_set_proxy(struct building *building, const char *what);
struct onednn_window build_window(const struct cm_window *window);
/* Elements of the axes from `axis` on. */
int64_t build_elements_from(const struct cm_tensor *tensor, int axis);
bool build_is_packed(const struct cm_tensor *tensor);
/* Whether the first part would run oneDNN's reference code. */
bool build_is_reference(const struct building *building);
/* Forgets what was built so far. */
void build_start_over(struct building *building);

#endif
