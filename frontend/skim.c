/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of skim.h. One loop over fields with an explicit stack of open messages: a field
 * either opens a message, is copied, or is stepped over. The length of a kept message is not
 * known when it opens, so five bytes are set aside for it and patched when it closes (a varint
 * may be padded).
 *
 * What is kept goes into two lists of pieces, the main graph's fields and the model's. A field
 * that a piece has no more room for moves into a new one: growing by doubling would keep every
 * former copy in the arena.
 */
#include "frontend/skim.h"

#include <string.h>

#include "frontend/metadata.h"
#include "frontend/skim_schema.h"
#include "frontend/sniff.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"

#include "support/banned.h"

/* Open messages; protobuf-c recurses once a level, so this also bounds its stack. */
#define MAX_DEPTH 128

#define LENGTH_BYTES 5
#define VARINT_BYTES 10
/* Room for a key; put_varint itself asks for that of any number. */
#define KEY_BYTES VARINT_BYTES

/* Elements of one typed list that an odd writer wrote one by one; more are not kept. */
#define MAX_UNPACKED 65536

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* Private fields of TensorProto and of NodeProto, see onnx.proto. */
#define SKIPPED_OFFSET 60001
#define SKIPPED_LENGTH 60002
#define SKIPPED_FIELD  60003
#define NODE_ORDINAL   60004

struct open_message {
    enum message_kind kind;
    uint64_t end;            /* position in the source */
    size_t begin;            /* of its key in the output */
    size_t length_at;        /* where its length is set aside there */
    const struct sink *sink; /* that has it; NULL: it has no length, being a list of its own */
    uint32_t n_unpacked;     /* elements of typed data kept one by one */
    uint32_t n_children;     /* messages inside it so far, where there is a limit */
    uint32_t seen;           /* bit i: field i of its list, where it may come once */
};

/* A list of pieces being written. */
struct sink {
    struct fields *first;
    struct fields *last;
    uint8_t *out; /* of the last */
    size_t size;
    size_t capacity;
    size_t field; /* where the outermost field begins that is being written */
    size_t total; /* of the pieces before the last */
};

struct skimmer {
    struct source *source;
    struct source_window *window; /* of it */
    struct arena *arena;
    struct cm_diagnostics *diag;
    struct sink model;
    struct sink graph;
    struct sink *sink;              /* the one that is written to */
    struct fields_of *graph_fields; /* by number */
    bool has_graph;
    struct open_message stack[MAX_DEPTH];
    int depth; /* stack[depth - 1] is the innermost */
    uint32_t n_nodes;
};

static uint64_t position(const struct skimmer *skimmer) {
    return skimmer->window->start + skimmer->window->at;
}

static struct open_message *innermost(struct skimmer *skimmer) {
    return &skimmer->stack[skimmer->depth - 1];
}

#define SMALLEST_PIECE ((size_t)1024)
#define LARGEST_PIECE  ((size_t)64 << 10)

/* A small file is one piece: of its structure, and of the lengths that take five bytes here. */
static size_t piece_capacity(const struct skimmer *skimmer, size_t needed) {
    uint64_t size = source_size(skimmer->source);
    size_t capacity = size < LARGEST_PIECE ? (size_t)(size + size / 4) : LARGEST_PIECE;
    if (skimmer->sink == &skimmer->model) capacity = SMALLEST_PIECE;
    if (capacity < SMALLEST_PIECE) capacity = SMALLEST_PIECE;
    return needed < capacity / 2 ? capacity : needed + needed / 2;
}

/* The field being written may be the first of its number. */
static void move_begins(struct skimmer *skimmer, const struct fields *to) {
    const struct sink *sink = skimmer->sink;
    for (size_t i = 0; sink == &skimmer->graph && i < SKIM_GRAPH_FIELDS; i++) {
        struct fields_of *begin = &skimmer->graph_fields[i];
        if (begin->n == 0 || begin->piece != sink->last || begin->at != sink->field) continue;
        begin->piece = to;
        begin->at = 0;
    }
}

