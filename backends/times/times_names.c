/* SPDX-License-Identifier: Apache-2.0 */
/* The names that TensorRT composes for fused layers, copies and blocks. */
#include "backends/times/times_names.h"

#include <string.h>

#include "support/arena.h"
#include "support/json/json_value.h"
#include "support/text.h"

void times_refs_add(struct times_refs *refs, const char *name, size_t length,
                    enum times_role role) {
    if (length == 0) return;
    const char *copy = arena_strndup(refs->arena, name, length);
    const struct times_ref ref = {copy, role};
    (void)arena_push(refs->arena, &refs->items, &refs->n, &refs->capacity, &ref, sizeof(ref));
}

/* Adds a ref to one node, without the wrappers "PWN(" and ")" of pointwise fusion. TensorRT
 * names the copies of a node "NODE_clone_N": adds a ref to NODE too. */
static void add_piece(struct times_refs *refs, const char *piece, size_t length,
                      enum times_role role) {
    static const char wrapper[] = "PWN(";
    const size_t n = sizeof(wrapper) - 1;
    while (length >= n && memcmp(piece, wrapper, n) == 0) {
        piece += n;
        length -= n;
    }
    int depth = 0;
    for (size_t i = 0; i < length; i++) depth += (piece[i] == '(') - (piece[i] == ')');
    while (depth < 0 && length > 0 && piece[length - 1] == ')') {
        depth++;
        length--;
    }
    times_refs_add(refs, piece, length, role);
    size_t end = length;
    while (end > 0 && text_is_digit(piece[end - 1])) end--;
    static const char clone[] = "_clone_";
    const size_t n_clone = sizeof(clone) - 1;
    if (end < length && end > n_clone && memcmp(piece + end - n_clone, clone, n_clone) == 0)
        times_refs_add(refs, piece, end - n_clone, role);
}

/* Returns the length of the separator at `at`; 0 if there is none. */
static size_t separator(const char *at) {
    static const char *const separators[] = {" + ", " || ", ", "};
    for (size_t i = 0; i < sizeof(separators) / sizeof(*separators); i++)
        if (text_starts_with(at, separators[i])) return strlen(separators[i]);
    return 0;
}

static void add_pieces(struct times_refs *refs, const char *name, size_t length,
                       enum times_role role) {
    const char *end = name + length;
    const char *piece = name;
    for (const char *at = name; at < end;) {
        const size_t n = separator(at);
        if (n > 0) {
            add_piece(refs, piece, (size_t)(at - piece), role);
            piece = at + n;
        }
        at += n > 0 ? n : 1;
    }
    if (piece < end) add_piece(refs, piece, (size_t)(end - piece), role);
}

static const char block[] = "{ForeignNode[";

/* Adds refs to both ends of "{ForeignNode[first...last]}". A constant is "name[Constant]". */
static void add_block(struct times_refs *refs, const char *name) {
    name += strlen(block);
    const char *end = name + strlen(name);
    if (text_ends_with(name, "]}")) end -= 2;
    const char *dots = strstr(name, "...");
    const char *ends[] = {name, dots != NULL && dots < end ? dots + 3 : end};
    const char *stops[] = {dots != NULL && dots < end ? dots : end, end};
    for (size_t i = 0; i < 2; i++) {
        size_t n = (size_t)(stops[i] - ends[i]);
        const char *bracket = n > 0 ? memchr(ends[i], '[', n) : NULL;
        if (bracket != NULL) n = (size_t)(bracket - ends[i]);
        times_refs_add(refs, ends[i], n, TIMES_CONTAINS);
    }
}

/* Returns the length of a name without the suffix of a copy: " copy", or " input reformatter 0"
 * or " output reformatter 0" of TensorRT before 8; `length` if it has no such suffix. */
static size_t without_copy(const char *name, size_t length) {
    static const char *const words[] = {" input reformatter ", " output reformatter "};
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const char *at = strstr(name, words[i]);
        if (at != NULL) return (size_t)(at - name);
    }
    return text_ends_with(name, " copy") ? length - strlen(" copy") : length;
}

enum times_role times_names_split(const char *name, struct times_refs *refs) {
    static const char copy[] = "Reformatting CopyNode for ";
    const size_t length = strlen(name);
    const char *target = strstr(name, " to ");
    if (text_starts_with(name, copy) && target != NULL) {
        const char *rest = target + strlen(" to ");
        if (text_starts_with(rest, block))
            add_block(refs, rest);
        else
            add_pieces(refs, rest, strlen(rest), TIMES_COPIES);
        for (size_t i = 0; i < refs->n; i++) refs->items[i].role = TIMES_COPIES;
        return TIMES_COPIES;
    }
    if (text_starts_with(name, block)) {
        add_block(refs, name);
        return TIMES_CONTAINS;
    }
    /* "[trainStation1]", "x[DevicetoShapeHostCopy]": work of the runtime itself. */
    if (name[0] == '[' || text_ends_with(name, "HostCopy]") ||
        text_ends_with(name, "DeviceCopy]"))
        return TIMES_COPIES;
    const size_t shorter = without_copy(name, length);
    const enum times_role role = shorter < length ? TIMES_COPIES : TIMES_RUNS;
    add_pieces(refs, name, shorter, role);
    return role;
}

struct times_layer *times_add_layer(struct cm_times *times, const char *name,
                                    struct times_refs *refs) {
    struct times_layer *layer = &times->layers[times->n++];
    layer->name = arena_strdup(times->arena, name);
    layer->op = "";
    layer->rank = -1;
    if (refs->n == 0) layer->role = times_names_split(name, refs);
    layer->n_refs = refs->n;
    layer->refs = refs->items;
    return arena_failed(times->arena) ? NULL : layer;
}

bool times_has_word(const char *words, const char *word, size_t length) {
    while (words[0] != '\0') {
        const size_t n = strcspn(words, " ");
        if (n == length && memcmp(words, word, n) == 0) return true;
        words += n + (words[n] == ' ');
    }
    return false;
}

bool times_set_operator(struct times_layer *layer, const struct times_operator *rows, size_t n,
                        const char *name, size_t length) {
    size_t i = 0;
    layer->types = "";
    while (i < n && !times_has_word(rows[i].names, name, length)) i++;
    if (i == n) return false;
    layer->types = rows[i].types;
    layer->many = rows[i].flags & TIMES_MANY;
    layer->is_product = rows[i].flags & TIMES_PRODUCT;
    if (rows[i].flags & TIMES_COPY) layer->role = TIMES_COPIES;
    return true;
}

void times_read_dims(const struct json_value *dims, struct times_layer *layer) {
    int32_t rank = 0;
    layer->rank = -1;
    if (!json_is_array(dims) || json_count(dims) > CM_MAX_RANK) return;
    json_each(dim, dims) {
        if (!json_to_int64(dim, &layer->dims[rank]) || layer->dims[rank++] < 0) return;
    }
    layer->rank = rank;
}
