/* SPDX-License-Identifier: Apache-2.0 */
/* See skim.h. Loops over the fields with an explicit stack of open messages. A field opens a
 * message, is kept, or is skipped.
 *
 * Kept bytes are copied as they are in the file, except for the lengths of messages from which
 * something was dropped or to which something was added. They go into two lists of pieces of
 * moderate size (growing one buffer by doubling would leave every former copy in the arena):
 * one for the main graph's fields, one for the rest of the model. Adjacent bytes in the window
 * of the source are copied together: before the window moves, before a private field is
 * written, and at the next field of the list. */
#include "frontend/wire/skim.h"

#include <string.h>

#include "frontend/wire/skim_schema.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"

/* Limit of open messages. Decoding recurses once per level, so this also bounds its stack. */
#define MAX_DEPTH 128

/* Largest length of a typed list that is not packed; longer ones are dropped. */
#define MAX_UNPACKED 65536

/* Limit of the bytes kept of the main graph, and of the rest; protobuf's limit is 2^31 - 1. */
#define MAX_STRUCTURE ((size_t)1 << 30)

/* Bit w: wire type w exists. */
#define WIRES (1 << WIRE_VARINT | 1 << WIRE_FIXED64 | 1 << WIRE_BYTES | 1 << WIRE_FIXED32)

/* Private fields of TensorProto, see onnx.proto. */
#define SKIPPED_OFFSET 60001
#define SKIPPED_LENGTH 60002
#define SKIPPED_FIELD  60003

#define SMALLEST_PIECE ((size_t)1024)
#define LARGEST_PIECE  ((size_t)64 << 10)

/* Bytes allocated before they are read, at most: the length in the file may be wrong. */
#define COPY_STEP ((size_t)65536)

/* A list of pieces being written. A "place" is an offset from the start of the field being
 * written, which is always contiguous in one piece. */
struct piece_list {
    struct fields *first;
    struct fields *last;
    uint8_t *out; /* bytes of `last` */
    size_t size;
    size_t capacity;
    size_t field;            /* offset of the field being written */
    uint32_t number;         /* of that field; 0 if it is dropped */
    size_t total;            /* bytes in the pieces before `last` */
    size_t usual;            /* capacity of a piece */
    struct fields_of *index; /* by field number, or NULL */
};

struct open_message {
    const struct skim_message *type;
    enum message_kind kind;
    uint32_t ordinal;    /* nodes of the file that begin before it */
    uint64_t end;        /* position in the source */
    uint64_t length;     /* in the file */
    size_t length_size;  /* bytes of the varint of `length` */
    size_t begin;        /* place of its key */
    size_t contents;     /* place of its contents */
    uint32_t n_unpacked; /* elements of typed data that are not packed */
    uint32_t n_children; /* messages inside it so far, if their number is limited */
    uint32_t seen;       /* bit i: field i, which may occur once, has occurred */
};

struct skimmer {
    struct source *source;
    struct source_window *window; /* of `source` */
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct piece_list model;
    struct piece_list graph;
    struct piece_list *list; /* the one that is being written */
    size_t from;             /* in the window: first byte that is kept and not yet copied */
    struct open_message stack[MAX_DEPTH];
    struct open_message *innermost;
    const struct open_message *outermost; /* the message whose fields make up `list` */
    bool has_graph;
    uint32_t n_nodes;
    uint32_t graph_ordinal; /* of the main graph */
};

/* The key of a field. */
struct field_key {
    uint64_t at; /* position in the source */
    size_t place;
    uint32_t number;
    enum wire wire;
    const struct skim_field *field; /* NULL if the field is not read */
};

static uint64_t position(const struct skimmer *skimmer) {
    return skimmer->window->start + skimmer->window->at;
}

/* Returns the number of bytes in the window that are kept and not yet copied. */
static inline size_t pending(const struct skimmer *skimmer) {
    return skimmer->window->at - skimmer->from;
}

/* Returns the place of the next kept byte. */
static inline size_t next_place(const struct skimmer *skimmer) {
    return skimmer->list->size - skimmer->list->field + pending(skimmer);
}

