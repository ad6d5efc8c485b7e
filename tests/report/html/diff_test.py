# SPDX-License-Identifier: Apache-2.0
"""Pages of diff and check."""
import json
import os
import pathlib
import unittest.mock

from page import HOSTILE, run, VIEWS, Page

WIDE = "models/diff/resnet50_wide.onnx"
FUSED = "fake:table=tests/cli/models/fused_times.txt"


class Diff(Page):
    def part(self, path, name):
        return json.loads(self.data(path).texts[f"costmodel-{name}"])

    def baseline(self, *arguments, model="models/resnet50.onnx"):
        path = self.folder / "baseline.json"
        path.unlink(missing_ok=True)
        done = run("check", model, *arguments, "--baseline", str(path), "--update-baseline")
        self.assertEqual(done.returncode, 0, done.stderr)
        return str(path)

    def check(self, name, *arguments, model=WIDE, status=1):
        path = self.folder / f"{name}.html"
        if path.exists():
            return path
        return self.write(name, "check", model, "--baseline", self.baseline(), *arguments, status=status)

    def steps(self):
        """Returns label and change of each step of the waterfall."""
        return self.js("""return [...document.querySelectorAll('.step-row')].map(row =>
            [row.querySelector('text').textContent, Number(row.querySelector('[data-value]').dataset.value)])""")

    def banner(self):
        return self.js("""const banner = document.querySelector('.verdict-banner');
            return [banner.className.split(' ')[1], banner.querySelector('h2').textContent]""")

    def test_a_diff_shows_figures_and_the_changed_line(self):
        path = self.diff()
        totals = self.part(path, "diff")["totals"]
        self.open(path, "view=diff&metric=macs")
        self.assertEqual(self.banner(), ["neutral", "5 of 6 figures grow, most MACs: +13.63%"])
        self.assertEqual(self.find(".verdict-banner .cause").text, "MACs: +390 MMACs in layer3.*.conv2 (6 modules): 256 \u2192 320 channels")
        self.assertIn("resnet50.onnx \u2192 resnet50_wide.onnx", self.find(".verdict-banner").text)
        labels = [label.get_attribute("aria-label") for label in self.find_all("g.figure[role=button]")]
        self.assertIn("Parameters: 25.6 M \u2192 28.3 M, +10.74%", labels)
        self.assertEqual(self.texts(".figure .limit-mark + .strong"),
                         ["Parameters", "MACs", "FLOPs", "Weights", "Peak activations", "Expected time"])
        self.assertEqual([int(value) for value in self.js(
            "return [...document.querySelectorAll('.figure .dot')].map(dot => dot.dataset.value)")],
            [totals[key]["new"] for key in ("params", "macs", "flops", "weight_bytes", "latency_ps")])
        self.assertEqual([int(value) for value in self.column("Change")], [row["change"] for row in totals.values()])
        self.assertEqual(len(self.find_all("#view svg")), 4)
        for view in VIEWS:
            self.open(path, f"view={view}")
            self.assertTrue(self.find("#view h2").text)
        self.assert_quiet(path)

    def test_discs_share_a_scale_of_percent(self):
        path = self.diff()
        totals = self.part(path, "diff")["totals"]
        self.open(path, "view=diff")
        places = self.js("""return [...document.querySelectorAll('.figure')].map(row =>
            [...row.querySelectorAll('circle')].map(e => Number(e.getAttribute('cx'))))""")
        keys = ["params", "macs", "flops", "weight_bytes", "peak_activation_bytes", "latency_ps"]
        self.assertEqual(len({place[0] for place in places}), 1)
        ratios = {(place[1] - place[0]) / (totals[key]["new"] / totals[key]["old"] - 1)
                  for key, place in zip(keys, places) if len(place) > 1}
        self.assertLess(max(ratios) - min(ratios), 1e-6 * max(ratios))

    def test_the_steps_add_up_and_the_totals_start_at_0(self):
        path = self.diff()
        totals = self.part(path, "diff")["totals"]
        for key in ("params", "macs", "flops", "weight_bytes", "latency_ps"):
            with self.subTest(key=key):
                self.open(path, "view=diff")
                self.click(f"metric-{key}")
                self.assertEqual(self.find("[aria-pressed=true]").get_attribute("data-key"), f"metric-{key}")
                self.assertEqual(sum(step[1] for step in self.steps()), totals[key]["change"])
                old, new, added = self.js("""return [...document.querySelectorAll('svg > .step')].map(e =>
                    [Number(e.getAttribute('x')), Number(e.getAttribute('width'))])""")
                self.assertEqual((old[0], new[0]), (0, 0))
                self.assertAlmostEqual((added[0] + added[1]) / old[1], totals[key]["new"] / totals[key]["old"], 6)
        self.open(path, "view=diff&metric=macs")
        self.assertEqual(self.steps(), [
            ["layer3.*.conv2 (6 modules): 256 \u2192 320 channels", 6 * 65028096],
            ["layer3.*.conv1 (6 modules): 256 \u2192 320 out channels", 25690112 + 5 * 12845056],
            ["layer3.*.conv3 (6 modules): 256 \u2192 320 in channels", 6 * 12845056]])

    def test_differing_arguments_are_named(self):
        self.open(self.diff(), "view=diff")
        arrow = " \u2192 "
        for old, new, kind, text in [
                ("256, 256, kernel_size=3", "320, 320, kernel_size=3", "Conv2d", f"256{arrow}320 channels"),
                ("64, 256, kernel_size=3", "64, 320, kernel_size=5", "Conv2d", f"256{arrow}320 out channels, kernel_size 3{arrow}5"),
                ("8, 8, stride=(1, 1)", "8, 8, stride=(2, 2)", "Conv2d", f"stride (1, 1){arrow}(2, 2)"),
                ("in_features=4, out_features=8, bias=True", "in_features=4, out_features=9", "Linear",
                 f"8{arrow}9 out features, bias=True removed"),
                ("(128,), eps=1e-05", "(256,), eps=1e-05", "LayerNorm", f"128{arrow}256 features"),
                ("", "3, x=[1, 2]", "Custom", "3 added, x=[1, 2] added"),
                ("1, 2", "1, 2", "Custom", ""),
                ("((1, 2), (3", "a=(", "Custom", None)]:
            found = self.js("return differingArguments(...arguments)", old, new, kind)
            if text is not None:
                self.assertEqual(found, text)

    def test_added_removed_and_renamed_modules(self):
        path = self.write("other", "diff", "models/bert_mini.onnx", "models/gpt_mini_tied.onnx", "--dim", "seq=16")
        change = self.part(path, "diff")["totals"]["macs"]["change"]
        self.open(path, "view=diff&metric=macs")
        steps = self.steps()
        self.assertEqual(steps[0][0], "h.* (4 modules): added, 10 modules")
        self.assertIn("f1: removed, 4 modules", [step[0] for step in steps])
        self.assertEqual(sum(step[1] for step in steps), change)
        for name, new in (("renamed", "models/diff/pointnet_renamed.onnx"), ("same", "models/pointnet.onnx")):
            path = self.write(name, "diff", "models/pointnet.onnx", new)
            self.open(path, "view=diff")
            self.assertEqual(self.banner(), ["neutral", "No figure changed"])
            self.assertEqual(len(self.find_all(".step-row")), 0)
            self.assertEqual(len(self.find_all("#view .cell .on-grows, #view .cell .on-shrinks")), 0)

    def test_a_regression_is_red_and_names_limit_and_cause(self):
        path = self.check("check", "--limit", "macs <= +5%", "--limit", "params <= 30M", "--limit", "flops <= +15%")
        check = self.part(path, "check")
        self.open(path)
        self.assertEqual(self.browser.title, "\u2717 check of resnet50_wide.onnx - costmodel")
        self.assertIn("<title>\u2717 check of", path.read_text(encoding="utf-8"))
        self.assertEqual(self.banner(), ["regression", "1 of 3 limits does not hold: MACs exceed the limit by 8.21%, caused by layer3"])
        self.assertEqual(self.find(".verdict-mark").text, "\u2717")
        self.assertEqual(self.texts("#view tbody th")[:3],
                         [{"pass": "passes", "regression": "REGRESSION"}[case["state"]] for case in check["cases"]])
        self.assertEqual(self.texts(".figure .limit-mark"), ["\u2713", "\u2717", "\u2713", "", ""])
        x = self.js("""const row = [...document.querySelectorAll('.figure')][1];
            const at = (selector, name) => Number(row.querySelector(selector).getAttribute(name));
            return [at('.tick', 'x1'), at('.ring', 'cx'), at('.dot', 'cx')]""")
        macs = check["cases"][0]["findings"][0]
        self.assertAlmostEqual((x[0] - x[1]) / (x[2] - x[1]),
                               (macs["allowed"] - macs["old"]) / (macs["new"] - macs["old"]), 6)
        self.assertIn("layer3 +557 MMACs", self.find("#view table").text)
        self.assertIn("--update-baseline", self.find("#view code").text)
        self.assertEqual(self.steps()[0][0], "layer3.*.conv2 (6 modules): 256 \u2192 320 channels")
        self.assert_quiet(path)

    def test_a_limit_beyond_the_axis_is_no_tick(self):
        self.open(self.check("far", "--limit", "macs <= +1%", "--limit", "params <= 300M"))
        self.assertEqual(self.js("""return [...document.querySelectorAll('.figure')].map(row =>
            [row.querySelectorAll('.tick').length, row.querySelectorAll('.far').length])""")[:2], [[0, 1], [1, 0]])
        self.assertIn("limit beyond the axis", self.find(".review .legend").text)

    def test_a_pass_is_green(self):
        self.open(self.check("pass", model="models/resnet50.onnx", status=0))
        self.assertEqual(self.browser.title, "\u2713 check of resnet50.onnx - costmodel")
        self.assertEqual(self.banner(), ["pass", "All 7 limits hold; no figure changed"])

    def test_an_undecided_check_is_neither(self):
        self.open(self.check("other_batch", "--batch", "4", status=3))
        self.assertEqual(self.browser.title, "? check of resnet50_wide.onnx - costmodel")
        self.assertEqual(self.banner(), ["undecided", "7 of 7 limits are not compared: the baseline has no batch 4"])
        profile = json.loads(run("models/siamese.onnx", "--runtime", "compiled", "--backend", FUSED, "--format", "json").stdout)
        for primitive in profile["measure"]["primitives"]:
            if primitive.get("median_ps"):
                primitive["q1_ps"] = primitive["median_ps"] * 9 // 10
                primitive["q3_ps"] = primitive["median_ps"] * 11 // 10
        source = self.folder / "spread.json"
        source.write_text(json.dumps(profile), encoding="utf-8")
        arguments = ["check", str(source), "--baseline", str(source), "--limit", "latency <= +0%"]
        self.open(self.write("ambiguous", *arguments, status=3))
        self.assertEqual(self.banner()[0], "undecided")
        self.assertIn("The limit is ambiguous", self.banner()[1])
        self.open(self.write("failing", *arguments, "--fail-ambiguous", status=1))
        self.assertEqual(self.browser.title[0], "\u2717")
        self.assertEqual(self.banner()[0], "regression")

    def test_limits_without_a_baseline_and_of_several_batches(self):
        path = self.write("budget", "check", "models/resnet50.onnx", "--limit", "macs <= 4.2G", "--limit",
                          "peak_activation_bytes <= 9M", status=1)
        self.open(path)
        self.assertEqual(self.banner(), ["regression", "1 of 2 limits does not hold: Peak activations exceed the limit by 7.04%"])
        self.assertEqual(self.texts(".figure text:last-of-type"), ["97.36%", "107.04%"])
        path = self.write("batches", "check", WIDE, "--batch", "1,8", "--baseline", self.baseline("--batch", "1,8"), status=1)
        self.open(path)
        self.assertEqual(self.banner()[1], "12 of 14 limits do not hold: MACs exceed the limit by 13.63% at batch 1, caused by layer3")
        self.assertIn("at batch 1", self.find("#view .review .subtitle").text)
        self.click("batch-8")
        self.assertIn("at batch 8", self.find("#view .review .subtitle").text)
        self.assertEqual([int(value) for value in self.js(
            "return [...document.querySelectorAll('.figure .dot')].map(dot => dot.dataset.value)")],
            [case["findings"][0]["new"] for case in self.part(path, "check")["cases"]
             if case["batch"] == 8 and case["state"] == "regression"])

    def test_a_check_shows_the_commits_of_the_ci_job(self):
        old, new = "1a2b3c4d5e6f7081", "99ffeeddccbbaa00"
        baseline, path = str(self.folder / "commits.json"), self.folder / "commits.html"
        for variable, value, status, arguments in [
                ("GITHUB_SHA", old, 0, ["models/resnet50.onnx", "--update-baseline"]),
                ("CI_COMMIT_SHA", new, 1, [WIDE, "--format", "html", "-o", str(path)]),
                ("CI_COMMIT_SHA", "<b>main</b>", 1, [WIDE, "--report", f"html={self.folder / 'none.html'}"])]:
            os.environ.pop("GITHUB_SHA", None)
            with unittest.mock.patch.dict(os.environ, {variable: value}):
                self.assertEqual(run("check", *arguments, "--baseline", baseline).returncode, status)
        self.assertIn(old, pathlib.Path(baseline).read_text(encoding="utf-8"))
        self.open(path)
        self.assertIn("resnet50.onnx (baseline, 1a2b3c4d) \u2192 resnet50_wide.onnx (99ffeedd)", self.find(".verdict-banner").text)
        self.open(self.folder / "none.html")
        self.assertIn("resnet50.onnx (baseline, 1a2b3c4d) \u2192 resnet50_wide.onnx", self.find(".verdict-banner").text)
        self.assertNotIn("main", self.find(".verdict-banner").text)

    def test_names_of_a_file_are_text(self):
        profile = json.loads(run("models/pointnet.onnx", "--format", "json").stdout)
        paths = []
        for i, name in enumerate(HOSTILE):
            module = profile["modules"][-1 - i]
            before, module["path"], module["name"], module["class"] = module["path"], module["path"] + name, name, name
            for node in profile["nodes"]:
                node["module"] = module["path"] if node["module"] == before else node["module"]
        for factor in (1, 2):
            for i, name in enumerate(HOSTILE):
                profile["modules"][-1 - i].update({"arguments": f"{name}, {factor * 64}", "macs": factor * 1000 ** 3})
            profile["totals"]["macs"] = profile["modules"][0]["macs"] = factor * 1000 ** 4
            paths.append(self.folder / f"hostile_{factor}.json")
            paths[-1].write_text(json.dumps(profile), encoding="utf-8")
        path = self.write("hostile", "diff", *map(str, paths))
        self.open(path, "view=diff&metric=macs")
        self.assertTrue(self.find_all(".step-row"))
        self.assertEqual(self.find_all("#view img, #view script"), [])
        self.assert_quiet(path)

    def test_a_step_selects_a_module(self):
        from selenium.webdriver.common.keys import Keys
        self.open(self.diff(), "view=diff&metric=macs")
        self.js("document.querySelector('[data-key=step-0]').focus()")
        self.press(Keys.ARROW_DOWN)
        self.assertEqual(self.js("return document.activeElement.dataset.key"), "step-1")
        self.press(Keys.ENTER)
        self.assertIn("module=layer3.0.conv1", self.fragment())

    def test_markdown_is_copied_as_the_program_prints_it(self):
        for path, arguments in [
                (self.diff(), ["diff", "models/resnet50.onnx", WIDE, "--device", "h200"]),
                (self.check("default"), ["check", WIDE, "--baseline", str(self.folder / "baseline.json")])]:
            expected = run(*arguments, "--format", "markdown").stdout
            self.open(path)
            self.assertEqual(self.js("return document.getElementById('costmodel-markdown').textContent"), expected)
        self.browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})
        self.find("[data-key=copy-markdown]").click()
        self.assertEqual(self.browser.execute_async_script("""
            const done = arguments[arguments.length - 1];
            setTimeout(() => navigator.clipboard.readText().then(done, e => done(String(e))), 200)"""), expected)
        self.assertEqual(self.find(".copy-box [aria-live=polite]").text, "Copied")
        self.js("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        self.find("[data-key=copy-markdown]").click()
        self.assertEqual(self.find(".copy-box [role=status]").text, "Copied")
        self.js("document.execCommand = () => false")
        self.find("[data-key=copy-markdown]").click()
        self.assertEqual(self.find(".copy-box textarea").get_attribute("value"), expected)

    def test_the_first_screen_fits_every_width(self):
        pages = [self.diff(), self.check("default"), self.write("other", "diff", "models/bert_mini.onnx",
                 "models/gpt_mini_tied.onnx", "--dim", "seq=16"), self.check("pass", model="models/resnet50.onnx", status=0)]
        for scheme in ("light", "dark"):
            for width in (400, 900, 1440):
                self.resize(width, scheme)
                for path in pages:
                    with self.subTest(page=path.stem, width=width, scheme=scheme):
                        self.open(path)
                        self.assert_no_overlap(".review svg")
                        if width == 900:
                            self.assertEqual(self.axe(), [])
        self.resize(1440)
        self.open(pages[1])
        self.assertLess(self.js("return document.querySelector('.review').getBoundingClientRect().bottom"), 900)
