/* SPDX-License-Identifier: Apache-2.0 */
/* Parses NAME=N, NAME=1x3x224x224 and NAME=2,3,4. Names may contain '=': the last one counts.
 */
#include "cli/input_shapes.h"

#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/text.h"

#include "support/banned.h"

/* Splits at the last '='. Returns the name and sets *ret_rest. Returns NULL if a part is empty,
 * or, with a message, if out of memory. */
static const char *split(const struct invocation *call, const char *given,
                         const char **ret_rest) {
    const char *equals = strrchr(given, '=');
    if (equals == NULL || equals == given || equals[1] == '\0') return NULL;
    *ret_rest = equals + 1;
    const char *name = arena_strndup(call->arena, given, (size_t)(equals - given));
    if (name == NULL) (void)diag_no_memory(call->diag);
    return name;
}

/* Refuses the name of items[n] if an earlier item has it. `items` are structs of `size` bytes
 * whose first member is `name`. */
static int check_unique(const struct invocation *call, const char *option, const void *items,
                        size_t size, size_t n) {
    const char *const *last = (const void *)((const char *)items + n * size);
    for (size_t i = 0; i < n; i++) {
        const char *const *name = (const void *)((const char *)items + i * size);
        if (text_equal(*name, *last))
            return options_fault(call, "option --%s gives '%s' twice", option, *last);
    }
    return CM_OK;
}

/* Parses NAME=N of --dim and --trip-count. */
static int read_dims(const struct invocation *call, const char *option,
                     const struct option_list *given, const struct cm_dim_option **ret) {
    struct cm_dim_option *dims = arena_array(call->arena, given->n, sizeof *dims);
    if (dims == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < given->n; i++) {
        const char *size = "";
        dims[i].name = split(call, given->values[i], &size);
        if (dims[i].name == NULL || !text_to_int64(size, strlen(size), &dims[i].size) ||
            dims[i].size < 0)
            return options_fault(call, "option --%s requires NAME=N with N >= 0, got '%s'",
                                 option, given->values[i]);
        const int status = check_unique(call, option, dims, sizeof *dims, i);
        if (status != CM_OK) return status;
    }
    *ret = dims;
    return CM_OK;
}

int shapes_read_dims(const struct invocation *call, const struct option_list *given,
                     struct cm_options *ret) {
    ret->n_dims = given->n;
    return read_dims(call, "dim", given, &ret->dims);
}

int shapes_read_trips(const struct invocation *call, const struct option_list *given,
                      struct cm_options *ret) {
    ret->n_trip_counts = given->n;
    return read_dims(call, "trip-count", given, &ret->trip_counts);
}

/* Parses 1x3x224x224. Returns NULL if it is invalid, or, with a message, if out of memory. */
static int64_t *read_shape(const struct invocation *call, const char *text, int *ret_rank) {
    int64_t *sizes = arena_array(call->arena, strlen(text) + 1, sizeof *sizes);
    if (sizes == NULL) (void)diag_no_memory(call->diag);
    if (sizes == NULL) return NULL;
    for (int rank = 0;; text++) {
        const size_t length = strcspn(text, "x");
        if (!text_to_int64(text, length, &sizes[rank]) || sizes[rank] < 0) return NULL;
        text += length;
        *ret_rank = ++rank;
        if (*text == '\0') return sizes;
    }
}

static int read_input(const struct invocation *call, const char *given,
                      struct cm_input_option *ret) {
    const char *shape = "";
    ret->name = split(call, given, &shape);
    if (ret->name != NULL) ret->dims = read_shape(call, shape, &ret->rank);
    if (ret->name != NULL && ret->dims != NULL) return CM_OK;
    return options_fault(
        call, "option --input requires NAME=SHAPE such as x=1x3x224x224, got '%s'", given);
}

int shapes_read_inputs(const struct invocation *call, const struct option_list *given,
                       struct cm_options *ret) {
    struct cm_input_option *inputs = arena_array(call->arena, given->n, sizeof *inputs);
    if (inputs == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < given->n; i++) {
        int status = read_input(call, given->values[i], &inputs[i]);
        if (status == CM_OK) status = check_unique(call, "input", inputs, sizeof *inputs, i);
        if (status != CM_OK) return status;
    }
    ret->n_inputs = given->n;
    ret->inputs = inputs;
    return CM_OK;
}

/* Returns the last unescaped '='; NULL if there is none or the name is empty. */
static const char *find_separator(const char *given) {
    const char *last = NULL;
    for (const char *at = given; *at; at++) {
        if (*at == '=') last = at;
        if (*at == '\\' && at[1] != '\0') at++;
    }
    return last == given ? NULL : last;
}

/* Reads one element of a list separated by ','; a backslash escapes the next character. */
static char *read_element(const struct invocation *call, const char **at) {
    char *element = arena_alloc(call->arena, strlen(*at) + 1);
    size_t n = 0;
    if (element == NULL) return NULL;
    for (; **at != '\0' && **at != ','; (*at)++) {
        if (**at == '\\' && (*at)[1] != '\0') (*at)++;
        element[n++] = **at;
    }
    element[n] = '\0';
    return element;
}

static size_t count_elements(const char *list) {
    size_t n = *list != '\0';
    for (const char *at = list; *at; at++) {
        n += *at == ',';
        if (*at == '\\' && at[1] != '\0') at++;
    }
    return n;
}

static int read_value(const struct invocation *call, const char *given,
                      struct cm_value_option *ret) {
    const char *equals = find_separator(given);
    if (equals == NULL)
        return options_fault(
            call, "option --value requires NAME=LIST such as k=2,3,4, got '%s'", given);
    const char *at = equals + 1;
    const size_t n = count_elements(at);
    const char **elements = arena_array(call->arena, n + 1, sizeof *elements);
    ret->name = arena_strndup(call->arena, given, (size_t)(equals - given));
    if (elements == NULL || ret->name == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < n; i++) {
        elements[i] = read_element(call, &at);
        if (elements[i] == NULL) return diag_no_memory(call->diag);
        at += *at == ',';
    }
    ret->elements = elements;
    ret->n = n;
    return CM_OK;
}

int shapes_read_values(const struct invocation *call, const struct option_list *given,
                       struct cm_options *ret) {
    struct cm_value_option *values = arena_array(call->arena, given->n, sizeof *values);
    if (values == NULL) return diag_no_memory(call->diag);
    for (size_t i = 0; i < given->n; i++) {
        int status = read_value(call, given->values[i], &values[i]);
        if (status == CM_OK) status = check_unique(call, "value", values, sizeof *values, i);
        if (status != CM_OK) return status;
    }
    ret->n_values = given->n;
    ret->values = values;
    return CM_OK;
}
