/* SPDX-License-Identifier: Apache-2.0 */
/* Magic bytes of formats that users pass by mistake. */
#include "frontend/wire/sniff.h"

#include <string.h>

#include "support/diag.h"
#include "support/file.h"

#include "support/banned.h"

#define SNIFFED 16

struct magic {
    size_t offset;
    const char *bytes;
    size_t length;
    const char *what;
};

/* clang-format off */
static const struct magic magics[] = {
    {0, "PK\x03\x04",         4, "a zip archive, possibly a PyTorch checkpoint; export it to ONNX first"},
    {0, "\x80\x02",           2, "a Python pickle, possibly a PyTorch checkpoint; export it to ONNX first"},
    {0, "\x1f\x8b",           2, "gzip; decompress it first"},
    {0, "\xfd" "7zXZ",        5, "xz; decompress it first"},
    {0, "BZh",                3, "bzip2; decompress it first"},
    {0, "version https://git-lfs", 16, "a Git LFS pointer; run 'git lfs pull' first"},
    {0, "<!DOCTYPE",          9, "a web page; the download probably failed"},
    {0, "<html",              5, "a web page; the download probably failed"},
    {0, "\x89HDF",            4, "HDF5, possibly a Keras model; convert it to ONNX first"},
    {4, "ORTM",               4, "ONNX Runtime's own format; give the ONNX file"},
    {0, "{",                  1, "JSON; give the ONNX file"},
};
/* clang-format on */

/* Returns NULL if no row matches. */
static const char *look_up(const char *bytes) {
    for (size_t i = 0; i < sizeof(magics) / sizeof(*magics); i++)
        if (memcmp(bytes + magics[i].offset, magics[i].bytes, magics[i].length) == 0)
            return magics[i].what;
    return NULL;
}

static const char *text_or_not(const char *bytes) {
    for (size_t i = 0; i < SNIFFED; i++) {
        unsigned char byte = (unsigned char)bytes[i];
        if (byte >= 127 || (byte < 32 && byte != '\t' && byte != '\r' && byte != '\n'))
            return NULL;
    }
    return "text; give the ONNX file";
}

void sniff_hint(struct source *source, struct cm_diagnostics *diag) {
    char bytes[SNIFFED] = {0};
    uint64_t size = source_size(source);
    if (!source_can_seek(source) || size < SNIFFED) return;
    if (source_read_at(source, 0, bytes, SNIFFED, NULL) < 0) return;
    const char *what = look_up(bytes);
    if (!what) what = text_or_not(bytes);
    if (what) diag_hint(diag, "the file looks like %s", what);
}
