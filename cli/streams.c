/* SPDX-License-Identifier: Apache-2.0 */
/* Standard streams: preparation, checked writes, colours. */
#include "cli/streams.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "support/diag.h"
#include "support/file.h"
#include "support/system.h"
#include "support/text.h"

#define MAX_TERMINAL 9999 /* columns or lines */

/* Returns 0 if everything was written, else an errno value. */
static int flush(FILE *stream) {
    const bool failed_before = ferror(stream) != 0;
    const int earlier = errno;
    errno = 0;
    if (fflush(stream) == 0 && !failed_before) return 0;
    return errno != 0 ? errno : earlier != 0 ? earlier : EIO;
}

int streams_flush(FILE *stream, const char *name, struct cm_diagnostics *diag) {
    const int error = flush(stream);
    if (error == 0) return CM_OK;
    if (error == EPIPE) return CM_IO;
    return diag_system(diag, "write", name, error);
}

int streams_finish(FILE *stream, const char *name, struct cm_diagnostics *diag) {
    const int error = flush(stream);
    if (error == 0 || error == EPIPE) return CM_OK;
    return diag_system(diag, "write", name, error);
}

int streams_write(const char *path, stream_writer *write, const void *context,
                  struct cm_diagnostics *diag) {
    const bool to_stdout = path == NULL || text_equal(path, "-");
    struct output *output = NULL;
    int status = to_stdout ? CM_OK : output_open(path, diag, &output);
    if (status != CM_OK) return diag_finish(diag, status);
    FILE *stream = output == NULL ? stdout : output_stream(output);
    status = write(context, stream);
    if (status == CM_OK || status == CM_IO) {
        const int flushed = streams_flush(stream, to_stdout ? "standard output" : path, diag);
        if (status == CM_OK) status = flushed;
    }
    if (output != NULL && status == CM_OK)
        status = output_commit(output, diag);
    else if (output != NULL)
        output_abandon(output);
    return diag_finish(diag, status);
}

bool streams_color(FILE *stream, enum color_choice choice) {
    if (choice != COLOR_AUTO) return choice == COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR");
    if (no_color != NULL && no_color[0] != '\0') return false;
    const char *terminal = getenv("TERM");
    if (terminal == NULL || text_equal(terminal, "dumb")) return false;
    return system_is_terminal(stream);
}

/* Returns the value of `variable` if it is a valid size, else `size` if positive, else
 * `otherwise`. */
static int choose_size(const char *variable, int size, int otherwise) {
    const char *set = getenv(variable);
    int64_t value = 0;
    if (set != NULL && text_to_int64(set, strlen(set), &value) && value > 0 &&
        value <= MAX_TERMINAL)
        return (int)value;
    return size > 0 ? size : otherwise;
}

int streams_columns(FILE *stream, int width, int otherwise) {
    int columns = 0;
    int lines = 0;
    if (width >= 0) return width;
    system_terminal_size(stream, &columns, &lines);
    return choose_size("COLUMNS", columns, otherwise);
}

int streams_lines(FILE *stream, int otherwise) {
    int columns = 0;
    int lines = 0;
    system_terminal_size(stream, &columns, &lines);
    return choose_size("LINES", lines, otherwise);
}

bool streams_utf8(void) {
    /* in the order of POSIX; setlocale would change the whole process */
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    static const char *const endings[] = {".UTF-8", ".utf8", ".UTF8", ".utf-8"};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (name == NULL || name[0] == '\0') name = getenv(variables[i]);
    for (size_t i = 0; name != NULL && i < sizeof endings / sizeof *endings; i++)
        if (strstr(name, endings[i]) != NULL) return true;
    return false;
}
