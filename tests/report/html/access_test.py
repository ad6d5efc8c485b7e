# SPDX-License-Identifier: Apache-2.0
"""Keyboard, screen readers, narrow screens, long and hostile names, print."""
import base64
import json

from page import axe_script, run, VIEWS, Page

RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}


class Access(Page):
    def long_names(self, name, rename, **options):
        """Returns a page whose names rename() replaced."""
        profile = json.loads(run("models/pointnet.onnx", "--batch", "2", "--device", "h200", "--format", "json",
                                 "--memory-curve", "--memory-plan").stdout)
        paths = {row["path"]: rename(row["path"]) if row["path"] else "" for row in profile["modules"]}
        for row in profile["modules"]:
            row["path"], row["name"] = paths[row["path"]], rename(row["name"])
        for row in profile["nodes"] + profile["memory"]["live_at_peak"] + profile.get("fused_patterns", []):
            row["module"] = paths[row["module"]]
        for node in profile["nodes"]:
            node["name"] = rename(node["name"])
            node["inputs"] = [rename(each) for each in node["inputs"]]
            for value in node["outputs"]:
                value["name"] = rename(value["name"])
        for row in profile["memory"]["plan"] + profile["memory"]["live_at_peak"]:
            row["value"] = rename(row["value"])
        return self.write_profile(name, profile, **options)

    def test_a_page_is_small_because_d3_is_packed(self):
        path = self.write("resnet50", "models/resnet50.onnx", "--batch", "32", "--device", "h200")
        self.assertLess(path.stat().st_size, 700_000)

    def test_axe_finds_nothing_with_best_practices(self):
        script = axe_script()
        places = [(self.pointnet(), f"view={view}") for view in VIEWS] + [
            (self.pointnet(), f"view={view}&open={item}") for view, item in (
                ("overview", "node:5"), ("memory", "module:transform"), ("roofline", "kernel:0"), ("timeline", "tensor:input"))] + [
            (self.pointnet(), "view=modules&module=transform"), (self.diff(), "view=diff"), (self.sweep(), "view=sweep"),
            (self.fit(), "view=memory"), (self.fit(), "view=overview"),
            (self.merged(), "view=campaign"), (self.merged(), "view=combinations"), (self.pointnet(), "view=overview&digits=all")]
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for path, fragment in places:
                with self.subTest(fragment=fragment, scheme=scheme, page=path.name):
                    self.open(path, fragment)
                    self.js(script)
                    found = self.browser.execute_async_script(
                        "axe.run(arguments[0]).then(r => arguments[1](r.violations))", RULES)
                    self.assertEqual([(each["id"], each["nodes"][0]["html"][:200]) for each in found], [])

    def test_no_view_is_wider_than_the_screen(self):
        self.resize(400)
        for path in (self.write("resnet50", "models/resnet50.onnx", "--batch", "32", "--device", "h200"),
                     self.long_names("long", lambda name: name + "x" * 10240)):
            for fragment in [f"view={view}" for view in VIEWS] + ["open=node:7", "open=module:layer1", "view=overview&digits=all"]:
                with self.subTest(page=path.name, fragment=fragment):
                    self.open(path, fragment)
                    self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), 400)
                    self.assertEqual(self.js("""return [...document.querySelectorAll('svg.chart')].filter(e =>
                        e.getBoundingClientRect().right > 401 || e.getBoundingClientRect().left < 0).length"""), 0)
            self.assert_quiet(path)

    def test_labels_of_the_pictures_do_not_overlap(self):
        path = self.write("resnet50", "models/resnet50.onnx", "--batch", "32", "--device", "h200")
        for width in (400, 900, 1440):
            self.resize(width)
            for fragment in ("view=modules", "view=timeline", "view=memory", "view=overview&open=node:7"):
                with self.subTest(width=width, fragment=fragment):
                    self.open(path, fragment)
                    self.assert_no_overlap("#view svg, #drawer svg")

    def test_long_names_are_shortened_and_can_be_copied(self):
        path = self.long_names("long", lambda name: name + "x" * 10240)
        self.open(path, "view=overview&open=node:7")
        shown = self.find("#drawer .full-name .name").text
        self.assertLess(len(shown), 200)
        self.assertIn("\u2026", shown)
        self.js("document.addEventListener('copy', () => { window.copied = document.activeElement.value; })")
        self.find("[data-key=copy-name]").click()
        self.assertEqual(self.js("return window.copied"), self.data(path).profile()["nodes"][7]["name"])
        self.assertEqual(self.find("[data-key=copy-name]").text, "Copied")
        for view in VIEWS:
            self.open(path, f"view={view}")
            self.assertEqual(self.js("""return [...document.querySelectorAll('#view *')].filter(e => e.children.length === 0
                && e.textContent.length > 1000).length"""), 0, view)

    def test_characters_that_change_the_direction_are_visible(self):
        path = self.long_names("bidi", lambda name: f"\u202e{name}\u2066\u200f")
        for fragment in [f"view={view}" for view in VIEWS] + ["open=node:7"]:
            self.open(path, fragment)
            text = self.js("return document.getElementById('app').textContent")
            if fragment.split("=")[1] not in ("operators", "kernels", "roofline"):
                self.assertIn("\\u202e", text)
            self.assertFalse(set(text) & set("\u202e\u2066\u200f"), fragment)

    def test_a_picture_is_one_tab_stop(self):
        from selenium.webdriver.common.keys import Keys
        for view, first in (("modules", "box-0"), ("timeline", None), ("roofline", None)):
            self.open(self.pointnet(), f"view={view}")
            charts = self.js("""return [...document.querySelectorAll('#view svg')].filter(e => e.querySelector('[role=button]'))
                .map(e => e.querySelectorAll('[tabindex="0"]').length)""")
            self.assertEqual(charts, [1] * len(charts), view)
            self.assertTrue(charts)
            self.js("document.querySelector('#view svg [tabindex=\"0\"]').focus()")
            keys = [self.js("return document.activeElement.dataset.key")]
            self.assertIn(first, (None, keys[0]))
            self.press(Keys.END)
            keys.append(self.js("return document.activeElement.dataset.key"))
            self.press(Keys.HOME)
            self.assertEqual(self.js("return document.activeElement.dataset.key"), keys[0])
            self.assertNotEqual(keys[0], keys[1])
            self.press(Keys.ARROW_RIGHT)
            self.assertNotEqual(self.js("return document.activeElement.dataset.key"), keys[0])
            self.assertEqual(len(self.find_all("#view svg [tabindex='0']")), len(charts))
        self.assertTrue(self.find("#tip").is_displayed())

    def test_exact_values_do_not_depend_on_the_pointer(self):
        path = self.pointnet()
        total = self.data(path).profile()["totals"]["macs"]
        self.open(path, "view=overview")
        self.assertNotIn(f"{total:,} MACs", self.find("#view").text)
        self.find(".tile [data-value][title]").click()
        self.assertTrue(self.find("#tip").is_displayed())
        self.click("digits")
        self.assertIn(f"{total:,} MACs", self.find("#view").text)
        self.assertEqual(self.find("[data-key=digits]").get_attribute("aria-pressed"), "true")

    def test_there_is_one_main_and_filters_are_announced(self):
        self.open(self.pointnet(), "view=operators")
        self.assertEqual(len([each for each in self.find_all("main") if each.is_displayed()]), 1)
        self.find("#view input[type=search]").click()
        self.press("conv")
        self.assertEqual(self.find("[role=status].hidden-text").get_attribute("textContent"), "1 row match")

    def test_escape_closes_the_drawer_first(self):
        from selenium.webdriver.common.keys import Keys
        self.open(self.pointnet(), "view=timeline&module=transform")
        self.js("document.querySelector('#view tbody th button.link').focus()")
        key = self.js("return document.activeElement.dataset.key")
        self.press(Keys.ENTER)
        self.assertIn("open=node%3A", self.fragment())
        self.press(Keys.ESCAPE)
        self.assertNotIn("open=", self.fragment())
        self.assertIn("module=transform", self.fragment())
        self.assertEqual(self.js("return document.activeElement.dataset.key"), key)
        self.press(Keys.ESCAPE)
        self.assertNotIn("module=", self.fragment())

    def test_print_has_all_views(self):
        self.open(self.pointnet(), "view=memory&open=node:5")
        before = self.js("return document.getElementById('view').textContent")
        names = self.js("""window.dispatchEvent(new Event('beforeprint'));
            const names = [...document.querySelectorAll('.printed')].map(e => e.className.split('view-')[1]);
            window.dispatchEvent(new Event('afterprint'));
            return names;""")
        self.assertEqual(names, VIEWS)
        self.assertEqual(self.js("return document.getElementById('view').textContent"), before)
        pdf = base64.b64decode(self.browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        self.assertGreaterEqual(pdf.count(b"/Type /Page\n"), len(VIEWS))
        self.assertTrue(self.find("#view").is_displayed())
