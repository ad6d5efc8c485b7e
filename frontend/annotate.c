/* SPDX-License-Identifier: Apache-2.0 */
/* See annotate.h. Makes two passes over the wire format. The first lists the edits in file
 * order: old entries are removed, new ones are added at the end of a node or of the model, and
 * the length of every message around them changes. The second copies the file and applies the
 * edits. Neither holds more than a window of the file, so that weights of any size pass
 * through. */
#include "frontend/annotate.h"

#include <stdbool.h>
#include <string.h>

#include "frontend/wire/message.h"
#include "frontend/wire/skim_schema.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#define MAX_DEPTH 128 /* as in skim.c */
#define COPY_STEP ((size_t)1 << 16)

/* Bytes at the start of an entry that are searched for its key; our entries begin with it. */
#define ENTRY_HEAD 512

enum edit_kind { EDIT_REMOVE, EDIT_LENGTH, EDIT_ENTRIES };

/* Replaces `removed` bytes at `at`. */
struct edit {
    uint64_t at;
    uint64_t removed;
    enum edit_kind kind;
    uint32_t ordinal; /* of the node, if EDIT_ENTRIES */
    uint64_t length;  /* new value, if EDIT_LENGTH */
};

struct walk {
    struct source *source;
    struct arena *arena;
    struct cm_diagnostics *diag;
    const struct annotator *annotator;
    struct text bytes; /* the entries of one message */
    struct edit *edits;
    size_t n_edits;
    size_t capacity;
    uint64_t end; /* of the innermost message */
    uint32_t n_nodes;
};

static void append_varint(struct text *out, uint64_t value) {
    uint8_t bytes[WIRE_LONGEST_VARINT];
    size_t size = wire_encode(value, bytes);
    text_append_n(out, (const char *)bytes, size);
}

static void append_field(struct text *out, uint32_t number, const char *text) {
    append_varint(out, number << 3 | WIRE_BYTES);
    append_varint(out, strlen(text));
    text_append(out, text);
}

static size_t field_size(const char *text) {
    return 1 + wire_varint_size(strlen(text)) + strlen(text);
}

void annotation_add(struct annotation *annotation, const char *key, const char *value) {
    append_varint(annotation->bytes, annotation->field << 3 | WIRE_BYTES);
    append_varint(annotation->bytes, field_size(key) + field_size(value));
    append_field(annotation->bytes, ENTRY_KEY, key);
    append_field(annotation->bytes, ENTRY_VALUE, value);
}

static uint64_t position(const struct walk *walk) {
    return source_position(walk->source);
}

/* Returns the number of bytes left in the innermost message. */
static uint64_t left(const struct walk *walk) {
    return walk->end - position(walk);
}

/* Reports malformed bytes as a change of the file, which was valid when it was profiled. */
static int report_changed(struct walk *walk) {
    return diag_error(walk->diag, DIAG_FORMAT,
                      "the file has changed since it was read (at byte %llu)",
                      (unsigned long long)position(walk));
}

static int get_varint(struct walk *walk, uint64_t *ret) {
    uint64_t value = 0;
    for (int i = 0; i < WIRE_LONGEST_VARINT && left(walk) > 0; i++) {
        int byte = source_byte(walk->source, walk->diag);
        if (byte == -2) return CM_IO;
        if (byte < 0) break;
        value |= (uint64_t)(byte & 127) << (7 * i);
        if (byte > 127) continue;
        *ret = value;
        return CM_OK;
    }
    return report_changed(walk);
}

static int skip(struct walk *walk, uint64_t size) {
    uint64_t got = 0;
    if (size > left(walk)) return report_changed(walk);
    int status = source_skip(walk->source, size, &got, walk->diag);
    return status == CM_OK && got < size ? report_changed(walk) : status;
}

static int add_edit(struct walk *walk, struct edit edit) {
    return arena_push(walk->arena, &walk->edits, &walk->n_edits, &walk->capacity, &edit,
                      sizeof edit)
               ? CM_OK
               : diag_no_memory(walk->diag);
}

