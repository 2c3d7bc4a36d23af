"""From a kernel to the Python that calls it, and to what could take its place.

Asked once, when all files have been read: it reads the native sources and the Python files again,
each at most once, follows names, and says in each kernel's message what it found. Names are no
proof, so the messages say "may", and that the results are to be compared.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from ahocorasick_rs import BytesAhoCorasick, MatchKind

from analyzers import native, replacements, workers
from analyzers.documents.base import Source
from analyzers.documents.cuda import CudaDocument
from analyzers.documents.python import PythonDocument
from analyzers.examine import FileReport
from analyzers.native import Binding, Native, Place
from analyzers.nvidia import FEATURES, LIBRARIES, used
from project import files
from project.translation import _
from project.vocabulary import Finding, Skipped
from project.workspace import Workspace

_KERNEL, _BINDING, _EXTENSION = "K201", "K209", "K203"
#: Kernels written in Python: found by the name in their text.
_IN_PYTHON = frozenset({"K210", "K211", "K214", "K218"})
#: No more native files than this are read; a project with more is followed in part.
_MOST_FILES = 4_000
_SHOWN = 3
#: So many steps up a function's name still speaks of the kernel.
_NEAR = 5

_STRING = re.compile(r"[\"']([A-Za-z_][\w.]*)[\"']")
_SET_TO = rb"(?m)^\s*%s\s*=\s*[\"']([A-Za-z_][\w.]*)[\"']"
_NAME_IS = re.compile(r"\bname\s*=\s*([A-Za-z_]\w*)\b|\(\s*([A-Za-z_]\w*)\s*,")
_USE = re.compile(rb"(?<![\w.])((?:[A-Za-z_]\w*\.){1,4})([A-Za-z_]\w*)")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
#: What a function is called that computes in Python what a kernel does.
_ENDINGS = [
    "ref",
    "reference",
    "pytorch",
    "torch",
    "naive",
    "slow",
    "cpu",
    "python",
    "native",
    "eager",
    "fallback",
]
_ENDED = BytesAhoCorasick(
    [f"_{ending}(".encode() for ending in _ENDINGS], matchkind=MatchKind.LeftmostLongest
)
_REFERENCE = re.compile(
    (r"[ \t]*def[ \t]+(\w+?)_(?:core_)?(?:" + "|".join(_ENDINGS) + r")\(").encode()
)
_FULL_NAME = re.compile(rb"def[ \t]+(\w+)")
_OTHERS = frozenset({"self", "cls", "np", "numpy", "math", "F", "nn", "os", "re", "sys"})
_BRANCH = re.compile(rb"(?m)^[ \t]*(?:el)?if\b[^\n]{0,80}\.is_cuda\b")
_EXCEPT = re.compile(
    rb"(?m)^[ \t]*except\b[^\n]{0,60}(?:ImportError|ModuleNotFoundError|Exception)"
)
#: The name in a signature, of a Python function or of a kernel in a string.
_DEFINED = re.compile(r"\A(?:async\s+)?def\s+(\w+)|\b__global__\b.*?\b(?!__)(\w+)\s*\(", re.DOTALL)


@dataclass(frozen=True, slots=True)
class _Call:
    """A use of a bound name: where, on what, and which of the modules its file names."""

    place: Place
    base: str
    hints: frozenset[str]


@dataclass(slots=True)
class _Python:
    """What the project's Python files say: uses of bound names, references, ways around."""

    uses: dict[str, list[_Call]] = field(default_factory=dict)
    imports: dict[str, list[Place]] = field(default_factory=dict)
    references: list[tuple[str, Place]] = field(default_factory=list)
    branches: dict[str, Place] = field(default_factory=dict)
    excepts: dict[str, Place] = field(default_factory=dict)
    shaders: list[str] = field(default_factory=list)

    def add(self, other: "_Python") -> None:
        """Take in what another file says."""
        for name, calls in other.uses.items():
            self.uses.setdefault(name, []).extend(calls)
        for name, places in other.imports.items():
            self.imports.setdefault(name, []).extend(places)
        self.references.extend(other.references)
        self.branches.update(other.branches)
        self.excepts.update(other.excepts)
        self.shaders.extend(other.shaders)


