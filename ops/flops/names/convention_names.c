/* SPDX-License-Identifier: Apache-2.0 */
/* Names, units and descriptions of the FLOP-counting conventions, one row each. */
#include "ops/flops/names/convention_names.h"

#include "support/text.h"

/* clang-format off */
static const struct cm_convention conventions[] = {
    {"deepspeed",    "FLOPs", "2 FLOPs a MAC, Python-operator arithmetic 0", false},
    {"exact",        "FLOPs", "every arithmetic operation once, 2 a MAC", true},
    {"macs",         "MACs",  "multiply-add pairs of products, nothing else", false},
    {"torch",        "FLOP",  "2 a MAC of convolutions and matrix products, nothing else", false},
    {"fvcore",       "flops", "1 a MAC, and norms, pools and resizing at 1 to 5 an element", false},
    {"ptflops",      "MAC",   "MACs + biases, norms, pools and activations, 1:1 (pytorch backend)", false},
    {"ptflops-aten", "MAC",   "MACs + biases, 1:1 (aten backend)", false},
    {"thop",         "MACs",  "MACs + norms, average pools and softmax, 1:1", false},
    {"onnx-tool",    "MACs",  "MACs + elementwise at the price of x86 instructions: exp 32, div 4", false},
};
/* clang-format on */

#define N_CONVENTIONS (sizeof(conventions) / sizeof(conventions[0]))

const struct cm_convention *conventions_at(size_t index) {
    return index < N_CONVENTIONS ? &conventions[index] : NULL;
}

size_t conventions_count(void) {
    return N_CONVENTIONS;
}

const struct cm_convention *conventions_find(const char *name) {
    for (size_t i = 0; i < N_CONVENTIONS; i++)
        if (text_equal(conventions[i].name, name)) return &conventions[i];
    return NULL;
}

bool conventions_separate_integers(const char *name) {
    const struct cm_convention *convention = conventions_find(name);
    return convention != NULL && convention->separates_integers;
}
