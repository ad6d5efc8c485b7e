/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the kernels of elementwise functions and of copies. */
#include "backends/cuda/jit/jit.h"
#include "backends/cuda/refuse.h"
#include "backends/primitive.h"
#include "support/checked.h"

/* C++ expressions: v is the running value, w the second operand of the step, a0, a1 and a2 are
 * the inputs of the primitive, A and B alpha and beta of the step, C the compute type. */
static const struct {
    const char *text;
    bool of_integers; /* C may be an integer type */
} functions[CM_N_FUNCTIONS] = {
    [CM_ABS] = {"v < 0 ? -v : v", true},
    [CM_ACOS] = {"acos(v)", false},
    [CM_ACOSH] = {"acosh(v)", false},
    [CM_ASIN] = {"asin(v)", false},
    [CM_ASINH] = {"asinh(v)", false},
    [CM_ATAN] = {"atan(v)", false},
    [CM_ATANH] = {"atanh(v)", false},
    [CM_CAST] = {"v", true},
    [CM_CEIL] = {"ceil(v)", false},
    [CM_CLIP] = {"v < A ? A : v > B ? B : v", true},
    [CM_COS] = {"cos(v)", false},
    [CM_COSH] = {"cosh(v)", false},
    [CM_ELU] = {"v > 0 ? v : A * expm1(v)", false},
    [CM_ERF] = {"erf(v)", false},
    [CM_EXP] = {"exp(v)", false},
    [CM_FLOOR] = {"floor(v)", false},
    [CM_GELU] = {"v * (C)0.5 * (1 + erf(v * (C)0.70710678118654752))", false},
    [CM_GELU_TANH] = {"v * (C)0.5 * (1 + tanh((C)0.79788456080286536 * "
                      "(v + (C)0.044715 * v * v * v)))",
                      false},
    [CM_HARD_SIGMOID] = {"fmax((C)0, fmin((C)1, A * v + B))", false},
    [CM_HARD_SWISH] = {"v * fmax((C)0, fmin((C)1, v / 6 + (C)0.5))", false},
    [CM_LEAKY_RELU] = {"v > 0 ? v : A * v", false},
    [CM_LINEAR] = {"A * v + B", true},
    [CM_LOG] = {"log(v)", false},
    [CM_MISH] = {"v * tanh(log1p(exp(v)))", false},
    [CM_NEGATE] = {"-v", true},
    [CM_NOT] = {"v == 0", true},
    [CM_RECIPROCAL] = {"1 / v", false},
    [CM_RELU] = {"v > 0 ? v : 0", true},
    [CM_ROUND] = {"rint(v)", false},
    [CM_SIGMOID] = {"1 / (1 + exp(-v))", false},
    [CM_SIGN] = {"(v > 0) - (v < 0)", true},
    [CM_SIN] = {"sin(v)", false},
    [CM_SINH] = {"sinh(v)", false},
    [CM_SOFTPLUS] = {"log1p(exp(v))", false},
    [CM_SQRT] = {"sqrt(v)", false},
    [CM_SQUARE] = {"v * v", true},
    [CM_SWISH] = {"v / (1 + exp(-A * v))", false},
    [CM_TAN] = {"tan(v)", false},
    [CM_TANH] = {"tanh(v)", false},
    [CM_THRESHOLD] = {"v > A ? v : 0", true},
    [CM_ADD] = {"v + w", true},
    [CM_SUBTRACT] = {"v - w", true},
    [CM_MULTIPLY] = {"v * w", true},
    [CM_DIVIDE] = {"w != 0 ? v / w : 0", true},
    [CM_MAXIMUM] = {"v > w ? v : w", true},
    [CM_MINIMUM] = {"v < w ? v : w", true},
    [CM_MODULO] = {"w != 0 ? v - w * (C)(i64)(v / w) : 0", true},
    [CM_POWER] = {"pow(v, w)", false},
    [CM_COMPARE] = {"v >= w", true},
    [CM_LOGIC] = {"v != 0 && w != 0", true},
    [CM_PRELU] = {"v > 0 ? v : w * v", false},
    [CM_SELECT] = {"a0 != 0 ? a1 : a2", true},
};

/* Returns "double" if an operand is a double, "long long" if all operands are integers and all
 * functions are `of_integers`, else "float". */
static const char *compute_type(const struct cm_primitive *primitive,
                                const struct cm_tensor *const *operands) {
    bool integers = true;
    for (int32_t i = 0; i < primitive->n_inputs + 1; i++) {
        if (operands[i]->element == CM_F64) return "double";
        integers = integers && operands[i]->element > CM_F8E5M2;
    }
    for (int32_t i = 0; i < primitive->n_steps; i++)
        integers = integers && functions[primitive->steps[i].function].of_integers;
    return integers ? "long long" : "float";
}

/* Writes the statements that compute v from the operands a<i>, for element j of the thread's
 * vector or for its only element. A vector operand is in the variable a<i>_. */
static void add_steps(struct jit *jit, const struct jit_index *index, int vector) {
    for (int i = 0; i < index->n - 1 && vector > 1; i++)
        if (index->strides[i][index->rank - 1] == 1)
            jit_add(jit, "        const C a%d = get(a%d_.at[j]);\n", i, i);
    jit_add(jit, "        C v = a0;\n");
    for (int32_t i = 0; i < jit->primitive->n_steps; i++) {
        const struct cm_eltwise *step = &jit->primitive->steps[i];
        jit_add(jit, "        { const C A = (C)%.17g, B = (C)%.17g, w = a%d;\n", step->alpha,
                step->beta, (int)step->operand);
        jit_add(jit, "          (void)A; (void)B; (void)w; v = (C)(%s); }\n",
                functions[step->function].text);
    }
}