/* Makes room for `extra` bytes; moves the field being written to a new piece if it is full. */
static int reserve(struct skimmer *skimmer, size_t extra) {
    struct piece_list *list = skimmer->list;
    if (list->capacity - list->size >= extra) return CM_OK;
    size_t moved = list->size - list->field;
    if (list->total + list->size + extra > MAX_STRUCTURE)
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "the structure of the model takes more than 1 GiB");
    size_t needed = moved + extra;
    size_t capacity = needed < list->usual / 2 ? list->usual : needed + needed / 2;
    struct fields *piece = arena_alloc(skimmer->arena, sizeof(*piece));
    uint8_t *out = piece ? arena_array_raw(skimmer->arena, capacity, 1) : NULL;
    if (!out) return diag_no_memory(skimmer->diag);
    if (moved) memcpy(out, list->out + list->field, moved);
    if (list->last) {
        list->last->size = list->field;
        list->last->next = piece;
    } else {
        list->first = piece;
    }
    list->total += list->field;
    list->last = piece;
    piece->data = list->out = out;
    list->capacity = capacity;
    list->size = moved;
    list->field = 0;
    return CM_OK;
}

static int append(struct skimmer *skimmer, const uint8_t *bytes, size_t size) {
    if (size == 0) return CM_OK;
    int status = reserve(skimmer, size);
    if (status < 0) return status;
    memcpy(skimmer->list->out + skimmer->list->size, bytes, size);
    skimmer->list->size += size;
    return CM_OK;
}

static void forget_pending(struct skimmer *skimmer) {
    skimmer->from = skimmer->window->at;
}

static int copy_pending(struct skimmer *skimmer) {
    int status = append(skimmer, skimmer->window->bytes + skimmer->from, pending(skimmer));
    forget_pending(skimmer);
    return status;
}

/* Ends the field that was being written; indexes it if it is the first of its number. */
static int end_field(struct skimmer *skimmer) {
    struct piece_list *list = skimmer->list;
    int status = copy_pending(skimmer);
    if (list->index && list->number > 0 && list->number < MESSAGE_FIELDS &&
        list->index[list->number].n++ == 0) {
        list->index[list->number].piece = list->last;
        list->index[list->number].at = list->out + list->field;
    }
    list->field = list->size;
    list->number = 0;
    return status;
}

/* Writes to the other list from here on. */
static int switch_list(struct skimmer *skimmer, struct piece_list *to) {
    int status = end_field(skimmer);
    skimmer->list = to;
    return status;
}

/* Removes the bytes from `place` on. */
static int drop_from(struct skimmer *skimmer, size_t place) {
    struct piece_list *list = skimmer->list;
    size_t copied = list->size - list->field;
    int status = CM_OK;
    if (place > copied)
        status = append(skimmer, skimmer->window->bytes + skimmer->from, place - copied);
    else
        list->size = list->field + place;
    forget_pending(skimmer);
    return status;
}

/* Sets *ret to the last `size` bytes that were kept; valid until the next call that writes. */
static int last_bytes(struct skimmer *skimmer, size_t size, struct span *ret) {
    int status = copy_pending(skimmer);
    if (status < 0) return status;
    const uint8_t *end = skimmer->list->out + skimmer->list->size;
    *ret = (struct span){end - size, end};
    return CM_OK;
}

static int ends_in_field(struct skimmer *skimmer, uint64_t claimed) {
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "the file ends at byte %llu, inside a field that claims %llu more bytes",
                      (unsigned long long)source_position(skimmer->source),
                      (unsigned long long)claimed);
}

static int ends_in_message(struct skimmer *skimmer) {
    return diag_error(skimmer->diag, DIAG_FORMAT, "the file ends at byte %llu, inside a %s",
                      (unsigned long long)position(skimmer), skimmer->innermost->type->name);
}

/* Keeps the next `size` bytes of the source. */
static int keep(struct skimmer *skimmer, size_t size) {
    struct source_window *window = skimmer->window;
    if (size <= window->length - window->at) {
        window->at += size;
        return CM_OK;
    }
    int status = copy_pending(skimmer);
    while (status == CM_OK && size > 0) {
        size_t step = size < COPY_STEP ? size : COPY_STEP;
        size_t got = 0;
        status = reserve(skimmer, step);
        struct piece_list *list = skimmer->list;
        if (status == CM_OK)
            status =
                source_read(skimmer->source, list->out + list->size, step, &got, skimmer->diag);
        list->size += got;
        size -= got;
        if (status == CM_OK && got < step) status = ends_in_field(skimmer, size);
    }
    forget_pending(skimmer);
    return status;
}

