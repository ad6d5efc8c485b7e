/* SPDX-License-Identifier: Apache-2.0 */
/* NAME=N and NAME=1x3x224x224. The last '=' parts the two: a name may hold others. */
#include "cli/shapes.h"

#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* What stands before the last '=', and where the rest begins. NULL without a message when
 * either is empty, with one when memory is out. */
static const char *split(const struct invocation *call, const char *given,
                         const char **ret_rest) {
    const char *equals = strrchr(given, '=');
    if (equals == NULL || equals == given || equals[1] == '\0') return NULL;
    *ret_rest = equals + 1;
    const char *name = arena_strndup(call->arena, given, (size_t)(equals - given));
    if (name == NULL) (void)diag_no_memory(call->diag);
    return name;
}

/* One size of a list parted by 'x'; moves *at past it. */
static bool read_size(const char **at, int64_t *ret) {
    const size_t length = strcspn(*at, "x");
    if (!text_to_int64(*at, length, ret) || *ret < 0) return false;
    *at += length;
    return true;
}

static int read_dim(const struct invocation *call, const char *given,
                    struct cm_dim_option *ret) {
    const char *size = "";
    ret->name = split(call, given, &size);
    if (ret->name == NULL || !text_to_int64(size, strlen(size), &ret->size) || ret->size < 0) {
        return options_fault(call, "option --dim wants NAME=N, N of at least 0, got '%s'",
                             given);
    }
    return CM_OK;
}

/* The same name twice is a slip of which either half could be meant. */
static int check_dims(const struct invocation *call, const struct cm_dim_option *dims,
                      size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!text_equal(dims[i].name, dims[n].name)) continue;
        return options_fault(call, "option --dim gives '%s' twice", dims[n].name);
    }
    return CM_OK;
}

int shapes_read_dims(const struct invocation *call, const struct option_list *given,
                     struct cm_options *ret) {
    struct cm_dim_option *dims = arena_array(call->arena, given->n, sizeof *dims);
    if (dims == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < given->n; i++) {
        int status = read_dim(call, given->values[i], &dims[i]);
        if (status == CM_OK) status = check_dims(call, dims, i);
        if (status != CM_OK) return status;
    }
    ret->n_dims = given->n;
    ret->dims = dims;
    return CM_OK;
}

/* `text` holds at most strlen(text) sizes. */
static int64_t *read_shape(const struct invocation *call, const char *text, int *ret_rank) {
    int64_t *sizes = arena_array(call->arena, strlen(text) + 1, sizeof *sizes);
    int rank = 0;
    if (sizes == NULL) (void)diag_no_memory(call->diag);
    if (sizes == NULL) return NULL;
    while (read_size(&text, &sizes[rank])) {
        rank++;
        *ret_rank = rank;
        if (*text == '\0') return sizes;
        text++;
    }
    return NULL;
}

static int read_input(const struct invocation *call, const char *given,
                      struct cm_input_option *ret) {
    const char *shape = "";
    ret->name = split(call, given, &shape);
    if (ret->name != NULL) ret->dims = read_shape(call, shape, &ret->rank);
    if (ret->name != NULL && ret->dims != NULL) return CM_OK;
    return options_fault(call, "option --input wants NAME=1x3x224x224, got '%s'", given);
}

static int check_inputs(const struct invocation *call, const struct cm_input_option *inputs,
                        size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!text_equal(inputs[i].name, inputs[n].name)) continue;
        return options_fault(call, "option --input gives '%s' twice", inputs[n].name);
    }
    return CM_OK;
}

int shapes_read_inputs(const struct invocation *call, const struct option_list *given,
                       struct cm_options *ret) {
    struct cm_input_option *inputs = arena_array(call->arena, given->n, sizeof *inputs);
    if (inputs == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < given->n; i++) {
        int status = read_input(call, given->values[i], &inputs[i]);
        if (status == CM_OK) status = check_inputs(call, inputs, i);
        if (status != CM_OK) return status;
    }
    ret->n_inputs = given->n;
    ret->inputs = inputs;
    return CM_OK;
}