/* Encodes the new entries of a node or of the model into walk->bytes. */
static int render(struct walk *walk, uint32_t ordinal) {
    struct annotation annotation = {.field = ordinal == ANNOTATE_MODEL ? 14 : 9,
                                    .bytes = &walk->bytes};
    walk->bytes.length = 0;
    walk->annotator->annotate(walk->annotator->context, ordinal, &annotation);
    return walk->bytes.failed ? diag_no_memory(walk->diag) : CM_OK;
}

/* Skips the entry whose field begins at `from`, or adds an edit that removes it if its key has
 * the prefix. Adjacent removals become one edit. */
static int pass_entry(struct walk *walk, uint64_t from, uint64_t length, int64_t *growth) {
    uint8_t head[ENTRY_HEAD];
    const char *prefix = walk->annotator->prefix;
    const size_t want = length < ENTRY_HEAD ? (size_t)length : ENTRY_HEAD;
    struct span span = {head, head + want};
    struct edit *last = walk->n_edits ? &walk->edits[walk->n_edits - 1] : NULL;
    bool remove = false;
    size_t got = 0;
    int status = source_read(walk->source, head, want, &got, walk->diag);
    if (status < 0) return status;
    if (got < want) return report_changed(walk);
    for (struct wire_field field; wire_next(&span, &field);)
        if (field.number == ENTRY_KEY && field.wire == WIRE_BYTES)
            remove = span_size(field.bytes) >= strlen(prefix) &&
                     memcmp(field.bytes.at, prefix, strlen(prefix)) == 0;
    status = skip(walk, length - want);
    if (status < 0 || !remove) return status;
    const uint64_t size = position(walk) - from;
    *growth -= (int64_t)size;
    if (last && last->kind == EDIT_REMOVE && last->at + last->removed == from) {
        last->removed += size;
        return CM_OK;
    }
    return add_edit(walk, (struct edit){.at = from, .removed = size, .kind = EDIT_REMOVE});
}

static int find_edits(struct walk *walk, enum message_kind kind, uint64_t end, int depth,
                      int64_t *growth);

/* Finds the edits in a submessage; if there are any, also edits its length, which is encoded at
 * `length_at`. Adds the change of the size in bytes to *growth. */
static int edit_submessage(struct walk *walk, enum message_kind kind, uint64_t length_at,
                           uint64_t length, int depth, int64_t *growth) {
    const size_t index = walk->n_edits;
    const uint64_t length_size = position(walk) - length_at;
    int64_t inside = 0;
    int status = add_edit(
        walk, (struct edit){.at = length_at, .removed = length_size, .kind = EDIT_LENGTH});
    if (status == CM_OK)
        status = find_edits(walk, kind, position(walk) + length, depth, &inside);
    if (status < 0) return status;
    if (walk->n_edits == index + 1) { /* no edits inside: the length stays */
        walk->n_edits--;
        return CM_OK;
    }
    length = (uint64_t)((int64_t)length + inside);
    if (length > INT32_MAX)
        return diag_error(walk->diag, DIAG_LIMIT, "annotated, a %s would take more than 2 GiB",
                          skim_messages[kind].name);
    walk->edits[index].length = length;
    *growth += inside + (int64_t)wire_varint_size(length) - (int64_t)length_size;
    return CM_OK;
}

/* Finds the edits in one field of a message of that kind. */
static int edit_field(struct walk *walk, enum message_kind kind, int depth, int64_t *growth) {
    const uint64_t from = position(walk);
    uint64_t key = 0;
    uint64_t length = 0;
    int status = get_varint(walk, &key);
    if (status < 0) return status;
    const uint64_t length_at = position(walk);
    switch (key & 7) {
    case WIRE_VARINT:
        return get_varint(walk, &length);
    case WIRE_FIXED64:
        return skip(walk, 8);
    case WIRE_FIXED32:
        return skip(walk, 4);
    case WIRE_BYTES:
        break;
    default:
        return report_changed(walk);
    }
    status = get_varint(walk, &length);
    if (status < 0) return status;
    if (length > left(walk)) return report_changed(walk);
    const struct skim_field *field = skim_find_field(&skim_messages[kind], key >> 3);
    const enum message_kind child = field ? field->child : MESSAGE_NONE;
    if (child == MESSAGE_METADATA || (kind == MESSAGE_MODEL && child == MESSAGE_ENTRY))
        return pass_entry(walk, from, length, growth);
    if (child == MESSAGE_GRAPH || child == MESSAGE_NODE || child == MESSAGE_ATTRIBUTE ||
        child == MESSAGE_FUNCTION) /* may hold nodes */
        return edit_submessage(walk, child, length_at, length, depth + 1, growth);
    return skip(walk, length);
}

