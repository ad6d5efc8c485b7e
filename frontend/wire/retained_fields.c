/* SPDX-License-Identifier: Apache-2.0 */
/* See kept.h. */
#include "frontend/wire/retained_fields.h"

#include <string.h>

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

#define SMALLEST_PIECE ((size_t)1024)
#define LARGEST_PIECE  ((size_t)64 << 10)

/* At most this much is set aside on the word of a length alone: a pipe does not tell its size.
 */
#define COPY_STEP ((size_t)65536)

/* A small file is one piece. */
static size_t usual_piece(uint64_t size) {
    if (size >= LARGEST_PIECE) return LARGEST_PIECE;
    return size < SMALLEST_PIECE ? SMALLEST_PIECE : (size_t)size;
}

void retained_init(struct retained_fields *kept, struct source *source, struct arena *arena,
                   struct cm_diagnostics *diag, struct fields_of *index) {
    *kept = (struct retained_fields){
        .source = source,
        .window = source_window(source),
        .arena = arena,
        .diag = diag,
        .model = {.usual = SMALLEST_PIECE},
        .graph = {.usual = usual_piece(source_size(source)), .index = index},
        .list = &kept->model};
}

/* A new piece with room for `extra` bytes, to which the field being written moves. */
static int add_piece(struct retained_fields *kept, size_t extra) {
    struct retained_list *list = kept->list;
    size_t moved = list->size - list->field;
    if (extra > SIZE_MAX / 4 || moved > SIZE_MAX / 4) return diag_no_memory(kept->diag);
    size_t needed = moved + extra;
    size_t capacity = needed < list->usual / 2 ? list->usual : needed + needed / 2;
    struct fields *piece = arena_alloc(kept->arena, sizeof(*piece));
    uint8_t *out = piece ? arena_array_raw(kept->arena, capacity, 1) : NULL;
    if (!out) return diag_no_memory(kept->diag);
    if (moved) memcpy(out, list->out + list->field, moved);
    if (list->last) list->last->size = list->field;
    if (list->last) list->last->next = piece;
    if (!list->first) list->first = piece;
    list->total += list->field;
    list->last = piece;
    piece->data = list->out = out;
    list->capacity = capacity;
    list->size = moved;
    list->field = 0;
    return CM_OK;
}

static int reserve(struct retained_fields *kept, size_t extra) {
    const struct retained_list *list = kept->list;
    return list->capacity - list->size >= extra ? CM_OK : add_piece(kept, extra);
}

static int append(struct retained_fields *kept, const uint8_t *bytes, size_t size) {
    int status = size == 0 ? CM_OK : reserve(kept, size);
    if (status < 0 || size == 0) return status;
    memcpy(kept->list->out + kept->list->size, bytes, size);
    kept->list->size += size;
    return CM_OK;
}

static void forget_pending(struct retained_fields *kept) {
    kept->from = kept->window->at;
}

/* Copies what is pending. */
static int settle(struct retained_fields *kept) {
    int status = append(kept, kept->window->bytes + kept->from, retained_pending(kept));
    forget_pending(kept);
    return status;
}

/* The field that has been written, and settled, is the first of its number, perhaps. */
static void end_field(struct retained_list *list) {
    struct fields_of *of =
        list->index && list->number < MESSAGE_FIELDS ? &list->index[list->number] : NULL;
    if (of && list->number > 0 && of->n++ == 0) {
        of->piece = list->last;
        of->at = list->out + list->field;
    }
    list->field = list->size;
    list->number = 0;
}

int retained_begin(struct retained_fields *kept) {
    int status = settle(kept);
    end_field(kept->list);
    return status;
}

void retained_number(struct retained_fields *kept, uint32_t number) {
    kept->list->number = number;
}

int retained_turn(struct retained_fields *kept, struct retained_list *to) {
    int status = retained_begin(kept);
    kept->list = to;
    return status;
}

int retained_drop(struct retained_fields *kept, size_t place) {
    struct retained_list *list = kept->list;
    size_t settled = list->size - list->field;
    int status = CM_OK;
    if (place > settled)
        status = append(kept, kept->window->bytes + kept->from, place - settled);
    else
        list->size = list->field + place;
    forget_pending(kept);
    return status;
}