/* A new piece with room for `extra` bytes, to which the field being written moves. */
static int add_piece(struct skimmer *skimmer, size_t extra) {
    struct sink *sink = skimmer->sink;
    size_t moved = sink->size - sink->field;
    if (extra > SIZE_MAX / 4 || moved > SIZE_MAX / 4) return diag_no_memory(skimmer->diag);
    size_t capacity = piece_capacity(skimmer, moved + extra);
    struct fields *piece = arena_alloc(skimmer->arena, sizeof(*piece));
    uint8_t *out = piece ? arena_alloc(skimmer->arena, capacity) : NULL;
    if (!out) return diag_no_memory(skimmer->diag);
    if (moved) memcpy(out, sink->out + sink->field, moved);
    for (int i = 0; i < skimmer->depth; i++) {
        struct open_message *open = &skimmer->stack[i];
        if (open->sink != sink) continue;
        open->begin -= sink->field;
        open->length_at -= sink->field;
    }
    move_begins(skimmer, piece);
    if (sink->last) sink->last->size = sink->field;
    if (sink->last) sink->last->next = piece;
    if (!sink->first) sink->first = piece;
    sink->total += sink->field;
    sink->last = piece;
    piece->data = sink->out = out;
    sink->capacity = capacity;
    sink->size = moved;
    sink->field = 0;
    return CM_OK;
}

static int reserve(struct skimmer *skimmer, size_t extra) {
    const struct sink *sink = skimmer->sink;
    return sink->capacity - sink->size >= extra ? CM_OK : add_piece(skimmer, extra);
}

/* Where there is room for it. */
static void append_varint(struct sink *sink, uint64_t value) {
    for (; value > 127; value >>= 7) sink->out[sink->size++] = (uint8_t)(value | 128);
    sink->out[sink->size++] = (uint8_t)value;
}

static int put_varint(struct skimmer *skimmer, uint64_t value) {
    int status = reserve(skimmer, VARINT_BYTES);
    if (status < 0) return status;
    append_varint(skimmer->sink, value);
    return CM_OK;
}

static int put_key(struct skimmer *skimmer, uint32_t number, enum wire wire) {
    return put_varint(skimmer, (uint64_t)number << 3 | wire);
}

static int put_number(struct skimmer *skimmer, uint32_t number, uint64_t value) {
    int status = put_key(skimmer, number, WIRE_VARINT);
    return status < 0 ? status : put_varint(skimmer, value);
}

/* At most this much is set aside on the word of a length alone: a pipe does not tell its size.
 */
#define COPY_STEP 65536

/* A few bytes that the window holds already. */
static bool copy_from_window(struct skimmer *skimmer, size_t size) {
    struct sink *sink = skimmer->sink;
    struct source_window *window = skimmer->window;
    if (size > window->length - window->at || size > sink->capacity - sink->size) return false;
    if (size) memcpy(sink->out + sink->size, window->bytes + window->at, size);
    sink->size += size;
    window->at += size;
    return true;
}

/* The next `size` bytes of the source, as they are. */
static int copy(struct skimmer *skimmer, size_t size) {
    if (copy_from_window(skimmer, size)) return CM_OK;
    while (size > 0) {
        size_t step = size < COPY_STEP ? size : COPY_STEP;
        size_t got = 0;
        int status = reserve(skimmer, step);
        if (status < 0) return status;
        struct sink *sink = skimmer->sink;
        status =
            source_read(skimmer->source, sink->out + sink->size, step, &got, skimmer->diag);
        if (status < 0) return status;
        sink->size += got;
        size -= got;
        if (got < step)
            return diag_error(
                skimmer->diag, DIAG_FORMAT,
                "the file ends at byte %llu, inside a field that claims %zu more bytes",
                (unsigned long long)position(skimmer), size);
    }
    return CM_OK;
}

static int skip(struct skimmer *skimmer, uint64_t size) {
    uint64_t got = 0;
    int status = source_skip(skimmer->source, size, &got, skimmer->diag);
    if (status < 0 || got == size) return status;
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "the file ends at byte %llu, inside a field that claims %llu more bytes",
                      (unsigned long long)position(skimmer), (unsigned long long)(size - got));
}

static int ends_early(struct skimmer *skimmer) {
    return diag_error(skimmer->diag, DIAG_FORMAT, "the file ends at byte %llu, inside a %s",
                      (unsigned long long)position(skimmer),
                      skim_messages[innermost(skimmer)->kind].name);
}

/* Near the end of the window or of the message: byte by byte, with all that may go wrong. */
static int get_varint_slowly(struct skimmer *skimmer, uint64_t *ret) {
    uint64_t value = 0;
    for (int i = 0; i < VARINT_BYTES; i++) {
        if (position(skimmer) >= innermost(skimmer)->end)
            return diag_error(skimmer->diag, DIAG_FORMAT,
                              "at byte %llu: a number runs past the end of its %s",
                              (unsigned long long)position(skimmer),
                              skim_messages[innermost(skimmer)->kind].name);
        int byte = source_byte(skimmer->source, skimmer->diag);
        if (byte == -2) return CM_IO;
        if (byte < 0) return ends_early(skimmer);
        value |= (uint64_t)(byte & 127) << (7 * i);
        if (byte < 128) {
            *ret = value;
            return CM_OK;
        }
    }
    return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: a number longer than 64 bits",
                      (unsigned long long)position(skimmer));
}

