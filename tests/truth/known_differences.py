# SPDX-License-Identifier: Apache-2.0
"""
Known differences between the real tools and this program: amount and reason.

An amount is the tool's count minus ours, for one sample; the sum of the amounts of a file must be the
whole difference. An amount that a file no longer shows fails the run: delete it.
docs/conventions.md describes the causes.
"""
from collections import namedtuple

# `net`: a net, for all of its files; or a pattern of paths, for some files.
Difference = namedtuple("Difference", "tool net amount reason")

TOKENS = 197                       # of ViT-B/16, width 768, 12 layers of 12 heads
VIT_HIDDEN = 12 * TOKENS * 3072
VIT_SCORES = 12 * 12 * TOKENS**2
VIT_PROJECTIONS = 12 * TOKENS * 768 * 4 * 768

ENC_SCORES = 4 * 8 * 128**2        # 4 layers of 8 heads, width 256, length 128
ENC_HIDDEN = 4 * 128 * 1024
BERT_SCORES = 3 * 4 * 64**2        # 3 layers of 4 heads of 32
GPT_SCORES = 4 * 6 * 128**2        # 4 layers of 6 heads of 32
GPT_HIDDEN = 4 * 128 * 768
GPT_2_SCORES = 2 * 4 * 64**2       # 2 layers of 4 heads of 32, length 64
GPT_2_HIDDEN = 2 * 64 * 512

# Swin-T: (blocks, tokens, width) of each stage.
SWIN = ((2, 3136, 96), (2, 784, 192), (6, 196, 384), (2, 49, 768))
SWIN_TOKENS = sum(n * tokens * width for n, tokens, width in SWIN)
SWIN_PROJECTIONS = sum(n * tokens * 4 * width**2 for n, tokens, width in SWIN)
SWIN_SCORES = SWIN_TOKENS // 32 * 49  # heads of 32, windows of 49
SWIN_ROWS = SWIN_SCORES // 49

CONVNEXT_HIDDEN = 8580096                             # elements that its GELUs read
CONVNEXT_2D = 301056 + 301056 + 150528 + 75264 + 768  # elements that its LayerNorm2d read
FCN_MAPS = 2 * 520 * 520                              # interpolated: 21 channels, two heads
R3D_3D = 39190265856                                  # MACs of its Conv3DSimple
R3D_3D_OUT = 17059840                                 # elements of their outputs
# Inception's F.avg_pool2d: channels at 35, 17 and 8 squared.
POOLS = ((192 + 256 + 288, 35), (4 * 768, 17), (1280 + 2048, 8))
POOLS_OUT = sum(channels * size**2 for channels, size in POOLS)
POOLS_PADDING = sum(channels * ((size + 2)**2 - size**2) for channels, size in POOLS)

METHOD = "Tensor.softmax is not patched, F.softmax is"
FUSED = "F.scaled_dot_product_attention: its softmax is not counted"
UNSEEN_FUSED = "F.scaled_dot_product_attention is not known: both products are missing"
TWICE = "modules counted twice: by their hook, and by the function that they call"
SUBCLASS = "torchvision's {} is a subclass: not known"
ATTENTION = "nn.MultiheadAttention is not known: its projections and softmax are missing"

PADDED = "the padding of its pools is a node of the file: the pool reads more"

