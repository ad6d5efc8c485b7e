/* SPDX-License-Identifier: Apache-2.0 */
/* See message.h. */
#include "frontend/wire/message.h"

void message_index(struct span bytes, struct message *ret) {
    struct wire_field field;
    *ret = (struct message){.whole = {.data = bytes.at, .size = span_size(bytes)}};
    for (const uint8_t *at = bytes.at; wire_next(&bytes, &field); at = bytes.at) {
        if (field.wire == WIRE_BYTES && field.number < MESSAGE_FIELDS) {
            struct fields_of *of = &ret->of[field.number];
            if (of->n++ > 0) continue;
            of->piece = &ret->whole;
            of->at = at;
        } else if (field.wire == WIRE_VARINT && field.number == FIELD_ORDINAL) {
            ret->ordinal = (uint32_t)field.value;
        }
    }
}

struct fields_walk message_walk(const struct message *message, uint32_t number) {
    return (struct fields_walk){message->of[number], number};
}

bool fields_search(struct fields_walk *walk, struct span *ret) {
    struct fields_of *left = &walk->left;
    while (left->n > 0 && left->piece) {
        struct span span = {left->at, left->piece->data + left->piece->size};
        struct wire_field field;
        while (wire_next(&span, &field)) {
            if (field.number != walk->number || field.wire != WIRE_BYTES) continue;
            left->at = span.at;
            left->n--;
            *ret = field.bytes;
            return true;
        }
        left->piece = left->piece->next;
        left->at = left->piece ? left->piece->data : NULL;
    }
    left->n = 0;
    return false;
}

/* Usually a message has exactly one field of the number. */
struct span message_text(const struct message *message, uint32_t number) {
    static const uint8_t nothing[1] = {0};
    const struct fields_of *of = &message->of[number];
    struct span text = {nothing, nothing};
    if (of->n == 1) {
        struct span span = {of->at, of->piece->data + of->piece->size};
        struct wire_field field;
        return wire_next(&span, &field) ? field.bytes : text;
    }
    struct fields_walk walk = message_walk(message, number);
    while (fields_next(&walk, &text)) continue;
    return text;
}

bool message_entry(struct span bytes, struct entry *ret) {
    *ret = (struct entry){{NULL, NULL}, {NULL, NULL}};
    for (struct wire_field field; wire_next(&bytes, &field);) {
        if (field.number == ENTRY_KEY) ret->key = field.bytes;
        if (field.number == ENTRY_VALUE) ret->value = field.bytes;
    }
    return ret->key.at && ret->value.at;
}