static int get_varint(struct skimmer *skimmer, uint64_t *ret) {
    struct source_window *window = skimmer->window;
    const uint8_t *bytes = window->bytes + window->at;
    size_t n = window->length - window->at;
    uint64_t left = innermost(skimmer)->end - position(skimmer);
    uint64_t value = 0;
    if (left < n) n = (size_t)left;
    for (size_t i = 0; i < n && i < VARINT_BYTES; i++) {
        value |= (uint64_t)(bytes[i] & 127) << (7 * i);
        if (bytes[i] < 128) {
            window->at += i + 1;
            *ret = value;
            return CM_OK;
        }
    }
    return get_varint_slowly(skimmer, ret);
}

static const struct skim_field *find_field(enum message_kind kind, uint64_t number) {
    const struct skim_field *field = skim_messages[kind].fields;
    for (; field->name; field++)
        if (field->number == number) return field;
    return NULL;
}

/* The length of a field of wire type 2, checked against what its message has left. */
static int get_length(struct skimmer *skimmer, const struct skim_field *field, uint64_t *ret) {
    uint64_t at = position(skimmer);
    int status = get_varint(skimmer, ret);
    if (status < 0) return status;
    uint64_t left = innermost(skimmer)->end - position(skimmer);
    if (*ret <= left) return CM_OK;
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "at byte %llu: %s.%s claims %llu bytes, %llu are left",
                      (unsigned long long)at, skim_messages[innermost(skimmer)->kind].name,
                      field ? field->name : "(unknown field)", (unsigned long long)*ret,
                      (unsigned long long)left);
}

/*
 * Decoded, a message takes a hundred bytes and more whatever it holds: those that hold nothing,
 * and more of them than anything needs, are refused before they cost that.
 */
static int check_child(struct skimmer *skimmer, const struct skim_field *field,
                       uint64_t length) {
    struct open_message *outer = innermost(skimmer);
    const struct skim_message *kind = &skim_messages[outer->kind];
    const struct skim_message *child = &skim_messages[field->child];
    if (length == 0 && child->not_empty)
        return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: %s.%s is empty",
                          (unsigned long long)position(skimmer), kind->name, field->name);
    if (kind->most_children == 0 || outer->n_children++ < kind->most_children) return CM_OK;
    return diag_error(skimmer->diag, DIAG_LIMIT,
                      "at byte %llu: a %s holds more than %u messages",
                      (unsigned long long)position(skimmer), kind->name, kind->most_children);
}

static bool is_main_graph(const struct skimmer *skimmer, const struct skim_field *field) {
    return skimmer->depth == 1 && field->child == MESSAGE_GRAPH;
}

static int open_message(struct skimmer *skimmer, const struct skim_field *field,
                        uint64_t length) {
    if (skimmer->depth == MAX_DEPTH)
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "at byte %llu: messages are nested deeper than %d",
                          (unsigned long long)position(skimmer), MAX_DEPTH);
    int status = check_child(skimmer, field, length);
    struct open_message message = {.kind = field->child, .end = position(skimmer) + length};
    if (status == CM_OK && is_main_graph(skimmer, field)) {
        skimmer->stack[skimmer->depth++] = message;
        skimmer->sink = &skimmer->graph;
        skimmer->has_graph = true;
        return CM_OK;
    }
    if (status == CM_OK) status = reserve(skimmer, KEY_BYTES + LENGTH_BYTES);
    message.sink = skimmer->sink;
    message.begin = skimmer->sink->size;
    if (status == CM_OK) status = put_key(skimmer, field->number, WIRE_BYTES);
    if (status < 0) return status;
    message.length_at = skimmer->sink->size;
    skimmer->stack[skimmer->depth++] = message;
    skimmer->sink->size += LENGTH_BYTES;
    if (field->child != MESSAGE_NODE) return CM_OK;
    return put_number(skimmer, NODE_ORDINAL, skimmer->n_nodes++);
}

static int close_message(struct skimmer *skimmer) {
    const struct open_message *message = innermost(skimmer);
    if (!message->sink) {
        skimmer->sink = &skimmer->model;
        skimmer->depth--;
        return CM_OK;
    }
    size_t length = skimmer->sink->size - message->length_at - LENGTH_BYTES;
    uint8_t *at = skimmer->sink->out + message->length_at;
    if (message->kind == MESSAGE_NOTE && !metadata_is_read(at + LENGTH_BYTES, length)) {
        skimmer->sink->size = message->begin;
        skimmer->depth--;
        return CM_OK;
    }
    if (length >> 35 || length > INT32_MAX)
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "the structure of a %s alone takes more than 2 GiB",
                          skim_messages[message->kind].name);
    for (int i = 0; i < LENGTH_BYTES; i++)
        at[i] = (uint8_t)((length >> (7 * i) & 127) | (i < LENGTH_BYTES - 1 ? 128 : 0));
    skimmer->depth--;
    return CM_OK;
}

