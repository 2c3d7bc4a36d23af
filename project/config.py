"""The project's own settings for this program."""

import difflib
import importlib
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from project import files
from project.errors import UserError
from project.paths import visible
from project.translation import _
from project.vocabulary import Skipped

FILE = "cuda2mps.toml"
STYLES = ("auto", "inline", "helper")


@dataclass(frozen=True)
class Config:
    """What `[tool.cuda2mps]` in ``pyproject.toml``, or ``cuda2mps.toml``, says.

    ``python`` is the interpreter for checks, ``style`` how a device is chosen in rewrites,
    ``torch`` the PyTorch release asked about. ``select`` and ``ignore`` name rules, ``exclude``
    patterns of paths that are not looked at. ``uses`` is what the project is for.
    """

    python: str | None = None
    style: str = "auto"
    torch: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


_KEYS = ("python", "style", "torch", "select", "ignore", "exclude", "work")
_WORK_KEYS = ("uses",)


_RELEASE = re.compile(r"\d{1,4}\.\d{1,4}(\.\d{1,4})?", re.ASCII)


def release(text: str) -> str:
    """A PyTorch release that somebody typed.

    Raises:
        UserError: it is none.
    """
    if not _RELEASE.fullmatch(text):
        raise UserError(
            _("{text} is no PyTorch release: give one such as 2.14.").format(text=visible(text))
        )
    return text


def load(root: Path) -> Config:
    """Read the settings of the project at ``root``; without any, the defaults.

    A ``pyproject.toml`` that does not speak of this program is not ours to complain about, so it
    is not even parsed.

    Raises:
        UserError: unknown key, wrong type or value, bad TOML, or settings in both files.
    """
    own = _table(root, FILE)
    shared = _table(root, "pyproject.toml")
    tool = shared.get("tool", {}) if shared is not None else {}
    ours = tool.get("cuda2mps") if isinstance(tool, dict) else None
    if own is not None and ours is not None:
        raise UserError(
            _("{one} and [tool.cuda2mps] in {other} both have settings: keep one of them.").format(
                one=FILE, other="pyproject.toml"
            )
        )
    if own is not None:
        return _Reader(FILE, "").config(own)
    if ours is not None:
        return _Reader("pyproject.toml", "tool.cuda2mps.").config(ours)
    return Config()


def _table(root: Path, name: str) -> dict[str, Any] | None:
    """The TOML table of a file; None when it is not there or has nothing for us."""
    if not (root / name).exists():
        return None
    data = files.read(root, name)
    if isinstance(data, Skipped):
        if name != FILE:
            return None
        raise UserError(_("{file} was not read: {reason}.").format(file=name, reason=data.reason))
    if name != FILE and b"cuda2mps" not in data:
        return None
    # The standard library has it from Python 3.11 on.
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table: dict[str, Any] = toml.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise UserError(
            _("{file} is not valid TOML: {reason}.").format(
                file=name, reason=visible(str(error)).rstrip(".")
            )
        ) from None
    return table


@dataclass(frozen=True)
class _Reader:
    """Reads a table, and knows where it stands for its complaints."""

    file: str
    prefix: str

    def config(self, table: object) -> Config:
        table = self._known(table, "", _KEYS)
        work = self._known(table.get("work", {}), "work", _WORK_KEYS)
        style = self._text(table, "style") or "auto"
        if style not in STYLES:
            raise self._wrong("style", _("one of {words}").format(words=", ".join(STYLES)))
        torch = self._text(table, "torch")
        if torch is not None and not _RELEASE.fullmatch(torch):
            raise self._wrong("torch", _('a release in quotes, such as "2.14"'))
        return Config(
            python=self._text(table, "python"),
            style=style,
            torch=torch,
            select=self._texts(table, "select"),
            ignore=self._texts(table, "ignore"),
            exclude=self._texts(table, "exclude"),
            uses=self._texts(work, "uses", "work."),
        )

    def _known(self, table: object, name: str, keys: Collection[str]) -> Mapping[str, object]:
        if not isinstance(table, dict):
            raise self._wrong(name, _("a table"))
        lead = f"{name}." if name else ""
        for key in table:
            if key not in keys:
                nearest = difflib.get_close_matches(key, keys, n=1, cutoff=0.0)[0]
                raise UserError(
                    _("{file} has the unknown key {key}: did you mean {nearest}?").format(
                        file=self.file,
                        key=visible(self.prefix + lead + key),
                        nearest=self.prefix + lead + nearest,
                    )
                )
        return table

    def _text(self, table: Mapping[str, object], key: str) -> str | None:
        value = table.get(key)
        if value is None:
            return None
        if not isinstance(value, str):
            raise self._wrong(key, _("a text in quotes"))
        return value

    def _texts(self, table: Mapping[str, object], key: str, lead: str = "") -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise self._wrong(lead + key, _("a list of texts in quotes"))
        return tuple(value)

    def _wrong(self, key: str, expected: str) -> UserError:
        return UserError(
            _("{key} in {file} has a wrong value: it must be {expected}.").format(
                key=(self.prefix + key).rstrip("."), file=self.file, expected=expected
            )
        )