/* Writes a private field. */
static int add_number(struct skimmer *skimmer, uint32_t number, uint64_t value) {
    uint8_t bytes[2 * WIRE_LONGEST_VARINT];
    size_t size = wire_encode((uint64_t)number << 3 | WIRE_VARINT, bytes);
    size += wire_encode(value, bytes + size);
    int status = copy_pending(skimmer);
    return status < 0 ? status : append(skimmer, bytes, size);
}

/* Reads a varint that crosses the end of the window or message, or is malformed. */
static int get_varint_slowly(struct skimmer *skimmer, uint64_t *ret) {
    uint64_t value = 0;
    for (int i = 0; i < WIRE_LONGEST_VARINT; i++) {
        if (position(skimmer) >= skimmer->innermost->end)
            return diag_error(skimmer->diag, DIAG_FORMAT,
                              "at byte %llu: a number runs past the end of its %s",
                              (unsigned long long)position(skimmer),
                              skimmer->innermost->type->name);
        int status = copy_pending(skimmer);
        if (status == CM_OK) status = reserve(skimmer, 1);
        if (status < 0) return status;
        int byte = source_byte(skimmer->source, skimmer->diag);
        forget_pending(skimmer);
        if (byte == -2) return CM_IO;
        if (byte < 0) return ends_in_message(skimmer);
        skimmer->list->out[skimmer->list->size++] = (uint8_t)byte;
        value |= (uint64_t)(byte & 127) << (7 * i);
        if (byte < 128) {
            *ret = value;
            return CM_OK;
        }
    }
    return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: a number longer than 64 bits",
                      (unsigned long long)position(skimmer));
}

/* Returns the part of the innermost message that is in the window. */
static struct span in_window(const struct skimmer *skimmer) {
    const struct source_window *window = skimmer->window;
    const uint8_t *at = window->bytes + window->at;
    uint64_t left = skimmer->innermost->end - position(skimmer);
    size_t n = window->length - window->at;
    return (struct span){at, at + (left < n ? (size_t)left : n)};
}

static int get_long_varint(struct skimmer *skimmer, uint64_t *ret) {
    struct span span = in_window(skimmer);
    const uint8_t *from = span.at;
    if (!wire_varint(&span, ret)) return get_varint_slowly(skimmer, ret);
    skimmer->window->at += (size_t)(span.at - from);
    return CM_OK;
}

/* Most varints are one byte. */
static inline int get_varint(struct skimmer *skimmer, uint64_t *ret) {
    struct source_window *window = skimmer->window;
    if (window->at == window->length || window->bytes[window->at] > 127 ||
        position(skimmer) == skimmer->innermost->end)
        return get_long_varint(skimmer, ret);
    *ret = window->bytes[window->at++];
    return CM_OK;
}

/* Passes over a run of strings and numbers, which are kept unchanged: nodes hold little else,
 * and most of a file is nodes. Leaves everything else to one_field: other kinds of fields, a
 * field that crosses the end of the window, and malformed bytes. */
static void pass_simple(struct skimmer *skimmer) {
    const struct skim_message *type = skimmer->innermost->type;
    struct span span = in_window(skimmer);
    const uint8_t *from = span.at;
    const uint8_t *passed = from;
    for (uint64_t key = 0, value = 0; span.at < span.end; passed = span.at) {
        const struct skim_field *field =
            wire_varint(&span, &key) ? skim_find_field(type, key >> 3) : NULL;
        if (!field || !wire_varint(&span, &value)) break;
        if (field->kind == FIELD_NUMBER && (key & 7) == WIRE_VARINT) continue;
        if (field->kind != FIELD_TEXT || (key & 7) != WIRE_BYTES || value > span_size(span))
            break;
        span.at += value;
    }
    skimmer->window->at += (size_t)(passed - from);
}

enum metadata_key skim_metadata_key(struct span key) {
    static const char *const keys[N_METADATA_KEYS] = {
        [METADATA_SCOPES] = "pkg.torch.onnx.name_scopes",
        [METADATA_CLASSES] = "pkg.torch.onnx.class_hierarchy",
        [METADATA_NAMESPACE] = "namespace",
        [METADATA_REWRITTEN] = "pkg.onnxscript.rewriter.rule_name",
        [METADATA_KIND] = "pkg.torch.export.graph_signature.InputSpec.kind",
        [METADATA_FOLDED_FROM] = "pkg.onnxscript.optimizer.folded_from",
        [METADATA_SIGNATURE] = "pkg.torch.export.ExportedProgram.graph_signature",
    };
    int i = 0;
    while (i < N_METADATA_KEYS && !span_equal(key, keys[i])) i++;
    return (enum metadata_key)i;
}

