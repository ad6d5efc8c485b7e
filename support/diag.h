/* SPDX-License-Identifier: Apache-2.0 */
/* Diagnostics with their location. The function that detects a fault reports only the fault
 * ("input has 64 channels, weight expects 32 x 1 groups"); its callers push frames that name
 * the file, pass and node. The sink is the public struct cm_diagnostics. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "costmodel/status.h"

struct arena;
struct text;

/* The kind of a fault, printed as error[shape]. One row each in diag.c; see docs/errors.md. */
enum diag_code {
    DIAG_IO,        /* the file cannot be read or written */
    DIAG_FORMAT,    /* not an ONNX model, or not valid JSON */
    DIAG_GRAPH,     /* names, edges, order: a missing input, a duplicate, a cycle */
    DIAG_OPSET,     /* no opset for a domain, or one that does not exist */
    DIAG_ARITY,     /* too few or too many operands */
    DIAG_ATTRIBUTE, /* missing, of a wrong type, out of range */
    DIAG_SHAPE,     /* dims that do not fit */
    DIAG_TYPE,      /* element types that do not fit */
    DIAG_VALUE,     /* a constant that is out of range or cannot be read */
    DIAG_OVERFLOW,  /* exceeds int64_t */
    DIAG_UNBOUND,   /* a symbolic dim without a size */
    DIAG_BATCH,     /* the batch cannot be set with certainty */
    DIAG_FIT,       /* requires more memory than the limit */
    DIAG_LIMIT,     /* a built-in limit: depth, count, size */
    DIAG_UNKNOWN_OP,
    DIAG_ASSUMPTION,  /* a note: an assumption of the analysis */
    DIAG_FOLDED,      /* a warning: the exporter may have folded norms away */
    DIAG_USAGE,       /* invalid options for this model */
    DIAG_COMPARE,     /* profiles taken under different conditions */
    DIAG_BACKEND,     /* the backend cannot measure */
    DIAG_INTERRUPTED, /* measuring was interrupted: some times are missing */
    DIAG_MEMORY,
    DIAG_N_CODES
};

/* One level of the location of a fault; lives on the stack of the function that pushes it.
 * `print` renders it when a message is created: one or more lines, no newline at the end. */
struct diag_frame {
    const struct diag_frame *outer; /* set by diag_push */
    const char *label;              /* "at node", "in function": printed before the place */
    void (*print)(const struct diag_frame *frame,
                  struct text *out); /* prints the place; NULL: `what` is the place */
    const char *what;
    const char *node;    /* the node's name for cm_diagnostic.node, or NULL */
    uint32_t node_index; /* printed if the name is "": 17 is "#17" */
    const void *context;
};

/* Limit of stored messages. At the limit, an error replaces the newest note or warning. */
#define DIAG_MAX_MESSAGES 32

struct cm_diagnostics {
    struct arena *arena;
    const struct cm_diagnostic *items[DIAG_MAX_MESSAGES];
    size_t n_items;
    size_t n_errors;
    size_t n_dropped;             /* messages lost to DIAG_MAX_MESSAGES or to out of memory */
    bool starved;                 /* a message, or part of one, was lost: out of memory */
    bool is_transient;            /* a system error that another run may not have */
    struct cm_diagnostic *newest; /* the message that a hint is added to; NULL if dropped */
    const struct diag_frame *innermost;
};

void diag_push(struct cm_diagnostics *sink, struct diag_frame *frame);
void diag_pop(struct cm_diagnostics *sink, const struct diag_frame *frame);

/* Adds a message and returns the status of its code (diag_status), so that a caller can write
 * `return diag_error(...)`. Returns CM_NO_MEMORY if the message cannot be allocated. A NULL
 * sink discards the message; the status is the same. */
int diag_error(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_warn(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void diag_note(struct cm_diagnostics *sink, enum diag_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int diag_verror(struct cm_diagnostics *sink, enum diag_code code, const char *format,
                va_list args) __attribute__((format(printf, 3, 0)));

/* Replaces the text of the newest message. */
void diag_replace(struct cm_diagnostics *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Adds a hint to the newest message. */
void diag_hint(struct cm_diagnostics *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a copy of another sink's message, unless this sink has it for the same node already. */
void diag_repeat(struct cm_diagnostics *sink, const struct cm_diagnostic *message);

/* Adds an out-of-memory message, which needs no allocation. Returns CM_NO_MEMORY. */
int diag_no_memory(struct cm_diagnostics *sink);
/* Adds a message that a public function was called with NULL. Returns CM_USAGE. */
int diag_null(struct cm_diagnostics *sink);
/* Returns `status`. If it is CM_NO_MEMORY, adds the out-of-memory message if it is missing. */
int diag_finish(struct cm_diagnostics *sink, int status);
/* Returns the first error, valid until the next message; NULL if there is none. */
const struct cm_diagnostic *diag_first_error(const struct cm_diagnostics *sink);
/* Returns true if a message was lost to out of memory since the last call. The result is then
 * unreliable: a note may be missing. */
bool diag_starved(struct cm_diagnostics *sink);

/* Adds `cannot open "x": No such file or directory`: `what` is the verb "open", `name` is "x",
 * `error` an errno value. Returns CM_IO. */
int diag_system(struct cm_diagnostics *sink, const char *what, const char *name, int error);

/* Return the name of a code, for example "shape", and the status of its errors. */
const char *diag_code_name(enum diag_code code);
int diag_status(enum diag_code code);

/* Prints the location and aborts. For faults of the program, never of its input: BUG_ON(c) is
 * for conditions that no input can cause. */
_Noreturn void diag_bug(const char *file, int line, const char *what);
#define BUG(what)         diag_bug(__FILE__, __LINE__, what)
#define BUG_ON(condition) ((condition) ? diag_bug(__FILE__, __LINE__, #condition) : (void)0)
