# SPDX-License-Identifier: Apache-2.0
"""Runs the program ``costmodel`` and turns its messages into exceptions and warnings."""
from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import warnings
from typing import Any, Iterable, Mapping, NamedTuple, Sequence

from ._options import LISTS

# subject: error[code]: message, then indented lines of the location and a hint
_MESSAGE = re.compile(r"^(?P<subject>.*?): (?P<severity>error|warning)\[(?P<code>[a-z-]+)\]: "
                      r"(?P<message>.*)\n?(?P<more>(?:  .*\n?)*)", re.MULTILINE)


class Message(NamedTuple):
    """A message of the program."""

    severity: str  # "error" or "warning"
    code: str  # docs/errors.md: "shape", "unbound", "usage", ...
    message: str
    place: str  # node and pass; "" if unknown
    hint: str  # "" if there is none
    text: str  # all lines, as printed


class CostmodelError(Exception):
    """The program refused the model or the options.

    Attributes:
        code: code of the first error (docs/errors.md), for example ``"unbound"``; ``"program"`` if
            the program is missing or ended without a message.
        status: exit status of the program; None if it did not run.
        messages: all messages.
    """

    def __init__(self, text: str, code: str, status: int | None = None,
                 messages: Sequence[Message] = ()) -> None:
        super().__init__(text)
        self.code = code
        self.status = status
        self.messages = list(messages)


class CostmodelWarning(UserWarning):
    """The report is complete, but some of its values are doubtful or missing."""


def program() -> str:
    """Returns the path of the program: $COSTMODEL_PROGRAM or the one in this package."""
    given = os.environ.get("COSTMODEL_PROGRAM")
    name = "costmodel.exe" if os.name == "nt" else "costmodel"
    path = pathlib.Path(given) if given else pathlib.Path(__file__).parent / "bin" / name
    if not path.is_file():
        raise CostmodelError(f"program {path} not found", "program")
    return str(path)


def parse_messages(text: str) -> list[Message]:
    """Returns the messages that the program printed on standard error."""
    found = []
    for match in _MESSAGE.finditer(text):
        lines = [line[2:] for line in match["more"].splitlines()]
        hints = [line[len("hint: "):] for line in lines if line.startswith("hint: ")]
        place = "\n".join(line for line in lines if not line.startswith("hint: "))
        found.append(Message(match["severity"], match["code"], match["message"], place,
                             "\n".join(hints), match[0].rstrip("\n")))
    return found


def _text(value: Any) -> str:
    """Formats the value of an option: a shape as 1x3x224x224."""
    if isinstance(value, (list, tuple)):
        return "x".join(str(item) for item in value)
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def arguments(options: Mapping[str, Any]) -> list[str]:
    """Returns the command line of keyword arguments.

    ``memory_limit="16GiB"`` becomes ``--memory-limit=16GiB``. True gives an option without a value, a
    mapping repeats ``--dim=NAME=VALUE``, a list repeats the option, or is one value with commas
    (``LISTS``). None and False are omitted.
    """
    words = []
    for key, value in options.items():
        name = "--" + key.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(name)
        elif isinstance(value, Mapping):
            words += [f"{name}={inner}={_text(item)}" for inner, item in value.items()]
        elif isinstance(value, (list, tuple)) and name[2:] in LISTS:
            words.append(f"{name}={','.join(map(_text, value))}")
        elif isinstance(value, (list, tuple)):
            words += [f"{name}={_text(item)}" for item in value]
        else:
            words.append(f"{name}={_text(value)}")
    return words


def run(words: Iterable[str], *, strict: bool = False) -> tuple[str, int]:
    """Runs the program and returns its output and exit status.

    Raises CostmodelError if the program wrote nothing, or if it is strict and printed an error;
    otherwise warns of its messages. Other threads run in the meantime; KeyboardInterrupt ends the program.
    """
    done = subprocess.run([program(), *words], stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    text = done.stderr.decode("utf-8", "replace")
    messages = parse_messages(text)
    errors = [message for message in messages if message.severity == "error"]
    if errors and (strict or not done.stdout):
        raise CostmodelError("\n".join(message.text for message in errors), errors[0].code,
                             done.returncode, messages)
    if not done.stdout and done.returncode != 0:
        raise CostmodelError(text.strip() or f"costmodel ended with status {done.returncode}",
                             "program", done.returncode)
    for message in messages:
        warnings.warn(message.text, CostmodelWarning, stacklevel=4)
    return done.stdout.decode("utf-8"), done.returncode


def run_json(words: Iterable[str], *, strict: bool = False) -> tuple[dict[str, Any], int]:
    """Like run, but returns the parsed JSON; the words contain --format=json."""
    text, status = run(words, strict=strict)
    try:
        return json.loads(text), status
    except ValueError as fault:  # killed while writing
        raise CostmodelError(f"costmodel ended with status {status}", "program", status) from fault