/* Returns true if the entry (StringStringEntryProto) is read. */
static bool is_metadata_read(struct span entry) {
    enum metadata_key key = N_METADATA_KEYS;
    size_t size = 0;
    for (struct wire_field field; wire_next(&entry, &field);) {
        if (field.number == ENTRY_KEY) key = skim_metadata_key(field.bytes);
        if (field.number == ENTRY_VALUE) size = span_size(field.bytes);
    }
    return key != N_METADATA_KEYS &&
           size <= (key == METADATA_SIGNATURE ? MAX_SIGNATURE : MAX_METADATA);
}

/* Opens a message. When decoded, even an empty message takes many bytes. So this refuses empty
 * messages of some kinds, and more submessages than a model needs. */
static int open_message(struct skimmer *skimmer, const struct field_key *key, uint64_t length,
                        size_t length_size) {
    const enum message_kind kind = key->field->child;
    struct open_message *outer = skimmer->innermost;
    const uint32_t max_children = outer->type->max_children;
    const unsigned long long at = (unsigned long long)position(skimmer);
    if (outer == &skimmer->stack[MAX_DEPTH - 1])
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "at byte %llu: messages are nested deeper than %d", at, MAX_DEPTH);
    if (length == 0 && skim_messages[kind].not_empty)
        return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: %s.%s is empty", at,
                          outer->type->name, key->field->name);
    if (max_children > 0 && outer->n_children++ >= max_children)
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "at byte %llu: a %s holds more than %u messages", at,
                          outer->type->name, max_children);
    int status = CM_OK;
    *++skimmer->innermost = (struct open_message){.type = &skim_messages[kind],
                                                  .kind = kind,
                                                  .ordinal = skimmer->n_nodes,
                                                  .end = position(skimmer) + length,
                                                  .length = length,
                                                  .length_size = length_size,
                                                  .begin = key->place,
                                                  .contents = next_place(skimmer)};
    if (kind == MESSAGE_GRAPH && skimmer->innermost == &skimmer->stack[1]) {
        skimmer->has_graph = true;
        skimmer->outermost = skimmer->innermost;
        skimmer->graph_ordinal = skimmer->n_nodes;
        status = drop_from(skimmer, key->place);
        return status < 0 ? status : switch_list(skimmer, &skimmer->graph);
    }
    if (kind == MESSAGE_NODE) skimmer->n_nodes++;
    if (kind != MESSAGE_GRAPH && kind != MESSAGE_FUNCTION) return CM_OK;
    return add_number(skimmer, FIELD_ORDINAL, skimmer->n_nodes); /* ordinal of its first node */
}

/* Writes the length of a kept message again if something in it was dropped or added; moves its
 * contents if the varint becomes longer. */
static int set_length(struct skimmer *skimmer, const struct open_message *message) {
    uint64_t length = next_place(skimmer) - message->contents;
    if (length == message->length) return CM_OK;
    size_t size = message->length_size;
    size_t wanted = wire_varint_size(length);
    size_t more = wanted > size ? wanted - size : 0;
    int status = copy_pending(skimmer);
    if (status == CM_OK) status = reserve(skimmer, more);
    if (status < 0) return status;
    struct piece_list *list = skimmer->list;
    uint8_t *contents = list->out + list->field + message->contents;
    if (more) memmove(contents + more, contents, (size_t)length);
    list->size += more;
    wire_encode_padded(length, size + more, contents - size);
    return CM_OK;
}

static int close_message(struct skimmer *skimmer) {
    const struct open_message *message = skimmer->innermost--;
    uint32_t n_inside = skimmer->n_nodes - message->ordinal;
    int status = CM_OK;
    if (message == skimmer->outermost) {
        skimmer->outermost = skimmer->stack;
        return switch_list(skimmer, &skimmer->model);
    }
    if (message->kind == MESSAGE_NODE && n_inside > 1)
        status = add_number(skimmer, FIELD_ORDINAL, n_inside - 1);
    if (message->kind == MESSAGE_METADATA) {
        struct span entry;
        status = last_bytes(skimmer, next_place(skimmer) - message->contents, &entry);
        if (status == CM_OK && !is_metadata_read(entry))
            return drop_from(skimmer, message->begin);
    }
    return status < 0 ? status : set_length(skimmer, message);
}

