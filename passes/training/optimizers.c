/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of optimizers. FLOPs of a step per element, with gradient g and parameter w;
 * factors that all parameters share are computed once and not counted:
 *
 *     sgd       w -= lr g                                                                2
 *     momentum  v = mu v + g;  w -= lr v                                             2 + 2
 *     adam      m += (1 - b1)(g - m)                                                     3
 *               v = b2 v + (1 - b2) g g                                                  4
 *               d = sqrt(v) / c + eps                                                    3
 *               w -= lr' m / d                                                           3
 *     adamw     w = (1 - lr wd) w, then adam                                        1 + 13
 *
 * These are the formulas of torch.optim (Kingma & Ba 2015, Loshchilov & Hutter 2019).
 */
#include "passes/training/optimizers.h"

#include "support/text.h"

static const struct optimizer optimizers[] = {
    /* name, states, flops */
    {"sgd", 0, 2},
    {"momentum", 1, 4},
    {"adam", 2, 13},
    {"adamw", 2, 14},
};

const struct optimizer *optimizers_at(size_t index) {
    return index < sizeof(optimizers) / sizeof(optimizers[0]) ? &optimizers[index] : NULL;
}

const struct optimizer *optimizers_find(const char *name) {
    for (size_t i = 0; optimizers_at(i); i++)
        if (text_equal(optimizers[i].name, name)) return &optimizers[i];
    return NULL;
}
