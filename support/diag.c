/* SPDX-License-Identifier: Apache-2.0 */
/* Renders messages immediately, into the sink's arena, because frames live on the stack.
 * Names from a file are escaped here, so that none can control a terminal or fake a line. */
#include "support/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/costmodel.h"
#include "support/arena.h"
#include "support/system.h"
#include "support/text.h"

struct code_row {
    const char *name;
    int status; /* status of an error with this code */
};

/* clang-format off */
static const struct code_row code_rows[DIAG_N_CODES] = {
    /* code               name          status */
    [DIAG_IO]         = {"io",         CM_IO},
    [DIAG_FORMAT]     = {"format",     CM_REFUSED},
    [DIAG_GRAPH]      = {"graph",      CM_REFUSED},
    [DIAG_OPSET]      = {"opset",      CM_REFUSED},
    [DIAG_ARITY]      = {"arity",      CM_REFUSED},
    [DIAG_ATTRIBUTE]  = {"attribute",  CM_REFUSED},
    [DIAG_SHAPE]      = {"shape",      CM_REFUSED},
    [DIAG_TYPE]       = {"type",       CM_REFUSED},
    [DIAG_VALUE]      = {"value",      CM_REFUSED},
    [DIAG_OVERFLOW]   = {"overflow",   CM_REFUSED},
    [DIAG_UNBOUND]    = {"unbound",    CM_USAGE},
    [DIAG_BATCH]      = {"batch",      CM_REFUSED},
    [DIAG_FIT]        = {"fit",        CM_REFUSED},
    [DIAG_LIMIT]      = {"limit",      CM_REFUSED},
    [DIAG_UNKNOWN_OP] = {"unknown-op", CM_REFUSED},
    [DIAG_ASSUMPTION] = {"assumption", CM_REFUSED},
    [DIAG_FOLDED]     = {"folded",     CM_REFUSED},
    [DIAG_USAGE]      = {"usage",      CM_USAGE},
    [DIAG_COMPARE]    = {"compare",    CM_REFUSED},
    [DIAG_BACKEND]    = {"backend",    CM_REFUSED},
    [DIAG_INTERRUPTED] = {"interrupted", CM_REFUSED},
    [DIAG_MEMORY]     = {"memory",     CM_NO_MEMORY},
};
/* clang-format on */

/* The out-of-memory message, which needs no allocation. */
static const struct cm_diagnostic no_memory = {
    .severity = CM_ERROR, .code = "memory", .message = "out of memory", .place = ""};

const char *diag_code_name(enum diag_code code) {
    BUG_ON((unsigned)code >= DIAG_N_CODES);
    return code_rows[code].name;
}

int diag_status(enum diag_code code) {
    BUG_ON((unsigned)code >= DIAG_N_CODES);
    return code_rows[code].status;
}

const char *cm_status_message(int status) {
    static const char *const messages[] = {
        [-CM_OK] = "done",
        [-CM_REFUSED] =
            "the model is invalid, or cannot be analysed with these options; see the messages",
        [-CM_USAGE] = "an option is invalid or does not fit the model; see the messages",
        [-CM_NO_MEMORY] = "out of memory",
        [-CM_IO] = "a file cannot be opened, read or written",
    };
    return status > 0 || status < CM_IO ? "unknown status" : messages[-status];
}

struct cm_diagnostics *cm_diagnostics_new(void) {
    struct arena *arena = arena_new("diagnostics", 0);
    if (arena == NULL) return NULL;
    struct cm_diagnostics *sink = arena_alloc(arena, sizeof *sink);
    if (sink == NULL) {
        arena_free(arena);
        return NULL;
    }
    sink->arena = arena;
    return sink;
}

void cm_diagnostics_free(struct cm_diagnostics *diagnostics) {
    if (diagnostics != NULL) arena_free(diagnostics->arena);
}

size_t cm_diagnostics_count(const struct cm_diagnostics *diagnostics) {
    if (diagnostics == NULL) return 0;
    return diagnostics->n_items;
}

const struct cm_diagnostic *cm_diagnostics_get(const struct cm_diagnostics *diagnostics,
                                               size_t index) {
    if (diagnostics == NULL) return NULL;
    return index < diagnostics->n_items ? diagnostics->items[index] : NULL;
}

const struct cm_diagnostic *diag_first_error(const struct cm_diagnostics *sink) {
    for (size_t i = 0; i < cm_diagnostics_count(sink); i++)
        if (sink->items[i]->severity == CM_ERROR) return sink->items[i];
    return NULL;
}

void diag_push(struct cm_diagnostics *sink, struct diag_frame *frame) {
    if (sink == NULL) return;
    frame->outer = sink->innermost;
    sink->innermost = frame;
}

