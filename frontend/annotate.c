/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two walks over the wire format. The first finds where bytes change and makes a list of edits
 * in the order of the file: an old entry goes, new ones come at the end of a node, and the
 * length of every message around them is another. The second copies, and edits. Neither keeps
 * more of the file than a window, so that weights of any size pass through.
 */
#include "frontend/annotate.h"

#include <stdbool.h>
#include <string.h>

#include "frontend/wire/skim_schema.h"
#include "frontend/wire/wire.h"
#include "support/arena.h"
#include "support/diag.h"
#include "support/file.h"
#include "support/text.h"

#include "support/banned.h"

#define MAX_DEPTH 128 /* as skim has it */
#define COPY_STEP ((size_t)1 << 16)

#define KEY_FIELD   1 /* of StringStringEntryProto */
#define VALUE_FIELD 2
#define LONGEST_KEY 64 /* of a prefix */

enum edit_kind { EDIT_REMOVE, EDIT_LENGTH, EDIT_ENTRIES };

/* At `at`, `removed` bytes go and something comes. */
struct edit {
    uint64_t at;
    uint64_t removed;
    enum edit_kind kind;
    uint32_t ordinal; /* EDIT_ENTRIES: whose */
    uint64_t length;  /* EDIT_LENGTH */
};

struct open_message {
    enum message_kind kind;
    uint64_t end;
    uint64_t length;
    int64_t growth; /* of its contents so far */
    size_t edit;    /* of its length */
    uint32_t ordinal;
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
    struct open_message stack[MAX_DEPTH];
    int depth;
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
    append_field(annotation->bytes, KEY_FIELD, key);
    append_field(annotation->bytes, VALUE_FIELD, value);
}

static struct open_message *innermost(struct walk *walk) {
    return &walk->stack[walk->depth - 1];
}

static uint64_t position(const struct walk *walk) {
    return source_position(walk->source);
}

static uint64_t left(struct walk *walk) {
    return innermost(walk)->end - position(walk);
}

/* The file was walked before, when it was read, and no fault was found then. */
static int has_changed(struct walk *walk) {
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
    return has_changed(walk);
}

static int skip(struct walk *walk, uint64_t size) {
    uint64_t got = 0;
    if (size > left(walk)) return has_changed(walk);
    int status = source_skip(walk->source, size, &got, walk->diag);
    return status == CM_OK && got < size ? has_changed(walk) : status;
}

static int add_edit(struct walk *walk, struct edit edit) {
    if (walk->n_edits == walk->capacity) {
        size_t capacity = walk->capacity ? 2 * walk->capacity : 1024;
        struct edit *edits = arena_array(walk->arena, capacity, sizeof(*edits));
        if (!edits) return diag_no_memory(walk->diag);
        if (walk->n_edits) memcpy(edits, walk->edits, walk->n_edits * sizeof(*edits));
        walk->edits = edits;
        walk->capacity = capacity;
    }
    walk->edits[walk->n_edits++] = edit;
    return CM_OK;
}

/* What an annotator says of the node or the model, in walk->bytes. */
static int render(struct walk *walk, uint32_t ordinal) {
    struct annotation annotation = {.field = ordinal == ANNOTATE_MODEL ? 14 : 9,
                                    .bytes = &walk->bytes};
    walk->bytes.length = 0;
    walk->annotator->annotate(walk->annotator->context, ordinal, &annotation);
    return walk->bytes.failed ? diag_no_memory(walk->diag) : CM_OK;
}

static int add_entries(struct walk *walk, uint32_t ordinal) {
    int status = render(walk, ordinal);
    if (status < 0 || walk->bytes.length == 0) return status;
    innermost(walk)->growth += (int64_t)walk->bytes.length;
    return add_edit(
        walk, (struct edit){.at = position(walk), .kind = EDIT_ENTRIES, .ordinal = ordinal});
}

/* Neighbours are one edit. */
static int add_removal(struct walk *walk, uint64_t from) {
    uint64_t size = position(walk) - from;
    struct edit *last = walk->n_edits ? &walk->edits[walk->n_edits - 1] : NULL;
    innermost(walk)->growth -= (int64_t)size;
    if (last && last->kind == EDIT_REMOVE && last->at + last->removed == from) {
        last->removed += size;
        return CM_OK;
    }
    return add_edit(walk, (struct edit){.at = from, .removed = size, .kind = EDIT_REMOVE});
}

