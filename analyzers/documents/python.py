"""Python source, in a file or in the code cells of a notebook.

A document is searched for words first and the syntax tree is asked only around the hits, so that
the cost follows the number of hits and not the size of the file.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from analyzers.documents import regions
from analyzers.documents.base import Document, Source
from project.translation import _
from project.vocabulary import Edit

PYTHON = Language(tree_sitter_python.language())
_IMPORT = re.compile(rb"import\b")
#: For words that matter where they are imported.
IMPORTS = re.compile(rb"\bimport\b")
_IMPORTS = ("import_statement", "import_from_statement")
_ERRORS = Query(PYTHON, "[(ERROR) (MISSING)] @error")

#: What a name consists of, so that a name that one of these touches is a longer one.
_NAME_LETTERS = frozenset(b"_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_NAME_ENDS = frozenset(bytes([letter]) for letter in _NAME_LETTERS)

#: Node types that open a new scope for names.
SCOPES = ("function_definition", "lambda", "class_definition", "module")


@dataclass(frozen=True, slots=True)
class Import:
    """A name that an import binds, what it stands for, and the scope that sees it."""

    name: str
    target: str
    scope: Node
    statement: Node


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute chain or name, and the full dotted name that it stands for."""

    node: Node
    name: str


class PythonDocument(Document):
    """A Python file or a notebook, with its import aliases resolved."""

    language = PYTHON
    cased = True

    @classmethod
    def accepts(cls, path: str) -> bool:
        """Python by its suffix, and notebooks."""
        return path.endswith((".py", ".pyw", ".ipynb"))

    @classmethod
    def source_from(cls, path: str, data: bytes) -> Source:
        """The file itself, or a notebook's code cells."""
        if path.endswith(".ipynb"):
            from analyzers.documents import notebook

            return notebook.source_of(path, data)
        return Source.of(path, data)

    def __init__(
        self,
        source: Source,
        parts: Sequence[tuple[int, int]] | None = None,
        near: Sequence[tuple[int, int]] | None = None,
    ) -> None:
        super().__init__(source)
        self._parts = parts
        self._near = near
        self._tree: Tree | None = None

    @classmethod
    def around(cls, source: Source, words: Sequence[int]) -> "PythonDocument | None":
        """The parts of the module around these offsets; None if all are prose."""
        wanted = regions.followed(source.text, words)
        parts = regions.around(source.text, wanted)
        return None if parts == [] else cls(source, parts, regions.lines(source.text, wanted))

    def parsed(self) -> Node:
        """Parse what was asked for, or all of the text where a part does not stand by itself."""
        if self._parts is not None:
            ranges = list(regions.ranges(self.text, self._parts))
            root = Parser(PYTHON, included_ranges=ranges).parse(self.text).root_node
            if not root.has_error:
                return root
            self._parts = None
        parser = Parser(PYTHON)
        if self._tree is not None:
            self._tree = parser.parse(self.text, self._tree)
        # How a parser gets over an error depends on what it has read before.
        if self._tree is None or self._tree.root_node.has_error:
            self._tree = parser.parse(self.text)
        return self._tree.root_node

    def look_near(self, words: Sequence[int]) -> None:
        """From now on :meth:`hits` looks on the lines of these offsets alone, and beside them."""
        self._near = regions.lines(self.text, regions.followed(self.text, words))

    def edited(self, source: Source, edits: Iterable[Edit]) -> "PythonDocument":
        """The document after edits, which is parsed anew only where they touch it.

        Args:
            source: what the edits made of this document's file.
            edits: those edits, in offsets of the file, none of them overlapping another.
        """
        after = PythonDocument(source)
        same = source.offsets is self.source.offsets is None
        if (
            self.root
            and self._tree is not None
            and same
            and source.encoding == self.source.encoding
        ):
            after._tree = copy(self._tree)
            # From the last to the first, so that the offsets of the others still hold.
            for edit in sorted(set(edits), reverse=True):
                start = _point(self.text, edit.start)
                row, column = _point(edit.replacement, len(edit.replacement))
                after._tree.edit(
                    edit.start,
                    edit.end,
                    edit.start + len(edit.replacement),
                    start,
                    _point(self.text, edit.end),
                    (start[0] + row, column if row else start[1] + column),
                )
        return after

    def problems(self) -> Sequence[str]:
        """Where the file could not be parsed; the rest of it was read."""
        if not self.root.has_error:
            return ()
        nodes = QueryCursor(_ERRORS).captures(self.root).get("error", [])
        first = min((node.start_byte for node in nodes), default=0)
        line, _column = self.source.position(first)
        message = _("The syntax is broken at line {line}; what could be parsed was read.")
        return (message.format(line=line),)

    # -- moving about ----------------------------------------------------------------------

    def hits(self, pattern: re.Pattern[bytes]) -> Iterator[tuple[re.Match[bytes], Node]]:
        """Every match of ``pattern`` on the lines of the words that rules wait for.

        Each with the smallest node that covers it. A rule's pattern holds one of its words, so
        that the rest of the file need not be searched.
        """
        yield from self._matches(pattern, self._near)

    def anywhere(
        self, pattern: re.Pattern[bytes], *words: bytes
    ) -> Iterator[tuple[re.Match[bytes], Node]]:
        """Every match of ``pattern`` in what is parsed, and the smallest node that covers it.

        ``words`` are such that each match has one of them: looking for a word is much faster than
        looking for a pattern.
        """
        starts = sorted({start for word in words for start in self._starts_of(word)})
        for match, node in self._matches(pattern, regions.lines(self.text, starts)):
            # Only the root covers what was not parsed.
            if node != self.root:
                yield match, node

    def _matches(
        self, pattern: re.Pattern[bytes], spans: Sequence[tuple[int, int]] | None
    ) -> Iterator[tuple[re.Match[bytes], Node]]:
        if not spans and spans is not None:
            return
        root = self.root
        for start, end in ((0, len(self.text)),) if spans is None else spans:
            for match in pattern.finditer(self.text, start, end):
                node = root.descendant_for_byte_range(match.start(), match.end())
                if node is not None:
                    yield match, node

    def _starts_of(self, word: bytes) -> Iterator[int]:
        """Where the parsed parts of the text have a word."""
        if self.root and self._parts is not None:
            for start, end in self._parts:
                yield from regions.starts_of(word, self.text, start, end)
        else:
            yield from regions.starts_of(word, self.text)

    def node_at(self, start: int, end: int) -> Node | None:
        """The largest node that spans exactly ``start:end``."""
        node = self.root.descendant_for_byte_range(start, end)
        while node is not None and (parent := node.parent) is not None:
            if (parent.start_byte, parent.end_byte) != (start, end) or parent.type in (
                "block",
                "module",
            ):
                break
            node = parent
        if node is None or (node.start_byte, node.end_byte) != (start, end):
            return None
        return node

    def line_prefix(self, node: Node) -> bytes:
        """What stands before a node on its line."""
        start = self.text.rfind(b"\n", 0, node.start_byte) + 1
        return self.text[start : node.start_byte]

    # -- names -----------------------------------------------------------------------------

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        """Every name that an import statement of the file binds."""
        found: list[Import] = []
        for _match, word in self.anywhere(_IMPORT, b"import"):
            statement = word.parent
            if word.type != "import" or statement is None or statement.type not in _IMPORTS:
                continue
            scope = enclosing(statement, SCOPES) or self.root
            found.extend(
                Import(name, target, scope, statement) for name, target in self._bound_by(statement)
            )
        return tuple(found)

    def _bound_by(self, statement: Node) -> Iterator[tuple[str, str]]:
        module = statement.child_by_field_name("module_name")
        prefix = f"{self.slice(module)}." if module is not None else ""
        for node in statement.children_by_field_name("name"):
            if node.type == "aliased_import":
                name, alias = node.child_by_field_name("name"), node.child_by_field_name("alias")
                if name is not None and alias is not None:
                    yield self.slice(alias), prefix + self.slice(name)
            elif module is not None:
                yield self.slice(node), prefix + self.slice(node)
            else:
                top = self.slice(node).split(".")[0]
                yield top, top

    @cached_property
    def _by_name(self) -> dict[str, list[Import]]:
        table: dict[str, list[Import]] = {}
        for one in self.imports:
            table.setdefault(one.name, []).append(one)
        return table

    def meaning(self, name: str, at: Node) -> str | None:
        """What a plain name stands for at a place, by the imports that reach it.

        ``torch`` means torch even without an import in sight: a notebook's may be in a cell
        that ran before, a script's behind a star.
        """
        best: Import | None = None
        for one in self._by_name.get(name, ()):
            inside = one.scope.start_byte <= at.start_byte and at.end_byte <= one.scope.end_byte
            if inside and (best is None or one.scope.start_byte >= best.scope.start_byte):
                best = one
        if best is not None:
            return best.target
        return "torch" if name == "torch" else None

    def dotted(self, node: Node) -> str | None:
        """The full dotted name of a name or attribute chain, aliases resolved."""
        parts: list[str] = []
        while node.type == "attribute":
            attribute, value = (
                node.child_by_field_name("attribute"),
                node.child_by_field_name("object"),
            )
            if attribute is None or value is None:
                return None
            parts.append(self.slice(attribute))
            node = value
        if node.type != "identifier":
            return None
        meaning = self.meaning(self.slice(node), node)
        return ".".join([meaning, *reversed(parts)]) if meaning is not None else None

    def references(self, name: str) -> tuple[Reference, ...]:
        """Uses of a dotted name or of anything under it, in the order of the text.

        Aliases are resolved; import statements are not uses. Each is the longest attribute
        chain: for ``torch.cuda`` the call ``torch.cuda.amp.autocast()`` gives
        ``torch.cuda.amp.autocast``.
        """
        return self.remember(("references", name), lambda: tuple(self._references(name)))

    def _references(self, name: str) -> Iterator[Reference]:
        found: dict[int, Reference] = {}
        last = name.rpartition(".")[2]
        aliases = {one.name for one in self.imports if under(one.target, name)}
        if name == "torch":
            aliases.add(name)
        for alias in aliases | {last}:
            for start in self.named(alias):
                reference = self._reference_at(start, attribute=alias == last)
                if reference is not None and under(reference.name, name):
                    found[reference.node.start_byte] = reference
        return (found[start] for start in sorted(found))

    def named(self, name: str) -> Iterator[int]:
        """Where what is parsed has a name by itself, be it in a comment or a text."""
        text, word = self.text, name.encode()
        for start in self._starts_of(word):
            end = start + len(word)
            if (start and text[start - 1] in _NAME_LETTERS) or text[end : end + 1] in _NAME_ENDS:
                continue
            yield start

    def _reference_at(self, start: int, attribute: bool) -> Reference | None:
        """The longest chain with the name at an offset, as its beginning or as an attribute."""
        node = self.root.descendant_for_byte_range(start, start + 1)
        if node is None or node.type != "identifier":
            return None
        parent = node.parent
        if parent is not None and parent.type == "attribute":
            if parent.child_by_field_name("object") != node:
                if not attribute:
                    return None
                node = parent
        elif is_name_only(node):
            return None
        while (parent := node.parent) is not None and parent.type == "attribute":
            node = parent
        name = self.dotted(node)
        return Reference(node, name) if name is not None else None


