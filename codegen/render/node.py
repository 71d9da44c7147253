"""One object of the IR: its members by type, and messages that say where it stands."""

from __future__ import annotations

import re
from typing import Any, Callable, List, Optional, Set, Tuple, TypeVar

T = TypeVar("T")

IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*\Z")
INTEGER = re.compile(r"-?[0-9]{1,60}\Z")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,6})?\Z")


class IRError(Exception):
    """The input is not an IR that this renderer can render."""


class Node:
    """One JSON object together with its path, for messages, and the keys that were asked for."""

    def __init__(self, value: Any, path: str) -> None:
        if not isinstance(value, dict):
            raise IRError(f"{path or 'the IR'}: expected an object")
        self._value = value
        self._known: Set[str] = set()
        self.path = path

    def read(self, read: Callable[..., T], *args: Any) -> T:
        """What `read` makes of the object. It has to ask for each key, so that nothing that
        somebody wrote in a schema is lost without a word."""
        made = read(self, *args)
        for key in self._value:
            if key not in self._known:
                raise self.fail(key, "this renderer does not know it")
        return made

    def leave(self, *keys: str) -> None:
        """These may be there, for other readers of the IR."""
        self._known.update(keys)

    def at(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key

    def fail(self, key: str, message: str) -> IRError:
        return IRError(f"{self.at(key)}: {message}")

    def raw(self, key: str) -> Any:
        self._known.add(key)
        if key not in self._value:
            raise self.fail(key, "missing")
        return self._value[key]

    def is_null(self, key: str) -> bool:
        return self.raw(key) is None

    def text(self, key: str) -> str:
        value = self.raw(key)
        if not isinstance(value, str):
            raise self.fail(key, "expected a string")
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise self.fail(key, "not valid Unicode") from None
        return value

    def match(self, key: str, pattern: "re.Pattern[str]", what: str) -> str:
        value = self.text(key)
        if not pattern.match(value):
            raise self.fail(key, f"not {what}")
        return value

    def name(self, key: str) -> str:
        return self.match(key, IDENTIFIER, "a C identifier")

    def file(self, key: str) -> str:
        """A relative path of plain names, forward slashes between them."""
        value = self.text(key)
        if not all(FILE_NAME.match(part) for part in value.split("/")):
            raise self.fail(key, "not a relative file name")
        return value

    def word(self, key: str, words: Tuple[str, ...]) -> str:
        value = self.text(key)
        if value not in words:
            raise self.fail(key, "unknown word")
        return value

    def flag(self, key: str) -> bool:
        value = self.raw(key)
        if not isinstance(value, bool):
            raise self.fail(key, "expected true or false")
        return value

    def integer(self, key: str, low: int, high: int) -> int:
        """A JSON integer, or one in a string as all wide numbers are."""
        value = self.raw(key)
        if isinstance(value, str) and INTEGER.match(value):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise self.fail(key, "expected an integer")
        if not low <= value <= high:
            raise self.fail(key, f"{value} is out of range")
        return value

    def maybe(self, key: str, read: Callable[..., T], *args: Any) -> Optional[T]:
        """What `read` (a method of this class) makes of the key, or None for null."""
        return None if self.is_null(key) else read(self, key, *args)

    def child(self, key: str, read: Callable[..., T], *args: Any) -> T:
        return Node(self.raw(key), self.at(key)).read(read, *args)

    def children(self, key: str, read: Callable[..., T]) -> Tuple[T, ...]:
        return tuple(node.read(read) for node in self.nodes(key))

    def nodes(self, key: str) -> List["Node"]:
        """Each has to be read, or is of no interest as a whole."""
        return [Node(item, path) for item, path in self._items(key)]

    def texts(self, key: str) -> Tuple[str, ...]:
        items = self._items(key)
        return tuple(Node({"": item}, path).text("") for item, path in items)

    def integers(self, key: str, low: int, high: int) -> Tuple[int, ...]:
        items = self._items(key)
        return tuple(Node({"": item}, path).integer("", low, high) for item, path in items)

    def _items(self, key: str) -> List[Tuple[Any, str]]:
        value = self.raw(key)
        if not isinstance(value, list):
            raise self.fail(key, "expected a list")
        return [(item, f"{self.at(key)}[{index}]") for index, item in enumerate(value)]
