# SPDX-License-Identifier: Apache-2.0
"""Objects and lists of a JSON report. An unknown value is None, never 0."""
from __future__ import annotations

from typing import (TYPE_CHECKING, Any, Callable, ClassVar, Generic, Iterator, Sequence, TypeVar, cast,
                    overload)

if TYPE_CHECKING:
    import pandas


class Record:
    """An object of a report: ``record.macs`` or ``record["macs"]``.

    The attributes of each class are annotated in _schema.py; keys of newer programs are attributes
    too, and ``record["key"]`` for a type checker. A key that is a keyword of Python has an underscore as
    an attribute: ``module.class_``.
    """

    _nested: ClassVar[dict[str, type[Record]]] = {}  # classes of the objects in a key

    def __init__(self, document: dict[str, Any]) -> None:
        self._document = document

    def __getitem__(self, key: str) -> Any:
        kind = self._nested.get(key, Record)
        value = self._document[key]
        if isinstance(value, dict):
            return kind(value)
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return Rows(value, kind)
        return Rows(value, kind) if value == [] and key in self._nested else value

    if not TYPE_CHECKING:  # a misspelt attribute is an error of the type checker

        def __getattr__(self, name: str) -> Any:
            key = name[:-1] if name.endswith("_") else name
            if name.startswith("_"):
                raise AttributeError(name)
            if key not in self._document:
                raise AttributeError(f"{type(self).__name__.replace('Fields', '')} has no '{name}'; it has "
                                     f"{', '.join(self.keys())}")
            value = self[key]
            self.__dict__[name] = value
            return value

    def keys(self) -> list[str]:
        """Returns the keys of the JSON object."""
        return list(self._document)

    def get(self, key: str, default: Any = None) -> Any:
        """Returns the value of a key, or `default` if the report does not have it."""
        return self[key] if key in self._document else default

    def to_dict(self) -> dict[str, Any]:
        """Returns the JSON object."""
        return self._document

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __contains__(self, key: object) -> bool:
        return key in self._document

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._document]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._document == other._document

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        plain = {key: value for key, value in self._document.items()
                 if not isinstance(value, (dict, list))}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in plain.items())})"


V = TypeVar("V")


class Map(Record, Generic[V]):
    """An object whose keys are names: ``options.dims["seq"]`` or ``options.dims.seq``."""

    _kind: ClassVar[type[Record]] = Record

    def __getitem__(self, key: str) -> V:
        value = self._document[key]
        return cast(V, self._kind(value) if isinstance(value, dict) else value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> V: ...


def map_of(kind: type[Record]) -> type[Map[Any]]:
    """Returns the class of an object whose values are objects of a class."""
    return type("Map", (Map,), {"_kind": kind})


R = TypeVar("R", bound=Record)


class Rows(Sequence[R], Generic[R]):
    """A list of objects, by index or by name: ``modules[0]``, ``modules["layer1.0"]``.

    Modules are found by their path, nodes and values by their name, operators by their type.
    """

    def __init__(self, documents: list[dict[str, Any]], kind: Callable[[dict[str, Any]], R]) -> None:
        self._documents = documents
        self._kind = kind
        self._indices: dict[str, int] | None = None

    def _index(self) -> dict[str, int]:
        if self._indices is None:
            keys = ("path", "name", "op")
            self._indices = {}
            for i, document in enumerate(self._documents):
                name = next((document[key] for key in keys if key in document), None)
                if isinstance(name, str):
                    self._indices.setdefault(name, i)
        return self._indices

    @overload
    def __getitem__(self, index: int | str) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Rows[R]: ...

    def __getitem__(self, index: int | str | slice) -> R | Rows[R]:
        if isinstance(index, slice):
            return Rows(self._documents[index], self._kind)
        if isinstance(index, str):
            index = self._index()[index]
        return self._kind(self._documents[index])

    def __contains__(self, item: object) -> bool:
        return item in self._index() if isinstance(item, str) else super().__contains__(item)

    def __len__(self) -> int:
        return len(self._documents)

    def names(self) -> list[str]:
        """Returns the paths or names by which the rows are found."""
        return list(self._index())

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame: a row for each object, a column for each number and text.

        Requires pandas. An unknown value is NA. Lists are left out.
        """
        import pandas as pd  # pylint: disable=import-outside-toplevel

        frame = pd.json_normalize(self._documents)
        lists = [name for name in frame if frame[name].map(lambda cell: isinstance(cell, list)).any()]
        return frame.drop(columns=lists).convert_dtypes()

    def __repr__(self) -> str:
        return f"Rows({len(self)}: {', '.join(repr(row) for row in self[:3])}, ...)"
