# SPDX-License-Identifier: Apache-2.0
"""The module tree of the text report, read back line by line."""
import re
from collections import namedtuple

Entry = namedtuple("Entry", "cls params params_pct macs macs_pct extra")

OPENING = re.compile(r"^(?P<indent> *)\((?P<name>[^)]+)\): (?P<cls>[^(]*)\((?P<rest>.*)$")
ROOT = re.compile(r"^(?P<cls>[^( ][^(]*)\($")
FIGURES = re.compile(r"^(?P<params>\S+(?: [kM])?), (?P<params_pct>[\d.]+)% Params, "
                     r"(?P<macs>\S+ [GMK]?MACs), (?P<macs_pct>[\d.]+)% MACs(?:, (?P<extra>.*))?$")
HEADING = re.compile(r"^-+ Detailed Profile .*-+$")


def entry(cls, figures):
    found = FIGURES.match(figures)
    if not found:
        raise ValueError(f"no figures of a module: {figures!r}")
    return Entry(cls, found["params"], found["params_pct"], found["macs"], found["macs_pct"],
                 found["extra"] or "")


def tree(text):
    """Returns dotted path -> Entry, from a report printed with --width 0."""
    lines = iter(text.splitlines())
    for line in lines:
        if HEADING.match(line):
            break
    found, above = {}, []
    for line in lines:
        opening = OPENING.match(line)
        root = None if above or opening else ROOT.match(line)
        if root:
            found[""] = entry(root["cls"], next(lines).strip())
            above = [""]
        elif opening and above:
            depth = len(opening["indent"]) // 2
            path = ".".join(above[1:depth] + [opening["name"]])
            rest = opening["rest"]
            figures = rest[:-1] if rest else next(lines).strip()
            found[path] = entry(opening["cls"], figures)
            if not rest:
                above = above[:depth] + [opening["name"]]
    return found