void diag_pop(struct cm_diagnostics *sink, const struct diag_frame *frame) {
    if (sink == NULL) return;
    BUG_ON(sink->innermost != frame);
    sink->innermost = frame->outer;
}

/* Returns the frames as lines, outermost first. The list starts at the innermost frame and is
 * walked once per line: frames are few, and this needs no allocation. */
static const char *render_place(struct cm_diagnostics *sink) {
    struct text out;
    size_t n = 0;
    text_init(&out, sink->arena);
    for (const struct diag_frame *f = sink->innermost; f != NULL; f = f->outer) n++;
    for (size_t i = n; i-- > 0;) {
        const struct diag_frame *frame = sink->innermost;
        for (size_t levels = i; levels > 0; levels--) frame = frame->outer;
        const bool has_place = frame->print != NULL || frame->what != NULL;
        if (frame->label != NULL) text_append(&out, frame->label);
        if (frame->label != NULL && has_place) text_append(&out, " ");
        if (frame->print != NULL)
            frame->print(frame, &out);
        else if (frame->what != NULL)
            text_append_label(&out, frame->what);
        if (i > 0) text_append(&out, "\n");
    }
    sink->starved |= out.failed;
    return text_string(&out);
}

/* Limit of a message, bytes: a name in it may be as long as the file. */
#define LONGEST_LINE 4096

/* Returns the message as one escaped line; NULL if out of memory. */
__attribute__((format(printf, 2, 0))) static const char *
render_line(struct arena *arena, const char *format, va_list args) {
    struct text raw;
    struct text safe;
    text_init(&raw, arena);
    text_init(&safe, arena);
    text_vprintf(&raw, format, args);
    const size_t shown = text_cut_length(text_string(&raw), LONGEST_LINE);
    const bool is_cut = shown < raw.length;
    if (is_cut) raw.data[shown] = '\0';
    text_append_name(&safe, text_string(&raw));
    if (is_cut) text_append(&safe, "...");
    return raw.failed || safe.failed ? NULL : text_string(&safe);
}

/* Returns true if a message fits. An error may replace the newest note or warning. */
static bool make_room(struct cm_diagnostics *sink, enum cm_severity severity) {
    size_t i = sink->n_items;
    if (i < DIAG_MAX_MESSAGES) return true;
    while (i > 0 && sink->items[i - 1]->severity == CM_ERROR) i--;
    if (severity != CM_ERROR || i == 0) return false;
    memmove(&sink->items[i - 1], &sink->items[i], (sink->n_items - i) * sizeof *sink->items);
    sink->n_items--;
    sink->n_dropped++;
    return true;
}

/* Counts a message and stores it; `message` is NULL if it was lost. */
static void store(struct cm_diagnostics *sink, enum cm_severity severity,
                  struct cm_diagnostic *message) {
    if (severity == CM_ERROR) sink->n_errors++;
    sink->newest = message;
    if (message == NULL)
        sink->n_dropped++;
    else
        sink->items[sink->n_items++] = message;
}

/* Returns the rendered message; NULL if out of memory. */
__attribute__((format(printf, 4, 0))) static struct cm_diagnostic *
render(struct cm_diagnostics *sink, enum cm_severity severity, enum diag_code code,
       const char *format, va_list args) {
    struct cm_diagnostic *item = arena_alloc(sink->arena, sizeof *item);
    sink->starved |= item == NULL;
    if (item == NULL) return NULL;
    item->severity = severity;
    item->code = diag_code_name(code);
    item->message = render_line(sink->arena, format, args);
    item->place = render_place(sink);
    const struct diag_frame *frame = sink->innermost;
    while (frame != NULL && frame->node == NULL) frame = frame->outer;
    if (frame != NULL) { /* copied: the message outlives the frame */
        item->node = frame->node[0] == '\0'
                         ? arena_printf(sink->arena, "#%u", frame->node_index)
                         : arena_strdup(sink->arena, frame->node);
        sink->starved |= item->node == NULL;
    }
    sink->starved |= item->message == NULL;
    return item->message == NULL ? NULL : item;
}

/* Adds a message. Returns false if it or a part of it was lost: out of memory. */
__attribute__((format(printf, 4, 0))) static bool add(struct cm_diagnostics *sink,
                                                      enum cm_severity severity,
                                                      enum diag_code code, const char *format,
                                                      va_list args) {
    if (sink == NULL) return true;
    const bool was_starved = sink->starved;
    sink->starved = false;
    store(sink, severity,
          make_room(sink, severity) ? render(sink, severity, code, format, args) : NULL);
    const bool whole = !sink->starved;
    sink->starved |= was_starved;
    return whole;
}

