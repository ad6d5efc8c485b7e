#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Measures the HTML page of a chain of N nodes in chromium: first paint, load, and each interaction.

usage: page.py --costmodel PROG [--nodes N] [--runs N]

Requires chromium, chromedriver and selenium (PyPI). An interaction ends when the next frame is
drawn. For each, prints the time of the first run, the median of the runs, and the median processor
time of the page's thread, in ms. Run it on an idle machine: wall times depend on other processes.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

from selenium import webdriver

import chain

TIMED = """
const done = arguments[arguments.length - 1];
const start = performance.now();
(() => { %s })();
requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
"""
# The page is drawn after the load event, when d3 is decompressed.
DRAWN = """
const done = arguments[arguments.length - 1];
const wait = () => document.querySelector('#view h2') ? done([performance.getEntriesByName('first-contentful-paint')[0].startTime,
  performance.now()]) : setTimeout(wait, 1);
wait();
"""
VIEWS = ("overview", "modules", "dataflow", "operators", "kernels", "timeline", "memory", "roofline")
ACTIONS = [(f"view {view}", "", f"openView('{view}')") for view in VIEWS] + [
    ("metric", "openView('modules')", "setState({metric: state.metric === 'macs' ? 'activation_bytes' : 'macs'})"),
    ("select", "openView('modules')", "setState({module: state.module ? '' : 'block7'})"),
    ("search", "openView('operators')", "setState({search: state.search + 'e'})"),
    ("zoom", "openView('timeline')", "document.querySelector('[data-key=zoom-in]').click()"),
    ("hover", "openView('memory')", "document.querySelector('#view svg').dispatchEvent("
     "new MouseEvent('mousemove', {clientX: 400 + 200 * Math.random(), clientY: 300, bubbles: true}))"),
]


def start_browser():
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    browser.set_window_size(1360, 1000)
    return browser


def task_seconds(browser):
    """Returns the processor time of the page's thread so far."""
    metrics = browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def measure(browser, action):
    """Returns the wall time and the processor time of an interaction, ms."""
    before = task_seconds(browser)
    wall = browser.execute_async_script(TIMED % action)
    return wall, 1000 * (task_seconds(browser) - before)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--costmodel", required=True)
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        chain.write(args.nodes, f"{folder}/chain.onnx")
        subprocess.run([args.costmodel, f"{folder}/chain.onnx", "--device", "h200", "--format", "html", "-o", page],
                       check=True)
        browser = start_browser()
        browser.get("about:blank")
        browser.get(page.as_uri())
        paint, drawn = browser.execute_async_script(DRAWN)
        print(f"{args.nodes} nodes, {page.stat().st_size / 1e6:.1f} MB: first paint {paint:.0f} ms, drawn {drawn:.0f} ms")
        browser.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
        for name, before, action in ACTIONS:
            browser.execute_script(before)
            times = [measure(browser, action) for _ in range(args.runs)]
            wall, processor = (statistics.median(column) for column in zip(*times))
            print(f"{name:16} {times[0][0]:6.0f} {wall:6.0f} {processor:6.0f}")
        browser.quit()


if __name__ == "__main__":
    main()