/* Whether the next bytes are the prefix; leaves the position behind those that it read. */
static int has_prefix(struct walk *walk, uint64_t length, bool *ret) {
    char key[LONGEST_KEY];
    size_t want = strlen(walk->annotator->prefix);
    size_t got = 0;
    *ret = false;
    if (length < want || want > sizeof(key)) return skip(walk, length);
    int status = source_read(walk->source, key, want, &got, walk->diag);
    if (status < 0) return status;
    *ret = got == want && memcmp(key, walk->annotator->prefix, want) == 0;
    return got < want ? has_changed(walk) : skip(walk, length - want);
}

/* Whether the entry that begins here, and ends at `end`, is one of ours: by its last key. */
static int is_ours(struct walk *walk, uint64_t end, bool *ret) {
    *ret = false;
    while (position(walk) < end) {
        uint64_t key = 0;
        uint64_t length = 0;
        int status = get_varint(walk, &key);
        if (status == CM_OK && (key & 7) != WIRE_BYTES) {
            status = skip(walk, end - position(walk));
            if (status < 0) return status;
            break;
        }
        if (status == CM_OK) status = get_varint(walk, &length);
        if (status < 0) return status;
        if (position(walk) > end || length > end - position(walk)) return has_changed(walk);
        status = key >> 3 == KEY_FIELD ? has_prefix(walk, length, ret) : skip(walk, length);
        if (status < 0) return status;
    }
    return CM_OK;
}

static int entry(struct walk *walk, uint64_t from, uint64_t length) {
    bool ours = false;
    int status = is_ours(walk, position(walk) + length, &ours);
    return status < 0 || !ours ? status : add_removal(walk, from);
}

static int open_message(struct walk *walk, enum message_kind kind, uint64_t length_at,
                        uint64_t length) {
    struct edit edit = {.at = length_at,
                        .removed = position(walk) - length_at,
                        .kind = EDIT_LENGTH,
                        .length = length};
    if (walk->depth == MAX_DEPTH) return has_changed(walk);
    walk->stack[walk->depth++] = (struct open_message){
        .kind = kind,
        .end = position(walk) + length,
        .length = length,
        .edit = walk->n_edits,
        .ordinal = kind == MESSAGE_NODE ? walk->n_nodes++ : 0,
    };
    return add_edit(walk, edit);
}

static int close_message(struct walk *walk) {
    struct open_message *message = innermost(walk);
    int status = message->kind == MESSAGE_NODE ? add_entries(walk, message->ordinal) : CM_OK;
    if (status < 0) return status;
    struct edit *edit = &walk->edits[message->edit];
    walk->depth--;
    if (walk->n_edits == message->edit + 1) {
        walk->n_edits--;
        return CM_OK;
    }
    edit->length = (uint64_t)((int64_t)message->length + message->growth);
    if (edit->length > INT32_MAX)
        return diag_error(walk->diag, DIAG_LIMIT, "annotated, a %s would take more than 2 GiB",
                          skim_messages[message->kind].name);
    innermost(walk)->growth +=
        message->growth + (int64_t)wire_varint_size(edit->length) - (int64_t)edit->removed;
    return CM_OK;
}

/* Messages in which there may be nodes. */
static bool may_hold_nodes(enum message_kind kind) {
    return kind == MESSAGE_GRAPH || kind == MESSAGE_NODE || kind == MESSAGE_ATTRIBUTE ||
           kind == MESSAGE_FUNCTION;
}

static bool is_entry(enum message_kind outer, enum message_kind child) {
    return child == MESSAGE_NOTE || (outer == MESSAGE_MODEL && child == MESSAGE_ENTRY);
}

static enum message_kind child_of(enum message_kind kind, uint64_t number) {
    const struct skim_field *field = skim_find_field(&skim_messages[kind], number);
    return field ? field->child : MESSAGE_NONE;
}

