/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What no primitive does, each with the reason that a report gives. Views, shape arithmetic and
 * control flow are not here: they do nothing themselves, and their rows of operators say so.
 */
#include "ops/lowering.h"

#include "support/banned.h"

#define SORTS     "how much it does hangs on the numbers: no primitive sorts or selects"
#define SAMPLES   "it samples at places that it computes: no primitive does"
#define WRITES    "it reads nothing: no primitive only writes"
#define RANDOM    "no primitive draws random numbers"
#define SEQUENCES "sequences have no primitive"

#define NONE(type, why)                                                                        \
    { type, NULL, CM_PRIMITIVE_NONE, 0, IMAGES_NONE, why }

const struct lowering_row lowering_none[] = {
    NONE("Compress", SORTS),
    NONE("NonMaxSuppression", SORTS),
    NONE("NonZero", SORTS),
    NONE("TopK", SORTS),
    NONE("Unique", SORTS),
    NONE("AffineGrid", SAMPLES),
    NONE("DeformConv", SAMPLES),
    NONE("GridSample", SAMPLES),
    NONE("MaxRoiPool", SAMPLES),
    NONE("RoiAlign", SAMPLES),
    NONE("MaxUnpool", "it puts elements where indices say: no primitive does without updates"),
    NONE("Constant", WRITES),
    NONE("ConstantOfShape", WRITES),
    NONE("EyeLike", WRITES),
    NONE("OneHot", "no primitive writes a table by indices alone"),
    NONE("Range", WRITES),
    NONE("Bernoulli", RANDOM),
    NONE("Multinomial", RANDOM),
    NONE("RandomNormal", RANDOM),
    NONE("RandomNormalLike", RANDOM),
    NONE("RandomUniform", RANDOM),
    NONE("RandomUniformLike", RANDOM),
    NONE("CumSum", "no primitive runs sums along an axis"),
    NONE("GlobalLpPool", "no primitive pools by a norm"),
    NONE("LpPool", "no primitive pools by a norm"),
    NONE("LpNormalization", "a reduction and what hangs on it are two primitives"),
    NONE("Hardmax", "a reduction and what hangs on it are two primitives"),
    NONE("Shrink", "no primitive has its function"),
    NONE("ConcatFromSequence", SEQUENCES),
    NONE("Optional", SEQUENCES),
    NONE("OptionalGetElement", SEQUENCES),
    NONE("OptionalHasElement", SEQUENCES),
    NONE("SequenceAt", SEQUENCES),
    NONE("SequenceConstruct", SEQUENCES),
    NONE("SequenceEmpty", SEQUENCES),
    NONE("SequenceErase", SEQUENCES),
    NONE("SequenceInsert", SEQUENCES),
    NONE("SequenceLength", SEQUENCES),
    NONE("SplitToSequence", SEQUENCES),
    {NULL, NULL, 0, 0, IMAGES_NONE, NULL},
};
