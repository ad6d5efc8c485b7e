/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a node to a primitive (costmodel/backend.h): what a backend measures. Small tables over
 * operator types, as conventions have them (docs/decisions/lowering-tables.md). Every operator
 * that does work has a row, be it one that says why nothing measures it.
 */
#ifndef OPS_LOWERING_LOWERING_H
#define OPS_LOWERING_LOWERING_H

#include <stdbool.h>
#include <stdint.h>

#include "costmodel/backend.h"

struct op_context;
struct window;

/* Whether its tensors of three to five dims are images, N C S..: what --layout is about. */
enum lowering_images {
    IMAGES_NONE,
    IMAGES_HERE,   /* its first operand and its result are */
    IMAGES_FOLLOW, /* those of the result's rank are where one of them is */
};

struct lowering_row {
    const char *op; /* operator type, "domain:type" where it is not of ai.onnx; NULL: the end */
    /* Fills *ret, which is zero but for `kind`, but not its work. False: this node has no
     * primitive. NULL: none of this operator has. */
    bool (*lower)(const struct op_context *context, int32_t which, struct cm_primitive *ret);
    int32_t kind;  /* enum cm_primitive_kind */
    int32_t which; /* for `lower`: an algorithm or a function */
    enum lowering_images images;
    const char *why; /* what of it has no primitive, for people; NULL: all of it has one */
};

extern const struct lowering_row lowering_products[];
extern const struct lowering_row lowering_quantized[];
extern const struct lowering_row lowering_recurrent[];
extern const struct lowering_row lowering_einsum[];
extern const struct lowering_row lowering_layers[];
extern const struct lowering_row lowering_elements[];
extern const struct lowering_row lowering_moves[];
extern const struct lowering_row lowering_none[];

/* The row of an operator; NULL: there is none. */
const struct lowering_row *lowering_find(const char *domain, const char *type);

/*
 * The primitive of a node whose types are known: everything but flops and bytes. False: there
 * is none, and *ret_why says why (static text).
 */
bool lowering_apply(const struct op_context *context, struct cm_primitive *ret,
                    const char **ret_why);

/* What the rows share: operand `slot` (output) as a packed tensor; false: not known, too many
 * dims, or an element that no primitive has. */
bool lowering_input(const struct op_context *context, size_t slot, struct cm_tensor *ret);
bool lowering_output(const struct op_context *context, size_t slot, struct cm_tensor *ret);
/* Adds it to the operands (the results). */
bool lowering_take(const struct op_context *context, size_t slot, struct cm_primitive *ret);
bool lowering_give(const struct op_context *context, size_t slot, struct cm_primitive *ret);
/* Two axes change places, wherever the elements are. */
void lowering_swap(struct cm_tensor *tensor, int a, int b);
/* One function more; false: there are too many. */
bool lowering_step(struct cm_primitive *ret, int32_t function, int32_t operand);
/* The same of one operand, with its constants. */
bool lowering_scaled(struct cm_primitive *ret, int32_t function, double alpha, double beta);
/* Inputs 0 and 1 are operands of numpy's matmul, output 0 its result: as batches of matrices.
 */
bool lowering_matrices(struct cm_primitive *ret);
/* Inputs 0 and 1 are x and weight, output 0 is y: the window between them. */
bool lowering_convolution(const struct op_context *context, struct cm_primitive *ret);
/*
 * One axis of a window of which `steps` positions stand over `size` elements. Pads are those of
 * the file where they give that many, else as many at the end as it takes (SAME, ceil_mode).
 * False: some of it is not known, or past 2^63.
 */
bool lowering_window(const struct window *window, int i, int64_t size, int64_t steps,
                     struct cm_window *ret);
/* Row-major strides for its dims. */
void lowering_pack(struct cm_tensor *tensor);
/* -rank <= axis < rank, made non-negative; false otherwise. */
bool lowering_axis(int64_t axis, int rank, int *ret);

#endif