def link(
    workspace: Workspace,
    reports: Sequence[FileReport],
    listed: Sequence[str] | None = None,
    jobs: int | None = None,
) -> list[FileReport]:
    """The reports with more in the messages of kernels, bindings and extensions.

    Each says which Python calls may reach it, and what replacing it would take. ``reports`` are
    those that have findings of the kernel layer; they come back in their order. ``listed`` are the
    files of the project, where that is known already; ``jobs`` is the number of processes (None: as
    it fits).
    """
    codes = {finding.rule for report in reports for finding in report.findings}
    if not codes & {_KERNEL, _BINDING, _EXTENSION, *_IN_PYTHON}:
        return list(reports)
    if listed is None:
        listed, _left_out = files.listed(workspace)
    sources = [path for path in listed if CudaDocument.accepts(path)][:_MOST_FILES]
    needs_native = bool(codes & {_KERNEL, _BINDING})
    project = native.read(_contents(workspace, sources)) if needs_native else Native()
    modules = _modules(workspace, reports)
    scripts = [path for path in listed if path.endswith(".py")]
    shaders = [path for path in listed if path.endswith(".metal")]
    python = _read_python(workspace, scripts, project, modules, jobs)
    writer = _Writer(project, python, modules, _stems(shaders, listed))
    return [_enriched(workspace, report, writer) for report in reports]


