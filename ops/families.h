/* SPDX-License-Identifier: Apache-2.0 */
/* The families of operators. Each is defined at the end of the file with its name. */
#ifndef OPS_FAMILIES_H
#define OPS_FAMILIES_H

#include "ops/op.h"

extern const struct op_family family_activation;
extern const struct op_family family_arithmetic;
extern const struct op_family family_attention;
extern const struct op_family family_cast;
extern const struct op_family family_concat;
extern const struct op_family family_constant;
extern const struct op_family family_control;
extern const struct op_family family_convolution;
extern const struct op_family family_einsum;
extern const struct op_family family_elementwise;
extern const struct op_family family_gather;
extern const struct op_family family_logic;
extern const struct op_family family_loop;
extern const struct op_family family_loss;
extern const struct op_family family_matmul;
extern const struct op_family family_ml;
extern const struct op_family family_move;
extern const struct op_family family_norm;
extern const struct op_family family_optimizer;
extern const struct op_family family_pad;
extern const struct op_family family_pool;
extern const struct op_family family_quantize;
extern const struct op_family family_random;
extern const struct op_family family_recurrent;
extern const struct op_family family_reduce;
extern const struct op_family family_reshape;
extern const struct op_family family_resize;
extern const struct op_family family_scan;
extern const struct op_family family_scatter;
extern const struct op_family family_select;
extern const struct op_family family_sequence;
extern const struct op_family family_signal;
extern const struct op_family family_slice;
extern const struct op_family family_softmax;
extern const struct op_family family_string;
extern const struct op_family family_transformer;
extern const struct op_family family_contrib;
extern const struct op_family family_contrib_attention;
extern const struct op_family family_contrib_data;
extern const struct op_family family_contrib_elements;
extern const struct op_family family_contrib_generation;
extern const struct op_family family_contrib_nchwc;
extern const struct op_family family_contrib_products;
extern const struct op_family family_contrib_sparse;
extern const struct op_family family_contrib_states;

#endif
