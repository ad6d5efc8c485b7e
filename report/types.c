/* SPDX-License-Identifier: Apache-2.0 */
/* Types as text. A type is a chain (a sequence of optionals of tensors), so a loop suffices. */
#include "report/types.h"

#include <inttypes.h>

#include "costmodel/result.h"
#include "support/checked.h"
#include "support/text.h"

static const char *const prefixes[] = {
    [CM_TYPE_UNKNOWN] = "",
    [CM_TYPE_TENSOR] = "",
    [CM_TYPE_SPARSE_TENSOR] = "sparse ",
    [CM_TYPE_SEQUENCE] = "sequence(",
    [CM_TYPE_OPTIONAL] = "optional(",
    [CM_TYPE_MAP] = "map(",
};

static void append_dims(struct text *text, const struct cm_type *type) {
    if (type->rank < 0) {
        text_append(text, "[...]");
        return;
    }
    text_append(text, "[");
    for (int i = 0; i < type->rank; i++) {
        if (i > 0) text_append(text, ", ");
        if (is_known(type->dims[i]))
            text_printf(text, "%" PRId64, type->dims[i]);
        else if (type->dims_upper_bound && is_known(type->dims_upper_bound[i]))
            text_printf(text, "<=%" PRId64, type->dims_upper_bound[i]);
        else
            text_append(text, "?");
    }
    text_append(text, "]");
}

void type_append(struct text *text, const struct cm_type *type) {
    int depth = 0;
    for (; type != NULL && type->kind >= CM_TYPE_SEQUENCE && depth < TYPE_MAX_DEPTH; depth++) {
        text_append(text, prefixes[type->kind]);
        if (type->kind == CM_TYPE_MAP) {
            text_append_name(text, type->dtype == NULL ? "?" : type->dtype);
            text_append(text, ": ");
        }
        type = type->element;
    }
    if (type == NULL || type->kind == CM_TYPE_UNKNOWN || depth == TYPE_MAX_DEPTH) {
        text_append(text, "?");
    } else {
        text_append(text, prefixes[type->kind]);
        text_append_name(text, type->dtype == NULL ? "?" : type->dtype);
        append_dims(text, type);
    }
    while (depth-- > 0) text_append(text, ")");
}
