/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The walk of skim.h. One loop over fields with an explicit stack of open messages: a field
 * either opens a message, is kept, or is stepped over. What is kept stays as it stands in the
 * file, but for the lengths of messages in which something was dropped or added.
 */
#include "frontend/wire/skim.h"

#include "frontend/metadata.h"
#include "frontend/wire/retained_fields.h"
#include "frontend/wire/skim_schema.h"
#include "frontend/wire/sniff.h"
#include "support/diag.h"
#include "support/file.h"

#include "support/banned.h"

/* Open messages; decoding recurses once a level, so this also bounds its stack. */
#define MAX_DEPTH 128

/* Elements of one typed list that an odd writer wrote one by one; more are not kept. */
#define MAX_UNPACKED 65536

/* Bit w: there is a wire type w. */
#define WIRES (1 << WIRE_VARINT | 1 << WIRE_FIXED64 | 1 << WIRE_BYTES | 1 << WIRE_FIXED32)

/* Private fields of TensorProto, see onnx.proto. */
#define SKIPPED_OFFSET 60001
#define SKIPPED_LENGTH 60002
#define SKIPPED_FIELD  60003

struct open_message {
    const struct skim_message *type;
    enum message_kind kind;
    uint32_t ordinal;    /* nodes of the file that begin before it */
    uint64_t end;        /* position in the source */
    uint64_t length;     /* as the file says */
    size_t length_size;  /* bytes of that varint */
    size_t begin;        /* of its key, where it is kept (kept.h) */
    size_t contents;     /* of what stands in it */
    uint32_t n_unpacked; /* elements of typed data kept one by one */
    uint32_t n_children; /* messages inside it so far, where there is a limit */
    uint32_t seen;       /* bit i: field i, where it may come once */
};

struct skimmer {
    struct source_window *window; /* of the source */
    struct cm_diagnostics *diag;
    struct retained_fields kept;
    bool has_graph;
    struct open_message stack[MAX_DEPTH];
    struct open_message *innermost;
    const struct open_message *list; /* whose fields the list is made of that is written to */
    uint32_t n_nodes;
    uint32_t graph_ordinal; /* of the main graph */
};

/* A field's key, and where it stands. */
struct field_key {
    uint64_t at; /* position in the source */
    size_t place;
    uint32_t number;
    enum wire wire;
    const struct skim_field *field; /* NULL: we do not read it */
};

static uint64_t position(const struct skimmer *skimmer) {
    return skimmer->window->start + skimmer->window->at;
}

static int ends_early(struct skimmer *skimmer) {
    return diag_error(skimmer->diag, DIAG_FORMAT, "the file ends at byte %llu, inside a %s",
                      (unsigned long long)position(skimmer), skimmer->innermost->type->name);
}

/* Near the end of the window or of the message: byte by byte, with all that may go wrong. */
static int get_varint_slowly(struct skimmer *skimmer, uint64_t *ret) {
    uint64_t value = 0;
    for (int i = 0; i < WIRE_LONGEST_VARINT; i++) {
        int byte = 0;
        if (position(skimmer) >= skimmer->innermost->end)
            return diag_error(skimmer->diag, DIAG_FORMAT,
                              "at byte %llu: a number runs past the end of its %s",
                              (unsigned long long)position(skimmer),
                              skimmer->innermost->type->name);
        int status = retained_byte(&skimmer->kept, &byte);
        if (status < 0) return status;
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

/* What lies in the window of the innermost message. */
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

/* Nearly all are one byte. */
static inline int get_varint(struct skimmer *skimmer, uint64_t *ret) {
    struct source_window *window = skimmer->window;
    if (window->at == window->length || window->bytes[window->at] > 127 ||
        position(skimmer) == skimmer->innermost->end)
        return get_long_varint(skimmer, ret);
    *ret = window->bytes[window->at++];
    return CM_OK;
}

/*
 * Passes over a run of texts and numbers, which are kept as they are: nodes hold little else,
 * and most of a file is nodes. What is not so simple, or goes on past the window, or is no
 * field at all, is left to one_field.
 */
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

/* The length of a field of wire type 2, checked against what its message has left. */
static int get_length(struct skimmer *skimmer, const struct skim_field *field, uint64_t *ret) {
    uint64_t at = position(skimmer);
    int status = get_varint(skimmer, ret);
    if (status < 0) return status;
    uint64_t left = skimmer->innermost->end - position(skimmer);
    if (*ret <= left) return CM_OK;
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "at byte %llu: %s.%s claims %llu bytes, %llu are left",
                      (unsigned long long)at, skimmer->innermost->type->name,
                      field ? field->name : "(unknown field)", (unsigned long long)*ret,
                      (unsigned long long)left);
}

/*
 * Read in, a message takes many times its bytes whatever it holds: those that hold nothing, and
 * more of them than anything needs, are refused before they cost that.
 */
static int check_child(struct skimmer *skimmer, const struct skim_field *field,
                       uint64_t length) {
    struct open_message *outer = skimmer->innermost;
    if (length == 0 && skim_messages[field->child].not_empty)
        return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: %s.%s is empty",
                          (unsigned long long)position(skimmer), outer->type->name,
                          field->name);
    uint32_t most = outer->type->most_children;
    if (most == 0 || outer->n_children++ < most) return CM_OK;
    return diag_error(skimmer->diag, DIAG_LIMIT,
                      "at byte %llu: a %s holds more than %u messages",
                      (unsigned long long)position(skimmer), outer->type->name, most);
}

