/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the name of a fused layer into the names of its nodes, and adds layers. */
#pragma once

#include "backends/times/times.h"

/* A growing list of refs. If out of memory, the arena has failed: check it at the end. */
struct times_refs {
    struct arena *arena;
    size_t n;
    size_t capacity;
    struct times_ref *items;
};

/* Adds a copy of the first `length` bytes of the name. */
void times_refs_add(struct times_refs *refs, const char *name, size_t length,
                    enum times_role role);

/* Adds a ref for each node in the name of a TensorRT layer. Returns times_layer.role. Examples:
 *     conv1 + PWN(PWN(sigmoid1), mul1)                   TIMES_RUNS conv1, sigmoid1, mul1
 *     Reformatting CopyNode for Input Tensor 0 to conv1  TIMES_COPIES conv1
 *     {ForeignNode[a...b]}                               TIMES_CONTAINS a, b
 */
enum times_role times_names_split(const char *name, struct times_refs *refs);

/* Adds a layer that has these refs, or, if there are none, those in its name.
 * Returns NULL if out of memory. */
struct times_layer *times_add_layer(struct cm_times *times, const char *name,
                                    struct times_refs *refs);

/* Sets rank and dims of the layer; rank -1 if a dim is missing, negative or not an integer. */
void times_read_dims(const struct json_value *dims, struct times_layer *layer);

/* A row of a table of operators of a tool. */
struct times_operator {
    const char *names; /* words */
    const char *types; /* operators of ONNX, "MatMul Gemm" */
    int flags;         /* TIMES_PRODUCT | .. */
};
enum { TIMES_PRODUCT = 1, TIMES_MANY = 2, TIMES_COPY = 4 };

/* Returns true if a word, between blanks, is the first `length` bytes of `word`. */
bool times_has_word(const char *words, const char *word, size_t length);

/* Sets types, many, is_product and role of a layer whose operator is the first `length` bytes
 * of `name`. Returns false, with types "", if none of the n rows names it. */
bool times_set_operator(struct times_layer *layer, const struct times_operator *rows, size_t n,
                        const char *name, size_t length);
