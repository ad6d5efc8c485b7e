/* SPDX-License-Identifier: Apache-2.0 */
/* Translates a cm_primitive to a sequence of oneDNN primitives, the parts: creates their
 * descriptors and lists their operands. */
#pragma once

#include "backends/coalesce_dims.h"
#include "backends/onednn/api.h"

#define MAX_ARGS     12
#define MAX_PARTS    5
#define MAX_OPERANDS 20

/* Owner of an operand. Arguments with the same role share an operand, but each BUILT_OWN is an
 * operand of its own. */
enum built_role {
    BUILT_OWN = -1,       /* allocated by the plan: source of a proxy copy, initial states */
    BUILT_INPUT = 0,      /* + i: input i of the primitive */
    BUILT_OUTPUT = 16,    /* + i: output i */
    BUILT_TEMPORARY = 32, /* + i: written by one part, read by a later one */
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
    const char *algorithm; /* NULL: oneDNN's name of the first part's implementation */
    int32_t state;         /* CM_MEASURED, CM_PROXY or CM_VIEW */
    struct cm_reason note; /* what ran instead, or that a reference implementation ran */
};

/* Builds the oneDNN primitives of `primitive`. `keep_layout`: convolutions keep the layout of
 * the primitive instead of oneDNN's choice. After CM_BACKEND_OK the caller must release *ret by
 * build_drop; any other status sets *reason. */
int build_primitive(const struct onednn *lib, const struct cm_primitive *primitive,
                    bool keep_layout, struct built *ret, struct cm_reason *reason);
void build_drop(const struct onednn *lib, struct built *built);

/* Argument of the builders below, which return a status of oneDNN. */
struct building {
    const struct onednn *lib;
    const struct cm_primitive *primitive;
    bool keep_layout;
    struct built *built;
    dnnl_status_t status; /* sticky: once it is a failure, build_desc and build_arg do nothing,
                             and descriptors are NULL */
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
/* Build the proxies that replace oneDNN's slow reference implementations of softmax and
 * reductions: a softmax along the last axis, a reduction by sum. */
dnnl_status_t build_softmax_rows(struct building *building);
dnnl_status_t build_sum(struct building *building);
/* Builds a copy of as many bytes as the primitive moves. */
dnnl_status_t build_proxy(struct building *building);

/* Sets the algorithm of a function and its constants. Returns false if oneDNN has no exact
 * algorithm. */
bool build_algorithm(const struct cm_eltwise *step, dnnl_alg_kind_t *ret, float *ret_alpha,
                     float *ret_beta);

/* Returns dnnl_data_type_undef if oneDNN lacks the type. */
dnnl_data_type_t build_type(int32_t element);
/* Describes a tensor in its own layout, or in one of oneDNN's choice if `any`. Returns NULL and
 * sets building->status on failure. */
onednn_desc build_desc(struct building *building, const struct cm_tensor *tensor, bool any);
/* Returns the current part, which the next calls fill. */
struct built_part *build_part(struct building *building);
/* Starts the next part. */
void build_next_part(struct building *building);
/* Adds an argument to the current part: the operand of `role`, an enum built_role. */
void build_arg(struct building *building, int id, onednn_desc desc, int32_t element, int role);
/* Describes a tensor in its own layout and adds it as an argument. */
onednn_desc build_operand(struct building *building, int id, const struct cm_tensor *tensor,
                          int role);
/* The same for operand `which` of `coalesced`. */
onednn_desc build_coalesced(struct building *building, int id,
                            const struct coalesced *coalesced, int which, int32_t element,
                            int role);
/* Adds a tensor as source and, in the same layout, as destination. */
onednn_desc build_in_place(struct building *building, const struct cm_tensor *tensor);
/* Adds an argument in the layout that oneDNN chose; `what` and `index` query this layout.
 * `model_desc` is the operand's layout in the model; NULL if the model lacks the operand. */
void build_arg_any(struct building *building, int id, dnnl_query_t what, int index,
                   onednn_desc model_desc, int32_t element, int role);
/* Marks the result as a proxy and sets its note. */
void build_set_proxy(struct building *building, const char *what);
struct onednn_window build_window(const struct cm_window *window);
/* Returns true if the first part uses a slow reference implementation of oneDNN. */
bool build_is_reference(const struct building *building);
/* Drops everything built so far. */
void build_start_over(struct building *building);
