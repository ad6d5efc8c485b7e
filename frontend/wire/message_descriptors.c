/* SPDX-License-Identifier: Apache-2.0 */
/* See messages.h. */
#include "frontend/wire/message_descriptors.h"

#include <string.h>

#include "frontend/importer.h"

#include "support/banned.h"

struct messages messages_of(const struct importer *importer, const struct message *message,
                            uint32_t number, const ProtobufCMessageDescriptor *type) {
    return (struct messages){.type = type,
                             .walk = message_walk(message, number),
                             .mark = arena_save(importer->decoding)};
}

int messages_next(struct importer *importer, struct messages *messages, void *ret) {
    const void *none = NULL;
    struct span one;
    arena_restore(importer->decoding, messages->mark);
    if (!fields_next(&messages->walk, &one)) {
        memcpy(ret, &none, sizeof(none));
        return CM_OK;
    }
    const struct fields whole = {one.at, span_size(one), NULL};
    return decode(messages->type, &whole, importer->decoding, importer->diag, ret);
}
