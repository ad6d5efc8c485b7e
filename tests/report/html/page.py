# SPDX-License-Identifier: Apache-2.0
"""The browser and the pages of the tests in this folder; test_page runs them."""
import argparse
import html.parser
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
OPTIONS = argparse.Namespace()
SKIPPED = 77
WIDTH, HEIGHT = 1360, 1000
VIEWS = ["overview", "modules", "dataflow", "operators", "kernels", "timeline", "memory", "roofline"]
TABLE = "fake:table=tests/cli/models/pointnet_times.txt"
KERNELS = "fake:table=tests/cli/models/kernel_times.txt"
MAX_ELEMENTS = 7000  # of a view, for a model of any size
HOSTILE = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "__proto__", "constructor",
           "\u202egnp.exe", "a&amp;b\"'", "${alert(1)}", "#&view=memory", "\u2028"]


def missing():
    """Returns what the tests lack; empty if they can run."""
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} not found"
    for package in ("selenium", "axe_core_python"):
        if importlib.util.find_spec(package) is None:
            return f"Python package {package} not found"
    done = run("models/pointnet.onnx", "--format", "html")
    return done.stderr if "requires a build with d3" in done.stderr else ""


def run(*arguments):
    modules = str(pathlib.Path(OPTIONS.costmodel).parent / "backends")
    return subprocess.run([OPTIONS.costmodel, *arguments], cwd=ROOT, capture_output=True, text=True,
                          check=False, env={**os.environ, "COSTMODEL_BACKEND_PATH": modules})


def start_browser():
    from selenium import webdriver
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--force-device-scale-factor=1"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    browser = webdriver.Chrome(options=options, service=service)
    browser.set_window_size(WIDTH, HEIGHT)
    return browser


def axe_script():
    """Returns axe-core of axe-core-python."""
    folder = pathlib.Path(importlib.util.find_spec("axe_core_python").origin).parent
    return next(folder.rglob("axe.min.js")).read_text(encoding="utf-8")


