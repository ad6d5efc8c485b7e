/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Custom operators: shapes and costs described as plain data or as a JSON file, schema
 * "costmodel/op-costs/1" (docs/op-costs.md defines the grammar of the expressions,
 * docs/op-costs.schema.json the keys).
 *
 *     struct cm_op_costs *costs = NULL;
 *     if (cm_op_costs_load_file("custom.json", diagnostics, &costs) == CM_OK) {
 *         const struct cm_op_costs *const all[] = {costs};
 *         options.n_op_costs = 1;
 *         options.op_costs = all;
 *     }
 *
 * A cm_op_costs is immutable, so threads may share it. It must outlive the calls that use it;
 * results do not point into it.
 */
#ifndef COSTMODEL_OP_COSTS_H
#define COSTMODEL_OP_COSTS_H

#include "costmodel/costmodel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cm_op_output {
    const char *type; /* dtype: "float16", "input 1" (that of input 1); "": that of input 0 */
    const char *dims; /* "N, C, H / 2, W / 2" */
};

/* One operator. Strings are never NULL; "": not given. */
struct cm_op_description {
    const char *domain; /* "ai.onnx" and "" are the same */
    const char *op;
    int64_t since;      /* first opset of the domain that it applies to; CM_UNKNOWN: all */
    bool replace;       /* replaces a built-in operator */
    const char *like;   /* operator with the same behaviour: "Conv", "com.microsoft::Gelu" */
    int64_t like_opset; /* opset of `like`; CM_UNKNOWN: newest */
    /* Integer attributes, "stride" or "strides[0]", and their defaults; CM_UNKNOWN: the
     * attribute is required. */
    size_t n_attributes;
    const struct cm_named_size *attributes;
    size_t n_inputs;           /* 0: any number, of any shape */
    const char *const *inputs; /* the dims of each: "N, C, H, W" */
    int64_t required_inputs;   /* the rest is optional; CM_UNKNOWN: all are required */
    size_t n_where;
    const char *const *where; /* definitions: "P = (H - R) / stride + 1" */
    size_t n_outputs;         /* 0: as `like` */
    const struct cm_op_output *outputs;
    /* Expressions of the costs of one run; both "" with `like`: the costs of that operator. */
    const char *macs;
    const char *other_flops; /* FLOPs besides MACs */
    const char *note;        /* free text */
};

/*
 * Read descriptions from a file ("-" is standard input), from text that need not be
 * NUL-terminated (`name` identifies it in messages), or from data. On CM_OK the caller owns
 * *ret_costs and frees it with cm_op_costs_free; on failure it is unchanged. CM_REFUSED
 * (invalid description), CM_IO, CM_NO_MEMORY.
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
