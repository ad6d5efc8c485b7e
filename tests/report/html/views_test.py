# SPDX-License-Identifier: Apache-2.0
"""Views of a profile: drawing, interaction, accessibility."""
import json
import pathlib

from page import HOSTILE, KERNELS, MAX_ELEMENTS, OPTIONS, run, TABLE, VIEWS, Page


class Views(Page):
    def test_every_view_draws_without_message_or_request(self):
        for name, arguments in {
                "pointnet": None,
                "resnet50": ["models/resnet50.onnx", "--batch", "32", "--device", "h200"],
                "transformer": ["models/bert_mini.onnx", "--batch", "8", "--dim", "seq=128", "--device", "h200",
                                "--precision", "fp16", "--runtime", "eager"],
                "measured": ["models/pointnet.onnx", "--batch", "32", "--backend", TABLE],
                "planned": ["models/pointnet.onnx", "--batch", "32", "--backend", TABLE, "--cudnn-plan"],
                "untimed": ["models/pointnet.onnx"],
                "training": ["models/pointnet.onnx", "--optimizer", "adam", "--device", "h200"],
                "loops": ["models/loop_if.onnx", "--device", "h200"]}.items():
            # the trip count of the loop is unknown
            path = (self.write(name, *arguments, status=3 if name == "loops" else 0) if arguments
                    else self.pointnet())
            for view in VIEWS:
                with self.subTest(page=name, view=view):
                    self.open(path, f"view={view}")
                    self.assertEqual(self.find("[role=tab][aria-selected=true]").get_attribute("id"), f"tab-{view}")
                    self.assertTrue(self.find("#view h2").text)
                    self.assertFalse(self.find("#report").is_displayed())
                    self.assert_quiet(path)

    def test_a_view_without_times_names_the_option_that_adds_them(self):
        path = self.write("untimed", "models/pointnet.onnx")
        for view in ("kernels", "timeline", "roofline"):
            self.open(path, f"view={view}")
            self.assertIn("--device", self.find("#view code").text)

    def test_kernels_have_measured_times_or_plans(self):
        path = self.write("measured", "models/pointnet.onnx", "--batch", "32", "--backend", TABLE)
        kernels = self.data(path).profile()["measure"]["kernels"]
        self.open(path, "view=kernels")
        self.assertEqual(dict(zip(self.column("Kernel"), self.column("Total"))),
                         {kernel["name"]: str(kernel["total_ps"]) for kernel in kernels})
        self.assertNotIn("is split", self.find("#view").text)
        path = self.write("split", "models/pointnet.onnx", "--batch", "32", "--backend", KERNELS)
        kernels = self.data(path).profile()["measure"]["kernels"]
        self.open(path, "view=kernels")
        self.assertIn("fake_conv kernel 2", self.column("Kernel"))
        self.assertEqual(sum(map(int, self.column("Total"))), sum(kernel["total_ps"] for kernel in kernels))
        self.assertIn("is split in proportion to the times between events", self.find("#view").text)
        path = self.write("planned", "models/pointnet.onnx", "--batch", "32", "--backend", TABLE, "--cudnn-plan")
        primitives = self.data(path).profile()["measure"]["primitives"]
        self.open(path, "view=kernels")
        self.assertEqual(sorted(self.column("Work")), sorted(row["primitive"] for row in primitives))
        self.assertNotIn("Total", self.texts("#view thead th"))

    def test_the_metric_switch_redraws_the_icicle(self):
        self.open(self.pointnet(), "view=modules")
        seen = set()
        for metric in ("latency_ps", "macs", "flops", "params", "activation_bytes"):
            self.click(f"metric-{metric}")
            self.assertIn(f"metric={metric}", self.fragment())
            seen.add(tuple(self.js("return [...document.querySelectorAll('.cell')].map(e => e.getAttribute("
                                   "'aria-label'))")))
        self.assertEqual(len(seen), 5)

    def test_a_module_filters_the_other_views(self):
        path = self.pointnet()
        profile = self.data(path).profile()
        module = "transform.input_transform"
        self.open(path, "view=modules")
        index = [row["path"] for row in profile["modules"]].index(module)
        self.click(f"box-{index}")
        self.assertIn(module, self.find(".filter").text)
        self.click("view-operators")
        inside = [node for node in profile["nodes"] if f"{node['module']}.".startswith(f"{module}.")]
        self.assertEqual(sum(map(int, self.column("Nodes"))), len(inside))
        self.assertLess(len(inside), len(profile["nodes"]))
        self.click("clear-filter")
        self.assertEqual(sum(map(int, self.column("Nodes"))), len(profile["nodes"]))

    def test_search_keeps_matching_rows_and_the_focus(self):
        self.open(self.pointnet(), "view=operators")
        self.find("input[type=search]").click()
        self.press("conv")
        self.assertEqual(self.column("Operator"), ["Conv"])
        self.assertIn("search=conv", self.fragment())
        self.press("x")
        self.assertIn("No row matches", self.find("#view").text)

    def test_a_heading_sorts_both_ways(self):
        self.open(self.pointnet(), "view=operators")
        for expected in (True, False):
            self.click("sort-flops")
            values = [int(value) for value in self.column("FLOPs")]
            self.assertEqual(values, sorted(values, reverse=expected))
        self.assertEqual(self.find("th[aria-sort]").get_attribute("aria-sort"), "ascending")

    def test_the_timeline_zooms_and_returns(self):
        self.open(self.pointnet(), "view=timeline")
        before = self.texts(".axis text")
        self.click("zoom-in")
        self.assertNotEqual(self.texts(".axis text"), before)
        self.click("zoom-right")
        self.assertIn("zoom=", self.fragment())
        self.click("zoom-all")
        self.assertEqual(self.texts(".axis text"), before)

    def test_the_fragment_restores_a_place(self):
        path = self.pointnet()
        self.open(path, "view=modules")
        self.click("metric-params")
        self.click("module-transform")
        wanted = self.js("return document.querySelector('#view').innerHTML")
        fragment = self.fragment()
        self.open(path, fragment)
        self.assertEqual(self.js("return document.querySelector('#view').innerHTML"), wanted)
        self.browser.back()
        self.open(path, "view=operators&sort=macs:asc&group=shape&module=transform")
        self.assertEqual(self.fragment(), "view=operators&sort=macs:asc&group=shape&module=transform")
        self.assertIn("transform", self.find(".filter").text)

    def test_the_back_button_returns_to_the_view_before(self):
        self.open(self.pointnet(), "view=overview")
        self.click("view-memory")
        self.browser.back()
        self.assertEqual(self.find("[role=tab][aria-selected=true]").get_attribute("id"), "tab-overview")

    def test_a_fragment_of_another_page_is_harmless(self):
        path = self.pointnet()
        self.open(path, "view=none&metric=x&module=no.such&sort=:&zoom=9,1&node=1e9&depth=-1&hide=%2C&group=q")
        self.assertTrue(self.find("#view h2").text)
        for view in VIEWS:
            self.open(path, f"view={view}&metric=x&module=no.such&sort=a:b&zoom=a,b&node=-7&depth=99")
            self.assertTrue(self.find("#view h2").text)
        self.assert_quiet(path)

    def test_an_unknown_module_in_the_fragment_is_reported(self):
        for path, model in ((self.pointnet(), "The model"), (self.diff(), "The new model")):
            for view in ("overview", "operators"):
                self.open(path, f"view={view}&module=does.not.exist")
                self.assertIn(f"{model} has no module does.not.exist; this view shows the whole model",
                              self.find(".filter").text)
            self.click("clear-filter")
            self.assertEqual(self.find_all(".filter"), [])
            self.assertNotIn("module=", self.fragment())

    def test_names_never_become_markup(self):
        text = run("models/pointnet.onnx", "--batch", "2", "--device", "h200", "--format", "json",
                   "--optimizer", "adam", "--memory-curve", "--memory-plan").stdout
        profile = json.loads(text)
        for i, module in enumerate(profile["modules"][1:]):
            old, module["path"] = module["path"], HOSTILE[i % len(HOSTILE)] + str(i)
            module["name"] = module["class"] = HOSTILE[i % len(HOSTILE)]
            for row in profile["nodes"] + profile["memory"]["live_at_peak"] + profile.get("fused_patterns", []):
                if row["module"] == old:
                    row["module"] = module["path"]
        for i, node in enumerate(profile["nodes"]):
            node["name"] = HOSTILE[i % len(HOSTILE)]
        for i, part in enumerate(profile["device_memory"]["parts"]):
            part["name"] = part["source"] = HOSTILE[i % len(HOSTILE)]
        path = self.write_profile("hostile", profile)
        for page in (path, self.write("golden", "tests/report/golden/hostile.json", status=3)):
            for view in VIEWS:
                with self.subTest(page=page.name, view=view):
                    self.open(page, f"view={view}")
                    self.assertTrue(self.find("#view h2").text)
                    self.assertEqual(self.find_all("#app script, #app img, #app a, #app iframe, #app style"), [])
                    self.assert_quiet(page)
        self.open(path, "view=modules")
        self.assertIn("<img src=x onerror=alert(1)>", self.find("#view").text)
        self.click("box-1")
        self.assertIn(profile["modules"][1]["path"].replace("\u202e", "\\u202e"), self.find(".filter").text)

    def test_dark_mode_follows_the_preference(self):
        brightness = {}
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
                {"name": "prefers-color-scheme", "value": scheme}]})
            self.open(self.pointnet())
            colour = self.js("return getComputedStyle(document.body).backgroundColor")
            brightness[scheme] = sum(int(part) for part in colour.strip("rgb()").split(",")[:3])
        self.assertGreater(brightness["light"], 600)
        self.assertLess(brightness["dark"], 150)

    def test_without_scripts_the_tables_show(self):
        self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
        try:
            self.browser.get(self.pointnet().as_uri())
            self.assertTrue(self.find("#report").is_displayed())
            self.assertIn("14.1 GMACs", self.find("#report").text)
            self.assertFalse(self.find("#app").is_displayed())
        finally:
            self.browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    def test_the_keyboard_reaches_tabs_modules_and_the_memory_cursor(self):
        from selenium.webdriver.common.keys import Keys
        path = self.pointnet()
        self.open(path, "view=overview")
        self.js("document.querySelector('[role=tab][aria-selected=true]').focus()")
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.js("return document.activeElement.id"), "tab-modules")
        self.js("document.querySelector('[data-key=\"box-0\"]').focus()")
        self.press(Keys.ARROW_RIGHT)
        self.assertEqual(self.js("return document.activeElement.dataset.key"), "box-1")
        self.press(Keys.ENTER)
        self.assertIn("module=transform", self.fragment())
        self.press(Keys.ESCAPE)
        self.assertNotIn("module=", self.fragment())
        self.open(path, "view=memory")
        self.js("document.querySelector('[data-key=curve]').focus()")
        before = int(self.find("[data-key=curve]").get_attribute("aria-valuenow"))
        self.press(Keys.ARROW_LEFT)
        self.assertEqual(int(self.find("[data-key=curve]").get_attribute("aria-valuenow")), before - 1)

    def test_hovering_lists_the_live_tensors(self):
        path = self.pointnet()
        curve = self.data(path).profile()["memory"]["curve"]
        self.open(path, "view=memory")
        for fraction in (0.3, 0.7):
            self.js("""const box = document.querySelector('#view svg').getBoundingClientRect();
                document.querySelector('#view svg').dispatchEvent(new MouseEvent('mousemove',
                  {clientX: box.left + arguments[0] * box.width, clientY: box.top + 40, bubbles: true}))""", fraction)
            at = int(self.find("[data-key=curve]").get_attribute("aria-valuenow")) - 1
            text = self.js("return short(arguments[0], 'bytes')", curve[at]["bytes"])
            self.assertTrue(self.find(".side h3").text.startswith(f"{text} live in"))

    def test_paper_shows_the_view_without_controls(self):
        self.open(self.pointnet(), "view=overview")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
        self.assertFalse(self.find(".tabs").is_displayed())
        self.assertTrue(self.find(".tiles").is_displayed())

    def test_large_models_are_aggregated(self):
        import chain
        model = self.folder / "chain.onnx"
        chain.write(10000, str(model))
        path = self.write("chain", str(model), "--device", "h200")
        for view in VIEWS:
            with self.subTest(view=view):
                self.open(path, f"view={view}")
                self.assertLess(self.js("return document.querySelectorAll('#app *').length"), MAX_ELEMENTS)
        self.assert_quiet(path)

    def test_screenshots(self):
        """Writes a picture of each view, light and dark, for a person to look at."""
        if not OPTIONS.screenshots:
            self.skipTest("no --screenshots FOLDER")
        folder = pathlib.Path(OPTIONS.screenshots)
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("pointnet", "resnet50"):
            path = self.write(name, f"models/{name}.onnx", "--batch", "32", "--device", "h200")
            for scheme in ("light", "dark"):
                self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
                    {"name": "prefers-color-scheme", "value": scheme}]})
                for view in VIEWS:
                    self.open(path, f"view={view}")
                    self.browser.save_screenshot(str(folder / f"{name}-{view}-{scheme}.png"))
        self.assertEqual(len(list(folder.glob("pointnet-*.png"))), 2 * len(VIEWS))