class Data(html.parser.HTMLParser):
    """The data scripts of a page."""

    def __init__(self, text):
        super().__init__()
        self.texts, self.id = {}, None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.id = dict(attrs).get("id") if tag == "script" else None

    def handle_data(self, data):
        if self.id:
            self.texts[self.id] = self.texts.get(self.id, "") + data

    def profile(self):
        return json.loads(self.texts["costmodel-profile"])


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="costmodel-page-"))
        cls.browser = start_browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        shutil.rmtree(cls.folder)

    def setUp(self):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    # Pages

    def write(self, name, *arguments, status=0):
        """Writes a page once; returns its path."""
        path = self.folder / f"{name}.html"
        if not path.exists():
            done = run(*arguments, "--format", "html", "-o", str(path))
            self.assertEqual(done.returncode, status, (arguments, done.stderr))
        return path

    def pointnet(self):
        return self.write("pointnet", "models/pointnet.onnx", "--batch", "32", "--device", "h200")

    def open(self, path, fragment=""):
        self.browser.get("about:blank")
        for log in ("browser", "performance"):
            self.browser.get_log(log)
        self.browser.get(f"{path.as_uri()}#{fragment}")
        self.browser.execute_async_script("""
            const done = arguments[0];
            const wait = () => document.querySelector('#view') ? done() : setTimeout(wait, 5);
            wait();""")

    def data(self, path):
        return Data(path.read_text(encoding="utf-8"))

    def assert_quiet(self, path):
        """Asserts that the console has no message and that only the page was requested."""
        self.assertEqual(self.browser.get_log("browser"), [])
        urls = []
        for entry in self.browser.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        self.assertEqual([url for url in urls if url not in (path.as_uri(), "about:blank")], [])

    # Reading and operating the page

    def js(self, code, *arguments):
        return self.browser.execute_script(code, *arguments)

    def find(self, selector):
        return self.browser.find_element("css selector", selector)

    def find_all(self, selector):
        return self.browser.find_elements("css selector", selector)

    def click(self, key):
        self.js("document.querySelector(`[data-key=\"${CSS.escape(arguments[0])}\"]`)"
                ".dispatchEvent(new MouseEvent('click', {bubbles: true}))", key)

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def fragment(self):
        return self.js("return location.hash.slice(1)")

    def column(self, heading):
        """Returns data-value, else the text, of a column of the first table that has it."""
        return self.js("""
            const heads = table => [...table.querySelectorAll('thead th')].map(e => e.textContent);
            const table = [...document.querySelectorAll('#view table')].find(t => heads(t).includes(arguments[0]));
            const at = heads(table).indexOf(arguments[0]);
            return [...table.querySelectorAll('tbody tr')].map(row => {
              const cell = row.children[at];
              return cell.getAttribute('data-value') || cell.textContent;
            });""", heading)

    def press(self, key):
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.browser).send_keys(key).perform()

    def resize(self, width, scheme="light"):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme}]})
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False})

    def assert_no_overlap(self, selector):
        """Asserts that the texts of a chart do not cover each other and that the page is not wider than the window."""
        self.assertEqual(self.js("""
            const found = [];
            for (const chart of document.querySelectorAll(arguments[0])) {
              const around = chart.getBoundingClientRect();
              const boxes = [...chart.querySelectorAll('text')].filter(e => e.textContent !== '')
                .map(e => ({text: e.textContent, box: e.getBoundingClientRect()}));
              boxes.forEach((a, i) => {
                if (a.box.left < around.left - 1 || a.box.right > around.right + 1) found.push(`${a.text} is cut`);
                for (const b of boxes.slice(i + 1))
                  if (Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left) > 1
                      && Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top) > 3)
                    found.push(`${a.text} | ${b.text}`);
              });
            }
            if (document.documentElement.scrollWidth > innerWidth) found.push('the page is too wide');
            return found;""", selector), [])

    def axe(self):
        """Returns the serious violations that axe-core finds."""
        self.js(axe_script())
        found = self.browser.execute_async_script(
            "const done = arguments[arguments.length - 1]; axe.run().then(r => done(r.violations))")
        return [(each["id"], each["nodes"][0]["html"][:160]) for each in found
                if each["impact"] in ("serious", "critical")]

    # Pages that several tests read

    def tiles(self):
        """Returns value and note of each tile of the overview."""
        return self.js("""return Object.fromEntries([...document.querySelectorAll('.tile')].map(tile => {
            const [value, note] = tile.querySelectorAll('dd');
            return [tile.querySelector('dt').textContent,
              [value.dataset.value || value.title, note ? note.textContent : '']];
          }))""")

    def fit(self):
        return self.write("fit", "models/pointnet.onnx", "--optimizer", "adam", "--memory-limit", "4GiB")

    def write_profile(self, name, profile, status=0):
        source = self.folder / f"{name}.json"
        text = re.sub(r"\d(\.\d+)?e-\d+", lambda number: f"{float(number[0]):.6f}", json.dumps(profile))
        source.write_text(text, encoding="utf-8")
        return self.write(name, str(source), status=status)

    def sweep(self):
        return self.write("sweep", "models/pointnet.onnx", "--batch", "1,8,32", "--device", "h200")

    def merged(self):
        """Returns the page of a sweep with two models that fit, one that is too large, and an invalid file."""
        path = self.folder / "merged.html"
        if not path.exists():
            broken = self.folder / "broken.onnx"
            broken.write_bytes(b"{")
            results = str(self.folder / "results")
            models = ["models/pointnet.onnx", "models/bert_mini.onnx", "models/resnet50.onnx", str(broken)]
            done = run("sweep", *models, "--batch", "8,1,8192", "--dim", "seq=16,64", "--precision", "fp16,fp32",
                       "--device", "h200,t4,gtx-1080", "-o", results)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(run("merge", results, "--format", "html", "-o", str(path)).returncode, 3)
        return path

    def merged_rows(self, **keys):
        rows = json.loads(self.data(self.merged()).texts["costmodel-sweep"])["sweep"]
        return [row for row in rows if all(row[key] == value for key, value in keys.items())]

    def diff(self):
        return self.write("diff", "diff", "models/resnet50.onnx", "models/diff/resnet50_wide.onnx", "--device", "h200")