/* Records where a dropped payload is in the file; offset and length 0: not available. */
static int note_skipped(struct skimmer *skimmer, uint32_t number, uint64_t offset,
                        uint64_t length) {
    int status = add_number(skimmer, SKIPPED_OFFSET, offset);
    if (status == CM_OK) status = add_number(skimmer, SKIPPED_LENGTH, length);
    return status < 0 ? status : add_number(skimmer, SKIPPED_FIELD, number);
}

static int keep_bytes(struct skimmer *skimmer, const struct skim_field *field,
                      uint64_t length) {
    struct span bytes;
    if (field->kind != FIELD_PAYLOAD && length > field->max_bytes)
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "at byte %llu: %s.%s must have at most %u bytes, has %llu",
                          (unsigned long long)position(skimmer), skimmer->innermost->type->name,
                          field->name, field->max_bytes, (unsigned long long)length);
    int status = keep(skimmer, (size_t)length);
    if (status < 0 || field->element == WIRE_BYTES || length == 0) return status;
    status = last_bytes(skimmer, (size_t)length, &bytes);
    if (status < 0 || wire_is_packed(field->element, bytes)) return status;
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "at byte %llu: %s.%s of %llu bytes ends inside a number",
                      (unsigned long long)(position(skimmer) - length),
                      skimmer->innermost->type->name, field->name, (unsigned long long)length);
}

static int bytes_field(struct skimmer *skimmer, const struct field_key *key) {
    const struct skim_field *field = key->field;
    struct open_message *message = skimmer->innermost;
    uint64_t length = 0;
    /* Refuse a second message: protobuf would merge it into the first and copy both, so that
     * many would take quadratic time. */
    if (field && field->once) {
        uint32_t bit = (uint32_t)1 << key->number;
        if (message->seen & bit)
            return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: a second %s.%s",
                              (unsigned long long)position(skimmer), message->type->name,
                              field->name);
        message->seen |= bit;
    }
    const size_t place = next_place(skimmer);
    const uint64_t at = position(skimmer);
    int status = get_varint(skimmer, &length);
    if (status < 0) return status;
    const uint64_t left = message->end - position(skimmer);
    if (length > left)
        return diag_error(skimmer->diag, DIAG_FORMAT,
                          "at byte %llu: %s.%s claims %llu bytes, %llu are left",
                          (unsigned long long)at, message->type->name,
                          field ? field->name : "(unknown field)", (unsigned long long)length,
                          (unsigned long long)left);
    if (field && field->kind == FIELD_MESSAGE)
        return open_message(skimmer, key, length, next_place(skimmer) - place);
    if (field && (field->kind != FIELD_PAYLOAD || length <= SKIM_KEPT_PAYLOAD))
        return keep_bytes(skimmer, field, length);
    /* Skip an unknown field or a large payload; record the position of a payload. */
    uint64_t offset = position(skimmer);
    status = drop_from(skimmer, key->place);
    if (status == CM_OK && field) status = note_skipped(skimmer, key->number, offset, length);
    if (status == CM_OK) status = copy_pending(skimmer);
    uint64_t skipped = 0;
    if (status == CM_OK) status = source_skip(skimmer->source, length, &skipped, skimmer->diag);
    forget_pending(skimmer);
    if (status < 0 || skipped == length) return status;
    return ends_in_field(skimmer, length - skipped);
}

/* Keeps or drops a number. If typed data has more than MAX_UNPACKED single elements, records
 * its contents as not available and drops the rest. */
static int scalar_field(struct skimmer *skimmer, const struct field_key *key) {
    bool typed = key->field && key->field->kind == FIELD_PAYLOAD;
    uint32_t n = typed ? ++skimmer->innermost->n_unpacked : 0;
    size_t width = key->wire == WIRE_FIXED64 ? 8 : 4;
    uint64_t value = 0;
    int status = CM_OK;
    if (key->wire == WIRE_VARINT)
        status = get_varint(skimmer, &value);
    else if (skimmer->innermost->end - position(skimmer) < width)
        status = ends_in_message(skimmer);
    else
        status = keep(skimmer, width);
    if (status < 0 || (key->field && n <= MAX_UNPACKED)) return status;
    status = drop_from(skimmer, key->place);
    if (status < 0 || n != MAX_UNPACKED + 1) return status;
    return note_skipped(skimmer, key->number, 0, 0);
}

