#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the package onnx_costmodel with models of PyTorch and Hugging Face; skipped without torch.

    test_export.py [--costmodel PROGRAM]    PROGRAM: instead of the one in the package

The truth is the model's own: the number of elements of its parameters, and products of its sizes.
"""
import importlib
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import package  # noqa: E402

LLAMA = {"hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_hidden_layers": 2,
         "num_key_value_heads": 2, "vocab_size": 500}


def parameters(model):
    return sum(parameter.numel() for parameter in model.parameters())


class Modules(unittest.TestCase):
    def perceptron(self, device):
        with torch.device(device):
            return torch.nn.Sequential(torch.nn.Linear(4096, 300), torch.nn.ReLU(), torch.nn.Linear(300, 10))

    def test_a_model_on_the_meta_device_is_profiled_and_stays_there(self):
        model = self.perceptron("meta")
        before = [id(parameter) for parameter in model.parameters()]
        profile = cm.profile(model, example_inputs=torch.empty(2, 4096, device="meta"))
        self.assertEqual(profile.totals.params, parameters(model))
        self.assertEqual(profile.totals.macs, 2 * (4096 * 300 + 300 * 10))
        self.assertEqual([id(parameter) for parameter in model.parameters()], before)
        self.assertTrue(model.training and all(parameter.is_meta for parameter in model.parameters()))

    def test_models_with_and_without_weights_have_the_same_costs(self):
        inputs = torch.zeros(1, 4096)
        with_weights, without = (cm.profile(self.perceptron(device), example_inputs=inputs, batch=3).totals
                                 for device in ("cpu", "meta"))
        for key in ("params", "macs", "flops", "weight_bytes", "peak_activation_bytes"):
            self.assertEqual(with_weights[key], without[key], key)

    def test_tied_parameters_are_counted_once(self):
        with torch.device("meta"):
            model = torch.nn.Sequential(torch.nn.Embedding(50, 8), torch.nn.Linear(8, 50, bias=False))
            model[1].weight = model[0].weight
        profile = cm.profile(model, example_inputs=torch.zeros(1, 3, dtype=torch.int64))
        self.assertEqual(profile.totals.params, 400)
        self.assertIs(model[1].weight, model[0].weight)

    def test_the_framework_count_has_unused_tied_and_sliced_parameters(self):
        class Positions(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.head = torch.nn.Embedding(50, 8), torch.nn.Linear(8, 50, bias=False)
                self.position, self.auxiliary = torch.nn.Embedding(20, 8), torch.nn.Linear(8, 3)
                self.head.weight = self.table.weight

            def forward(self, x):
                return self.head(self.table(x) + self.position(torch.arange(7)))

        model = Positions()
        profile = cm.profile(model, example_inputs=torch.zeros(2, 7, dtype=torch.int64))
        self.assertEqual(profile.totals.framework_params, parameters(model))
        self.assertNotEqual(profile.totals.params, parameters(model))

    def test_the_batch_is_symbolic_and_that_of_the_example_is_the_default(self):
        model = self.perceptron("meta")
        macs = {}
        for batch in (1, 5):
            profile = cm.profile(model, example_inputs={"input": torch.zeros(batch, 4096)})
            self.assertEqual(profile.options.batch, batch)
            macs[batch] = profile.totals.macs
        self.assertEqual(macs[5], 5 * macs[1])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.onnx"
            self.assertEqual(cm.export(model, path, torch.zeros(1, 4096)), {"batch": 1})
            profile = cm.profile(path, batch=7)
            self.assertEqual((profile.totals.macs, profile.options.dims.batch), (7 * macs[1], 7))
            self.assertLess(path.stat().st_size, 20000)

    def test_a_model_with_a_fixed_batch_is_exported_with_it(self):
        class Fixed(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 4)

            def forward(self, x):
                return self.layer(x).reshape(1, -1)

        self.assertEqual(cm.profile(Fixed(), example_inputs=torch.zeros(1, 4)).totals.macs, 16)

    def test_a_model_that_accepts_only_its_batch_is_exported_with_it(self):
        class One(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 4)

            def forward(self, x):
                if x.shape[0] != 1:
                    raise ValueError("one image at a time")
                return self.layer(x)

        profile = cm.profile(One(), example_inputs=torch.zeros(1, 4))
        self.assertEqual((profile.totals.macs, profile.model.inputs[0].shape), (16, [1, 4]))

    def test_an_exported_program_is_a_model(self):
        for device in ("cpu", "meta"):
            program = torch.export.export(self.perceptron(device), (torch.zeros(4, 4096, device=device),))
            self.assertEqual(cm.profile(program).totals.macs, 4 * (4096 * 300 + 300 * 10))

    def test_a_model_that_cannot_be_exported_is_an_error(self):
        class Refuses(torch.nn.Module):
            def forward(self, x):
                raise ValueError("no such axis")

        with self.assertRaisesRegex(cm.CostmodelError, "Refuses cannot be exported: ValueError: no such axis") as caught:
            cm.profile(Refuses(), example_inputs=torch.zeros(1))
        self.assertEqual(caught.exception.code, "export")
        with self.assertRaisesRegex(TypeError, "example_inputs"):
            cm.profile(Refuses())


class HuggingFace(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            cls.library = importlib.import_module("transformers")
        except ImportError as fault:
            raise unittest.SkipTest(f"requires transformers: {fault}") from fault

    def model(self, kind, name, **config):
        with torch.device("meta"):
            return getattr(self.library, name).from_config(self.library.AutoConfig.for_model(kind, **config))

    def llama(self):
        return self.model("llama", "AutoModelForCausalLM", **LLAMA)

    def test_a_language_model_needs_no_inputs(self):
        model = self.llama()
        profile = cm.profile(model, batch=2, dims={"seq": 30})
        self.assertEqual(profile.totals.params, parameters(model))
        head, layer = 64 * 500, 64 * (64 + 32 + 32 + 64 + 3 * 96)
        attention = 2 * 30 * 30 * 64  # scores and values of all heads, of each sequence
        self.assertEqual(profile.totals.macs, 2 * (30 * (head + 2 * layer) + 2 * attention))
        self.assertEqual(cm.profile(model).options.dims.seq, 128)
        self.assertTrue(model.config.use_cache)

    def test_a_cache_is_an_input_of_symbolic_length(self):
        model = self.llama()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "step.onnx"
            sizes = cm.export(model, path, cache=True)
            self.assertEqual(sizes, {"batch": 1, "seq": 1, "past": 2047, "total": 2048})
            served = cm.llm(path, device="h100-sxm", prompt=100, new=10)
        self.assertEqual(served.llm.kv_bytes_per_token, 2 * 2 * 2 * 16 * 4)  # layers, keys and values, heads, width, fp32

    def test_inputs_may_be_given_by_name(self):
        inputs = {"input_ids": torch.ones(1, 9, dtype=torch.int64), "attention_mask": torch.ones(1, 9, dtype=torch.int64)}
        profile = cm.profile(self.llama(), example_inputs=inputs)
        self.assertEqual([value.name for value in profile.model.inputs], ["input_ids", "attention_mask"])
        self.assertEqual(profile.model.inputs[0].shape, [1, 9])

    def test_encoders_and_vision_models_have_made_inputs(self):
        small = {"hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 96}
        for kind, config, dims in (("bert", small, {"seq": 128}), ("vit", small, {}),
                                   ("t5", {"d_model": 32, "d_ff": 64, "num_layers": 1, "num_heads": 2, "d_kv": 16},
                                    {"seq": 128, "decoder_seq": 128})):
            with self.subTest(model=kind):
                model = self.model(kind, "AutoModel", **config)
                profile = cm.profile(model)
                self.assertEqual(profile.options.dims.to_dict(), {"batch": 1, **dims})
                unused = {name for name, _ in model.named_parameters() if "pooler" in name}
                self.assertLessEqual(profile.totals.params, parameters(model))
                self.assertEqual(profile.totals.framework_params, parameters(model))
                self.assertTrue(unused or profile.totals.params == parameters(model))


if __name__ == "__main__":
    sys.exit(package.run_with_torch(globals()))
