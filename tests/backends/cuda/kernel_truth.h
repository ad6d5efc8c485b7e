/* SPDX-License-Identifier: Apache-2.0 */
/* Printed by make_kernel_truth.py with PyTorch 2.15.0. */
static const struct {
    const char *name;
    double sum;
} kernel_truth[] = {
    {"softmax_rows", 559.681213},
    {"softmax_columns", -47453.717},
    {"reduce_mean", 72.2569801},
    {"reduce_sum", 16544.4555},
    {"reduce_l2", 2771.68314},
    {"reduce_all", 1.24009895},
    {"layer", 3185.85369},
    {"rms", 2931.91766},
    {"instance", 16402.6157},
    {"group", 16392.9046},
    {"group_last", 16418.0389},
    {"batch", 17154.9324},
    {"batch_last", 17161.77},
    {"batch_training", 16402.3157},
    {"pool_max", 7269.63856},
    {"pool_average", 4658.25821},
    {"pool_padding", 3866.16305},
    {"pool_last", 6180.26232},
    {"resample_linear", 50047.7911},
    {"resample_nearest", 50068.5222},
    {"transpose", 16266.4455},
    {"concat", 24403.6435},
    {"gather_rows", 244.064354},
    {"gather_elements", 192.222773},
    {"gather_runs", 3129.55693},
    {"scatter_runs", 308.851484},
    {"scatter_elements", 295.267326},
    {"chain", 25490.4879},
    {"select", 16194.0396},
    {"cast_bf16", 16275.3555},
};
