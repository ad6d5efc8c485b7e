/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch's current exporter notes of each node in its metadata_props: the modules around
 * it, `pkg.torch.onnx.name_scopes`, and their classes, `pkg.torch.onnx.class_hierarchy`, as
 * lists in Python's spelling, outermost first, the operation itself last; and both in one,
 * `namespace`, as "name: class/name: class". Nodes of one module share what is made of it, so
 * that the hundreds of bytes that each of them has in the file cost a pointer here.
 */
#include "frontend/metadata.h"

#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

#include "support/banned.h"

#define KEY_SCOPES    "pkg.torch.onnx.name_scopes"
#define KEY_CLASSES   "pkg.torch.onnx.class_hierarchy"
#define KEY_NAMESPACE "namespace"
#define KEY_REWRITTEN "pkg.onnxscript.rewriter.rule_name"
#define MARK_FUSED    "Fuse" /* begins or ends the names of the rules that do */

/* What stands for the modules of a node that was made outside all of them. */
#define NO_MODULES "_empty_nn_module_stack_from_metadata_hook"

/* Longer ones are not read: no module is nested so deep. */
#define MAX_METADATA 65536
#define MAX_PARTS    64

enum note { NOTE_SCOPES, NOTE_CLASSES, NOTE_NAMESPACE, NOTE_REWRITTEN, N_NOTES };

static const char *const keys[N_NOTES] = {
    [NOTE_SCOPES] = KEY_SCOPES,
    [NOTE_CLASSES] = KEY_CLASSES,
    [NOTE_NAMESPACE] = KEY_NAMESPACE,
    [NOTE_REWRITTEN] = KEY_REWRITTEN,
};

/* N_NOTES: none of those. */
static enum note note_of(struct span key) {
    int note = 0;
    while (note < N_NOTES && !span_equal(key, keys[note])) note++;
    return (enum note)note;
}

bool metadata_is_read(struct span entry) {
    bool read = false;
    for (struct wire_field field; wire_next(&entry, &field);) {
        if (field.number == ENTRY_KEY) read = note_of(field.bytes) != N_NOTES;
        if (field.number == ENTRY_VALUE && span_size(field.bytes) > MAX_METADATA) return false;
    }
    return read;
}

/* What a node has of each; NULL: nothing. */
struct notes {
    const char *texts[N_NOTES];
};

/* Where there are two, the first counts. */
static int read_notes(struct importer *importer, const struct file_node *node,
                      struct notes *ret) {
    struct fields_walk walk = message_walk(&node->parts, NODE_METADATA_PROPS);
    *ret = (struct notes){0};
    for (struct span one; fields_next(&walk, &one);) {
        struct entry entry;
        enum note note = message_entry(one, &entry) ? note_of(entry.key) : N_NOTES;
        if (note == N_NOTES || ret->texts[note]) continue;
        ret->texts[note] = arena_strndup(importer->decoding, (const char *)entry.value.at,
                                         span_size(entry.value));
        if (!ret->texts[note]) return diag_no_memory(importer->diag);
    }
    return CM_OK;
}

/* A text of several parts, the last of which is the operation. */
struct spelling {
    const char *text; /* NULL: there is none, or it cannot be read */
    size_t n;         /* parts before the last */
    size_t cut;       /* where the last begins */
    bool is_list;
};

/* Past the quoted text that begins here; NULL where none does, or it does not end. */
static const char *skip_quoted(const char *at) {
    char quote = *at;
    if (quote != '\'' && quote != '"') return NULL;
    for (at++; *at && *at != quote; at++)
        if (*at == '\\' && *++at == '\0') return NULL;
    return *at ? at + 1 : NULL;
}

/* "['', 'layer1', 'conv']" */
static struct spelling spell_list(const char *text) {
    const struct spelling none = {0};
    struct spelling found = {.text = text, .is_list = true};
    if (!text || *text != '[' || strlen(text) > MAX_METADATA) return none;
    for (const char *at = text + 1;; found.n++) {
        at += strspn(at, " ");
        found.cut = (size_t)(at - text);
        at = skip_quoted(at);
        if (!at) return none;
        at += strspn(at, " ");
        if (*at == ']') return at[1] == '\0' ? found : none;
        if (*at++ != ',') return none;
    }
}

/* ": net.Net/layer1: torch.nn.Sequential/conv: aten.conv2d.default" */
static struct spelling spell_namespace(const char *text) {
    const struct spelling none = {0};
    struct spelling found = {.text = text};
    if (!text || strlen(text) > MAX_METADATA) return none;
    for (const char *at = text;; found.n++) {
        const char *end = at + strcspn(at, "/");
        const char *colon = strstr(at, ": ");
        found.cut = (size_t)(at - text);
        if (!colon || colon >= end) return none;
        if (*end == '\0') return found;
        at = end + 1;
    }
}

/* What an escaped character is does not matter to a name, only that it ends none. */
static const char *copy_quoted(struct importer *importer, const char **at) {
    const char *from = *at + strspn(*at, " ,[");
    const char *end = skip_quoted(from);
    char *copy = arena_strndup(importer->arena, from + 1, (size_t)(end - from) - 2);
    size_t n = 0;
    *at = end;
    if (!copy) return NULL;
    for (const char *c = copy; *c; c++) {
        if (*c == '\\') c++;
        copy[n++] = *c;
    }
    copy[n] = '\0';
    return copy;
}