/* The main graph's own fields are a list of their own. */
static int open_main_graph(struct skimmer *skimmer, size_t place) {
    struct retained_fields *kept = &skimmer->kept;
    int status = retained_drop(kept, place);
    skimmer->has_graph = true;
    skimmer->list = skimmer->innermost;
    skimmer->graph_ordinal = skimmer->n_nodes;
    return status < 0 ? status : retained_turn(kept, &kept->graph);
}

/* A list of nodes knows of its first one how many of the file begin before it. */
static int note_ordinal(struct skimmer *skimmer, enum message_kind kind) {
    if (kind == MESSAGE_NODE) skimmer->n_nodes++;
    if (kind != MESSAGE_GRAPH && kind != MESSAGE_FUNCTION) return CM_OK;
    return retained_add(&skimmer->kept, FIELD_ORDINAL, skimmer->n_nodes);
}

static int open_message(struct skimmer *skimmer, const struct field_key *key, uint64_t length,
                        size_t length_size) {
    enum message_kind kind = key->field->child;
    if (skimmer->innermost == &skimmer->stack[MAX_DEPTH - 1])
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "at byte %llu: messages are nested deeper than %d",
                          (unsigned long long)position(skimmer), MAX_DEPTH);
    int status = check_child(skimmer, key->field, length);
    if (status < 0) return status;
    *++skimmer->innermost = (struct open_message){.type = &skim_messages[kind],
                                                  .kind = kind,
                                                  .ordinal = skimmer->n_nodes,
                                                  .end = position(skimmer) + length,
                                                  .length = length,
                                                  .length_size = length_size,
                                                  .begin = key->place,
                                                  .contents = retained_place(&skimmer->kept)};
    if (kind == MESSAGE_GRAPH && skimmer->innermost == &skimmer->stack[1])
        return open_main_graph(skimmer, key->place);
    return note_ordinal(skimmer, kind);
}

/* *ret: whether it is an entry that nobody reads. */
static int is_idle_note(struct skimmer *skimmer, const struct open_message *message,
                        bool *ret) {
    uint8_t *contents = NULL;
    *ret = false;
    if (message->kind != MESSAGE_NOTE) return CM_OK;
    size_t length = retained_place(&skimmer->kept) - message->contents;
    int status = retained_look(&skimmer->kept, message->contents, &contents);
    if (status == CM_OK) *ret = !metadata_is_read((struct span){contents, contents + length});
    return status;
}

/* Says anew how long it is, if that is not what the file says. */
static int set_length(struct skimmer *skimmer, const struct open_message *message) {
    uint64_t length = retained_place(&skimmer->kept) - message->contents;
    if (length > INT32_MAX)
        return diag_error(skimmer->diag, DIAG_LIMIT,
                          "the structure of a %s alone takes more than 2 GiB",
                          message->type->name);
    if (length == message->length) return CM_OK;
    return retained_set_length(&skimmer->kept, message->contents, message->length_size, length);
}