def _point(text: bytes, offset: int) -> tuple[int, int]:
    """Row and column of an offset, in lines and bytes from 0."""
    return text.count(b"\n", 0, offset), offset - text.rfind(b"\n", 0, offset) - 1


def under(name: str, prefix: str) -> bool:
    """Whether a dotted name is ``prefix`` or lies under it."""
    return name == prefix or name.startswith(prefix + ".")


def nth(node: Node, index: int) -> Node | None:
    """The named child at ``index``, or None where there are fewer."""
    return node.named_child(index) if 0 <= index < node.named_child_count else None


def enclosing(node: Node, types: Sequence[str]) -> Node | None:
    """The nearest ancestor of one of these types."""
    parent = node.parent
    while parent is not None and parent.type not in types:
        parent = parent.parent
    return parent


def statement_of(node: Node) -> Node:
    """The statement that a node belongs to."""
    while (parent := node.parent) is not None and parent.type not in ("block", "module"):
        node = parent
    return node


def is_name_only(node: Node) -> bool:
    """Whether an identifier only names something here: an import, a keyword, a parameter."""
    parent = node.parent
    if parent is None:
        return False
    if parent.type in ("dotted_name", "aliased_import", "parameters", "global_statement"):
        return True
    if parent.type in ("keyword_argument", "default_parameter", "function_definition"):
        return parent.child_by_field_name("name") == node
    return False


def unparenthesised(node: Node) -> Node:
    """The expression inside any parentheses."""
    while node.type == "parenthesized_expression" and node.named_child_count == 1:
        inner = nth(node, 0)
        if inner is None:
            break
        node = inner
    return node