/* "torch.nn.modules.conv.Conv2d" is a Conv2d. */
static const char *class_of(const char *qualified) {
    const char *dot = strrchr(qualified, '.');
    return dot ? dot + 1 : qualified;
}

static int read_lists(struct importer *importer, const char *scopes, const char *classes,
                      size_t n, struct place_part *parts) {
    for (size_t i = 0; i < n; i++) {
        const char *class = classes ? copy_quoted(importer, &classes) : "";
        parts[i].path = copy_quoted(importer, &scopes);
        if (!parts[i].path || !class) return CM_NO_MEMORY;
        parts[i].class = class_of(class);
    }
    return CM_OK;
}

static int read_namespace(struct importer *importer, const char *at, size_t n,
                          struct place_part *parts) {
    for (size_t i = 0; i < n; i++) {
        const char *colon = strstr(at, ": ");
        const char *end = at + strcspn(at, "/");
        const char *class = colon + strlen(": ");
        parts[i].path = arena_strndup(importer->arena, at, (size_t)(colon - at));
        class = arena_strndup(importer->arena, class, (size_t)(end - class));
        if (!parts[i].path || !class) return CM_NO_MEMORY;
        parts[i].class = class_of(class);
        at = end + 1;
    }
    return CM_OK;
}

static int grow(struct importer *importer) {
    size_t capacity = importer->place_capacity ? importer->place_capacity * 2 : 64;
    const struct place **list = arena_array(importer->scratch, capacity, sizeof(*list));
    if (!list) return CM_NO_MEMORY;
    for (size_t i = 0; i < importer->n_places; i++) list[i] = importer->place_list[i];
    importer->place_list = list;
    importer->place_capacity = capacity;
    return CM_OK;
}

static int add_place(struct importer *importer, const char *key, const struct place *place) {
    if (importer->n_places == importer->place_capacity && grow(importer) < 0)
        return CM_NO_MEMORY;
    importer->place_list[importer->n_places] = place;
    return map_set(&importer->places, key, (uint32_t)importer->n_places++);
}

/* The spellings without the operation: equal for all nodes of one module. */
static const char *place_key(struct importer *importer, const struct spelling *scopes,
                             const struct spelling *classes) {
    return arena_printf(importer->scratch, "%.*s\n%.*s", (int)scopes->cut, scopes->text,
                        (int)classes->cut, classes->text ? classes->text : "");
}

static int read_place(struct importer *importer, const struct spelling *scopes,
                      const struct spelling *classes, struct place *place) {
    size_t n = scopes->n < MAX_PARTS ? scopes->n : MAX_PARTS;
    struct place_part *parts = arena_array(importer->arena, n, sizeof(*parts));
    if (!parts) return CM_NO_MEMORY;
    place->n_parts = n;
    place->parts = parts;
    return scopes->is_list ? read_lists(importer, scopes->text, classes->text, n, parts)
                           : read_namespace(importer, scopes->text, n, parts);
}

static int find_place(struct importer *importer, const struct spelling *scopes,
                      const struct spelling *classes, const struct place **ret) {
    struct arena_mark mark = arena_save(importer->scratch);
    const char *key = place_key(importer, scopes, classes);
    if (!key) return CM_NO_MEMORY;
    uint32_t known = map_get(&importer->places, key);
    if (known != MAP_NONE) {
        arena_restore(importer->scratch, mark);
        *ret = importer->place_list[known];
        return CM_OK;
    }
    struct place *place = arena_alloc(importer->arena, sizeof(*place));
    if (!place || read_place(importer, scopes, classes, place) < 0) return CM_NO_MEMORY;
    *ret = place;
    return add_place(importer, key, place);
}

static int import_notes(struct importer *importer, const struct notes *notes,
                        const struct place **ret_place, bool *ret_fused) {
    const char *rewritten = notes->texts[NOTE_REWRITTEN];
    struct spelling scopes = spell_list(notes->texts[NOTE_SCOPES]);
    struct spelling classes = spell_list(notes->texts[NOTE_CLASSES]);
    *ret_fused = rewritten && strstr(rewritten, MARK_FUSED);
    if (!scopes.text) scopes = spell_namespace(notes->texts[NOTE_NAMESPACE]);
    if (!scopes.text || scopes.n == 0 || strstr(scopes.text, NO_MODULES)) return CM_OK;
    if (!scopes.is_list || classes.n != scopes.n) classes = (struct spelling){0};
    if (find_place(importer, &scopes, &classes, ret_place) == CM_OK) return CM_OK;
    return diag_no_memory(importer->diag);
}

int import_metadata(struct importer *importer, const struct file_node *node,
                    const struct place **ret_place, bool *ret_fused) {
    struct notes notes;
    *ret_place = NULL;
    *ret_fused = false;
    if (node->parts.of[NODE_METADATA_PROPS].n == 0) return CM_OK;
    struct arena_mark mark = arena_save(importer->decoding);
    int status = read_notes(importer, node, &notes);
    if (status == CM_OK) status = import_notes(importer, &notes, ret_place, ret_fused);
    arena_restore(importer->decoding, mark);
    return status;
}