int diag_verror(struct cm_diagnostics *sink, enum diag_code code, const char *format,
                va_list args) {
    return add(sink, CM_ERROR, code, format, args) ? diag_status(code) : diag_no_memory(sink);
}

int diag_error(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const int status = diag_verror(sink, code, format, args);
    va_end(args);
    return status;
}

void diag_warn(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(sink, CM_WARNING, code, format, args);
    va_end(args);
}

void diag_note(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    add(sink, CM_NOTE, code, format, args);
    va_end(args);
}

void diag_replace(struct cm_diagnostics *sink, const char *format, ...) {
    if (sink == NULL || sink->newest == NULL) return;
    va_list args;
    va_start(args, format);
    const char *message = render_line(sink->arena, format, args);
    va_end(args);
    if (message != NULL)
        sink->newest->message = message;
    else
        (void)diag_no_memory(sink);
}

void diag_hint(struct cm_diagnostics *sink, const char *format, ...) {
    if (sink == NULL || sink->newest == NULL) return;
    va_list args;
    va_start(args, format);
    sink->newest->hint = render_line(sink->arena, format, args);
    sink->starved |= sink->newest->hint == NULL;
    va_end(args);
}

static const char *copied(struct cm_diagnostics *sink, const char *text) {
    const char *copy = text == NULL ? NULL : arena_strdup(sink->arena, text);
    sink->starved |= text != NULL && copy == NULL;
    return copy;
}

static struct cm_diagnostic *copy_of(struct cm_diagnostics *sink,
                                     const struct cm_diagnostic *message) {
    struct cm_diagnostic *item = arena_alloc(sink->arena, sizeof *item);
    sink->starved |= item == NULL;
    if (item == NULL) return NULL;
    *item = (struct cm_diagnostic){
        .severity = message->severity,
        .code = message->code,
        .message = copied(sink, message->message),
        .place = copied(sink, message->place),
        .node = copied(sink, message->node),
        .hint = copied(sink, message->hint),
    };
    if (item->place == NULL) item->place = "";
    return item->message == NULL ? NULL : item;
}

void diag_repeat(struct cm_diagnostics *sink, const struct cm_diagnostic *message) {
    if (sink == NULL) return;
    for (size_t i = 0; i < sink->n_items; i++) {
        /* the place may differ: it names the operands */
        const struct cm_diagnostic *item = sink->items[i];
        if (item->severity == message->severity &&
            text_equal(item->message, message->message) &&
            text_equal(item->node, message->node))
            return;
    }
    const bool fits = make_room(sink, message->severity);
    store(sink, message->severity, fits ? copy_of(sink, message) : NULL);
    if (fits && sink->newest == NULL && message->severity == CM_ERROR)
        (void)diag_no_memory(sink);
}

/* Adds an error without diag_error, which would call this function again if out of memory. */
__attribute__((format(printf, 2, 3))) static void add_error(struct cm_diagnostics *sink,
                                                            const char *format, ...) {
    va_list args;
    va_start(args, format);
    (void)add(sink, CM_ERROR, DIAG_MEMORY, format, args);
    va_end(args);
}

int diag_null(struct cm_diagnostics *sink) {
    return diag_error(sink, DIAG_USAGE, "a required argument is NULL");
}

int diag_no_memory(struct cm_diagnostics *sink) {
    if (sink == NULL) return CM_NO_MEMORY;
    if (sink->n_items > 0 &&
        text_equal(sink->items[sink->n_items - 1]->message, no_memory.message))
        return CM_NO_MEMORY;
    add_error(sink, "%s", no_memory.message);
    if (sink->newest == NULL && sink->n_items < DIAG_MAX_MESSAGES) {
        sink->items[sink->n_items++] = &no_memory;
        sink->n_dropped--;
    }
    return CM_NO_MEMORY;
}

int diag_finish(struct cm_diagnostics *sink, int status) {
    return status == CM_NO_MEMORY ? diag_no_memory(sink) : status;
}

bool diag_starved(struct cm_diagnostics *sink) {
    const bool starved = sink != NULL && sink->starved;
    if (starved) sink->starved = false;
    return starved;
}

int diag_system(struct cm_diagnostics *sink, const char *what, const char *name, int error) {
    char reason[128];
    if (sink != NULL && system_error_is_transient(error)) sink->is_transient = true;
    if (!system_error_text(error, reason, sizeof reason))
        snprintf(reason, sizeof reason, "error %d", error);
    return diag_error(sink, DIAG_IO, "cannot %s \"%s\": %s", what, name, reason);
}

_Noreturn void diag_bug(const char *file, int line, const char *what) {
    fprintf(stderr, "costmodel: bug at %s:%d: %s\n", file, line, what);
    abort();
}
