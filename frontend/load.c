/* SPDX-License-Identifier: Apache-2.0 */
/* The way of a file into the IR: skim, decode, import. */
#include "frontend/load.h"

#include <string.h>

#include "frontend/decode.h"
#include "frontend/importer.h"
#include "frontend/reader.h"
#include "frontend/skim.h"
#include "support/arena.h"
#include "support/file.h"

#include "support/banned.h"

/* Versions of the format that onnx.proto describes. */
#define OLDEST_IR 1
#define NEWEST_IR 14

const char *import_text(struct importer *importer, const char *text) {
    if (!text || !text[0]) return "";
    return arena_strdup(importer->arena, text);
}

const char *import_bytes(struct importer *importer, const ProtobufCBinaryData *bytes) {
    const char *data = bytes->data ? (const char *)bytes->data : "";
    return arena_strndup(importer->arena, data, bytes->len);
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
    if (!proto->graph)
        return diag_error(importer->diag, DIAG_FORMAT,
                          "no ONNX model: the file holds no graph");
    if (!proto->has_ir_version || proto->ir_version < OLDEST_IR)
        return diag_error(importer->diag, DIAG_FORMAT,
                          "no ONNX model: the file does not say its IR version");
    if (proto->ir_version > NEWEST_IR)
        diag_warn(importer->diag, DIAG_FORMAT,
                  "IR version %lld is newer than %d, the newest that is known",
                  (long long)proto->ir_version, NEWEST_IR);
    return CM_OK;
}

static int check_opsets(struct importer *importer, size_t n) {
    if (n <= MAX_OPSETS) return CM_OK;
    return diag_error(importer->diag, DIAG_LIMIT, "%zu opset imports, at most %d wanted", n,
                      MAX_OPSETS);
}

static int import_opsets(struct importer *importer, struct model *model) {
    size_t n = importer->proto->n_opset_import;
    int status = check_opsets(importer, n);
    if (status < 0) return status;
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

static int import_model_properties(struct importer *importer, struct model *model) {
    size_t n = importer->proto->n_metadata_props;
    struct property *list = arena_array(importer->arena, n, sizeof(*list));
    if (!list) return diag_no_memory(importer->diag);
    for (size_t i = 0; i < n; i++) {
        list[i].key = import_text(importer, importer->proto->metadata_props[i]->key);
        list[i].value = import_text(importer, importer->proto->metadata_props[i]->value);
        if (!list[i].key || !list[i].value) return diag_no_memory(importer->diag);
    }
    model->properties = list;
    model->n_properties = n;
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

/* Tables of the right size from the start: they would double, and an arena keeps the old ones.
 */
static int reserve_tables(struct importer *importer) {
    const Onnx__GraphProto *graph = importer->proto->graph;
    size_t n_values = graph->n_input + graph->n_initializer + graph->n_sparse_initializer;
    for (size_t i = 0; i < graph->n_node; i++) n_values += graph->node[i]->n_output;
    return graph_reserve(importer->builder, graph->n_node, n_values);
}

static uint64_t count_nodes(const Onnx__ModelProto *proto) {
    uint64_t n = proto->graph->n_node;
    for (size_t i = 0; i < proto->n_functions; i++) n += proto->functions[i]->n_node;
    return n;
}

static int import_model(struct importer *importer, const char *path, struct model *model) {
    uint32_t main_graph = ID_NONE;
    int status = check_version(importer);
    if (status < 0) return status;
    uint64_t n = count_nodes(importer->proto);
    importer->node_limit =
        n > MIN_NODE_LIMIT / NODES_PER_NODE ? n * NODES_PER_NODE : MIN_NODE_LIMIT;
    importer->byte_limit = importer->structure * INLINED_PER_BYTE;
    if (importer->byte_limit < MIN_INLINED_BYTES) importer->byte_limit = MIN_INLINED_BYTES;
    if (reserve_tables(importer) < 0) return diag_no_memory(importer->diag);
    status = describe_model(importer, path, model);
    if (status == CM_OK) status = import_opsets(importer, model);
    if (status == CM_OK) status = import_model_properties(importer, model);
    if (status == CM_OK) status = import_functions(importer);
    if (status == CM_OK)
        status = import_graph(importer, importer->proto->graph, NULL, ID_NONE, &main_graph);
    if (status < 0) return status;
    if (importer->sorted)
        diag_note(importer->diag, DIAG_GRAPH,
                  "the nodes were not in order, and have been sorted");
    if (graph_finish(importer->builder, model) < 0) return diag_no_memory(importer->diag);
    return CM_OK;
}

static int build(struct source *source, const Onnx__ModelProto *proto, struct arena *arena,
                 struct arena *scratch, size_t structure, struct cm_diagnostics *diag,
                 struct model **ret) {
    struct importer importer = {.structure = structure,
                                .proto = proto,
                                .arena = arena,
                                .scratch = scratch,
                                .diag = diag};
    struct model *model = arena_alloc(arena, sizeof(*model));
    importer.builder = graph_builder_new(arena);
    if (!model || !importer.builder) return diag_no_memory(diag);
    map_init(&importer.places, scratch);
    int status = import_model(&importer, source_name(source), model);
    if (status == CM_OK) status = reader_make(source, arena, diag, &model->reader);
    if (status == CM_OK) *ret = model;
    return status;
}

int load_model(struct source *source, struct arena *arena, struct cm_diagnostics *diag,
               struct model **ret) {
    struct skimmed bytes = {0};
    Onnx__ModelProto *proto = NULL;
    struct arena *scratch = arena_new("proto", 0);
    if (!scratch) return diag_no_memory(diag);
    int status = skim(source, scratch, diag, &bytes);
    if (status == CM_OK) status = decode(&bytes, scratch, diag, &proto);
    if (status == CM_OK) status = build(source, proto, arena, scratch, bytes.size, diag, ret);
    arena_free(scratch);
    return status;
}
