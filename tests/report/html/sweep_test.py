# SPDX-License-Identifier: Apache-2.0
"""Pages of batch sweeps and merged sweeps."""
import json
import re

from page import Page


class Sweep(Page):
    def test_merged_sweeps_show_a_heat_map_and_the_fastest_device(self):
        self.open(self.merged())
        rows = self.merged_rows(batch=8, precision="fp16", device="t4")
        self.assertEqual([value for value in self.column("t4") if value.isdigit()],
                         [str(row["latency_ps"]) for row in rows if row["latency_ps"]])
        self.assertEqual(self.column("Model"), ["pointnet.onnx", "bert_mini.onnx seq=16", "bert_mini.onnx seq=64",
                                                "resnet50.onnx", "broken.onnx"])
        self.assertEqual(self.texts(".heat.fastest")[0][0], "\u2605")
        self.assertEqual(len(self.find_all(".heat.fastest")), 4)
        self.assertIn("h200 is the fastest for 4 of 4 rows; 1 row without time", self.find("#view h2").text)
        self.assertEqual(self.texts(".heat-none"), ["failed"] * 3)
        self.assertEqual(len(self.find_all(".legend li")), 7)
        tables = self.texts("#view caption")
        self.assertEqual(tables, ["Time by model and device", "Fastest device of each model", "All models by device"])
        self.assert_quiet(self.merged())

    def test_colours_of_a_heat_map_are_ordered_and_cells_have_their_value(self):
        self.open(self.merged())
        cells = self.js("return [...document.querySelectorAll('td.heat[data-value]')].map(e => "
                        "[+e.dataset.value, +e.className.match(/heat-(\\d)/)[1], e.textContent])")
        cells.sort()
        steps = [step for _, step, _ in cells]
        self.assertEqual(steps, sorted(steps))
        self.assertEqual((steps[0], steps[-1]), (0, 6))
        self.assertTrue(all(re.search(r"\d [num]?s", text) for _, _, text in cells))

    def test_a_heat_map_switches_metric_batch_precision_and_columns(self):
        self.open(self.merged())
        self.click("metric-rate")
        self.click("batch-1")
        self.click("precision-fp32")
        rows = self.merged_rows(batch=1, precision="fp32", device="h200")
        wanted = [1e12 / row["latency_ps"] for row in rows if row["latency_ps"]]
        for value, rate in zip(self.column("h200"), wanted):
            self.assertAlmostEqual(float(value) / rate, 1, 6)
        self.click("across-batch")
        self.assertEqual(self.texts("#view table:first-of-type thead th")[:4], ["Model", "8", "1", "8192"])
        self.click("device-t4")
        self.assertIn("device=t4", self.fragment())
        self.assertIn("Precision fp32", self.find("#view .subtitle").text)

    def test_a_combination_above_the_device_memory_is_marked_and_not_the_fastest(self):
        self.open(self.merged(), "batch=8192&precision=fp32")
        large = {row["model"] for row in self.merged_rows(batch=8192, precision="fp32", device="gtx-1080")
                 if row["required_bytes"] and row["required_bytes"] > row["device_bytes"]}
        self.assertTrue(large)
        marked = [text for text in self.texts(".heat") if text.endswith(" !")]
        self.assertGreaterEqual(len(marked), len(large))
        self.assertTrue(all("\u2605" not in text for text in marked))
        self.assertIn("requires more memory than the device has", self.find("#view .note").text)

    def test_combinations_of_merged_sweeps_can_be_searched(self):
        self.open(self.merged(), "view=combinations&search=gtx-1080")
        self.assertEqual(len(self.column("Device")), len(self.merged_rows(device="gtx-1080")))
        self.assert_quiet(self.merged())

    def test_a_sweep_shows_each_batch(self):
        path = self.sweep()
        rows = json.loads(self.data(path).texts["costmodel-sweep"])["sweep"]
        self.open(path, "view=sweep")
        self.assertEqual(self.column("Variant"), [f"batch {row['batch']}" for row in rows])
        for heading, key in (("MACs", "macs"), ("Required memory", "required_bytes"),
                             ("Expected time", "latency_ps")):
            self.assertEqual([int(value) for value in self.column(heading)], [row[key] for row in rows])
        self.assertEqual(len(self.find_all("#view svg")), 3)
        self.assertIn("largest that fits 141 GB", self.find("#view h2").text)
        self.assert_quiet(path)