static int close_message(struct skimmer *skimmer) {
    const struct open_message *message = skimmer->innermost;
    struct retained_fields *kept = &skimmer->kept;
    uint32_t n_inside = skimmer->n_nodes - message->ordinal;
    bool idle = false;
    int status = CM_OK;
    skimmer->innermost--;
    if (message == skimmer->list) {
        skimmer->list = skimmer->stack;
        return retained_turn(kept, &kept->model);
    }
    if (message->kind == MESSAGE_NODE && n_inside > 1)
        status = retained_add(kept, FIELD_ORDINAL, n_inside - 1);
    if (status == CM_OK) status = is_idle_note(skimmer, message, &idle);
    if (status == CM_OK)
        status = idle ? retained_drop(kept, message->begin) : set_length(skimmer, message);
    return status;
}

/* What a payload was that is not kept. */
static int note_skipped(struct skimmer *skimmer, uint32_t number, uint64_t offset,
                        uint64_t length) {
    int status = retained_add(&skimmer->kept, SKIPPED_OFFSET, offset);
    if (status == CM_OK) status = retained_add(&skimmer->kept, SKIPPED_LENGTH, length);
    return status < 0 ? status : retained_add(&skimmer->kept, SKIPPED_FIELD, number);
}

static int keep_bytes(struct skimmer *skimmer, const struct skim_field *field,
                      uint64_t length) {
    int status = retained_copy(&skimmer->kept, (size_t)length);
    if (status < 0 || field->element == WIRE_BYTES || length == 0) return status;
    const uint8_t *end = retained_end(&skimmer->kept);
    if (wire_is_packed(field->element, (struct span){end - length, end})) return CM_OK;
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "at byte %llu: %s.%s of %llu bytes ends inside a number",
                      (unsigned long long)(position(skimmer) - length),
                      skimmer->innermost->type->name, field->name, (unsigned long long)length);
}

static int drop(struct skimmer *skimmer, size_t place, uint64_t length) {
    int status = retained_drop(&skimmer->kept, place);
    return status < 0 ? status : retained_skip(&skimmer->kept, length);
}

static int step_over(struct skimmer *skimmer, const struct field_key *key, uint64_t length) {
    uint64_t offset = position(skimmer);
    int status = retained_drop(&skimmer->kept, key->place);
    if (status == CM_OK) status = note_skipped(skimmer, key->number, offset, length);
    return status < 0 ? status : retained_skip(&skimmer->kept, length);
}

/* Merging a message into one that came before copies both: many would cost their square. */
static int check_once(struct skimmer *skimmer, const struct field_key *key) {
    struct open_message *message = skimmer->innermost;
    if (!key->field || !key->field->once) return CM_OK;
    uint32_t bit = (uint32_t)1 << key->number;
    if (message->seen & bit)
        return diag_error(skimmer->diag, DIAG_FORMAT, "at byte %llu: a second %s.%s",
                          (unsigned long long)position(skimmer), message->type->name,
                          key->field->name);
    message->seen |= bit;
    return CM_OK;
}

static int bytes_field(struct skimmer *skimmer, const struct field_key *key) {
    uint64_t length = 0;
    int status = check_once(skimmer, key);
    size_t place = retained_place(&skimmer->kept);
    if (status == CM_OK) status = get_length(skimmer, key->field, &length);
    if (status < 0) return status;
    if (!key->field) return drop(skimmer, key->place, length);
    if (key->field->kind == FIELD_MESSAGE)
        return open_message(skimmer, key, length, retained_place(&skimmer->kept) - place);
    if (key->field->kind == FIELD_PAYLOAD && length > SKIM_KEPT_PAYLOAD)
        return step_over(skimmer, key, length);
    return keep_bytes(skimmer, key->field, length);
}

static int take_scalar(struct skimmer *skimmer, enum wire wire) {
    uint64_t value = 0;
    size_t width = wire == WIRE_FIXED64 ? 8 : 4;
    if (wire == WIRE_VARINT) return get_varint(skimmer, &value);
    if (skimmer->innermost->end - position(skimmer) < width) return ends_early(skimmer);
    return retained_copy(&skimmer->kept, width);
}

/* One element of typed data by itself is kept up to a cap, past which the contents count as
 * absent. */