static int note_skipped(struct skimmer *skimmer, uint32_t field, uint64_t offset,
                        uint64_t length) {
    int status = put_number(skimmer, SKIPPED_OFFSET, offset);
    if (status == CM_OK) status = put_number(skimmer, SKIPPED_LENGTH, length);
    return status < 0 ? status : put_number(skimmer, SKIPPED_FIELD, field);
}

/* Packed numbers end with a whole one, none longer than 64 bits; protobuf-c would refuse the
 * model without saying where. */
static bool packed_is_whole(uint32_t wire, const uint8_t *bytes, size_t n) {
    int run = 0;
    if (wire == WIRE_FIXED32) return n % 4 == 0;
    if (wire == WIRE_FIXED64) return n % 8 == 0;
    for (size_t i = 0; i < n; i++) {
        run = bytes[i] > 127 ? run + 1 : 0;
        if (run == VARINT_BYTES) return false;
    }
    return run == 0;
}

static int keep_bytes(struct skimmer *skimmer, const struct skim_field *field,
                      uint64_t length) {
    int status = reserve(skimmer, KEY_BYTES + VARINT_BYTES);
    if (status < 0) return status;
    append_varint(skimmer->sink, (uint64_t)field->number << 3 | WIRE_BYTES);
    append_varint(skimmer->sink, length);
    status = copy(skimmer, (size_t)length);
    if (status < 0 || field->unpacked_wire == WIRE_BYTES || length == 0) return status;
    const uint8_t *end = skimmer->sink->out + skimmer->sink->size;
    if (packed_is_whole(field->unpacked_wire, end - length, (size_t)length)) return CM_OK;
    return diag_error(
        skimmer->diag, DIAG_FORMAT, "at byte %llu: %s.%s of %llu bytes ends inside a number",
        (unsigned long long)(position(skimmer) - length),
        skim_messages[innermost(skimmer)->kind].name, field->name, (unsigned long long)length);
}

static int payload(struct skimmer *skimmer, const struct skim_field *field, uint64_t length) {
    if (length <= SKIM_KEPT_PAYLOAD) return keep_bytes(skimmer, field, length);
    int status = note_skipped(skimmer, field->number, position(skimmer), length);
    return status < 0 ? status : skip(skimmer, length);
}

/* Merging a message into one that came before copies both: many would cost their square. */
static int check_once(struct skimmer *skimmer, const struct skim_field *field) {
    struct open_message *message = innermost(skimmer);
    const struct skim_message *kind = &skim_messages[message->kind];
    if (!field || !field->once) return CM_OK;
    uint32_t bit = (uint32_t)1 << (field - kind->fields);
    if (message->seen & bit)
        return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: a second %s.%s",
                          (unsigned long long)position(skimmer), kind->name, field->name);
    message->seen |= bit;
    return CM_OK;
}

static int bytes_field(struct skimmer *skimmer, const struct skim_field *field) {
    uint64_t length = 0;
    int status = check_once(skimmer, field);
    if (status == CM_OK) status = get_length(skimmer, field, &length);
    if (status < 0) return status;
    if (!field) return skip(skimmer, length);
    if (field->kind == FIELD_MESSAGE) return open_message(skimmer, field, length);
    if (field->kind == FIELD_PAYLOAD) return payload(skimmer, field, length);
    return keep_bytes(skimmer, field, length);
}

/* One element of typed data by itself: kept up to a cap, past which the contents count as
 * absent. */
static bool is_kept(struct skimmer *skimmer, const struct skim_field *field) {
    struct open_message *message = innermost(skimmer);
    if (!field || field->kind != FIELD_PAYLOAD) return field;
    return message->n_unpacked++ < MAX_UNPACKED;
}

