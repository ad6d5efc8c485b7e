/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Diagnostics that carry their place. Whoever finds a fault states the fault alone ("input has
 * 64 channels, weight expects 32 x 1 groups"); whoever knows a place (file, pass, node) pushes
 * a frame around the call. The sink is the public struct cm_diagnostics.
 */
#ifndef SUPPORT_DIAG_H
#define SUPPORT_DIAG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/status.h"

struct arena;
struct text;

/* What kind of fault: printed as error[shape]. One row each in diag.c; docs/errors.md explains
 * them. */
enum diag_code {
    DIAG_IO,        /* the file cannot be read or written */
    DIAG_FORMAT,    /* not the bytes of an ONNX model */
    DIAG_GRAPH,     /* names, edges, order: a missing input, a duplicate, a cycle */
    DIAG_OPSET,     /* no opset for a domain, or one that does not exist */
    DIAG_ARITY,     /* too few or too many operands */
    DIAG_ATTRIBUTE, /* missing, of a wrong type, out of range */
    DIAG_SHAPE,     /* dims that do not fit */
    DIAG_TYPE,      /* element types that do not fit */
    DIAG_VALUE,     /* a constant that is out of range or cannot be read */
    DIAG_OVERFLOW,  /* past 2^63 */
    DIAG_UNBOUND,   /* a free dim that nobody bound */
    DIAG_BATCH,     /* the batch cannot be set with certainty */
    DIAG_FIT,       /* more memory is wanted than there is */
    DIAG_LIMIT,     /* a limit of ours: depth, count, size */
    DIAG_UNKNOWN_OP,
    DIAG_ASSUMPTION, /* a note: what was taken for granted */
    DIAG_USAGE,      /* options that do not fit the model */
    DIAG_COMPARE,    /* two profiles that were taken in different ways */
    DIAG_BACKEND,    /* who was to measure cannot */
    DIAG_MEMORY,
    DIAG_N_CODES
};

/*
 * A place on the way to a fault. Lives on the stack of the one who knows it. `print` renders
 * the place lazily, only when a message is made: one line without a newline, or several.
 */
struct diag_frame {
    const struct diag_frame *outer; /* set by diag_push */
    const char *label;              /* "at node", "in function": printed before the place */
    void (*print)(const struct diag_frame *frame,
                  struct text *out); /* NULL: `what` is printed */
    const char *what;
    const char *node;    /* the node's name for cm_diagnostic.node, or NULL */
    uint32_t node_index; /* what stands for a name that is "": 17 is "#17" */
    const void *context;
};

/* Kept at most. An error that comes after takes the place of the newest message that is none.
 */
#define DIAG_MAX_MESSAGES 32

struct cm_diagnostics {
    struct arena *arena;
    const struct cm_diagnostic *items[DIAG_MAX_MESSAGES];
    size_t n_items;
    size_t n_errors;
    size_t n_dropped; /* messages beyond DIAG_MAX_MESSAGES, or that memory was short for */
    bool starved;     /* a message, or part of one, was lost because memory was short */
    struct cm_diagnostic *newest; /* what a hint belongs to; NULL when it was dropped */
    const struct diag_frame *innermost;
};

void diag_push(struct cm_diagnostics *sink, struct diag_frame *frame);
void diag_pop(struct cm_diagnostics *sink, const struct diag_frame *frame);

/*
 * Adds a message and returns the status that belongs to its code (diag_status), so that a
 * caller may write `return diag_error(...)`: CM_NO_MEMORY where memory was short for saying it.
 * A sink of NULL swallows the message and keeps the status.
 */
int diag_error(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_warn(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_note(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int diag_verror(struct cm_diagnostics *sink, enum diag_code code, const char *format,
                va_list args) __attribute__((format(printf, 3, 0)));

/* Adds a hint to the newest message. */
void diag_hint(struct cm_diagnostics *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What stands in another sink, all of it, unless the same is said here of that node. */
void diag_repeat(struct cm_diagnostics *sink, const struct cm_diagnostic *message);

/* malloc failed: one message, for which there is always memory; CM_NO_MEMORY. */
int diag_no_memory(struct cm_diagnostics *sink);
/* `status`, which of CM_NO_MEMORY nobody may have told yet. */
int diag_finish(struct cm_diagnostics *sink, int status);
/* Whether memory was short for any of what was said since this was last asked: a result must
 * not be given out without its notes. */
bool diag_starved(struct cm_diagnostics *sink);

/* The system said no: `cannot open "x": No such file or directory`, CM_IO. `what` is the verb,
 * `error` an errno. */
int diag_system(struct cm_diagnostics *sink, const char *what, const char *name, int error);

/* "shape"; the status that an error of this code gives. */
const char *diag_code_name(enum diag_code code);
int diag_status(enum diag_code code);

/*
 * Ours, not the user's: the program is wrong. Prints the place and aborts. BUG_ON(condition) is
 * for what cannot happen whatever the file says.
 */
_Noreturn void diag_bug(const char *file, int line, const char *what);
#define BUG(what)         diag_bug(__FILE__, __LINE__, what)
#define BUG_ON(condition) ((condition) ? diag_bug(__FILE__, __LINE__, #condition) : (void)0)

#endif
