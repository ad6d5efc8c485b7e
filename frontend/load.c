/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a file into the IR: skim, decode, import. */
#include "frontend/load.h"

#include "frontend/importer.h"
#include "frontend/reader.h"
#include "frontend/wire/decode.h"
#include "frontend/wire/skim.h"
#include "support/arena.h"
#include "support/file.h"

/* Accepted IR versions; newer ones cause a warning. */
#define OLDEST_IR 1
#define NEWEST_IR 14

const char *import_text(struct importer *importer, const char *text) {
    if (!text || !text[0]) return "";
    return arena_strdup(importer->arena, text);
}

const char *import_span(struct importer *importer, struct span text) {
    if (text.at == text.end) return "";
    return arena_strndup(importer->arena, (const char *)text.at, span_size(text));
}

const char *import_shared(struct importer *importer, struct span text) {
    size_t size = span_size(text);
    if (size == 0) return "";
    const char *known = map_key_n(&importer->shared, (const char *)text.at, size);
    if (known) return known;
    const char *copy = import_span(importer, text);
    return copy && map_set_n(&importer->shared, copy, size, 0) == CM_OK ? copy : NULL;
}

struct span import_span_of_bytes(const ProtobufCBinaryData *bytes) {
    static const uint8_t nothing[1] = {0};
    const uint8_t *data = bytes->data ? bytes->data : nothing;
    return (struct span){data, data + bytes->len};
}

const char *import_bytes(struct importer *importer, const ProtobufCBinaryData *bytes) {
    return import_span(importer, import_span_of_bytes(bytes));
}

int64_t import_opset(Onnx__OperatorSetIdProto *const *imports, size_t n, const char *domain) {
    bool standard = domain[0] == '\0';
    for (size_t i = 0; i < n; i++) {
        const char *have = imports[i]->domain ? imports[i]->domain : "";
        if (text_equal(have, domain) || (standard && text_equal(have, "ai.onnx")))
            return imports[i]->version;
    }
    return standard ? 0 : 1;
}

static int check_version(struct importer *importer) {
    const Onnx__ModelProto *proto = importer->proto;
    if (!proto->has_ir_version || proto->ir_version < OLDEST_IR)
        return diag_error(importer->diag, DIAG_FORMAT,
                          "not an ONNX model: ir_version is missing or < 1");
    if (proto->ir_version > NEWEST_IR)
        diag_warn(importer->diag, DIAG_FORMAT,
                  "IR version %lld is newer than %d, the newest supported version",
                  (long long)proto->ir_version, NEWEST_IR);
    return CM_OK;
}

static int import_opsets(struct importer *importer, struct model *model) {
    size_t n = importer->proto->n_opset_import;
    if (n > MAX_OPSETS)
        return diag_error(importer->diag, DIAG_LIMIT,
                          "a model must have at most %d opset imports, got %zu", MAX_OPSETS, n);
    struct opset *opsets = arena_array(importer->arena, n, sizeof(*opsets));
    if (!opsets) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < n; i++) {
        const Onnx__OperatorSetIdProto *proto = importer->proto->opset_import[i];
        bool standard = text_equal(proto->domain, "ai.onnx");
        opsets[i].domain = import_text(importer, standard ? "" : proto->domain);
        opsets[i].version = proto->version;
        if (!opsets[i].domain) return diag_no_memory(importer->diag);
    }
    model->opsets = opsets;
    model->n_opsets = n;
    return CM_OK;
}

static int describe_model(struct importer *importer, const char *path, struct model *model) {
    const Onnx__ModelProto *proto = importer->proto;
    const char *name = proto->producer_name ? proto->producer_name : "";
    const char *version = proto->producer_version ? proto->producer_version : "";
    model->arena = importer->arena;
    model->ir_version = proto->ir_version;
    model->path = import_text(importer, path);
    model->producer = arena_printf(importer->arena, "%s%s%s", name,
                                   name[0] && version[0] ? " " : "", version);
    return model->path && model->producer ? CM_OK : diag_no_memory(importer->diag);
}

