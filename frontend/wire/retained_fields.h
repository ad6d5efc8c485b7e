/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What skim keeps of a source, as a list of pieces of moderate size: growing one by doubling
 * would keep every former copy in the arena. Two lists, one of the main graph's fields and one
 * of the model's around it; one of them is written to.
 *
 * What is read is kept unless it is dropped. Bytes that lie in the window of the source one
 * after the other are copied together, when they must be: before the window moves, before
 * something of ours is written, and where the next field of the list begins.
 */
#ifndef FRONTEND_WIRE_RETAINED_FIELDS_H
#define FRONTEND_WIRE_RETAINED_FIELDS_H

#include "frontend/wire/message.h"
#include "support/file.h"

struct arena;
struct cm_diagnostics;

/* A list of pieces being written. Places in it are counted from where the field begins that is
 * being written, which never lies in two pieces. */
struct retained_list {
    struct fields *first;
    struct fields *last;
    uint8_t *out; /* of the last */
    size_t size;
    size_t capacity;
    size_t field;            /* where it begins */
    uint32_t number;         /* of the field; 0: it is dropped */
    size_t total;            /* bytes of the pieces before the last */
    size_t usual;            /* capacity of a piece */
    struct fields_of *index; /* by number, or NULL */
};

struct retained_fields {
    struct source *source;
    struct source_window *window; /* of it */
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct retained_list model;
    struct retained_list graph;
    struct retained_list *list; /* the one that is written to */
    size_t from;                /* in the window: what is kept and not copied yet begins here */
};

/* `index` is that of the main graph. The source must not be read but through what is here. */
void retained_init(struct retained_fields *kept, struct source *source, struct arena *arena,
                   struct cm_diagnostics *diag, struct fields_of *index);

/* All that return int: CM_OK, CM_REFUSED where the source ends too soon, CM_IO, CM_NO_MEMORY.
 */

/* A field of the list begins; retained_number says which, once that is known. */
int retained_begin(struct retained_fields *kept) __attribute__((warn_unused_result));
void retained_number(struct retained_fields *kept, uint32_t number);
/* From here on the other list is written to. */
int retained_turn(struct retained_fields *kept, struct retained_list *to)
    __attribute__((warn_unused_result));

/* What lies in the window and is not copied yet. */
static inline size_t retained_pending(const struct retained_fields *kept) {
    return kept->window->at - kept->from;
}

/* Where the next byte will stand. */
static inline size_t retained_place(const struct retained_fields *kept) {
    return kept->list->size - kept->list->field + retained_pending(kept);
}

/* Forgets what was kept since. */
int retained_drop(struct retained_fields *kept, size_t place)
    __attribute__((warn_unused_result));
/* What stands there, up to retained_place; until something else is called. */
int retained_look(struct retained_fields *kept, size_t place, uint8_t **ret)
    __attribute__((warn_unused_result));
/* Just past the last byte that was read and kept. */
const uint8_t *retained_end(const struct retained_fields *kept);

/* The next bytes of the source, as they are. */
int retained_copy(struct retained_fields *kept, size_t size)
    __attribute__((warn_unused_result));
/* One byte, -1 at the end of the source, or a status on failure in *ret. */
int retained_byte(struct retained_fields *kept, int *ret) __attribute__((warn_unused_result));
/* Steps over bytes that are not kept. */
int retained_skip(struct retained_fields *kept, uint64_t size)
    __attribute__((warn_unused_result));
/* Whether the source has ended. */
int retained_at_end(struct retained_fields *kept, bool *ret)
    __attribute__((warn_unused_result));

/* A field of ours. */
int retained_add(struct retained_fields *kept, uint32_t number, uint64_t value)
    __attribute__((warn_unused_result));
/* Writes `length` over the varint of *size bytes before `place`; where it takes more, what
 * stands there moves. */
int retained_set_length(struct retained_fields *kept, size_t place, size_t size,
                        uint64_t length) __attribute__((warn_unused_result));

/* The last field has ended; bytes of both lists. */
int retained_finish(struct retained_fields *kept, size_t *ret)
    __attribute__((warn_unused_result));

#endif
