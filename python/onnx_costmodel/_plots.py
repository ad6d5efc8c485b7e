# SPDX-License-Identifier: Apache-2.0
"""Pictures for notebooks: views of the HTML report, each a page of its own."""
from __future__ import annotations

import html
import os
import pathlib
from typing import Callable, Sequence

HEIGHT = 640  # px, of a picture in a notebook
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)


class Plot:
    """A picture: shown by a notebook, or saved as a page. It needs no network and no other package."""

    def __init__(self, page: str, view: str, height: int) -> None:
        self._page = page.replace("<html ", f'<html data-view="{view}" ', 1)
        self._height = height

    def to_html(self) -> str:
        """Returns the page."""
        return self._page

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the page."""
        pathlib.Path(path).write_text(self._page, encoding="utf-8")

    def _repr_html_(self) -> str:
        return (f'<iframe sandbox="allow-scripts" style="width: 100%; height: {self._height}px; border: 0" '
                f'srcdoc="{html.escape(self._page)}"></iframe>')


class Plots:
    """The pictures of a profile: ``p.plot.memory()``.

    Each method returns a Plot; `height` is that of the picture in a notebook, px.
    """

    def __init__(self, page: Callable[[int | Sequence[int] | None], str]) -> None:
        self._page = page  # of batches; None: that of the profile
        self._text: str | None = None

    def _view(self, view: str, height: int) -> Plot:
        if self._text is None:
            self._text = self._page(None)
        return Plot(self._text, view, height)

    def overview(self, height: int = HEIGHT) -> Plot:
        """What the model costs, where the time goes, and what to change first."""
        return self._view("overview", height)

    def memory(self, height: int = HEIGHT) -> Plot:
        """Live bytes over the execution, and the arena."""
        return self._view("memory", height)

    def training(self, height: int = HEIGHT) -> Plot:
        """The training step: phases and memory; with an optimizer."""
        return self._view("step", height)

    def modules(self, height: int = HEIGHT) -> Plot:
        """Shares of the modules."""
        return self._view("modules", height)

    def dataflow(self, height: int = HEIGHT) -> Plot:
        """The graph of the modules, with costs."""
        return self._view("dataflow", height)

    def operators(self, height: int = HEIGHT) -> Plot:
        """Costs by type of operator."""
        return self._view("operators", height)

    def kernels(self, height: int = HEIGHT) -> Plot:
        """The kernels that take the time; with times."""
        return self._view("kernels", height)

    def timeline(self, height: int = HEIGHT) -> Plot:
        """Nodes in execution order; with times."""
        return self._view("timeline", height)

    def roofline(self, height: int = HEIGHT) -> Plot:
        """Achieved FLOP/s of each kernel below the peak of the device; with times."""
        return self._view("roofline", height)

    def scaling(self, batches: Sequence[int] = BATCHES, height: int = HEIGHT) -> Plot:
        """Time, samples per second and memory by batch: profiles the model again at each."""
        return Plot(self._page(batches), "sweep", height)
