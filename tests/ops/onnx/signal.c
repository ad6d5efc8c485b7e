/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, Fourier transforms, images: see ops/onnx/signal.c. */
#include "op_harness.h"

const struct op_case cases_signal[] = {
    TITLE("attributes and operands set output shapes"),
    GIVES("HannWindow-17", NULL, "int64[]={10}", "float[10]"),
    GIVES("HammingWindow-17", "output_datatype=11", "int32[]={3}", "double[3]"),
    GIVES("BlackmanWindow-17", NULL, "int64[]", "float[?]"),
    GIVES("MelWeightMatrix-17", NULL, "int64[]={8} int64[]={16} int64[] float[] float[]",
          "float[9,8]"),
    GIVES("ImageDecoder-20", NULL, "uint8[100]", "uint8[?,?,3]"),
    GIVES("ImageDecoder-20", "pixel_format=Grayscale", "uint8[100]", "uint8[?,?,1]"),
    REFUSES("HannWindow-17", "output_datatype=99", "int64[]={10}", "float[*]",
            "attribute 'output_datatype' must be an element type, got 99"),
    REFUSES("HannWindow-17", NULL, "int64[]={-1}", "float[*]",
            "output 0 would have the shape [-1]"),
    TITLE("transform has the requested points"),
    /* 8 points: 3 stages of 4 butterflies of 4 MACs, 48; real input takes half */
    COSTS("DFT-20", NULL, "float[1,8,2]", "float[1,8,2]", 48, 96),
    COSTS("DFT-20", NULL, "float[1,8,1]", "float[1,8,2]", 24, 48),
    /* 10 points take the 4 stages of 16 points; 3 x 5 rows */
    COSTS("DFT-20", NULL, "float[3,10,5,1] - int64[]={1}", "float[3,10,5,2]", 15 * 10 * 4,
          15 * 10 * 8),
    COSTS("DFT-17", "axis=2", "float[3,5,10,1]", "float[3,5,10,2]", 600, 1200),
    GIVES("DFT-17", "onesided=1", "float[2,9,1]", "float[2,5,2]"),
    GIVES("DFT-20", "onesided=1", "float[2,9,1] int64[]={16}", "float[2,9,2]"),
    /* from half a spectrum back to 2 (5 - 1) real points */
    COSTS("DFT-20", "onesided=1 inverse=1", "float[1,5,2]", "float[1,8,1]", 24, 48),
    GIVES("DFT-20", "onesided=1 inverse=1", "float[1,5,2] int64[]={9}", "float[1,9,1]"),
    COSTS("DFT-20", NULL, "float[0,8,1]", "float[0,8,2]", OP_NO_MACS, OP_NO_FLOPS),
    GIVES("DFT-20", NULL, "float[?,8,1]", "float[?,8,2]"),
    GIVES("DFT-20", NULL, "float[2,8,1] - int64[]", "float[?,?,2]"),
    GIVES("DFT-20", NULL, "float[*]", "float[*]"),
    REFUSES("DFT-20", NULL, "float[8]", "float[*]", "input 0 must have rank >= 2, got [8]"),
    TITLE("stft frames cover the signal"),
    /* (128 - 16) / 8 + 1 = 15 frames of 16 points, 4 stages: 15 * 16 * 4 */
    COSTS("STFT-17", NULL, "float[1,128,1] int64[]={8} float[16]", "float[1,15,9,2]", 960,
          1920),
    COSTS("STFT-17", "onesided=0", "float[1,128,2] int64[]={8} - int64[]={16}",
          "float[1,15,16,2]", 1920, 3840),
    GIVES("STFT-17", NULL, "float[1,128] int64[]={8} float[16]", "float[1,15,9,2]"),
    GIVES("STFT-17", NULL, "float[1,128,1] int64[]={8}", "float[1,1,65,2]"),
    GIVES("STFT-17", NULL, "float[1,128,1] int64[] float[16]", "float[1,?,9,2]"),
    REFUSES("STFT-17", NULL, "float[1,128,1] int64[]={0} float[16]", "float[*]",
            "frame_step must be >= 1, got 0"),
    REFUSES("STFT-17", NULL, "float[1,8,1] int64[]={1} float[16]", "float[*]",
            "a frame has 16 points, the signal 8"),
    REFUSES("STFT-17", NULL, "float[8] int64[]={1} float[4]", "float[*]",
            "input 0 must have rank 2 or 3, got 1"),
    TITLE("infers real spectra"),
    /* 3 rows of 8 points, 3 stages */
    COSTS("com.microsoft:Rfft-1", NULL, "float[3,8]", "float[3,5,2]", 3 * 8 * 3, 2 * 72),
    COSTS("com.microsoft:Irfft-1", "signal_ndim=1", "float[3,5,2]", "float[3,8]", 3 * 8 * 3,
          2 * 72),
    /* one plane of 4 x 8 points, 5 stages */
    COSTS("com.microsoft:Rfft-1", "signal_ndim=2", "float[4,8]", "float[4,5,2]", 32 * 5,
          2 * 160),
    REFUSES("com.microsoft:Rfft-1", "signal_ndim=3", "float[4,8]", "float[*]",
            "signal_ndim 3 does not fit [4,8]"),
    TITLE("counts butterflies of fourier transforms"),
    /* 16 points: 4 stages of 8 butterflies of 4 MACs; real input takes half */
    COSTS("DFT-20", NULL, "float[3,16,2]", "float[3,16,2]", 3 * (4 * 8 * 4), 2 * 384),
    COSTS("DFT-20", NULL, "float[3,16,1]", "float[3,16,2]", 3 * (4 * 8 * 4) / 2, 2 * 192),
    /* (64 - 16) / 8 + 1 = 7 frames of 16 real points */
    COSTS("STFT-17", NULL, "float[2,64,1] int64[]={8} float[16]", "float[2,7,9,2]",
          2 * 7 * (4 * 8 * 4) / 2, 2 * 896),
    COSTS("com.microsoft:Rfft-1", NULL, "float[3,16]", "float[3,9,2]", 3 * 64, 2 * 192),
    COSTS("HannWindow-17", NULL, "int64[]={10}", "float[10]", OP_NO_MACS, OP_NO_FLOPS),
    /* Counts that the tools report for torch.nn modules and functions of these sizes. */
    TITLE("reproduces tool counts of single modules"),
    COUNTS("DFT-20", NULL, "float[1,8,2]", "float[1,8,2]", {"torch", 0}, {"fvcore", 0},
           {"ptflops", 0}, {"ptflops-aten", 0}, {"thop", 0}),
    COUNTS("STFT-17", NULL, "float[1,128,1] int64[]={8} float[16]", "float[1,15,9,2]",
           {"torch", 0}, {"fvcore", 0}, {"ptflops", 0}, {"ptflops-aten", 0}, {"thop", 0}),
    /* Computed by hand from the formulas of the ONNX operator definitions. */
    TITLE("exact counts each operation once"),
    /* 12 butterflies of 4 multiplications and 6 additions */
    COUNTS("DFT-20", NULL, "float[1,8,2]", "float[1,8,2]", {"exact", 120}),
    /* 15 frames: 64 MACs, 32 more additions and 16 multiplications by the window each */
    COUNTS("STFT-17", NULL, "float[1,128,1] int64[]={8} float[16]", "float[1,15,9,2]",
           {"exact", 15 * (128 + 32 + 16)}),
    COUNTS("HannWindow-17", NULL, "int64[]={10}", "float[10]", {"exact", 40}),
    {.op = NULL},
};
