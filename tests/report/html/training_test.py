# SPDX-License-Identifier: Apache-2.0
"""Pages of training steps."""
from page import Page


class Training(Page):
    def test_a_training_step_has_the_tiles_and_forward_is_a_part_of_it(self):
        path = self.write("step", "models/pointnet.onnx", "--batch", "32", "--optimizer", "adam", "--device", "h200",
                          "--precision", "fp16")
        profile = self.data(path).profile()
        step, error, forward = profile["training"], profile["time_error"], profile["totals"]["latency_ps"]
        self.open(path, "view=overview")
        tiles = self.tiles()
        time, note = tiles["Expected time of a step"]
        self.assertEqual(time, str(step["iteration_ps"]))
        for key in (error["iteration_low_ps"], error["iteration_high_ps"], step["iteration_lower_bound_ps"], forward):
            self.assertIn(self.js("return short(arguments[0], 'ps')", key), note)
        rate = float(tiles["Throughput"][0].split()[0])
        self.assertAlmostEqual(rate * step["iteration_ps"] / 32e12, 1, 9)
        self.assertNotIn(str(forward), [value for value, _ in tiles.values()])
        parts = self.js("return [...document.querySelectorAll('.phase')].map(e => +e.dataset.value)")
        self.assertEqual(parts, [forward, step["backward_ps"], step["update_ps"]])
        self.open(path, "view=timeline")
        self.assertIn("Expected forward time", self.find("#view .subtitle").text)

    def test_the_device_memory_of_a_training_process_is_shown(self):
        path = self.fit()
        profile = self.data(path).profile()
        device, fit = profile["device_memory"], profile["memory"]["fit"]
        self.open(path, "view=overview")
        interval = self.js("return intervalText(arguments[0])", device)
        verdict = (f"batch {fit['largest_batch']} is the largest that fits 4.29 GB; "
                   f"{fit['confident_batch']} fits with 90 % confidence")
        self.assertIn(str(device["bytes"]), self.js(
            "return [...document.querySelectorAll('.tile [data-value]')].map(e => e.dataset.value)"))
        self.assertIn(f"{interval}; {verdict}", self.find(".tiles").text)
        self.open(path, "view=memory")
        self.assertTrue(self.find("#view h2").text.endswith(interval))
        self.assertIn(verdict, self.find("#view .subtitle").text)
        for heading, key in (("Part", "name"), ("Bytes", "bytes"), ("Source", "source")):
            self.assertEqual(self.column(heading), [str(part[key]) for part in device["parts"]])
        left, end, limit, *pieces = self.js("""
            const box = e => e.getBoundingClientRect();
            const bar = document.querySelector('.bar.bounded');
            const at = x => (x - box(bar).left) / box(bar).width;
            const [whisker, mark] = ['.whisker', '.mark'].map(name => box(bar.querySelector(name)));
            return [at(whisker.left), at(whisker.right), at(mark.left),
              ...[...bar.querySelectorAll('.piece')].map(e => box(e).width / box(bar).width)];""")
        for place, key in ((left, "low_bytes"), (end, "high_bytes"), (sum(pieces), "bytes")):
            self.assertAlmostEqual(place, device[key] / fit["limit_bytes"], 2)
        self.assertAlmostEqual(limit, 1, 2)
        for fit, text in ((dict(fit, largest_batch=0, confident_batch=0), "no batch fits 4.29 GB"),
                          (dict(fit, confident_batch=0), "; none fits with 90 % confidence"),
                          (dict(fit, confident_batch=None), "largest that fits 4.29 GB"),
                          (dict(fit, limit_bytes=10 ** 10), "largest that fits 10.0 GB; 51 fits with 90 % confidence")):
            profile["memory"]["fit"] = fit
            self.open(self.write_profile(f"fit{len(text)}", profile), "view=memory")
            self.assertTrue(self.find("#view .subtitle").text.endswith(text))
        self.assertEqual(len(self.find_all(".whisker")), 1)
        self.assertEqual(self.find_all(".mark"), [])
