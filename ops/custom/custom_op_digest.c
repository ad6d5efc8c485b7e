/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FNV-1a of all that decides what a description gives and costs, by which two documents tell
 * whether they rest on the same one. It stands in files: what it is made of must not change.
 * Blanks say nothing between names and signs, and a note is for people.
 */
#include "ops/custom/custom_op.h"

#include <inttypes.h>

#include "support/arena.h"
#include "support/text.h"

#include "support/banned.h"

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static void put_byte(uint64_t *hash, unsigned char byte) {
    *hash = (*hash ^ byte) * FNV_PRIME;
}

/* With its end, so that two texts in a row are not another two. */
static void put_text(uint64_t *hash, const char *text) {
    for (; *text != '\0'; text++)
        if (*text != ' ' && *text != '\t') put_byte(hash, (unsigned char)*text);
    put_byte(hash, 0);
}

static void put_number(uint64_t *hash, int64_t number) {
    for (unsigned i = 0; i < 8; i++)
        put_byte(hash, (unsigned char)((uint64_t)number >> (8 * i) & 0xff));
}

static void put_texts(uint64_t *hash, const char *const *texts, size_t n) {
    put_number(hash, (int64_t)n);
    for (size_t i = 0; i < n; i++) put_text(hash, texts[i]);
}

const char *custom_op_digest_of(const struct cm_op_description *from, struct arena *arena) {
    uint64_t hash = FNV_BASIS;
    put_text(&hash, from->like);
    put_number(&hash, from->like_opset);
    put_number(&hash, (int64_t)from->n_attributes);
    for (size_t i = 0; i < from->n_attributes; i++) {
        put_text(&hash, from->attributes[i].name);
        put_number(&hash, from->attributes[i].size);
    }
    put_texts(&hash, from->inputs, from->n_inputs);
    put_number(&hash, from->required_inputs);
    put_texts(&hash, from->where, from->n_where);
    put_number(&hash, (int64_t)from->n_outputs);
    for (size_t i = 0; i < from->n_outputs; i++) {
        put_text(&hash, from->outputs[i].type);
        put_text(&hash, from->outputs[i].dims);
    }
    put_text(&hash, from->macs);
    put_text(&hash, from->other_flops);
    return arena_printf(arena, "%016" PRIx64, hash);
}