static int scalar_field(struct skimmer *skimmer, const struct skim_field *field,
                        enum wire wire) {
    uint64_t value = 0;
    size_t width = wire == WIRE_FIXED64 ? 8 : 4;
    bool kept = is_kept(skimmer, field);
    bool first_dropped = field && field->kind == FIELD_PAYLOAD &&
                         innermost(skimmer)->n_unpacked == MAX_UNPACKED + 1;
    if (first_dropped) {
        int status = note_skipped(skimmer, field->number, 0, 0);
        if (status < 0) return status;
    }
    if (wire == WIRE_VARINT) {
        int status = get_varint(skimmer, &value);
        if (status < 0 || !kept) return status;
        return put_number(skimmer, field->number, value);
    }
    if (innermost(skimmer)->end - position(skimmer) < width) return ends_early(skimmer);
    if (!kept) return skip(skimmer, width);
    int status = put_key(skimmer, field->number, wire);
    return status < 0 ? status : copy(skimmer, width);
}

/* Wire types that a field of this kind may come with. */
static bool wire_fits(const struct skim_field *field, uint32_t wire) {
    switch (field->kind) {
    case FIELD_NUMBER:
        return wire == WIRE_VARINT || wire == WIRE_BYTES;
    case FIELD_FLOAT:
        return wire == WIRE_FIXED32 || wire == WIRE_BYTES;
    case FIELD_PAYLOAD:
        return wire == WIRE_BYTES || wire == field->unpacked_wire;
    default:
        return wire == WIRE_BYTES;
    }
}

/* One of the fields that the pieces are lists of begins here; field NULL: it is not kept. */
static void begin_field(struct skimmer *skimmer, const struct skim_field *field) {
    struct sink *sink = skimmer->sink;
    bool of_graph = sink == &skimmer->graph;
    if (skimmer->depth != (of_graph ? 2 : 1)) return;
    sink->field = sink->size;
    if (!of_graph || !field || field->number >= SKIM_GRAPH_FIELDS) return;
    struct fields_of *begin = &skimmer->graph_fields[field->number];
    if (begin->n++ == 0) *begin = (struct fields_of){sink->last, sink->field, 1};
}

static int one_field(struct skimmer *skimmer) {
    uint64_t at = position(skimmer);
    enum message_kind kind = innermost(skimmer)->kind;
    uint64_t key = 0;
    int status = get_varint(skimmer, &key);
    if (status < 0) return status;
    uint32_t wire = key & 7;
    const struct skim_field *field = find_field(kind, key >> 3);
    if (key >> 3 == 0 || key >> 32 || wire == 3 || wire == 4 || wire > 5)
        return diag_error(skimmer->diag, DIAG_FORMAT,
                          "at byte %llu: 0x%llx is no key of a field (inside a %s)",
                          (unsigned long long)at, (unsigned long long)key,
                          skim_messages[kind].name);
    if (field && !wire_fits(field, wire))
        return diag_error(skimmer->diag, DIAG_FORMAT,
                          "at byte %llu: %s.%s is written with wire type %u",
                          (unsigned long long)at, skim_messages[kind].name, field->name, wire);
    begin_field(skimmer, field);
    return wire == WIRE_BYTES ? bytes_field(skimmer, field)
                              : scalar_field(skimmer, field, (enum wire)wire);
}

/* Closes what ends here. False at the end of the model. */
static int close_ended(struct skimmer *skimmer, bool *ret_more) {
    while (skimmer->depth > 1 && position(skimmer) == innermost(skimmer)->end) {
        int status = close_message(skimmer);
        if (status < 0) return status;
    }
    *ret_more = skimmer->depth > 1 || !source_at_end(skimmer->source, skimmer->diag);
    return CM_OK;
}

static int walk(struct skimmer *skimmer) {
    for (;;) {
        bool more = false;
        int status = close_ended(skimmer, &more);
        if (status < 0 || !more) return status;
        status = one_field(skimmer);
        if (status < 0) return status;
    }
}

static size_t finish(struct sink *sink) {
    if (sink->last) sink->last->size = sink->size;
    return sink->total + sink->size;
}

int skim(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
         struct skimmed *ret) {
    struct skimmed made = {0};
    struct skimmer skimmer = {.source = source,
                              .window = source_window(source),
                              .arena = arena,
                              .diag = diag,
                              .graph_fields = made.graph,
                              .depth = 1};
    uint64_t size = source_size(source);
    if (size == 0 || source_at_end(source, diag)) {
        return diag_error(diag, DIAG_FORMAT, "the file is empty");
    }
    skimmer.sink = &skimmer.model;
    skimmer.stack[0] = (struct open_message){.kind = MESSAGE_MODEL, .end = size};
    int status = walk(&skimmer);
    if (status == CM_REFUSED) sniff_hint(source, diag);
    if (status < 0) return status;
    made.model = skimmer.model.first;
    made.has_graph = skimmer.has_graph;
    made.size = finish(&skimmer.model) + finish(&skimmer.graph);
    *ret = made;
    return CM_OK;
}
