"""What a project's own files ask for: pyproject.toml, Pipfile, setup.cfg, setup.py, tox.ini.

Every format is read as lines of a requirements file are, with the offsets of its own text.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import tree_sitter_python
from tree_sitter import Language, Node

from analyzers.documents.requirements import (
    Address,
    Entry,
    Line,
    Option,
    parse,
    parse_line,
    requirement,
)
from analyzers.documents.syntax import parse as parse_tree
from analyzers.documents.toml import Text, texts
from analyzers.markers import marker_holds

PYTHON = Language(tree_sitter_python.language())

#: Longer than any version.
_LONGEST_VERSION = 200

#: The values of every table by its number and path.
Neighbours = dict[tuple[int, tuple[str, ...]], dict[str, str]]


@dataclass(frozen=True, slots=True)
class Manifest:
    """The lines of a file, and whether it is valid in its format.

    ``extras`` names the optional group of a line, by the offset of its start.
    """

    lines: tuple[Line, ...]
    valid: bool = True
    extras: dict[int, str] = field(default_factory=dict)


def read(name: str, text: bytes) -> Manifest:
    """Read a file by its lower-case name."""
    if name == "pyproject.toml":
        return _pyproject(text)
    if name == "pipfile":
        return _pipfile(text)
    if name == "setup.py":
        return _with_extras(_setup_py(text))
    if name in ("setup.cfg", "tox.ini"):
        return _with_extras(_ini(text))
    return Manifest(tuple(parse(text)))


def _with_extras(pairs: Iterator[tuple[str, Line]]) -> Manifest:
    """A manifest from lines and the name of the optional group of each, if any."""
    read = tuple(pairs)
    return Manifest(
        tuple(line for _extra, line in read),
        extras={line.start: extra for extra, line in read if extra},
    )


# --- pyproject.toml


def _pyproject(text: bytes) -> Manifest:
    found, valid = texts(text)
    near = _neighbours(found)
    linux = _indexes_of_linux(found, near)
    lines: list[Line] = []
    extras: dict[int, str] = {}
    for one in found:
        path = one.path
        before = len(lines)
        if _is_requirement(path):
            lines.extend(_requirement(one))
        elif path[:2] == ("tool", "poetry") and _poetry_dependency(path):
            lines.extend(_poetry(one, near))
        elif _is_index(path) and one.value not in linux:
            lines.append(Option(_index_option(one, near), one.value, one.start, one.end))
        elif (
            path[:3] == ("tool", "uv", "sources")
            and path[-1] == "url"
            and marker_holds(_beside(one, near).get("marker", ""))
        ):
            lines.append(Address(one.value, one.start, one.end))
        extra = _extra(one, near)
        extras.update((line.start, extra) for line in lines[before:] if extra)
    return Manifest(tuple(lines), valid, extras)


def _extra(one: Text, near: Neighbours) -> str:
    """The optional group that a value belongs to; development groups are such, too."""
    path = one.path
    if path[:2] == ("project", "optional-dependencies") or path[:1] == ("dependency-groups",):
        return path[-1]
    if path[:3] == ("tool", "poetry", "group") and len(path) > 4:
        return path[3]
    if path[:3] == ("tool", "poetry", "dependencies") and len(path) == 5:
        return path[3] if _beside(one, near).get("optional") == "true" else ""
    return ""


def _is_requirement(path: tuple[str, ...]) -> bool:
    return (
        path in (("project", "dependencies"), ("build-system", "requires"))
        or path[:2] == ("project", "optional-dependencies")
        or (path[:1] == ("dependency-groups",) and len(path) == 2)
        or path[:3] in (("tool", "pdm", "dev-dependencies"), ("tool", "uv", "dev-dependencies"))
        or (path[:3] == ("tool", "hatch", "envs") and path[-1].endswith("dependencies"))
    )  # fmt: skip


def _requirement(one: Text) -> Iterator[Line]:
    if one.quoted and one.value.isascii():
        yield from parse_line(one.value, one.start)


def _is_index(path: tuple[str, ...]) -> bool:
    return path in (
        ("tool", "uv", "index", "url"),
        ("tool", "poetry", "source", "url"),
        ("tool", "pdm", "source", "url"),
        ("tool", "uv", "index-url"),
        ("tool", "uv", "extra-index-url"),
        ("tool", "uv", "find-links"),
    )


def _neighbours(found: Sequence[Text]) -> Neighbours:
    """The values of each table, or inline table, by its number and path."""
    groups: Neighbours = {}
    for one in found:
        groups.setdefault((one.table, one.path[:-1]), {})[one.path[-1]] = one.value
    return groups


def _beside(one: Text, near: Neighbours) -> dict[str, str]:
    """The values of the table that a value is in."""
    return near[one.table, one.path[:-1]]


def _index_option(one: Text, near: Neighbours) -> str:
    """Which option of pip an index amounts to."""
    if one.path[-1] in ("index-url", "extra-index-url", "find-links"):
        return f"--{one.path[-1]}"
    beside = _beside(one, near)
    if beside.get("explicit") == "true" or beside.get("priority") in ("explicit", "supplemental"):
        return "--extra-index-url"
    only = beside.get("default") == "true" or beside.get("priority") in ("primary", "default")
    return "--index-url" if only else "--extra-index-url"


def _indexes_of_linux(found: Sequence[Text], near: Neighbours) -> set[str]:
    """The addresses of indexes that uv asks only under a marker that no Mac meets."""
    used: dict[str, list[bool]] = {}
    groups: dict[tuple[int, tuple[str, ...]], list[Text]] = {}
    for one in found:
        if one.path[:3] == ("tool", "uv", "sources") and one.path[-1] in ("index", "marker"):
            groups.setdefault((one.table, one.path[:-1]), []).append(one)
    for members in groups.values():
        # A source that is an array of tables gives index and marker in turns.
        for index, one in enumerate(members):
            if one.path[-1] == "index":
                around = [members[i] for i in (index - 1, index + 1) if 0 <= i < len(members)]
                markers = [other.value for other in around if other.path[-1] == "marker"]
                holds = marker_holds(markers[-1]) if markers else True
                used.setdefault(one.value, []).append(holds)
    addresses = {}
    for one in found:
        if one.path == ("tool", "uv", "index", "url"):
            addresses[_beside(one, near).get("name", "")] = one.value
    return {addresses[name] for name, holds in used.items() if name in addresses and not any(holds)}


def _poetry_dependency(path: tuple[str, ...]) -> bool:
    rest = path[2:]
    if rest[:1] == ("group",):
        rest = rest[2:]
    return (
        rest[:1] in (("dependencies",), ("dev-dependencies",))
        and len(rest) in (2, 3)
        and (len(rest) == 2 or rest[-1] in ("version", "url"))
    )


def _poetry(one: Text, near: Neighbours) -> Iterator[Line]:
    """A dependency of Poetry: ``name = "^1.2"`` or a table with version, markers, platform."""
    at = one.path.index("dependencies") if "dependencies" in one.path else -1
    at = one.path.index("dev-dependencies") if at < 0 else at
    name, table = one.path[at + 1], len(one.path) == at + 3
    beside = _beside(one, near) if table else {}
    marker = beside.get("markers", "")
    platform = beside.get("platform", "")
    if platform and not marker:
        marker = f'sys_platform == "{platform}"' if '"' not in platform else ""
    if table and one.path[-1] == "url":
        yield Address(one.value, one.start, one.end)
        return
    if name != "python":
        yield from _entry(name, one.value, marker, one.start, one.end)


def _entry(name: str, version: str, marker: str, start: int, end: int) -> Iterator[Line]:
    """A requirement from a name and what the tool takes as its version."""
    suffix = f" ; {marker}" if marker else ""
    for specifier in (_specifier(version), ""):
        wanted = requirement(f"{name}{specifier}{suffix}")
        if wanted is not None:
            yield Entry(wanted, start, end)
            return


def _specifier(version: str) -> str:
    parts = [part.strip() for part in version.split(",")]
    return ",".join(filter(None, (_one_specifier(part) for part in parts)))


def _one_specifier(part: str) -> str:
    if part in ("", "*"):
        return ""
    if part[0] in "^":
        numbers = part[1:].split(".")
        head = numbers[0]
        if not head.isdecimal() or len(part) > _LONGEST_VERSION:
            return ""
        if head == "0" and len(numbers) > 1 and numbers[1].isdecimal():
            return f">={part[1:]},<0.{int(numbers[1]) + 1}"
        return f">={part[1:]},<{int(head) + 1}"
    if part[0] == "~" and part[:2] != "~=":
        numbers = part[1:].split(".")
        return f"=={'.'.join(numbers[:2])}.*" if len(numbers) > 1 else f"=={part[1:]}.*"
    return part if part[0] in "<>=!~" else f"=={part}"


# --- Pipfile


def _pipfile(text: bytes) -> Manifest:
    found, valid = texts(text)
    near = _neighbours(found)
    lines: list[Line] = []
    first = True
    for one in found:
        path = one.path
        if path == ("source", "url"):
            name = "--index-url" if first else "--extra-index-url"
            lines.append(Option(name, one.value, one.start, one.end))
            first = False
        elif path[:1] in (("packages",), ("dev-packages",)) and len(path) >= 2 and one.quoted:
            beside = _beside(one, near) if len(path) == 3 else {}
            marker = beside.get("markers", "") or (
                f"sys_platform {beside['sys_platform']}" if "sys_platform" in beside else ""
            )
            if len(path) == 2 or path[2] == "version":
                lines.extend(_entry(path[1], one.value, marker, one.start, one.end))
            elif path[2] in ("file", "path"):
                lines.append(Address(one.value, one.start, one.end))
    return Manifest(tuple(lines), valid)


# --- setup.cfg, tox.ini

_SECTION = re.compile(r"\[([^\]]*)\]")
_INI_KEY = re.compile(r"([\w.-]+)[ \t]*[=:]")
_PHYSICAL = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n|\Z)")


def _ini(text: bytes) -> Iterator[tuple[str, Line]]:
    section = key = ""
    for match in _PHYSICAL.finditer(text):
        line = match[0].decode("latin-1").rstrip()
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        start = match.start()
        if line[0] in " \t":
            if _asks(section, key):
                extra = key if section == "options.extras_require" else ""
                yield from ((extra, one) for one in _ini_requirement(line, start))
            continue
        header = _SECTION.match(line)
        if header is not None:
            section, key = header[1].strip(), ""
            continue
        named = _INI_KEY.match(line)
        if named is not None:
            key = named[1]
            if _asks(section, key):
                extra = key if section == "options.extras_require" else ""
                first = _ini_requirement(line[named.end() :], start + named.end())
                yield from ((extra, one) for one in first)


def _ini_requirement(line: str, start: int) -> Iterator[Line]:
    content = re.split(r"(?:^|\s)#", line, maxsplit=1)[0]
    yield from parse_line(content, start)


def _asks(section: str, key: str) -> bool:
    return (
        (section == "options" and key in ("install_requires", "setup_requires", "tests_require"))
        or section == "options.extras_require"
        or (section.startswith("testenv") and key == "deps")
    )


# --- setup.py

_ASKING = re.compile(rb"\b(?:install_requires|setup_requires|extras_require|tests_require)[ \t]*=")
_NAMED = re.compile(rb"(?m)^(\w+)[ \t]*=[ \t]*[\[({]")


def _setup_py(text: bytes) -> Iterator[tuple[str, Line]]:
    """The literal lists of ``setup()``, or of a name that is given to it; nothing is run."""
    hits = [match.start() for match in _ASKING.finditer(text)]
    if not hits:
        return
    root = parse_tree(PYTHON, text)
    named = {match[1]: match.start() for match in _NAMED.finditer(text)}
    for hit in hits:
        value = _side(root, hit, "keyword_argument", "value")
        if value is not None and value.type == "identifier" and value.text in named:
            value = _side(root, named[value.text], "assignment", "right")
        if value is None:
            continue
        for extra, string in _strings(value, ""):
            content = (string.text or b"").decode("latin-1")
            yield from ((extra, line) for line in parse_line(content, string.start_byte))


def _side(root: Node, offset: int, kind: str, side: str) -> Node | None:
    """What a name at ``offset`` is bound to, when it begins a node of this kind."""
    name = root.descendant_for_byte_range(offset, offset + 1)
    node = name.parent if name is not None else None
    if node is None or node.type != kind or node.start_byte != offset:
        return None
    return node.child_by_field_name(side)


def _strings(value: Node, extra: str) -> Iterator[tuple[str, Node]]:
    """The contents of the plain strings of a list, or of the lists of a dictionary of extras."""
    if value.type == "dictionary" and not extra:
        for pair in value.named_children:
            key, inner = pair.child_by_field_name("key"), pair.child_by_field_name("value")
            if key is not None and inner is not None:
                yield from _strings(inner, (key.text or b"").decode("latin-1").strip("\"'"))
    elif value.type in ("list", "tuple"):
        for child in value.named_children:
            if child.type == "string":
                contents = [one for one in child.named_children if one.type == "string_content"]
                if len(contents) == 1 and len(child.named_children) == 3:
                    yield extra, contents[0]