static int import_main(struct importer *importer) {
    uint32_t id = ID_NONE;
    const struct fields_of *of = importer->bytes.graph.of;
    size_t n_nodes = of[GRAPH_NODE].n;
    uint64_t n_all_nodes = n_nodes;
    for (size_t i = 0; i < importer->n_functions; i++)
        n_all_nodes += importer->function_list[i].parts.of[FUNCTION_NODE].n;
    importer->node_limit = n_all_nodes > MIN_NODE_LIMIT / NODES_PER_NODE
                               ? n_all_nodes * NODES_PER_NODE
                               : MIN_NODE_LIMIT;
    importer->byte_limit = importer->bytes.size * INLINED_PER_BYTE;
    if (importer->byte_limit < MIN_INLINED_BYTES) importer->byte_limit = MIN_INLINED_BYTES;
    /* Growing a table would leave the old one in the arena. Most nodes have one output. */
    size_t n_values = of[GRAPH_INPUT].n + of[GRAPH_INITIALIZER].n +
                      of[GRAPH_SPARSE_INITIALIZER].n + n_nodes + n_nodes / 16;
    if (graph_reserve(importer->builder, n_nodes, n_values) != CM_OK)
        return diag_no_memory(importer->diag);
    const int status = import_signature(importer, &importer->bytes.graph);
    if (status < 0) return status;
    return import_graph(importer, &importer->bytes.graph, NULL, ID_NONE, &id);
}

static int import_model(struct importer *importer, const char *path, struct model *model) {
    int status = describe_model(importer, path, model);
    if (status == CM_OK) status = import_opsets(importer, model);
    if (status == CM_OK) status = import_functions(importer);
    if (status == CM_OK) status = import_main(importer);
    if (status == CM_OK) status = import_framework_params(importer, model);
    if (status < 0) return status;
    if (importer->sorted)
        diag_note(importer->diag, DIAG_GRAPH,
                  "the nodes were not in topological order and have been sorted");
    if (graph_finish(importer->builder, model) < 0) return diag_no_memory(importer->diag);
    return CM_OK;
}

/* Prepares one attempt at an import: an empty model and empty maps. */
static int import_start(struct importer *importer, struct model **ret) {
    *ret = arena_alloc(importer->arena, sizeof(**ret));
    importer->builder = graph_builder_new(importer->arena);
    map_init(&importer->module_stacks, importer->scratch);
    map_init(&importer->shared, importer->scratch);
    map_init(&importer->marks, importer->scratch);
    return *ret && importer->builder ? CM_OK : diag_no_memory(importer->diag);
}

/* Imports the nodes in file order, which usually is topological. If a node uses a value that is
 * defined later, the import starts again with sorted nodes. */
static int build(struct source *source, struct importer *importer, struct model **ret) {
    struct model *model = NULL;
    struct importer first = *importer;
    struct arena_mark mark = arena_save(importer->arena);
    first.keeps_order = true;
    int status = import_start(&first, &model);
    if (status == CM_OK) status = import_model(&first, source_name(source), model);
    if (status < 0 && first.out_of_order) {
        arena_restore(importer->arena, mark);
        status = import_start(importer, &model);
        if (status == CM_OK) status = import_model(importer, source_name(source), model);
    }
    if (status == CM_OK)
        status = reader_make(source, importer->arena, importer->diag, &model->reader);
    if (status == CM_OK) *ret = model;
    return status;
}

static int load(struct source *source, struct importer *importer, struct model **ret) {
    Onnx__ModelProto *proto = NULL;
    int status = skim(source, importer->scratch, importer->diag, &importer->bytes);
    if (status == CM_OK && !importer->bytes.has_graph) {
        status =
            diag_error(importer->diag, DIAG_FORMAT, "not an ONNX model: the file has no graph");
        sniff_explain(source, importer->diag);
    }
    if (status == CM_OK)
        status = decode(&onnx__model_proto__descriptor, importer->bytes.model,
                        importer->scratch, importer->diag, &proto);
    importer->proto = proto;
    if (status == CM_OK) status = check_version(importer);
    return status < 0 ? status : build(source, importer, ret);
}

int load_model(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
               struct model **ret) {
    struct importer importer = {.arena = arena,
                                .scratch = arena_new("proto", 0),
                                .scopes = arena_new("scopes", 0),
                                .decoding = arena_new("decoding", 0),
                                .diag = diag};
    bool made = importer.scratch && importer.scopes && importer.decoding;
    int status = made ? CM_OK : diag_no_memory(diag);
    if (status == CM_OK) status = load(source, &importer, ret);
    arena_free(importer.scratch);
    arena_free(importer.scopes);
    arena_free(importer.decoding);
    return status;
}