static int bytes_field(struct walk *walk, uint64_t from, uint64_t number) {
    uint64_t length_at = position(walk);
    uint64_t length = 0;
    enum message_kind outer = innermost(walk)->kind;
    enum message_kind child = child_of(outer, number);
    int status = get_varint(walk, &length);
    if (status < 0) return status;
    if (length > left(walk)) return has_changed(walk);
    if (may_hold_nodes(child)) return open_message(walk, child, length_at, length);
    return is_entry(outer, child) ? entry(walk, from, length) : skip(walk, length);
}

static int one_field(struct walk *walk) {
    uint64_t from = position(walk);
    uint64_t key = 0;
    int status = get_varint(walk, &key);
    if (status < 0) return status;
    switch (key & 7) {
    case WIRE_VARINT:
        return get_varint(walk, &key);
    case WIRE_FIXED64:
        return skip(walk, 8);
    case WIRE_FIXED32:
        return skip(walk, 4);
    case WIRE_BYTES:
        return bytes_field(walk, from, key >> 3);
    default:
        return has_changed(walk);
    }
}

static int check_size(struct walk *walk) {
    uint64_t size = source_size(walk->source);
    uint64_t annotated = (uint64_t)((int64_t)size + innermost(walk)->growth);
    if (walk->n_nodes < walk->annotator->n_nodes) return has_changed(walk);
    if (size > INT32_MAX || annotated <= INT32_MAX) return CM_OK;
    return diag_error(walk->diag, DIAG_LIMIT,
                      "annotated, the model would take %llu bytes, and protobuf takes %d",
                      (unsigned long long)annotated, INT32_MAX);
}

static int find_edits(struct walk *walk) {
    int status = CM_OK;
    source_rewind(walk->source);
    walk->stack[walk->depth++] =
        (struct open_message){.kind = MESSAGE_MODEL, .end = source_size(walk->source)};
    while (status == CM_OK && (walk->depth > 1 || left(walk) > 0))
        status = walk->depth > 1 && left(walk) == 0 ? close_message(walk) : one_field(walk);
    if (status == CM_OK) status = add_entries(walk, ANNOTATE_MODEL);
    return status < 0 ? status : check_size(walk);
}

static int put(FILE *out, const void *bytes, size_t size) {
    return fwrite(bytes, 1, size, out) == size ? CM_OK : CM_IO;
}

static int copy(struct walk *walk, uint64_t size, char *buffer, FILE *out) {
    int status = CM_OK;
    for (size_t got = 0; status == CM_OK && size > 0; size -= got) {
        size_t step = size < COPY_STEP ? (size_t)size : COPY_STEP;
        status = source_read(walk->source, buffer, step, &got, walk->diag);
        if (status == CM_OK && got < step) status = has_changed(walk);
        if (status == CM_OK) status = put(out, buffer, step);
    }
    return status;
}

static int insert(struct walk *walk, const struct edit *edit, FILE *out) {
    uint8_t length[WIRE_LONGEST_VARINT];
    if (edit->kind == EDIT_LENGTH) {
        const size_t size = wire_encode(edit->length, length);
        return put(out, length, size);
    }
    if (edit->kind == EDIT_REMOVE) return CM_OK;
    int status = render(walk, edit->ordinal);
    return status < 0 ? status : put(out, text_string(&walk->bytes), walk->bytes.length);
}

static int write_edited(struct walk *walk, FILE *out) {
    char *buffer = arena_alloc(walk->arena, COPY_STEP);
    int status = buffer ? CM_OK : diag_no_memory(walk->diag);
    source_rewind(walk->source);
    for (size_t i = 0; status == CM_OK && i < walk->n_edits; i++) {
        const struct edit *edit = &walk->edits[i];
        status = copy(walk, edit->at - position(walk), buffer, out);
        if (status == CM_OK) status = skip(walk, edit->removed);
        if (status == CM_OK) status = insert(walk, edit, out);
    }
    return status < 0 ? status : copy(walk, left(walk), buffer, out);
}

int annotate_write(struct source *source, const struct annotator *annotator,
                   struct cm_diagnostics *diag, FILE *out) {
    struct walk walk = {.source = source, .annotator = annotator, .diag = diag};
    walk.arena = arena_new("annotate", 0);
    if (!walk.arena) return diag_no_memory(diag);
    text_init(&walk.bytes, walk.arena);
    int status = find_edits(&walk);
    if (status == CM_OK) status = write_edited(&walk, out);
    arena_free(walk.arena);
    return status;
}