/* Writes a kernel whose threads compute `vector` elements each. An operand is loaded
 * as a vector unless it is broadcast along the last axis. */
static void write_steps(struct jit *jit, const struct jit_index *index, int vector) {
    const char *type = jit_type(jit->primitive->outputs[0].element);
    const int n = index->n - 1;
    jit_begin(jit, false, jit_index_elements(index) / vector);
    jit_index_write(jit, index, vector);
    for (int i = 0; i < n; i++)
        if (index->strides[i][index->rank - 1] == 1 && vector > 1)
            jit_add(jit, "    const auto a%d_ = *(const vec<%s, %d> *)(x%d + o%d);\n", i,
                    jit_type(jit->primitive->inputs[i].element), vector, i, i);
        else
            jit_add(jit, "    const C a%d = get(x%d[o%d]);\n", i, i, i);
    if (vector == 1) {
        jit_add(jit, "    {\n");
        add_steps(jit, index, vector);
        jit_add(jit, "        put(y0[o%d], v);\n    }\n}\n", n);
        return;
    }
    jit_add(jit, "    vec<%s, %d> out;\n    for (int j = 0; j < %d; j++) {\n", type, vector,
            vector);
    add_steps(jit, index, vector);
    jit_add(jit,
            "        put(out.at[j], v);\n    }\n    *(vec<%s, %d> *)(y0 + o%d) = out;\n}\n",
            type, vector, n);
}

int jit_write_eltwise(const struct cm_primitive *primitive, struct jit *jit,
                      struct cm_reason *reason) {
    const struct cm_tensor *operands[COALESCE_OPERANDS];
    struct jit_index index;
    int64_t widest = 1;
    const int n = primitive->n_inputs;
    for (int32_t i = 0; i < primitive->n_steps; i++) {
        const int32_t function = primitive->steps[i].function;
        if (function == CM_SELECT && (i > 0 || n < 3))
            return cuda_refuse(reason, CM_BACKEND_REFUSED,
                               "a selection must have three operands");
        if (functions[function].text == NULL)
            return cuda_refuse(reason, CM_BACKEND_REFUSED, "unknown function");
    }
    for (int i = 0; i <= n; i++) {
        operands[i] = i < n ? &primitive->inputs[i] : &primitive->outputs[0];
        const int64_t size = primitive_element_size(operands[i]->element);
        if (size > widest) widest = size;
    }
    if (primitive->n_outputs != 1 || !jit_index_read(operands[n], operands, n + 1, &index))
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the operands do not broadcast to the result");
    const bool whole = index.strides[n][index.rank - 1] == 1;
    jit_add(jit, "typedef %s C;\n%s", compute_type(primitive, operands), jit_prelude);
    write_steps(jit, &index, whole ? jit_index_vector(&index, JIT_VECTOR_BYTES / widest) : 1);
    return CM_BACKEND_OK;
}

/* Writes a kernel that copies one input to the part of the result that begins at `offset`. */
static int copy_part(const struct cm_primitive *primitive, struct jit *jit, int input,
                     int64_t offset, struct cm_reason *reason) {
    struct cm_tensor part = primitive->outputs[0];
    const struct cm_tensor *const operands[] = {&primitive->inputs[input], &part};
    const char *type = jit_bits(part.element);
    struct jit_index index;
    if (primitive->n_inputs > 1) {
        if (operands[0]->rank != part.rank)
            return cuda_refuse(reason, CM_BACKEND_REFUSED,
                               "all operands must have the rank of the result");
        part.dims[primitive->axis] = operands[0]->dims[primitive->axis];
    }
    if (operands[0]->element != part.element || !jit_index_read(&part, operands, 2, &index))
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "an operand is not a part of the result");
    int vector =
        jit_index_vector(&index, JIT_VECTOR_BYTES / primitive_element_size(part.element));
    while (offset % vector != 0) vector /= 2;
    if (index.strides[0][index.rank - 1] == 0) vector = 1;
    jit_begin(jit, true, jit_index_elements(&index) / vector);
    jit_index_write(jit, &index, vector);
    jit_add(jit,
            "    *(vec<%s, %d> *)(y0 + o1 + %lldull) = *(const vec<%s, %d> *)(x%d + o0);\n}\n",
            type, vector, (long long)offset, type, vector, input);
    return CM_BACKEND_OK;
}

int jit_write_copy(const struct cm_primitive *primitive, struct jit *jit,
                   struct cm_reason *reason) {
    const struct cm_tensor *y = &primitive->outputs[0];
    int64_t at = 0;
    int status = CM_BACKEND_OK;
    if (primitive->n_outputs != 1 || (primitive->n_inputs > 1 && primitive->axis >= y->rank))
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the concat axis must be an axis of the result");
    jit_add(jit, "typedef float C;\n%s", jit_prelude);
    for (int i = 0; i < primitive->n_inputs && status == CM_BACKEND_OK; i++) {
        const int64_t offset =
            primitive->n_inputs > 1 ? checked_mul(at, y->strides[primitive->axis]) : 0;
        if (primitive->n_inputs > 1) at += primitive->inputs[i].dims[primitive->axis];
        status = copy_part(primitive, jit, i, offset, reason);
    }
    if (status == CM_BACKEND_OK && primitive->n_inputs > 1 && at != y->dims[primitive->axis])
        return cuda_refuse(reason, CM_BACKEND_REFUSED,
                           "the operands do not add up to the result");
    return status;
}