def _contents(workspace: Workspace, paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    for path in paths:
        data = files.read(workspace.root, path)
        if isinstance(data, bytes):
            yield path, data


def _stems(shaders: Sequence[str], listed: Sequence[str]) -> list[str]:
    """The files that hold code for Metal, Objective-C++ included."""
    return [*shaders, *(path for path in listed if path.endswith(".mm"))]


def _modules(workspace: Workspace, reports: Sequence[FileReport]) -> dict[str, str]:
    """The modules that the project's extensions become, by last name, with what names sources."""
    found: dict[str, str] = {}
    for report in reports:
        texts = [one.text for one in report.findings if one.rule == _EXTENSION]
        data = files.read(workspace.root, report.path) if texts else b""
        for text in texts:
            name = _module_name(text, data if isinstance(data, bytes) else b"")
            if name:
                last = name.rsplit(".", 1)[-1]
                found[last] = found.get(last, "") + text
    return found


def _module_name(text: str, data: bytes) -> str | None:
    head = text[:300]
    if "(" not in head:
        return None
    literal, named = _STRING.search(head), _NAME_IS.search(head)
    if named is not None and (literal is None or named.start() < literal.start()):
        word = (named[1] or named[2]).encode()
        set_to = re.search(_SET_TO % re.escape(word), data)
        return set_to[1].decode() if set_to is not None else None
    return literal[1] if literal is not None else None


@dataclass(frozen=True, slots=True)
class _Look:
    """Reading one Python file for what it says of these names; travels to other processes."""

    root: Path
    names: frozenset[str]
    hints: tuple[bytes, ...]

    def __call__(self, path: str) -> _Python:
        python = _Python()
        data = files.read(self.root, path)
        if isinstance(data, Skipped):
            return python
        for _index, start, _end in _ENDED.find_matches_as_indexes(data):
            line = data.rfind(b"\n", 0, start) + 1
            name = _FULL_NAME.search(data, line)
            if name is not None and _REFERENCE.match(data, line) is not None:
                place = Place(path, data.count(b"\n", 0, name.start()) + 1)
                python.references.append((name[1].decode(), place))
        if b"mps.compile_shader" in data:
            python.shaders.append(path)
        named = frozenset(
            data[start:end].decode()
            for _index, start, end in _automaton(self.hints).find_matches_as_indexes(data)
            if _is_whole(data, start, end)
        )
        if named:
            _read_caller(PythonDocument(Source.of(path, data)), self.names, named, python)
        return python


@cache
def _automaton(hints: tuple[bytes, ...]) -> BytesAhoCorasick:
    return BytesAhoCorasick(hints, matchkind=MatchKind.LeftmostLongest)


def _read_python(
    workspace: Workspace,
    scripts: Sequence[str],
    project: Native,
    modules: Iterable[str],
    jobs: int | None,
) -> _Python:
    libraries = {one.library for one in project.bindings} - {"TORCH_EXTENSION_NAME"}
    hints = sorted(name.encode() for name in {*modules, *libraries} if len(name) > 1)
    names = frozenset(one.name for one in project.bindings)
    look = _Look(workspace.root, names, tuple(hints))
    python = _Python()
    for said in workers.each(look, scripts, lambda path: _Python(), jobs):
        python.add(said)
    return python


def _is_whole(data: bytes, start: int, end: int) -> bool:
    """Whether a name is no part of a longer one."""
    return re.search(rb"\w", data[max(start - 1, 0) : start] + data[end : end + 1]) is None


def _read_caller(
    document: PythonDocument, names: frozenset[str], modules: frozenset[str], python: _Python
) -> None:
    """Note what a file that names these modules does with them."""
    path, text = document.path, document.text
    for statement in dict.fromkeys(found.statement for found in document.imports):
        words = set(_IDENTIFIER.findall(document.slice(statement)))
        for module in sorted(words & modules):
            line = document.source.position(statement.start_byte)[0]
            python.imports.setdefault(module, []).append(Place(path, line))
    for match in _USE.finditer(text):
        name, base = match[2].decode(), match[1].decode().rstrip(".").split(".")
        if name not in names or base[0] in _OTHERS or (base[0] == "torch" and "ops" not in base):
            continue
        node = document.root.descendant_for_byte_range(match.start(2), match.end(2))
        if node is None or node.type != "identifier":
            continue
        place = Place(path, document.source.position(match.start())[0])
        meaning = document.meaning(base[-1], node) if len(base) == 1 else None
        on = meaning.rsplit(".", 1)[-1] if meaning is not None else base[-1]
        python.uses.setdefault(name, []).append(_Call(place, on, modules))
    for pattern, into in ((_BRANCH, python.branches), (_EXCEPT, python.excepts)):
        hit = pattern.search(text)
        if hit is not None:
            into[path] = Place(path, document.source.position(hit.end() - 1)[0])


def _enriched(workspace: Workspace, report: FileReport, writer: "_Writer") -> FileReport:
    wanted = {_KERNEL, _BINDING, _EXTENSION, *_IN_PYTHON}
    if not any(one.rule in wanted for one in report.findings):
        return report
    data = files.read(workspace.root, report.path)
    document = None
    if isinstance(data, bytes) and CudaDocument.accepts(report.path):
        document = CudaDocument(Source.of(report.path, data))
    return replace(
        report, findings=tuple(writer.enriched(one, document) for one in report.findings)
    )


@dataclass(slots=True)
class _Writer:
    """Writes what was found into the messages."""

    project: Native
    python: _Python
    modules: dict[str, str]
    metal: list[str]

    def enriched(self, finding: Finding, document: CudaDocument | None) -> Finding:
        """The finding with what is known about it added to its message."""
        more: list[str] = []
        if finding.rule == _KERNEL and document is not None:
            more = self._about_kernel(finding, document)
        elif finding.rule == _EXTENSION:
            more = self._about_module(finding)
        elif finding.rule == _BINDING:
            more = self._about_binding(finding)
        elif finding.rule in _IN_PYTHON and (match := _DEFINED.search(finding.text)) is not None:
            stem = finding.path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
            more = self._instead([match[1] or match[2], stem], [], [finding.path], None)
        return replace(finding, message=" ".join((finding.message, *more))) if more else finding

    # -- who calls it ----------------------------------------------------------------------

    def _about_kernel(self, finding: Finding, document: CudaDocument) -> list[str]:
        kernels = document.once(CudaDocument.kernels)
        kernel = next((one for one in kernels if one.start == finding.start), None)
        if kernel is None:
            return []
        start = self.project.start_of(document, kernel)
        above = self.project.above(start, document.path)
        bound = self.project.bound(above)
        names = list(dict.fromkeys(one.name for one in bound))
        places = self._places(bound)
        more = []
        if places:
            message = _("Python may reach it through {names}: called at {places}.")
            more.append(message.format(names=_some(names), places=_some(places)))
        elif names:
            message = _("It is bound to Python as {names}; no call of that was found.")
            more.append(message.format(names=_some(names)))
        callers = list(dict.fromkeys(place.path for place in places))
        chain = list(dict.fromkeys(name for name, _path in above))
        # What many names reach is a helper, which none of them speaks of.
        telling = [*chain[:_NEAR], *(names if len(names) <= _NEAR else ())]
        return more + self._instead(telling, bound, callers, document)

    def _about_binding(self, finding: Finding) -> list[str]:
        bound = [one for one in self.project.bindings if one.place.path == finding.path]
        places = self._places(bound)
        if not places:
            return []
        return [_("Python may call what is bound here at {places}.").format(places=_some(places))]

    def _places(self, bound: Sequence[Binding]) -> list[Place]:
        found: list[Place] = []
        for one in bound:
            calls = self.python.uses.get(one.name, [])
            modules = self._modules_of(one)
            exact = [call.place for call in calls if call.base in modules]
            found.extend(exact or [call.place for call in calls if call.hints & modules])
        unique = list(dict.fromkeys(found))
        return sorted(unique, key=lambda place: ("test" in place.path, place.path, place.line))

    def _modules_of(self, binding: Binding) -> set[str]:
        """The modules or libraries that hold a binding; all where the set-up does not tell."""
        if binding.library not in ("TORCH_EXTENSION_NAME", "m"):
            return {binding.library}
        file = re.escape(binding.place.path.rsplit("/", 1)[-1])
        source = re.compile(rf"(?<![\w.-]){file}")
        built = {name for name, sources in self.modules.items() if source.search(sources)}
        return built or set(self.modules)

    def _about_module(self, finding: Finding) -> list[str]:
        name = _module_name(finding.text, b"")
        places = self.python.imports.get(name.rsplit(".", 1)[-1], []) if name else []
        if not places:
            return []
        more = [_("It is imported at {places}.").format(places=_some(places))]
        handled = [
            self.python.excepts[one.path] for one in places if one.path in self.python.excepts
        ]
        if handled:
            message = _("An import that fails may be caught ({places}): see what runs then.")
            more.append(message.format(places=_some(handled)))
        return more

    # -- what could take its place ---------------------------------------------------------

    def _instead(
        self,
        names: Sequence[str],
        bound: Sequence[Binding],
        callers: Sequence[str],
        document: CudaDocument | None,
    ) -> list[str]:
        """One sentence: the best way that is there, in the order of what costs least."""
        ways = (
            self._metal_way(names, bound),
            self._cpu_way(names, bound),
            self._reference_way(names, callers),
            self._branch_way(callers),
            self._operator_way(names),
            self._shader_way(document) if document is not None else None,
        )
        best = next((way for way in ways if way is not None), None)
        return [best] if best is not None else []

    def _metal_way(self, names: Sequence[str], bound: Sequence[Binding]) -> str | None:
        for one in self.project.bindings:
            if one.key == "MPS" and any(
                (one.library, one.name) == (other.library, other.name) for other in bound
            ):
                message = _("The project has an implementation of {name} for MPS at {place}.")
                return message.format(name=one.name, place=one.place)
        for path in (*self.metal, *self.python.shaders):
            stem = path.rsplit("/", 1)[-1].rsplit(".", 1)[0]
            if any(replacements.alike(stem, name) for name in names):
                return _("The project has code for Metal in {path} that may do the same.").format(
                    path=path
                )
        return None

    def _cpu_way(self, names: Sequence[str], bound: Sequence[Binding]) -> str | None:
        known = set(names)
        registered = [
            function
            for name, key, function in self.project.devices
            if key == "CPU" and name in known and self.project.place_of(function) is not None
        ]
        siblings = [
            other
            for name in names
            for before, after in (("cuda", "cpu"), ("Cuda", "Cpu"), ("CUDA", "CPU"), ("gpu", "cpu"))
            if before in name and (other := name.replace(before, after)) in self.project.functions
        ]
        implemented = [
            one
            for one in self.project.bindings
            if one.key == "CPU"
            and any((one.library, one.name) == (other.library, other.name) for other in bound)
        ]
        if implemented:
            name, place = implemented[0].name, implemented[0].place
        elif registered or siblings:
            name = (registered or siblings)[0]
            found = self.project.place_of(name)
            if found is None:
                return None
            place = found
        else:
            return None
        message = _(
            "The project has a C++ implementation for the CPU ({name} at {place}): it builds "
            "without CUDA, and tensors go to the CPU and back; whether it computes the same must "
            "be checked."
        )
        return message.format(name=name, place=place)

    def _reference_way(self, names: Sequence[str], callers: Sequence[str]) -> str | None:
        folders = {path.rsplit("/", 1)[0] for path in callers}
        best: tuple[int, bool, str, Place] | None = None
        for name, place in self.python.references:
            score = max((replacements.alike(name, other) for other in names), default=0)
            here = place.path in callers
            if not score and here and any(replacements.related(name, other) for other in names):
                score = 1
            near = here or place.path.rsplit("/", 1)[0] in folders
            if score and (best is None or (score, near) > best[:2]):
                best = (score, near, name, place)
        if best is None:
            return None
        message = _(
            "The project has {name} at {place}, in Python; whether it computes the same must be "
            "checked, and it will be slower."
        )
        return message.format(name=best[2], place=best[3])

    def _branch_way(self, callers: Sequence[str]) -> str | None:
        for path in callers:
            place = self.python.branches.get(path)
            if place is not None:
                message = _(
                    "The caller asks for CUDA tensors at {place}: see what it does with others."
                )
                return message.format(place=place)
        return None

    def _operator_way(self, names: Sequence[str]) -> str | None:
        operator = replacements.operator_for(names)
        if operator is None:
            return None
        message = _(
            "By its name it may be replaced by {operator}; the results have to be compared."
        )
        return message.format(operator=_(operator))

    def _shader_way(self, document: CudaDocument) -> str:
        hard = document.once(_beyond_metal)
        if hard:
            message = _("Its file uses {names}: staying on CUDA is the likely answer.")
            return message.format(names=_some(hard))
        return _(
            "Its file shows nothing beyond Metal but perhaps double precision: a shader "
            "(torch.mps.compile_shader, PyTorch 2.7) may do the same."
        )


def _beyond_metal(document: CudaDocument) -> Iterator[str]:
    """What a file uses that a shader cannot simply spell in another way."""
    for need, use in used(document, (*LIBRARIES, *FEATURES)):
        if not need.shader and not use.guarded:
            yield need.name


def _some(items: Sequence[object]) -> str:
    shown = ", ".join(str(item) for item in items[:_SHOWN])
    if len(items) > _SHOWN:
        return _("{some} and {count} more").format(some=shown, count=len(items) - _SHOWN)
    return shown
