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
    size_t length; /* 0: known by its suffix only */
    const char *what;
    const char *how;    /* to get an ONNX file */
    const char *suffix; /* of files whose bytes match no row; NULL: none */
};

#define TORCH_EXPORT                                                                           \
    "export it in Python: torch.onnx.export(model, example_inputs, \"model.onnx\")"
#define PICKLE "a Python pickle, such as a PyTorch checkpoint"
#define COREML_SOURCE                                                                          \
    "export the original model to ONNX; a Core ML file cannot be converted back"
#define ENGINE_SOURCE "give the ONNX file that it was built from (trtexec --onnx=model.onnx)"
#define TRANSFORMERS_EXPORT                                                                    \
    "it has weights but no graph; export the model it belongs to: optimum-cli export onnx "    \
    "--model NAME_OR_FOLDER FOLDER"

/* clang-format off */
static const struct magic magics[] = {
    {30, "metadata.json",    13, "a Keras model", "in Python: model.export(\"model.onnx\", format=\"onnx\")", ".keras"},
    {0, "PK\x03\x04",         4, "a zip archive, such as a PyTorch checkpoint or TorchScript", TORCH_EXPORT, NULL},
    {0, "\x80\x02",           2, PICKLE, TORCH_EXPORT, ".pt"},
    {0, "\x80\x03",           2, PICKLE, TORCH_EXPORT, ".pth"},
    {0, "\x80\x04",           2, PICKLE, TORCH_EXPORT, ".pkl"},
    {0, "\x80\x05",           2, PICKLE, TORCH_EXPORT, ".ckpt"},
    {0, "(dp0",               4, PICKLE, TORCH_EXPORT, ".pickle"},
    {0, "}q",                 2, PICKLE, TORCH_EXPORT, ".pt2"},
    {4, "TFL3",               4, "a TensorFlow Lite model", "python -m tf2onnx.convert --tflite model.tflite --output model.onnx", ".tflite"},
    {0, "\x89HDF",            4, "HDF5, such as a Keras model", "python -m tf2onnx.convert --keras model.h5 --output model.onnx", ".h5"},
    {5, "\0\0\0{\"",          5, "safetensors", TRANSFORMERS_EXPORT, ".safetensors"},
    {0, "GGUF",               4, "GGUF", TRANSFORMERS_EXPORT, ".gguf"},
    {0, "ftrt",               4, "a TensorRT engine", ENGINE_SOURCE, ".engine"},
    {0, "ptrt",               4, "a TensorRT engine", ENGINE_SOURCE, ".plan"},
    {0, "",                   0, "a TensorRT engine", ENGINE_SOURCE, ".trt"},
    {4, "ORTM",               4, "ONNX Runtime's own format", "give the ONNX file that it was made from", NULL},
    {0, "\x1f\x8b",           2, "gzip", "decompress it first", NULL},
    {0, "\xfd" "7zXZ",        5, "xz", "decompress it first", NULL},
    {0, "BZh",                3, "bzip2", "decompress it first", NULL},
    {0, "version https://git-lfs", 16, "a Git LFS pointer", "run 'git lfs pull' first", NULL},
    {0, "<!DOCTYPE",          9, "a web page", "the download probably failed", NULL},
    {0, "<html",              5, "a web page", "the download probably failed", NULL},
    {0, "\x93NUMPY",          6, "a NumPy array", "it has numbers but no graph; give the ONNX file", NULL},
    {0, "{",                  1, "JSON", "give the ONNX file", NULL},
    {0, "",                   0, "a Core ML model", COREML_SOURCE, ".mlmodel"},
    {0, "",                   0, "a PaddlePaddle model", "paddle2onnx --model_dir FOLDER --model_filename model.pdmodel --save_file model.onnx", ".pdmodel"},
    {0, "",                   0, "a Caffe model", "convert it to ONNX, for example with caffe2onnx", ".caffemodel"},
};
static const struct magic openvino = {0, "<net ", 5, "an OpenVINO model", "give the ONNX file that it was made from (ovc model.onnx), or export the original model to ONNX", NULL};
/* A GraphDef begins with a NodeDef in field 1, which is a number in an ONNX model. */
static const struct magic tensorflow = {0, "\n", 1, "a TensorFlow graph", "python -m tf2onnx.convert --graphdef model.pb --inputs NAME:0 --outputs NAME:0 --output model.onnx", NULL};
static const struct magic saved_model = {0, "\x08\x01\x12", 3, "a TensorFlow SavedModel", "python -m tf2onnx.convert --saved-model FOLDER --output model.onnx", NULL};
static const struct magic coreml = {0, "\x08", 1, "a Core ML model", COREML_SOURCE, NULL};
static const struct magic text = {0, "", 0, "text", "give the ONNX file", NULL};
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

/* Returns true if the bytes begin with version 2 or later and a description, whose first field
 * is a message. In ONNX the second field is producer_name, which begins with no line feed. */
static bool is_coreml(const char *bytes) {
    return bytes[0] == '\x08' && bytes[1] > 1 && bytes[2] == '\x12' &&
           bytes[((unsigned char)bytes[3] & 0x80) != 0 ? 5 : 4] == '\n';
}

static bool is_text(const char *bytes) {
    for (const char *at = bytes; *at != '\0'; at++)
        if ((unsigned char)*at >= 127 || (*at < 32 && strchr("\t\r\n", *at) == NULL))
            return false;
    return true;
}

/* Returns the row of the format of `bytes`; NULL if none matches. */
static const struct magic *look_up(const char *bytes) {
    for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
        if (magics[i].length > 0 &&
            memcmp(bytes + magics[i].offset, magics[i].bytes, magics[i].length) == 0)
            return &magics[i];
    if (is_openvino(bytes)) return &openvino;
    if (is_saved_model(bytes)) return &saved_model;
    if (is_coreml(bytes)) return &coreml;
    return NULL;
}

/* Returns the row of a suffix of the name; NULL if none has it. */
static const struct magic *look_up_suffix(const char *name) {
    const char *suffix = strrchr(name, '.');
    for (size_t i = 0; suffix != NULL && i < sizeof(magics) / sizeof(*magics); i++)
        if (magics[i].suffix != NULL && strcmp(magics[i].suffix, suffix) == 0)
            return &magics[i];
    return NULL;
}

void sniff_explain(struct source *source, struct cm_diagnostics *diag) {
    char bytes[SNIFFED + 1] = {0};
    const uint64_t size = source_size(source);
    const size_t n = size < SNIFFED ? (size_t)size : SNIFFED;
    if (!source_can_seek(source) || n < MIN_SIZE) return;
    if (source_read_at(source, 0, bytes, n, NULL) < 0) return;
    const struct magic *magic = look_up(bytes);
    if (magic == NULL) magic = look_up_suffix(source_name(source));
    if (magic == NULL && strlen(bytes) == n && is_text(bytes)) magic = &text;
    if (magic == NULL && bytes[0] == tensorflow.bytes[0]) magic = &tensorflow;
    if (magic == NULL) return;
    diag_replace(diag, "not an ONNX model, the file looks like %s", magic->what);
    diag_hint(diag, "%s", magic->how);
}
