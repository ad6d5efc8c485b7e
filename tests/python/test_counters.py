#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_counters of the package onnx_costmodel, with the FLOP counters that are installed; skipped without torch.

    test_counters.py [--costmodel PROGRAM]    PROGRAM: instead of the one in the package

The totals are those of the other tools; the amounts of the reasons have to add up to the differences.
"""
import sys
import unittest

sys.dont_write_bytecode = True
import package  # noqa: E402



def convolutional():
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 8, 3, bias=False), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 12, 3),
                         nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, 5))


def attention():
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
    return torch.nn.TransformerEncoder(layer, 2)


class Counters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.compared = {name: cm.compare_counters(make(), torch.zeros(*shape)) for name, make, shape in (
            ("convolutional", convolutional, (2, 3, 20, 20)), ("attention", attention, (2, 10, 32)))}

    def of(self, model, counter):
        try:
            return self.compared[model][counter]
        except StopIteration:
            self.skipTest(f"{counter} is not installed")

    def test_amounts_of_reasons_add_up(self):
        for model, compared in self.compared.items():
            for count in compared:
                with self.subTest(model=model, counter=count.counter):
                    self.assertIsNotNone(count.total, count.why)
                    self.assertIn(count.unexplained, (0, None), count.why)
                    self.assertTrue(count.why)

    def test_the_fast_path_hides_all_products_of_an_encoder(self):
        count = self.of("attention", "FlopCounterMode")
        self.assertEqual(count.total, 0)
        self.assertEqual(count.here, 2 * 2 * 2 * (10 * (4 * 32 * 32 + 2 * 32 * 64) + 2 * 10 * 10 * 32))
        self.assertIn("fast path", count.why)
        self.assertEqual(self.of("convolutional", "FlopCounterMode").why, "equal")

    def test_fvcore_does_not_know_attention(self):
        self.assertEqual([reason.amount for reason in self.of("attention", "fvcore").reasons], [-2 * 2 * 2 * 10 * 10 * 32])

    def test_thop_leaves_functions_out(self):
        self.assertIn("products in functions", self.of("attention", "thop").why)
        self.assertNotIn("products in functions", self.of("convolutional", "thop").why)

    def test_a_counter_that_fails_is_reported(self):
        class Twice(torch.nn.Module):
            def forward(self, x, *, scale):
                return x * scale

        compared = cm.compare_counters(Twice(), {"x": torch.zeros(2, 3), "scale": torch.ones(3)})
        self.assertEqual(compared["FlopCounterMode"].total, 0)
        for count in compared:
            self.assertTrue(count.total is not None or "failed" in count.why)

    def test_results_are_a_table(self):
        compared = self.compared["convolutional"]
        text = repr(compared).splitlines()
        self.assertEqual(len(text), len(compared) + 1)
        self.assertEqual(text[0].split(), ["counter", "unit", "total", "here", "convention", "difference", "why"])
        self.assertIn("<pre>", compared._repr_html_())
        self.assertEqual(len(compared) + len(compared.not_installed), 7)


if __name__ == "__main__":
    sys.exit(package.run_with_torch(globals()))
