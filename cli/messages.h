/* SPDX-License-Identifier: Apache-2.0 */
/* Prints diagnostics to standard error. */
#pragma once

#include "cli/streams.h"

struct cm_diagnostics;

/* Prints warnings and errors; notes are part of the report. `subject` is the path of the model
 * ("-": standard input) or the name of the program.
 *
 *     resnet.onnx: error[shape]: input has 64 channels, weight expects 32 x 1 groups
 *       at node 17 "layer1.0/conv1", Conv-11, pass infer
 *       hint: the exporter may have dropped the attribute 'group'
 *
 * `rest` (or NULL), whose messages are printed later, learns that one of these was lost. */
void messages_print(struct cm_diagnostics *diag, const char *subject, enum color_choice color,
                    struct cm_diagnostics *rest);
