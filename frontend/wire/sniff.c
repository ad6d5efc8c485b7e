/* SPDX-License-Identifier: Apache-2.0 */
/* Magic bytes of formats that users pass by mistake. */
#include "frontend/wire/skim.h"

#include <string.h>

#include "support/diag.h"
#include "support/file.h"

#define MIN_SIZE 16
#define SNIFFED  512 /* bytes at the beginning of the file */

struct magic {
    size_t offset;
    const char *bytes;
    size_t length;
    const char *what;
    const char *how; /* to get an ONNX file */
};

#define TORCH_EXPORT                                                                           \
    "export it in Python: torch.onnx.export(model, example_inputs, \"model.onnx\")"
#define TRANSFORMERS_EXPORT                                                                    \
    "it has weights but no graph; export the model it belongs to: optimum-cli export onnx "    \
    "--model NAME_OR_FOLDER FOLDER"

/* clang-format off */
static const struct magic magics[] = {
    {0, "PK\x03\x04",         4, "a zip archive, such as a PyTorch checkpoint or TorchScript", TORCH_EXPORT},
    {0, "\x80\x02",           2, "a Python pickle, such as a PyTorch checkpoint", TORCH_EXPORT},
    {0, "\x80\x04",           2, "a Python pickle, such as a PyTorch checkpoint", TORCH_EXPORT},
    {4, "TFL3",               4, "a TensorFlow Lite model", "python -m tf2onnx.convert --tflite model.tflite --output model.onnx"},
    {0, "\x89HDF",            4, "HDF5, such as a Keras model", "python -m tf2onnx.convert --keras model.h5 --output model.onnx"},
    {5, "\0\0\0{\"",          5, "safetensors", TRANSFORMERS_EXPORT},
    {0, "GGUF",               4, "GGUF", TRANSFORMERS_EXPORT},
    {0, "ftrt",               4, "a TensorRT engine", "give the ONNX file that it was built from (trtexec --onnx=model.onnx)"},
    {0, "ptrt",               4, "a TensorRT engine", "give the ONNX file that it was built from (trtexec --onnx=model.onnx)"},
    {4, "ORTM",               4, "ONNX Runtime's own format", "give the ONNX file that it was made from"},
    {0, "\x1f\x8b",           2, "gzip", "decompress it first"},
    {0, "\xfd" "7zXZ",        5, "xz", "decompress it first"},
    {0, "BZh",                3, "bzip2", "decompress it first"},
    {0, "version https://git-lfs", 16, "a Git LFS pointer", "run 'git lfs pull' first"},
    {0, "<!DOCTYPE",          9, "a web page", "the download probably failed"},
    {0, "<html",              5, "a web page", "the download probably failed"},
    {0, "{",                  1, "JSON", "give the ONNX file"},
};
static const struct magic openvino = {0, "<net ", 5, "an OpenVINO model", "give the ONNX file that it was made from (ovc model.onnx), or export the original model to ONNX"};
/* A GraphDef begins with a NodeDef in field 1, which is a number in an ONNX model. */
static const struct magic tensorflow = {0, "\n", 1, "a TensorFlow graph", "python -m tf2onnx.convert --graphdef model.pb --inputs NAME:0 --outputs NAME:0 --output model.onnx"};
static const struct magic saved_model = {0, "\x08\x01\x12", 3, "a TensorFlow SavedModel", "python -m tf2onnx.convert --saved-model FOLDER --output model.onnx"};
static const struct magic text = {0, "", 0, "text", "give the ONNX file"};
/* clang-format on */

/* Returns true if the text has the root element of an OpenVINO model. */
static bool is_openvino(const char *bytes) {
    return (memcmp(bytes, "<?xml", 5) == 0 || memcmp(bytes, openvino.bytes, 5) == 0) &&
           strstr(bytes, openvino.bytes) != NULL;
}

/* Returns true if the bytes begin with version 1 and a second field of more than 127 bytes: a
 * MetaGraphDef. In ONNX the second field is producer_name, which is shorter. */
static bool is_saved_model(const char *bytes) {
    return memcmp(bytes, saved_model.bytes, saved_model.length) == 0 &&
           ((unsigned char)bytes[saved_model.length] & 0x80) != 0;
}

static bool is_text(const char *bytes) {
    for (const char *at = bytes; *at != '\0'; at++)
        if ((unsigned char)*at >= 127 || (*at < 32 && strchr("\t\r\n", *at) == NULL))
            return false;
    return true;
}

/* Returns the row of the format of `bytes`, n bytes and a NUL; NULL if none matches. */
static const struct magic *look_up(const char *bytes, size_t n) {
    for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
        if (memcmp(bytes + magics[i].offset, magics[i].bytes, magics[i].length) == 0)
            return &magics[i];
    if (is_openvino(bytes)) return &openvino;
    if (is_saved_model(bytes)) return &saved_model;
    if (strlen(bytes) == n && is_text(bytes)) return &text;
    return bytes[0] == tensorflow.bytes[0] ? &tensorflow : NULL;
}

void sniff_explain(struct source *source, struct cm_diagnostics *diag) {
    char bytes[SNIFFED + 1] = {0};
    const uint64_t size = source_size(source);
    const size_t n = size < SNIFFED ? (size_t)size : SNIFFED;
    if (!source_can_seek(source) || n < MIN_SIZE) return;
    if (source_read_at(source, 0, bytes, n, NULL) < 0) return;
    const struct magic *magic = look_up(bytes, n);
    if (magic == NULL) return;
    diag_replace(diag, "not an ONNX model, the file looks like %s", magic->what);
    diag_hint(diag, "%s", magic->how);
}