DIFFERENCES = [
    Difference("deepspeed", "inception_v3", -POOLS_PADDING, PADDED),
    Difference("deepspeed", "vit_b_16", -VIT_SCORES, FUSED),
    Difference("deepspeed", "gpt", -GPT_2_SCORES, FUSED),
    Difference("deepspeed", "transformer_encoder", -ENC_SCORES, FUSED),
    Difference("deepspeed", "transformer_encoder", -ENC_HIDDEN,
               "the layer kept F.gelu from before it was patched"),
    Difference("deepspeed", "bert_mini", -BERT_SCORES, METHOD),
    Difference("deepspeed", "gpt_mini_tied", -GPT_SCORES, METHOD),

    Difference("deepspeed", "fcn_resnet50", -20 * FCN_MAPS,
               "F.interpolate with a size: the product of the size, neither channels nor batch"),

    Difference("fvcore", "vit_b_16", -12 * 2 * TOKENS**2 * 768, UNSEEN_FUSED),
    Difference("fvcore", "transformer_encoder", -4 * 2 * 128**2 * 256, UNSEEN_FUSED),
    Difference("fvcore", "gpt", -2 * GPT_2_SCORES * 32, UNSEEN_FUSED),
    Difference("ptflops-aten", "gpt", -2 * GPT_2_SCORES * 32, UNSEEN_FUSED),
    Difference("ptflops", "gpt", -2 * GPT_2_SCORES * 32 - GPT_2_SCORES,
               f"{UNSEEN_FUSED}, and the softmax"),
    Difference("ptflops", "gpt", GPT_2_HIDDEN, TWICE),
    Difference("ptflops-aten", "vit_b_16", -12 * 2 * TOKENS**2 * 768, UNSEEN_FUSED),
    Difference("ptflops-aten", "transformer_encoder", -4 * 2 * 128**2 * 256, UNSEEN_FUSED),

    Difference("ptflops", "r3d_18", 20271104 + 50176, TWICE),
    Difference("ptflops", "fcn_resnet50", 119516800 + 4326400, TWICE),
    Difference("ptflops", "inception_v3", 2350848 + 131072, TWICE),
    Difference("ptflops", "inception_v3", -POOLS_PADDING, PADDED),
    Difference("ptflops", "resnet50", 9608704 + 802816 + 100352, TWICE),
    Difference("ptflops", "resnet18", 2308096 + 802816 + 25088, TWICE),
    Difference("ptflops", "squeezenet1_0", 4346248 + 2260320 + 169000, TWICE),
    Difference("ptflops", "shufflenet_v2_x1_0", 1488032 + 301056, TWICE),
    Difference("ptflops", "densenet121", 15667456 - 50176 + 802816 + 702464, TWICE),
    Difference("ptflops", "googlenet", 2875712 + 50176, TWICE),
    Difference("ptflops", "efficientnet_b0", 2369248, TWICE),
    Difference("ptflops", "odd_conv", 120960 + 120960 + 32256 + 8712, TWICE),
    Difference("ptflops", "siamese_shared", 9216 + 9216, TWICE),
    Difference("ptflops", "unet_convtranspose", 524288 + 262144, TWICE),
    Difference("ptflops", "groupnorm_resblock", 64 * 64 * 64, TWICE),
    Difference("ptflops", "convnext_tiny", CONVNEXT_HIDDEN + 37632, TWICE),
    Difference("ptflops", "swin_t", 4 * SWIN_TOKENS + 37632, TWICE),
    Difference("ptflops", "vit_b_16", VIT_HIDDEN, TWICE),
    Difference("ptflops", "gpt_mini_tied", GPT_HIDDEN, TWICE),
    Difference("ptflops", "convnext_tiny", -CONVNEXT_2D, SUBCLASS.format("LayerNorm2d")),
    Difference("ptflops", "r3d_18", -(R3D_3D + R3D_3D_OUT), SUBCLASS.format("Conv3DSimple")),
    Difference("ptflops", "swin_t", -SWIN_PROJECTIONS - 4 * SWIN_TOKENS,
               "F.linear is not patched: the projections of its attention are missing"),
    Difference("ptflops", "vit_b_16", 12 * TOKENS * 768, "it counts the scaling of the queries"),
    Difference("ptflops", "transformer_encoder", 4 * 128 * 256,
               "it counts the scaling of the queries"),
    Difference("ptflops", "transformer_encoder", -ENC_HIDDEN,
               "the layer kept F.gelu from before it was patched"),
    Difference("ptflops", "bert_mini", -BERT_SCORES, METHOD),
    Difference("ptflops", "gpt_mini_tied", -GPT_SCORES, METHOD),
    Difference("ptflops", "bert_mini", -2 * BERT_SCORES * 32, "the operator @ is not patched"),
    Difference("ptflops", "gpt_mini_tied", -2 * GPT_SCORES * 32, "the operator @ is not patched"),

    Difference("thop", "mobilenet_v2", -(62720 + 1280), "a functional pool is not seen"),
    Difference("thop", "inception_v3", -POOLS_OUT, "a functional pool is not seen"),
    Difference("thop", "fcn_resnet50", -11 * 21 * FCN_MAPS, "F.interpolate is not seen"),
    Difference("thop", "densenet121", -(50176 + 1024), "a functional pool is not seen"),
    Difference("thop", "convnext_tiny", -4 * CONVNEXT_2D, SUBCLASS.format("LayerNorm2d")),
    Difference("thop", "r3d_18", -R3D_3D, SUBCLASS.format("Conv3DSimple")),
    Difference("thop", "swin_t", -SWIN_PROJECTIONS - (3 * SWIN_SCORES - SWIN_ROWS),
               "functional projections and softmax of its attention are not seen"),
    Difference("thop", "vit_b_16", -VIT_PROJECTIONS - (3 * VIT_SCORES - VIT_SCORES // TOKENS),
               ATTENTION),
    Difference("thop", "transformer_encoder",
               -4 * 128 * 4 * 256**2 - (3 * ENC_SCORES - ENC_SCORES // 128), ATTENTION),
    Difference("thop", "gpt", -(3 * GPT_2_SCORES - GPT_2_SCORES // 64),
               "F.scaled_dot_product_attention is not a module: its softmax is missing"),
    Difference("thop", "bert_mini", -(3 * BERT_SCORES - BERT_SCORES // 64),
               "Tensor.softmax is not a module"),
    Difference("thop", "gpt_mini_tied", -(3 * GPT_SCORES - GPT_SCORES // 128),
               "Tensor.softmax is not a module"),
]

# Of files. Nodes that depend on no input of the model have no costs here; onnx-tool counts them.
SCALARS = "it counts shape arithmetic"
CONSTANTS = "it counts what depends on no input"
GONE = "dynamo made the AdaptiveAvgPool a ReduceMean"
MERGED = "dynamo folded BatchNorms into Linear layers, too"
DYNAMO_RESNET, DYNAMO_POINTNET = "models/torch/resnet50_dynamo.onnx", "models/torch/pointnet_dynamo.onnx"
POOLED = 2048 * 49                 # ResNet-50's
LINEAR_NORMED = 3 * (512 + 256)    # PointNet's, of one sample

DIFFERENCES += [
    Difference("deepspeed", DYNAMO_RESNET, POOLED, GONE),
    Difference("fvcore", DYNAMO_RESNET, POOLED, GONE),
    Difference("ptflops", DYNAMO_RESNET, POOLED, GONE),
    Difference("thop", DYNAMO_RESNET, POOLED + 2048, GONE),
    Difference("deepspeed", DYNAMO_POINTNET, 2 * LINEAR_NORMED, MERGED),
    Difference("fvcore", DYNAMO_POINTNET, 2 * LINEAR_NORMED, MERGED),
    Difference("ptflops", DYNAMO_POINTNET, 2 * LINEAR_NORMED, MERGED),
    Difference("thop", DYNAMO_POINTNET, 4 * LINEAR_NORMED, MERGED),

    Difference("onnx-tool", "classification/shufflenet_v2_x1_0__*op1?.onnx", 91, SCALARS),
    Difference("onnx-tool", "classification/swin_t__*", 888451,
               f"{CONSTANTS}: the masks of shifted windows"),
    Difference("onnx-tool", "classification/vit_b_16__*op9.onnx", 6, SCALARS),
    Difference("onnx-tool", "classification/vit_b_16__*op1?.onnx", 102, SCALARS),
    Difference("onnx-tool", "custom/bert_mini__nofold_b1__op9.onnx", 64, SCALARS),
    Difference("onnx-tool", "custom/gpt_mini_tied__dyn__*", 256**2, f"{CONSTANTS}: the causal mask"),
    Difference("onnx-tool", "custom/gpt_mini_tied__nofold_b1__op9.onnx", 256**2 + 257,
               f"{CONSTANTS}: the causal mask, positions"),
    Difference("onnx-tool", "custom/qdq_fakequant__*", 4 * (216 + 32),
               f"{CONSTANTS}: the quantization of the weights"),
    Difference("onnx-tool", "custom/transformer_encoder__*op1?.onnx", 32, SCALARS),
    Difference("onnx-tool", "models/torch/gpt_dynamo.onnx", 8192, f"{CONSTANTS}: the causal mask"),
    Difference("onnx-tool", "models/torch/gpt_torchscript.onnx", 8192 + 180,
               f"{CONSTANTS}: the causal mask, shape arithmetic"),
    Difference("onnx-tool", "models/torch/vit_b_16_torchscript.onnx", 942, SCALARS),
]

# Queries of docs/memory.md: (query, net) -> (amount, why).
QUERIES = {
    ("fvcore-activations", "vit_b_16"): (-(VIT_SCORES + 12 * TOKENS * 768), UNSEEN_FUSED),
    ("fvcore-activations", "transformer_encoder"): (-(ENC_SCORES + 4 * 128 * 256), UNSEEN_FUSED),
}
