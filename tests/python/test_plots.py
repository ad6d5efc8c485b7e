#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of the package onnx_costmodel in Chromium, as a notebook shows them; skipped without Chromium or selenium.

    test_plots.py [--costmodel PROGRAM]    PROGRAM: instead of the one in the package
"""
import importlib
import os
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
import package  # noqa: E402

SOURCE = package.SOURCE
sys.path.insert(0, str(SOURCE / "tests" / "report" / "html"))
import page  # noqa: E402

VIEWS = {"overview": ".tiles", "memory": "svg", "modules": "svg", "dataflow": "svg", "operators": "table", "kernels": "table",
         "timeline": "svg", "roofline": "svg", "scaling": "svg"}


class Plots(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = page.start_browser()
        cls.folder = tempfile.TemporaryDirectory()
        cls.profile = cm.profile(SOURCE / "models" / "pointnet.onnx", batch=4, device="h200")

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        cls.folder.cleanup()

    def show(self, plots):
        """Opens a document with the pictures, as a notebook does; returns the frames."""
        path = pathlib.Path(self.folder.name) / "notebook.html"
        path.write_text("<!doctype html><meta charset=utf-8>" + "".join(plot._repr_html_() for plot in plots),
                        encoding="utf-8")
        self.browser.switch_to.default_content()
        self.browser.get_log("browser")
        self.browser.get(path.as_uri())
        return self.browser.find_elements("css selector", "iframe")

    def enter(self, frame):
        self.browser.switch_to.default_content()
        self.browser.execute_script("arguments[0].scrollIntoView()", frame)
        self.browser.switch_to.frame(frame)
        self.browser.execute_async_script("""
            const done = arguments[0];
            const wait = () => document.querySelector('#view h2') ? setTimeout(done, 100) : setTimeout(wait, 5);
            wait();""")

    def test_each_picture_is_one_view_that_fills_the_frame(self):
        frames = self.show([getattr(self.profile.plot, name)() for name in VIEWS])
        for frame, (name, content) in zip(frames, VIEWS.items()):
            with self.subTest(plot=name):
                self.enter(frame)
                shown, tabs, width, drawn = self.browser.execute_script("""
                    const box = selector => document.querySelector(selector).getBoundingClientRect();
                    return [document.querySelectorAll(`#view ${arguments[0]}`).length, box('.tabs').height, window.innerWidth,
                      box('#view').width];""", content)
                self.assertGreater(shown, 0)
                self.assertEqual(tabs, 0)
                self.assertGreater(drawn, 0.8 * width)
        self.assertEqual(self.browser.get_log("browser"), [])

    def test_a_picture_can_be_operated_within_a_frame(self):
        frame, = self.show([self.profile.plot.operators()])
        self.enter(frame)
        self.browser.execute_script("setState({group: 'shape'}, true)")
        self.assertEqual(self.browser.execute_script("return state.group"), "shape")
        self.assertEqual(self.browser.get_log("browser"), [])

    def test_scaling_has_a_row_per_batch(self):
        sweep = cm.profile(SOURCE / "models" / "pointnet.onnx", batch=[1, 4], device="h200")
        for plot in (self.profile.plot.scaling([1, 4]), sweep.scaling()):
            frame, = self.show([plot])
            self.enter(frame)
            self.assertEqual(self.browser.execute_script("return document.querySelectorAll('#view tbody tr').length"), 2)

    def test_pictures_of_a_stored_profile_have_one_batch(self):
        stored = cm.Profile(self.profile.to_dict())
        self.assertIn('data-view="roofline"', stored.plot.roofline().to_html())
        with self.assertRaisesRegex(ValueError, "one batch"):
            stored.plot.scaling()

    def test_a_picture_is_saved_as_a_page(self):
        path = pathlib.Path(self.folder.name) / "modules.html"
        self.profile.plot.modules().save(path)
        self.browser.switch_to.default_content()
        self.browser.get(path.as_uri())
        self.browser.execute_async_script("const done = arguments[0]; setTimeout(done, 300)")
        self.assertEqual(self.browser.execute_script("return state.view"), "modules")


def main():
    rest = package.take_program()
    page.OPTIONS.costmodel = os.environ.get("COSTMODEL_PROGRAM") or importlib.import_module("onnx_costmodel._program").program()
    reason = page.missing()
    if reason:
        print(f"skipped: {reason}")
        return page.SKIPPED
    return package.run(globals(), rest)


if __name__ == "__main__":
    sys.exit(main())
