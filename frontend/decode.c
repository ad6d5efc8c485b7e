/* SPDX-License-Identifier: Apache-2.0 */
/* Decoding by protobuf-c with an allocator that takes from an arena and frees nothing. */
#include "frontend/decode.h"

#include "support/arena.h"
#include "support/diag.h"

#include "support/banned.h"

struct allocation {
    struct arena *arena;
    bool failed; /* memory ran out: protobuf-c itself says only that unpacking failed */
};

static void *take(void *data, size_t size) {
    struct allocation *allocation = data;
    void *memory = arena_alloc(allocation->arena, size);
    if (!memory) allocation->failed = true;
    return memory;
}

static void release(void *data, void *memory) {
    (void)data;
    (void)memory; /* freed with the arena */
}

int decode(const struct skimmed *bytes, struct arena *arena, struct cm_diagnostics *diag,
           Onnx__ModelProto **ret) {
    struct allocation allocation = {.arena = arena};
    ProtobufCAllocator allocator = {take, release, &allocation};
    Onnx__ModelProto *model = onnx__model_proto__unpack(&allocator, bytes->size, bytes->data);
    if (allocation.failed) return diag_no_memory(diag);
    if (!model) return diag_error(diag, DIAG_FORMAT, "the bytes are no ONNX model");
    *ret = model;
    return CM_OK;
}
