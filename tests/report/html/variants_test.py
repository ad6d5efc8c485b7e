# SPDX-License-Identifier: Apache-2.0
"""Pages with several precisions, batches and devices."""
import itertools
import json

from page import Page, run

PRECISIONS, BATCHES, DEVICES = ("fp32", "fp16"), ("1", "8", "512"), ("h200", "gtx-1080")
MODEL = "models/pointnet.onnx"


def profile(precision, batch, device, *more):
    """Returns the profile of one variant, made by a run of its own."""
    done = run(MODEL, "--precision", precision, "--batch", batch, "--device", device, "--format", "json", *more)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Variants(Page):
    def variants(self):
        return self.write("variants", MODEL, "--precision", ",".join(PRECISIONS), "--batch", ",".join(BATCHES),
                          "--device", ",".join(DEVICES))

    def too_large(self):
        """Returns a page of training steps, some of which do not fit, and with a batch that fails."""
        return self.write("too-large", "models/resnet50.onnx", "--precision", "fp32,fp16", "--batch",
                          "8,512,4611686018427387904", "--device", "h200,t4", "--optimizer", "adam", status=1)

    def rows(self, path):
        return json.loads(self.data(path).texts["costmodel-sweep"])["sweep"]

    def test_every_variant_equals_a_run_of_its_own(self):
        texts = self.data(self.variants()).texts
        order = list(itertools.product(PRECISIONS, BATCHES, DEVICES))
        profiles = [key for key in texts if key.startswith("costmodel-profile")]
        self.assertEqual(len(profiles), len(order))
        for i, (variant, row) in enumerate(zip(order, self.rows(self.variants()))):
            shown = json.loads(texts["costmodel-profile" if i == 0 else f"costmodel-profile-{i}"])
            memory = str(shown["measure"]["memory_bytes"])
            self.assertEqual(shown, profile(*variant, "--memory-curve", "--memory-plan", "--memory-limit", memory), variant)
            self.assertEqual((row["precision"], str(row["batch"]), row["device"]), variant)
            for key in ("params", "macs", "flops", "latency_ps", "lower_bound_ps", "peak_activation_bytes"):
                self.assertEqual(row[key], shown["totals"][key], (variant, key))
            self.assertEqual(row["required_bytes"], shown["memory"]["required_bytes"])

    def test_the_header_selects_the_variant_of_all_views(self):
        self.open(self.variants())
        self.click("precision-fp16")
        self.click("batch-8")
        self.click("device-gtx-1080")
        self.assertIn("precision=fp16&", self.fragment() + "&")
        wanted = profile("fp16", "8", "gtx-1080")
        self.assertEqual(self.tiles()["Expected time"][0], str(wanted["totals"]["latency_ps"]))
        self.assertEqual(self.tiles()["Peak activation memory"][0], str(wanted["memory"]["peak_activation_bytes"]))
        self.click("view-kernels")
        self.assertIn("fp16", self.find("header .subtitle").text)
        self.click("view-timeline")
        times = sorted((node["latency_ps"] for node in wanted["nodes"]), reverse=True)
        self.assertIn(str(times[0]), self.js(
            "return [...document.querySelectorAll('#view td[data-value]')].map(e => e.dataset.value)"))
        self.js("history.back()")
        self.wait_for("view=kernels")
        self.assert_quiet(self.variants())

    def wait_for(self, fragment):
        from selenium.webdriver.support.ui import WebDriverWait
        WebDriverWait(self.browser, 5).until(lambda _: fragment in self.fragment())

    def test_a_variant_is_parsed_when_it_is_selected(self):
        self.open(self.variants())
        self.js("window.parsed = 0; const read = JSON.parse; JSON.parse = text => { window.parsed++; return read(text); }")
        self.click("precision-fp16")
        self.click("precision-fp32")
        self.click("precision-fp16")
        self.assertEqual(self.js("return window.parsed"), 1)

    def test_the_strip_marks_the_knee_and_selects_a_variant(self):
        path = self.variants()
        self.open(path)
        rows = self.rows(path)
        panels = self.find_all(".panel")
        self.assertEqual(len(panels), len(PRECISIONS) * len(DEVICES))
        for panel, (precision, device) in zip(panels, itertools.product(PRECISIONS, DEVICES)):
            own = [row for row in rows if (row["precision"], row["device"]) == (precision, device)]
            rates = [row["batch"] * 1e12 / row["latency_ps"] for row in own]
            values = self.js("return [...arguments[0].querySelectorAll('.point')].map(e => +e.dataset.value)", panel)
            self.assertEqual(len(values), 2 * len(own))
            for rate, row, shown, memory in zip(rates, own, values[::2], values[1::2]):
                self.assertAlmostEqual(shown / rate, 1, 9)
                self.assertEqual(memory, row["required_bytes"])
            knee = next(row["batch"] for row, rate in zip(own, rates) if rate >= 0.9 * max(rates))
            marked = self.js("return [...arguments[0].querySelectorAll('.knee')].map(e => e.parentNode.getAttribute('aria-label'))", panel)
            self.assertEqual(len(marked), 1)
            self.assertIn(f"batch {knee},", marked[0])
        self.assertEqual(len(self.find_all(".variant.selected")), 1)
        self.click("strip-11")
        self.assertEqual(self.texts("header [aria-pressed=true]"), ["fp16", "512", "gtx-1080"])
        self.assertIn("fp16, batch 512, gtx-1080", self.find(".variant.selected").get_attribute("aria-label"))

    def test_the_arrows_move_in_the_strip_which_is_one_tab_stop(self):
        self.open(self.variants(), "view=sweep")
        self.assertEqual(len(self.find_all(".strip .variant[tabindex='0']")), 1)
        self.js("document.querySelector(\".strip .variant[tabindex='0']\").focus()")
        from selenium.webdriver.common.keys import Keys
        for key in (Keys.ARROW_RIGHT, Keys.ARROW_DOWN, Keys.ENTER):
            self.press(key)
        self.assertEqual(self.texts("header [aria-pressed=true]"), ["fp32", "8", "gtx-1080"])

    def test_variants_that_do_not_fit_or_fail_are_marked(self):
        path = self.too_large()
        self.open(path, "precision=fp32&device=t4&batch=8")
        rows = self.rows(path)
        large = [row for row in rows if row["required_bytes"] and row["required_bytes"] > row["device_bytes"]]
        self.assertTrue(large)
        failed = [row for row in rows if row["state"] == "refused"]
        self.assertEqual(len(failed), 4)
        self.assertEqual(len(self.find_all(".misfit")), 2 * (len(large) + len(failed)))
        self.assertIn("does not fit from batch 512", self.texts(".panel p")[1])
        self.assertEqual(self.texts("header .switch")[1], "Batch8512 !4611686018427387904 \u2715")
        self.click("batch-4611686018427387904")
        self.assertIn(failed[0]["problem"], self.find("#view").text)
        self.click("view-memory")
        self.assertIn("could not be profiled", self.find("#view h2").text)
        self.click("batch-8")
        self.assertNotIn("could not be profiled", self.find("#view h2").text)
        self.assert_quiet(path)

    def test_variants_beyond_the_limit_have_their_totals(self):
        batches = ",".join(str(batch) for batch in range(1, 35))
        path = self.write("many", MODEL, "--batch", batches, "--device", "t4")
        self.assertEqual(sum(key.startswith("costmodel-profile") for key in self.data(path).texts), 32)
        self.open(path, "batch=34")
        self.assertIn("only the totals of batch 34", self.texts("#view h2")[-1])
        self.click("view-sweep")
        self.assertEqual(len(self.column("Required memory")), 34)
        self.assert_quiet(path)

    def test_variants_of_one_batch_are_bars(self):
        path = self.write("bars", MODEL, "--precision", "fp32,fp16", "--device", "h200,t4", "--batch", "8")
        self.open(path)
        rows = self.rows(path)
        self.assertEqual(self.js("return [...document.querySelectorAll('.strip td > span[data-value]')].map(e => +e.dataset.value)"),
                         [row[key] for row in rows for key in ("latency_ps", "required_bytes")])
        self.click("row-3")
        self.assertEqual(self.texts("header [aria-pressed=true]"), ["fp16", "t4"])

    def test_a_page_reads_as_its_first_variant(self):
        done = run(str(self.variants()), "--format", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout), json.loads(self.data(self.variants()).texts["costmodel-profile"]))
        self.assertIn("the page has 12 profiles, only the first is read", done.stderr)

    def test_labels_do_not_overlap(self):
        for width, theme, view in itertools.product((400, 900, 1440), ("light", "dark"), ("overview", "sweep")):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
                {"name": "prefers-color-scheme", "value": theme}]})
            self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
            self.open(self.too_large(), f"view={view}&batch=512&device=t4")
            overlaps = self.js("""
                const found = [];
                for (const chart of document.querySelectorAll('.panel svg, .view-sweep .columns svg')) {
                  const boxes = [...chart.querySelectorAll('text')].map(e => [e.textContent, e.getBoundingClientRect()]);
                  const edge = chart.getBoundingClientRect();
                  boxes.forEach(([text, a], i) => {
                    if (a.left < edge.left - 1 || a.right > edge.right + 1) found.push([text, 'outside']);
                    for (const [other, b] of boxes.slice(i + 1))
                      if (a.left < b.right && b.left < a.right && a.top + 2 < b.bottom - 2 && b.top + 2 < a.bottom - 2)
                        found.push([text, other]);
                  });
                }
                return found;""")
            self.assertEqual(overlaps, [], (width, theme, view))
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def test_pages_of_variants_are_accessible(self):
        for fragment in ("", "view=sweep"):
            self.open(self.too_large(), fragment)
            self.assertEqual(self.axe(), [])
