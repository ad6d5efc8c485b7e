# SPDX-License-Identifier: Apache-2.0
"""The ledger of checks: file, check, verdict, and the exemptions that were needed."""
from collections import OrderedDict, namedtuple
from fnmatch import fnmatchcase

# `file`, `what` and `module` are patterns of fnmatch; `module` is "" for whole-file checks.
Exemption = namedtuple("Exemption", "file what module reason")

SHOWN = 4  # failures that one line names, unless all are asked for


class Group:
    """Checks of one kind on one file."""

    def __init__(self):
        self.passed = 0
        self.failures = []
        self.exempt = OrderedDict()  # reason -> number


class Ledger:
    def __init__(self, exemptions):
        self.groups = OrderedDict()
        self.exemptions = exemptions
        self.needed = set()

    def _group(self, file, what):
        return self.groups.setdefault((file, what), Group())

    def _exemption(self, file, what, module):
        for i, rule in enumerate(self.exemptions):
            if (fnmatchcase(file, rule.file) and fnmatchcase(what, rule.what)
                    and fnmatchcase(module, rule.module)):
                return i
        return None

    def check(self, file, what, have, want, module=""):
        """Passes if `have` equals `want`; an exemption is used only if it is needed."""
        group = self._group(file, what)
        if have == want:
            group.passed += 1
            return
        rule = self._exemption(file, what, module)
        if rule is not None:
            self.needed.add(rule)
            self.exempt(file, what, self.exemptions[rule].reason)
            return
        place = f"{module}: " if module else ""
        group.failures.append(f"{place}have {have}, want {want}")

    def exempt(self, file, what, reason):
        reasons = self._group(file, what).exempt
        reasons[reason] = reasons.get(reason, 0) + 1

    def lines(self, verbose):
        for (file, what), group in self.groups.items():
            yield f"{file}, {what}, {verdict(group, verbose)}"

    def stale(self, checked):
        """Returns the exemptions of checked files that no check needed."""
        return [rule for i, rule in enumerate(self.exemptions) if i not in self.needed
                and any(fnmatchcase(file, rule.file) for file in checked)]

    def failed(self):
        return sum(1 for group in self.groups.values() if group.failures)


def verdict(group, verbose):
    parts = []
    if group.failures:
        shown = group.failures if verbose else group.failures[:SHOWN]
        total = len(group.failures) + group.passed
        more = len(group.failures) - len(shown)
        tail = f" … and {more} more" if more else ""
        parts.append(f"fail {len(group.failures)} of {total}: " + " | ".join(shown) + tail)
    elif group.passed:
        parts.append(f"pass ({group.passed})" if group.passed > 1 else "pass")
    for reason, n in group.exempt.items():
        parts.append(f"exempt ({n}): {reason}" if n > 1 else f"exempt: {reason}")
    return "; ".join(parts)