/* Finds the edits up to `end` of a message. Adds the change of the size in bytes to *growth. */
static int find_edits(struct walk *walk, enum message_kind kind, uint64_t end, int depth,
                      int64_t *growth) {
    const uint64_t outer_end = walk->end;
    const uint32_t ordinal = kind == MESSAGE_NODE ? walk->n_nodes++ : ANNOTATE_MODEL;
    int status = depth < MAX_DEPTH ? CM_OK : report_changed(walk);
    walk->end = end;
    while (status == CM_OK && left(walk) > 0) status = edit_field(walk, kind, depth, growth);
    if (status == CM_OK && (kind == MESSAGE_NODE || kind == MESSAGE_MODEL)) {
        status = render(walk, ordinal);
        if (status == CM_OK && walk->bytes.length > 0) {
            *growth += (int64_t)walk->bytes.length;
            status = add_edit(
                walk,
                (struct edit){.at = position(walk), .kind = EDIT_ENTRIES, .ordinal = ordinal});
        }
    }
    walk->end = outer_end;
    return status;
}

static int put(FILE *out, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, out) == size ? CM_OK : CM_IO;
}

static int copy(struct walk *walk, uint64_t size, char *buffer, FILE *out) {
    int status = CM_OK;
    for (size_t got = 0; status == CM_OK && size > 0; size -= got) {
        size_t step = size < COPY_STEP ? (size_t)size : COPY_STEP;
        status = source_read(walk->source, buffer, step, &got, walk->diag);
        if (status == CM_OK && got < step) status = report_changed(walk);
        if (status == CM_OK) status = put(out, buffer, step);
    }
    return status;
}

/* Writes the bytes that an edit adds; none if it only removes. */
static int insert_bytes(struct walk *walk, const struct edit *edit, FILE *out) {
    uint8_t length[WIRE_LONGEST_VARINT];
    if (edit->kind == EDIT_LENGTH) return put(out, length, wire_encode(edit->length, length));
    if (edit->kind == EDIT_REMOVE) return CM_OK;
    int status = render(walk, edit->ordinal);
    return status < 0 ? status : put(out, text_string(&walk->bytes), walk->bytes.length);
}

static int write_edited(struct walk *walk, FILE *out) {
    char *buffer = arena_alloc(walk->arena, COPY_STEP);
    int status = buffer ? CM_OK : diag_no_memory(walk->diag);
    source_rewind(walk->source);
    walk->end = source_size(walk->source);
    for (size_t i = 0; status == CM_OK && i < walk->n_edits; i++) {
        const struct edit *edit = &walk->edits[i];
        status = copy(walk, edit->at - position(walk), buffer, out);
        if (status == CM_OK) status = skip(walk, edit->removed);
        if (status == CM_OK) status = insert_bytes(walk, edit, out);
    }
    return status < 0 ? status : copy(walk, left(walk), buffer, out);
}

int annotate_write(struct source *source, const struct annotator *annotator,
                   struct cm_diagnostics *diag, FILE *out) {
    struct walk walk = {.source = source, .annotator = annotator, .diag = diag};
    walk.arena = arena_new("annotate", 0);
    if (!walk.arena) return diag_no_memory(diag);
    text_init(&walk.bytes, walk.arena);
    int64_t growth = 0;
    const uint64_t size = source_size(source);
    source_rewind(source);
    int status = find_edits(&walk, MESSAGE_MODEL, size, 0, &growth);
    const uint64_t annotated = (uint64_t)((int64_t)size + growth);
    if (status == CM_OK && walk.n_nodes < annotator->n_nodes) status = report_changed(&walk);
    if (status == CM_OK && size <= INT32_MAX && annotated > INT32_MAX)
        status =
            diag_error(diag, DIAG_LIMIT,
                       "the annotated model would take %llu bytes, protobuf allows at most %d",
                       (unsigned long long)annotated, INT32_MAX);
    if (status == CM_OK) status = write_edited(&walk, out);
    arena_free(walk.arena);
    return status;
}
