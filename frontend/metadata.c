/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the metadata_props of nodes. PyTorch's exporter writes two Python lists per node: the
 * names of the modules around it (`pkg.torch.onnx.name_scopes`) and their classes
 * (`pkg.torch.onnx.class_hierarchy`), outermost first, the operation itself last. `namespace`
 * has both in one text: "name: class/name: class". Nodes of one module share one struct
 * module_stack, so that hundreds of bytes per node in the file take one pointer in memory. */
#include <string.h>

#include "frontend/importer.h"
#include "support/arena.h"

/* Parts of the names of onnxscript's fusion rules. */
#define MARK_FUSED      "Fuse"
#define MARK_FOLDS_NORM "FuseBatchNorm"

/* The only module of nodes that were created outside all modules. */
#define NO_MODULES "_empty_nn_module_stack_from_metadata_hook"

#define MAX_PARTS 64 /* modules around a node that are read */

int metadata_read(struct importer *importer, struct span bytes,
                  const char *values[N_METADATA_KEYS]) {
    struct entry entry;
    if (!message_entry(bytes, &entry)) return CM_OK;
    const enum metadata_key key = skim_metadata_key(entry.key);
    if (key == N_METADATA_KEYS || values[key]) return CM_OK;
    values[key] =
        arena_strndup(importer->decoding, (const char *)entry.value.at, span_size(entry.value));
    return values[key] ? CM_OK : diag_no_memory(importer->diag);
}

/* The text of a list or namespace. It has several parts; the last one is the operation. */
struct spelling {
    const char *text; /* NULL if missing or malformed */
    size_t n;         /* number of parts before the last */
    size_t cut;       /* offset of the last part */
    bool is_list;     /* else a namespace */
};

const char *metadata_skip_quoted(const char *at) {
    char quote = *at;
    if (quote != '\'' && quote != '"') return NULL;
    for (at++; *at && *at != quote; at++)
        if (*at == '\\' && *++at == '\0') return NULL;
    return *at ? at + 1 : NULL;
}

/* Finds the parts of a list such as "['', 'layer1', 'conv']". */
static struct spelling spell_list(const char *text) {
    const struct spelling none = {0};
    struct spelling found = {.text = text, .is_list = true};
    if (!text || *text != '[' || strlen(text) > MAX_METADATA) return none;
    for (const char *at = text + 1;; found.n++) {
        at += strspn(at, " ");
        found.cut = (size_t)(at - text);
        at = metadata_skip_quoted(at);
        if (!at) return none;
        at += strspn(at, " ");
        if (*at == ']') return at[1] == '\0' ? found : none;
        if (*at++ != ',') return none;
    }
}

/* Finds the parts of ": net.Net/layer1: torch.nn.Sequential/conv: aten.conv2d.default". */
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

/* Copies the next quoted string and removes the backslashes. */
static const char *copy_quoted(struct importer *importer, const char **at) {
    const char *from = *at + strspn(*at, " ,[");
    const char *end = metadata_skip_quoted(from);
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

/* "torch.nn.modules.conv.Conv2d" -> "Conv2d" */
static const char *class_of(const char *qualified) {
    const char *dot = strrchr(qualified, '.');
    return dot ? dot + 1 : qualified;
}

static int read_lists(struct importer *importer, const char *scopes, const char *classes,
                      size_t n, struct module_stack_entry *entries) {
    for (size_t i = 0; i < n; i++) {
        const char *class = classes ? copy_quoted(importer, &classes) : "";
        entries[i].path = copy_quoted(importer, &scopes);
        if (!entries[i].path || !class) return CM_NO_MEMORY;
        entries[i].class = class_of(class);
    }
    return CM_OK;
}

static int read_namespace(struct importer *importer, const char *at, size_t n,
                          struct module_stack_entry *entries) {
    for (size_t i = 0; i < n; i++) {
        const char *colon = strstr(at, ": ");
        const char *end = at + strcspn(at, "/");
        const char *class = colon + strlen(": ");
        entries[i].path = arena_strndup(importer->arena, at, (size_t)(colon - at));
        class = arena_strndup(importer->arena, class, (size_t)(end - class));
        if (!entries[i].path || !class) return CM_NO_MEMORY;
        entries[i].class = class_of(class);
        at = end + 1;
    }
    return CM_OK;
}

/* Finds or adds the module stack; nodes of one module share the text before the operation. */
static int find_module_stack(struct importer *importer, const struct spelling *scopes,
                             const struct spelling *classes, const struct module_stack **ret) {
    struct arena_mark mark = arena_save(importer->scratch);
    const char *key =
        arena_printf(importer->scratch, "%.*s\n%.*s", (int)scopes->cut, scopes->text,
                     (int)classes->cut, classes->text ? classes->text : "");
    if (!key) return CM_NO_MEMORY;
    uint32_t known = map_get(&importer->module_stacks, key);
    if (known != MAP_NONE) {
        arena_restore(importer->scratch, mark);
        *ret = importer->module_stack_list[known];
        return CM_OK;
    }
    size_t n = scopes->n < MAX_PARTS ? scopes->n : MAX_PARTS;
    struct module_stack *stack = arena_alloc(importer->arena, sizeof(*stack));
    struct module_stack_entry *entries = arena_array(importer->arena, n, sizeof(*entries));
    if (!stack || !entries) return CM_NO_MEMORY;
    int status = scopes->is_list ? read_lists(importer, scopes->text, classes->text, n, entries)
                                 : read_namespace(importer, scopes->text, n, entries);
    if (status < 0) return status;
    *stack = (struct module_stack){.n = n, .entries = entries};
    *ret = stack;
    if (!arena_push(importer->scratch, &importer->module_stack_list, &importer->n_module_stacks,
                    &importer->module_stack_capacity, &stack, sizeof stack))
        return CM_NO_MEMORY;
    return map_set(&importer->module_stacks, key, (uint32_t)importer->n_module_stacks - 1);
}

int import_metadata(struct importer *importer, const struct file_node *node, struct node *ret) {
    const char *values[N_METADATA_KEYS] = {NULL};
    if (node->parts.of[NODE_METADATA_PROPS].n == 0) return CM_OK;
    struct arena_mark mark = arena_save(importer->decoding);
    struct fields_walk walk = message_walk(&node->parts, NODE_METADATA_PROPS);
    int status = CM_OK;
    for (struct span one; fields_next(&walk, &one);) {
        status = metadata_read(importer, one, values);
        if (status < 0) return status;
    }
    const char *rewritten = values[METADATA_REWRITTEN];
    struct spelling scopes = spell_list(values[METADATA_SCOPES]);
    struct spelling classes = spell_list(values[METADATA_CLASSES]);
    ret->fused = rewritten && strstr(rewritten, MARK_FUSED);
    ret->folds_norm = rewritten && strstr(rewritten, MARK_FOLDS_NORM);
    if (!scopes.text) scopes = spell_namespace(values[METADATA_NAMESPACE]);
    if (scopes.text && scopes.n > 0 && !strstr(scopes.text, NO_MODULES)) {
        if (!scopes.is_list || classes.n != scopes.n) classes = (struct spelling){0};
        if (find_module_stack(importer, &scopes, &classes, &ret->module_stack) < 0)
            status = diag_no_memory(importer->diag);
    }
    arena_restore(importer->decoding, mark);
    return status;
}
