/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the format of a file of times by its content. */
#include "backends/times/times.h"

#include <string.h>

#include "support/diag.h"
#include "support/json/json_value.h"

/* If the first character that is not blank is a bracket, the text is JSON, otherwise CSV. */
int times_read(const char *text, size_t size, struct cm_diagnostics *diag,
               struct cm_times *times) {
    static const char mark[] = "\xef\xbb\xbf"; /* byte order mark of UTF-8 */
    struct json_value *root = NULL;
    size_t at = 0;
    if (size >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0) {
        text += strlen(mark);
        size -= strlen(mark);
    }
    while (at < size && text[at] != '\0' && strchr(" \t\r\n", text[at]) != NULL) at++;
    if (size >= 2 && memcmp(text, "\x1f\x8b", 2) == 0) {
        (void)diag_error(diag, DIAG_FORMAT, "the file is compressed by gzip");
        diag_hint(diag, "decompress it with gunzip");
        return CM_REFUSED;
    }
    static const char counters[] = "layerName;execStatus;";
    if (size - at >= strlen(counters) && memcmp(text + at, counters, strlen(counters)) == 0)
        return times_read_openvino_csv(text, size, diag, times);
    if (at == size || (text[at] != '[' && text[at] != '{'))
        return times_read_csv(text, size, diag, times);
    int status = json_parse(text, size, diag, &root);
    if (status < 0) return status;
    const struct json_value *first = json_first(root);
    const struct json_value *layers = json_get(root, "Layers");
    const struct json_value *requests = json_get(root, "detailed_performance");
    const bool is_average = json_get(root, "avg_performance") != NULL;
    if (json_is_array(root) && json_get(first, "count") != NULL)
        status = times_read_trtexec_profile(root, diag, times);
    else if (json_is_array(root) && json_get(first, "cat") != NULL)
        status = times_read_onnxruntime(root, diag, times);
    else if (json_is_array(json_get(root, "traceEvents")))
        status = times_read_kineto(root, diag, times);
    else if (json_is_array(requests) || is_average)
        status = times_read_openvino_json(is_average ? root : requests, diag, times);
    else if (json_is_array(layers))
        status = times_read_trtexec_layers(layers, diag, times);
    else
        status = diag_error(
            diag, DIAG_FORMAT,
            "times must be a profile of ONNX Runtime, a trace of PyTorch, a profile or "
            "layer information of trtexec, counters of OpenVINO, or CSV with "
            "the columns node,time_us");
    json_free(root);
    return status;
}
