/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a primitive to oneDNN primitives: descriptors and operands. */
#ifndef BACKENDS_ONEDNN_BUILD_H
#define BACKENDS_ONEDNN_BUILD_H

#include "backends/onednn/calls.h"

#define MAX_ARGS     12
#define MAX_PARTS    5
#define MAX_OPERANDS 20

/* Owner of an operand. Each BUILT_OWN is a separate operand. */
enum built_role {
    BUILT_OWN = -1,       /* allocated by the plan: source of a proxy copy, initial states */
    BUILT_INPUT = 0,      /* + i: input i of the primitive */
    BUILT_OUTPUT = 16,    /* + i: output i */
    BUILT_TEMPORARY = 32, /* + i: written by one part, read by the next */
};

struct built_operand {
    int role; /* enum built_role */
    size_t bytes;
    dnnl_data_type_t type;
    /* The model's layout (of weights: grouped) if oneDNN chose a different one; else NULL. */
    onednn_desc model_desc;
};

struct built_arg {
    int id; /* DNNL_ARG_... */
    int operand;
    onednn_desc desc;
};

/* One oneDNN primitive. */
struct built_part {
    dnnl_primitive_desc_t primitive;
    int n_args;
    struct built_arg args[MAX_ARGS];
};

struct built {
    int n_parts; /* run one after the other */
    struct built_part parts[MAX_PARTS];
    int n_operands;
    struct built_operand operands[MAX_OPERANDS];
    struct onednn_descs descs;
    const char *algorithm; /* NULL: use oneDNN's name of the only part */
    int32_t state;         /* CM_MEASURED, CM_PROXY or CM_VIEW */
    struct cm_reason note; /* what ran instead, or that a reference ran */
};

/* Builds the oneDNN primitives of `primitive`. `keep_layout`: convolutions keep the layout of
 * the primitive instead of oneDNN's choice. Returns CM_BACKEND_OK, and the caller must drop
 * *ret, or another status with a reason. */
int build_primitive(const struct onednn *lib, const struct cm_primitive *primitive,
                    bool keep_layout, struct built *ret, struct cm_reason *reason);
void build_drop(const struct onednn *lib, struct built *built);

/* Argument of a builder; builders return a status of oneDNN. */
struct building {
    const struct onednn *lib;
    const struct cm_primitive *primitive;
    bool keep_layout;
    struct built *built;
    struct cm_reason *reason; /* set if the builder itself returns dnnl_invalid_arguments */
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
/* Build proxies for slow reference implementations of oneDNN: a softmax along the last axis, a
 * reduction by sum. */
dnnl_status_t build_softmax_rows(struct building *building);
dnnl_status_t build_sum(struct building *building);
/* Builds a copy of as many bytes as the primitive moves. */
dnnl_status_t build_proxy(struct building *building);

/* Sets *ret to the post-ops of a product's steps; leaves it unchanged if there are no steps.
 * build_step_args adds the operands of the steps to the part. */
dnnl_status_t build_post_ops(struct building *building, dnnl_primitive_attr_t *ret);
dnnl_status_t build_step_args(struct building *building);
/* Sets the algorithm of a function and its constants. Returns false if oneDNN has no exact
 * algorithm. */
bool build_algorithm(const struct cm_eltwise *step, dnnl_alg_kind_t *ret, float *ret_alpha,
                     float *ret_beta);
/* Returns the tensor with dims of 1 prepended up to this rank. */
struct cm_tensor build_widen(const struct cm_tensor *tensor, int32_t rank);

/* Helpers of the builders. build_type returns dnnl_data_type_undef if oneDNN lacks the type.
 * build_desc describes a tensor in its own layout, build_any in one of oneDNN's choice. */
dnnl_data_type_t build_type(int32_t element);
dnnl_status_t build_desc(struct building *building, const struct cm_tensor *tensor,
                         onednn_desc *ret);
dnnl_status_t build_any(struct building *building, const struct cm_tensor *tensor,
                        onednn_desc *ret);
/* Returns the current part, which the next calls fill. */
struct built_part *build_part(struct building *building);
/* Starts the next part. */
void build_next_part(struct building *building);
/* Adds an operand to the part; `role` is an enum built_role. */
void build_arg(struct building *building, int id, onednn_desc desc, int32_t element, int role);
/* Adds the index-th operand of kind `what` in the layout that oneDNN chose. `model_desc` is the
 * operand's layout in the model, NULL if the operand is not in the model. */
void build_arg_any(struct building *building, int id, dnnl_query_t what, int index,
                   onednn_desc model_desc, int32_t element, int role);
/* Marks the result as a proxy and sets its note. */
void build_set_proxy(struct building *building, const char *what);
struct onednn_window build_window(const struct cm_window *window);
/* Returns true if the first part uses a reference implementation. */
bool build_is_reference(const struct building *building);
/* Drops everything built so far. */
void build_start_over(struct building *building);

#endif
