#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs the queries of docs/memory.md on an export of each net, and compares them with the numbers of the
tools that they reproduce (conventions.csv).

usage: run_queries.py --costmodel PROGRAM [--source REPO] [--models DIR]

Prints `file, query, verdict`; exits with 1 if a number differs, or if a known difference no longer occurs.
"""
import sys
sys.dont_write_bytecode = True  # the source tree stays as it is

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

import tables
from known_differences import QUERIES
from run_conventions import file_of, folded
from run_truth import TIMEOUT, unpack

REPO = Path(__file__).resolve().parents[2]
PAGE = REPO / "docs" / "memory.md"
QUERY = r"^`{}`:.*?\| python3 -c '\n(.*?)'\n"

# Queries that conventions.csv has numbers of: name on the page, name in the table.
CHECKED = {"fvcore-activations": "fvcore-activations", "torchinfo-pass": "torchinfo"}


def program_of(query):
    """Returns the Python code of the query on the page."""
    return re.search(QUERY.format(query), PAGE.read_text(), re.DOTALL | re.MULTILINE)[1]


def ask(program, path, model, query):
    command = [program, str(path), "--batch", "1", "--mode", "inference", "--format", "json"]
    for dim in model.dims:
        command += ["--dim", dim]
    profile = subprocess.run(command, capture_output=True, timeout=TIMEOUT, check=True).stdout
    done = subprocess.run([sys.executable, "-c", program_of(query)], input=profile,
                          capture_output=True, check=True)
    return int(done.stdout)


def check(program, folder, query, net, form, want):
    model = file_of(net)
    if model is None or folded(model) != (form == "folded"):
        return None
    have = ask(program, folder / model.path, model, query)
    amount, reason = QUERIES.get((query, net), (0, "equal"))
    good = want - have == amount
    print(f"{model.path}, {query}, {'' if good else 'fail: '}have {have}, want {want} "
          f"({want - have:+}, {amount:+} known: {reason})")
    return good


def run(program, folder):
    names = {tool: query for query, tool in CHECKED.items()}
    said = [check(program, folder, names[row["tool"]], row["model"], row["form"],
                  int(row["total"]))
            for row in tables.read_csv("conventions.csv") if row["tool"] in names]
    good, bad = said.count(True), said.count(False)
    print(f"{good} figures are the tools', {bad} are not")
    return 1 if bad or not good else 0


def main():
    parser = argparse.ArgumentParser(description="run the queries of docs/memory.md")
    parser.add_argument("--costmodel", required=True, help="the program")
    parser.add_argument("--source", help="the repository: its tests/truth/models.tar.xz is used")
    parser.add_argument("--models", help="a folder with the models, already unpacked")
    options = parser.parse_args()
    if options.models:
        return run(options.costmodel, Path(options.models))
    truth = Path(options.source) / "tests" / "truth" if options.source else tables.HERE
    with tempfile.TemporaryDirectory(prefix="costmodel-queries-") as folder:
        unpack(truth / "models.tar.xz", Path(folder))
        return run(options.costmodel, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