static int scalar_field(struct skimmer *skimmer, const struct field_key *key) {
    bool typed = key->field && key->field->kind == FIELD_PAYLOAD;
    uint32_t n = typed ? ++skimmer->innermost->n_unpacked : 0;
    int status = take_scalar(skimmer, key->wire);
    if (status < 0 || (key->field && n <= MAX_UNPACKED)) return status;
    status = retained_drop(&skimmer->kept, key->place);
    if (status < 0 || n != MAX_UNPACKED + 1) return status;
    return note_skipped(skimmer, key->number, 0, 0);
}

static int check_key(struct skimmer *skimmer, const struct field_key *key, uint64_t bits) {
    const char *name = skimmer->innermost->type->name;
    if (bits >> 3 == 0 || bits >> 32 || !(WIRES >> key->wire & 1))
        return diag_error(skimmer->diag, DIAG_FORMAT,
                          "at byte %llu: 0x%llx is no key of a field (inside a %s)",
                          (unsigned long long)key->at, (unsigned long long)bits, name);
    if (!key->field || key->field->wires >> key->wire & 1) return CM_OK;
    return diag_error(skimmer->diag, DIAG_FORMAT,
                      "at byte %llu: %s.%s is written with wire type %u",
                      (unsigned long long)key->at, name, key->field->name, key->wire);
}

static int get_key(struct skimmer *skimmer, struct field_key *ret) {
    uint64_t bits = 0;
    ret->at = position(skimmer);
    ret->place = retained_place(&skimmer->kept);
    int status = get_varint(skimmer, &bits);
    if (status < 0) return status;
    ret->number = (uint32_t)(bits >> 3);
    ret->wire = (enum wire)(bits & 7);
    ret->field = skim_find_field(skimmer->innermost->type, bits >> 3);
    return check_key(skimmer, ret, bits);
}

static int one_field(struct skimmer *skimmer) {
    struct field_key key = {0};
    bool outermost = skimmer->innermost == skimmer->list;
    int status = outermost ? retained_begin(&skimmer->kept) : CM_OK;
    if (status == CM_OK) status = get_key(skimmer, &key);
    if (status < 0) return status;
    if (outermost && key.field) retained_number(&skimmer->kept, key.number);
    return key.wire == WIRE_BYTES ? bytes_field(skimmer, &key) : scalar_field(skimmer, &key);
}

/* Closes what ends here. *ret_more false: at the end of the model. */
static int close_ended(struct skimmer *skimmer, bool *ret_more) {
    bool at_end = false;
    int status = CM_OK;
    while (skimmer->innermost > skimmer->stack &&
           position(skimmer) == skimmer->innermost->end) {
        status = close_message(skimmer);
        if (status < 0) return status;
    }
    if (skimmer->innermost == skimmer->stack) status = retained_at_end(&skimmer->kept, &at_end);
    *ret_more = !at_end;
    return status;
}

static int walk(struct skimmer *skimmer) {
    for (;;) {
        bool more = false;
        if (skimmer->innermost != skimmer->list) pass_simple(skimmer);
        int status = close_ended(skimmer, &more);
        if (status < 0 || !more) return status;
        status = one_field(skimmer);
        if (status < 0) return status;
    }
}

int skim(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
         struct skimmed *ret) {
    struct skimmed made = {0};
    struct skimmer skimmer = {.window = source_window(source), .diag = diag};
    uint64_t size = source_size(source);
    if (size == 0 || source_at_end(source, diag)) {
        return diag_error(diag, DIAG_FORMAT, "the file is empty");
    }
    retained_init(&skimmer.kept, source, arena, diag, made.graph.of);
    skimmer.stack[0] = (struct open_message){
        .type = &skim_messages[MESSAGE_MODEL], .kind = MESSAGE_MODEL, .end = size};
    skimmer.list = skimmer.innermost = skimmer.stack;
    int status = walk(&skimmer);
    if (status == CM_OK) status = retained_finish(&skimmer.kept, &made.size);
    if (status == CM_REFUSED) sniff_hint(source, diag);
    if (status < 0) return status;
    made.model = skimmer.kept.model.first;
    made.graph.ordinal = skimmer.graph_ordinal;
    made.has_graph = skimmer.has_graph;
    *ret = made;
    return CM_OK;
}