static int get_key(struct skimmer *skimmer, struct field_key *ret) {
    const char *name = skimmer->innermost->type->name;
    uint64_t bits = 0;
    ret->at = position(skimmer);
    ret->place = next_place(skimmer);
    int status = get_varint(skimmer, &bits);
    if (status < 0) return status;
    ret->number = (uint32_t)(bits >> 3);
    ret->wire = (enum wire)(bits & 7);
    ret->field = skim_find_field(skimmer->innermost->type, bits >> 3);
    if (bits >> 3 == 0 || bits >> 32 || !(WIRES >> ret->wire & 1))
        return diag_error(skimmer->diag, DIAG_FORMAT,
                          "at byte %llu: 0x%llx is not a valid field key (inside a %s)",
                          (unsigned long long)ret->at, (unsigned long long)bits, name);
    if (!ret->field || ret->field->wires >> ret->wire & 1) return CM_OK;
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "at byte %llu: %s.%s is written with wire type %u",
                      (unsigned long long)ret->at, name, ret->field->name, ret->wire);
}

static int one_field(struct skimmer *skimmer) {
    struct field_key key = {0};
    bool outermost = skimmer->innermost == skimmer->outermost;
    int status = outermost ? end_field(skimmer) : CM_OK;
    if (status == CM_OK) status = get_key(skimmer, &key);
    if (status < 0) return status;
    if (outermost && key.field) skimmer->list->number = key.number;
    return key.wire == WIRE_BYTES ? bytes_field(skimmer, &key) : scalar_field(skimmer, &key);
}

static int walk(struct skimmer *skimmer) {
    for (;;) {
        int status = CM_OK;
        if (skimmer->innermost != skimmer->outermost) pass_simple(skimmer);
        /* Close all messages that end here. */
        while (skimmer->innermost > skimmer->stack &&
               position(skimmer) == skimmer->innermost->end) {
            status = close_message(skimmer);
            if (status < 0) return status;
        }
        if (skimmer->innermost == skimmer->stack &&
            skimmer->window->at == skimmer->window->length) {
            status = copy_pending(skimmer);
            const bool ended = source_at_end(skimmer->source, skimmer->diag);
            forget_pending(skimmer); /* the window may have moved */
            if (status < 0 || ended) return status;
        }
        status = one_field(skimmer);
        if (status < 0) return status;
    }
}

/* Sets the size of the last piece; returns the bytes of the list. */
static size_t finish_list(struct piece_list *list) {
    if (list->last) list->last->size = list->size;
    return list->total + list->size;
}

int skim(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
         struct skimmed *ret) {
    struct skimmed made = {0};
    uint64_t size = source_size(source);
    if (size == 0 || source_at_end(source, diag))
        return diag_error(diag, DIAG_FORMAT, "the file is empty");
    /* A small file becomes one piece. */
    size_t usual = size < SMALLEST_PIECE ? SMALLEST_PIECE : (size_t)size;
    if (size >= LARGEST_PIECE) usual = LARGEST_PIECE;
    struct skimmer skimmer = {.source = source,
                              .window = source_window(source),
                              .arena = arena,
                              .diag = diag,
                              .model = {.usual = SMALLEST_PIECE},
                              .graph = {.usual = usual, .index = made.graph.of}};
    skimmer.stack[0] = (struct open_message){
        .type = &skim_messages[MESSAGE_MODEL], .kind = MESSAGE_MODEL, .end = size};
    skimmer.list = &skimmer.model;
    skimmer.outermost = skimmer.innermost = skimmer.stack;
    int status = walk(&skimmer);
    if (status == CM_OK) status = end_field(&skimmer);
    if (status == CM_REFUSED) sniff_explain(source, diag);
    if (status < 0) return status;
    made.size = finish_list(&skimmer.model) + finish_list(&skimmer.graph);
    made.model = skimmer.model.first;
    made.graph.ordinal = skimmer.graph_ordinal;
    made.has_graph = skimmer.has_graph;
    *ret = made;
    return CM_OK;
}
