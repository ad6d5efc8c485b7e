/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators that the library does not know, described by whoever made them: as plain data, or
 * as a file of JSON, schema "costmodel/op-costs/1" (docs/op-costs.md has the grammar of the
 * texts below, docs/op-costs.schema.json the keys).
 *
 *     struct cm_op_costs *costs = NULL;
 *     if (cm_op_costs_load_file("custom.json", diagnostics, &costs) == CM_OK) {
 *         const struct cm_op_costs *const all[] = {costs};
 *         options.n_op_costs = 1;
 *         options.op_costs = all;
 *     }
 *
 * What is made is never changed: threads may share it. It outlives the calls that it is given
 * to; results do not point into it.
 */
#ifndef COSTMODEL_OP_COSTS_H
#define COSTMODEL_OP_COSTS_H

#include "costmodel/costmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cm_op_output {
    const char *type; /* "float16", "input 1"; "": that of input 0 */
    const char *dims; /* "N, C, H / 2, W / 2" */
};

/* One operator. Texts are never NULL; "" is one that is not given. */
struct cm_op_description {
    const char *domain; /* "ai.onnx" and "" are one */
    const char *op;
    int64_t since;      /* the first opset of the domain that it holds for; CM_UNKNOWN: all */
    bool replace;       /* stands in place of an operator that is built in */
    const char *like;   /* the operator that it behaves as: "Conv", "com.microsoft::Gelu" */
    int64_t like_opset; /* as that is at this opset of its domain; CM_UNKNOWN: the newest */
    /* Integer attributes by name, "stride" or "strides[0]", and what holds where the node has
     * none; CM_UNKNOWN: it must have one. */
    size_t n_attributes;
    const struct cm_named_size *attributes;
    size_t n_inputs;           /* 0: as many as there are, of any shape */
    const char *const *inputs; /* the dims of each: "N, C, H, W" */
    int64_t required_inputs;   /* the others may be omitted; CM_UNKNOWN: all are required */
    size_t n_where;
    const char *const *where; /* names for what is used often: "P = (H - R) / stride + 1" */
    size_t n_outputs;         /* 0: `like` says what they are */
    const struct cm_op_output *outputs;
    /* Of one run. With `like` both may be "", and are then those of that operator. */
    const char *macs;
    const char *other_flops; /* that are no part of a MAC */
    const char *note;        /* for people */
};

/*
 * Reads descriptions from a file ("-" is standard input), from text that need not end in NUL
 * (`name` is its place in messages), or from data. On CM_OK *ret_costs is the caller's, to be
 * freed with cm_op_costs_free; on failure it is untouched. CM_REFUSED (something in it is
 * wrong), CM_IO, CM_NO_MEMORY.
 */
CM_API int cm_op_costs_load_file(const char *path, struct cm_diagnostics *diagnostics,
                                 struct cm_op_costs **ret_costs) CM_MUST_CHECK;
CM_API int cm_op_costs_load_memory(const char *text, size_t size, const char *name,
                                   struct cm_diagnostics *diagnostics,
                                   struct cm_op_costs **ret_costs) CM_MUST_CHECK;
CM_API int cm_op_costs_make(const struct cm_op_description *operators, size_t n,
                            struct cm_diagnostics *diagnostics,
                            struct cm_op_costs **ret_costs) CM_MUST_CHECK;
CM_API void cm_op_costs_free(struct cm_op_costs *costs);

#ifdef __cplusplus
}
#endif

#endif