int retained_look(struct retained_fields *kept, size_t place, uint8_t **ret) {
    int status = settle(kept);
    if (status == CM_OK) *ret = kept->list->out + kept->list->field + place;
    return status;
}

const uint8_t *retained_end(const struct retained_fields *kept) {
    if (retained_pending(kept) > 0) return kept->window->bytes + kept->window->at;
    return kept->list->out + kept->list->size;
}

static int ends_early(struct retained_fields *kept, uint64_t claimed) {
    return diag_error(kept->diag, DIAG_FORMAT,
                      "the file ends at byte %llu, inside a field that claims %llu more bytes",
                      (unsigned long long)source_position(kept->source),
                      (unsigned long long)claimed);
}

/* Of bytes that do not lie in the window. */
static int copy_past_window(struct retained_fields *kept, size_t size) {
    int status = settle(kept);
    while (status == CM_OK && size > 0) {
        size_t step = size < COPY_STEP ? size : COPY_STEP;
        size_t got = 0;
        status = reserve(kept, step);
        struct retained_list *list = kept->list;
        if (status == CM_OK)
            status = source_read(kept->source, list->out + list->size, step, &got, kept->diag);
        list->size += got;
        size -= got;
        if (status == CM_OK && got < step) status = ends_early(kept, size);
    }
    forget_pending(kept);
    return status;
}

int retained_copy(struct retained_fields *kept, size_t size) {
    struct source_window *window = kept->window;
    if (size > window->length - window->at) return copy_past_window(kept, size);
    window->at += size;
    return CM_OK;
}

int retained_byte(struct retained_fields *kept, int *ret) {
    int status = settle(kept);
    if (status == CM_OK) status = reserve(kept, 1);
    if (status < 0) return status;
    *ret = source_byte(kept->source, kept->diag);
    forget_pending(kept);
    if (*ret == -2) return CM_IO;
    if (*ret >= 0) kept->list->out[kept->list->size++] = (uint8_t)*ret;
    return CM_OK;
}

int retained_skip(struct retained_fields *kept, uint64_t size) {
    uint64_t got = 0;
    int status = settle(kept);
    if (status == CM_OK) status = source_skip(kept->source, size, &got, kept->diag);
    forget_pending(kept);
    return status < 0 || got == size ? status : ends_early(kept, size - got);
}

int retained_at_end(struct retained_fields *kept, bool *ret) {
    int status = CM_OK;
    *ret = false;
    if (kept->window->at < kept->window->length) return status;
    status = settle(kept);
    *ret = source_at_end(kept->source, kept->diag); /* may read on */
    forget_pending(kept);
    return status;
}

int retained_add(struct retained_fields *kept, uint32_t number, uint64_t value) {
    uint8_t bytes[2 * WIRE_LONGEST_VARINT];
    size_t size = wire_encode((uint64_t)number << 3 | WIRE_VARINT, bytes);
    size += wire_encode(value, bytes + size);
    int status = settle(kept);
    return status < 0 ? status : append(kept, bytes, size);
}

int retained_set_length(struct retained_fields *kept, size_t place, size_t size,
                        uint64_t length) {
    size_t wanted = wire_varint_size(length);
    size_t more = wanted > size ? wanted - size : 0;
    int status = settle(kept);
    if (status == CM_OK) status = reserve(kept, more);
    if (status < 0) return status;
    struct retained_list *list = kept->list;
    uint8_t *contents = list->out + list->field + place;
    if (more) memmove(contents + more, contents, (size_t)length);
    list->size += more;
    wire_encode_padded(length, size + more, contents - size);
    return CM_OK;
}

int retained_finish(struct retained_fields *kept, size_t *ret) {
    int status = retained_begin(kept);
    const struct retained_list *lists[] = {&kept->model, &kept->graph};
    *ret = 0;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lists[i]->last) lists[i]->last->size = lists[i]->size;
        *ret += lists[i]->total + lists[i]->size;
    }
    return status;
}
