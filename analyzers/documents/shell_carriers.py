"""Where shell commands stand: scripts, containers, workflows, recipes, notebooks, instructions.

Each carrier's text keeps its length; what the shell does not read is blanked, so that one set of
rules reads them all and every offset stays true.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import PurePosixPath

from tree_sitter import Node, Query, QueryCursor

from analyzers.documents import notebook_shell
from analyzers.documents.base import Source
from analyzers.documents.dockerfile import DOCKERFILE, DockerfileDocument
from analyzers.documents.syntax import parse
from analyzers.documents.yaml import YAML, items, key_of, unwrapped
from project.translation import _


class Carrier(Enum):
    """What kind of file holds the commands."""

    SCRIPT = "script"
    VARIABLES = "variables"
    CONTAINER = "container"
    WORKFLOW = "workflow"
    RECIPE = "recipe"
    NOTEBOOK = "notebook"
    INSTRUCTIONS = "instructions"


Span = tuple[int, int]

#: Bytes of a script: longer ones are archives that unpack themselves, and take seconds to parse.
_LONGEST = 400_000
_WRITTEN = (
    Carrier.SCRIPT, Carrier.VARIABLES, Carrier.CONTAINER, Carrier.WORKFLOW, Carrier.RECIPE,
)  # fmt: skip

_SCRIPTS = (
    ".sh", ".bash", ".zsh", ".ksh", ".slurm", ".sbatch", ".pbs", ".qsub", ".lsf", ".bsub",
)  # fmt: skip
_WORKFLOW_FOLDERS = (".github", ".circleci", ".gitlab", ".azure-pipelines", ".buildkite")
_WORKFLOW_NAMES = (".gitlab-ci", ".travis", "azure-pipelines", "docker-compose", "compose")
_BLANK = bytes(byte if byte in b"\r\n" else 32 for byte in range(256))


def carrier_of(path: str) -> Carrier | None:
    """What a file of this name holds commands as; None for a file that holds none."""
    pure = PurePosixPath(path.lower())
    name = pure.name
    if name.endswith(_SCRIPTS):
        return Carrier.SCRIPT
    if name in (".env", ".envrc") or name.startswith(".env.") or name.endswith(".env"):
        return Carrier.VARIABLES
    if name.endswith(".ipynb"):
        return Carrier.NOTEBOOK
    if name.endswith((".md", ".markdown", ".rst")):
        return Carrier.INSTRUCTIONS
    if DockerfileDocument.accepts(path):
        return Carrier.CONTAINER
    if name in ("makefile", "gnumakefile") or name.endswith((".mk", ".mak")):
        return Carrier.RECIPE
    if is_workflow(path):
        return Carrier.WORKFLOW
    return None


def is_workflow(path: str) -> bool:
    """Whether YAML of this name tells a CI service or Compose what to run."""
    pure = PurePosixPath(path.lower())
    if pure.suffix not in (".yml", ".yaml"):
        return False
    return pure.name.startswith(_WORKFLOW_NAMES) or any(
        folder in pure.parts for folder in _WORKFLOW_FOLDERS
    )


def source_from(path: str, data: bytes) -> Source:
    """The shell's share of a file.

    Raises:
        ValueError: a notebook that is no JSON, or a text that is too long or nested too deeply;
            the message is a sentence for the user.
    """
    carrier = carrier_of(path)
    if len(data) > _LONGEST and carrier in _WRITTEN:
        raise ValueError(_("It is longer than a script that people write."))
    if carrier is Carrier.NOTEBOOK:
        return notebook_shell.source_of(path, data)
    whole = Source.of(path, data)
    if carrier in _READERS:
        try:
            return replace(whole, text=_READERS[carrier](whole))
        except RecursionError:
            raise ValueError(_("It is nested too deeply to be read.")) from None
    return whole


def _keep(text: bytes, spans: Iterator[Span]) -> bytearray:
    kept = bytearray(text.translate(_BLANK))
    for start, end in spans:
        kept[start:end] = text[start:end]
    return kept


# --- containers

_INSTRUCTIONS = Query(
    DOCKERFILE,
    "[(run_instruction) (cmd_instruction) (entrypoint_instruction) (env_instruction)] @instruction",
)
_LEGACY_ENV = re.compile(rb"(?i)(?m)^[ \t]*ENV[ \t]+(\w+)([ \t])(?![^\n]*=)")


def _container(source: Source) -> bytes:
    root = DockerfileDocument(source).root
    nodes = QueryCursor(_INSTRUCTIONS).captures(root).get("instruction", [])
    kept = _keep(source.text, (span for node in nodes for span in _instruction(node)))
    for node in nodes:
        if node.type == "env_instruction":
            kept[node.start_byte : node.start_byte + 3] = b"   "
        for child in _shell_parts(node):
            for comment in child.named_children:
                if comment.type == "comment":
                    # Docker drops such a line, and the shell sees the command go on.
                    length = comment.end_byte - comment.start_byte
                    kept[comment.start_byte : comment.end_byte] = b"\\".rjust(length)
    for line in _LEGACY_ENV.finditer(source.text):
        begin, end = line.start(1), source.text.find(b"\n", line.end())
        end = len(source.text) if end < 0 else end
        kept[begin:end] = source.text[begin:end]
        kept[line.start(2) : line.end(2)] = b"="
    return bytes(kept)


def _shell_parts(node: Node) -> Iterator[Node]:
    return (child for child in node.named_children if child.type == "shell_command")


def _instruction(node: Node) -> Iterator[Span]:
    if node.type == "env_instruction":
        yield node.start_byte, node.end_byte
    for child in node.named_children:
        if child.type == "shell_command":
            yield child.start_byte, child.end_byte
        elif child.type == "json_string_array":
            yield from ((one.start_byte, one.end_byte) for one in child.named_children)
        elif child.type == "heredoc_block":
            lines = [one for one in child.named_children if one.type == "heredoc_line"]
            yield from ((one.start_byte, one.end_byte) for one in lines)


# --- workflows

_RUN_KEY = re.compile(
    rb"(?m)^[ \t-]*[\"']?(?:run|script|before_script|after_script|install|before_install|command|"
    rb"bash|entrypoint|setup)[\"']?[ \t]*:"
)
_EXPRESSION = re.compile(rb"\$\{\{[^{}\r\n]*\}\}")


def _workflow(source: Source) -> bytes:
    text = source.text
    if not _RUN_KEY.search(text):
        return text.translate(_BLANK)
    root = parse(YAML, text)
    kept = bytes(_keep(text, _run_values(root, text)))
    return _EXPRESSION.sub(lambda match: b"$" + b"x" * (len(match[0]) - 1), kept)


def _run_values(root: Node, text: bytes) -> Iterator[Span]:
    for match in _RUN_KEY.finditer(text):
        node = root.descendant_for_byte_range(match.end() - 1, match.end())
        for _step in range(4):
            if node is None or node.type == "block_mapping_pair":
                break
            node = node.parent
        if node is None or node.type != "block_mapping_pair" or not key_of(node):
            continue
        value = node.child_by_field_name("value")
        members = list(items(value))
        for one in members or ([value] if value is not None else []):
            yield from _yaml_text(unwrapped(one))


def _yaml_text(node: Node | None) -> Iterator[Span]:
    if node is None or node.text is None:
        return
    if node.type == "block_scalar":
        head = node.text.find(b"\n")
        if head >= 0:
            yield node.start_byte + head + 1, node.end_byte
    elif node.type == "plain_scalar":
        yield node.start_byte, node.end_byte
    elif node.type in ("double_quote_scalar", "single_quote_scalar"):
        yield node.start_byte + 1, node.end_byte - 1


# --- recipes

_RECIPE_LINE = re.compile(rb"(?m)^\t[ \t]*[@+-]*([^\r\n]*)")
_MAKE_VARIABLE = re.compile(rb"\$\((\w+)\)")


def _recipe(source: Source) -> bytes:
    lines = _RECIPE_LINE.finditer(source.text)
    kept = bytes(_keep(source.text, (match.span(1) for match in lines)))
    return _MAKE_VARIABLE.sub(rb"${\1}", kept).replace(b"$$", b" $")


# --- instructions

#: The language is looked at ahead, so that a long line is not tried once for each of its letters.
_FENCE = re.compile(rb"(?m)^[ \t>]*(`{3,}|~{3,}(?!~))(?=[ \t]*\{?\.?([\w+-]*))[^`\r\n]*$")
_SHELLS = (b"", b"sh", b"bash", b"shell", b"zsh", b"console", b"terminal", b"shell-session", b"cmd")
_DIRECTIVE = re.compile(
    rb"(?m)^([ \t]*)\.\.[ \t]+(?:code-block|code|sourcecode)::[ \t]*"
    rb"(?:bash|sh|shell|console|zsh)[ \t]*\r?$"
)
_PROMPT = re.compile(rb"(?m)^[ \t]*(?:\([\w .-]+\)[ \t]*)?[$%>#][ \t]+(?=\w)")
_BODY_LINE = re.compile(rb"[^\n]*\n?")


def _instructions(source: Source) -> bytes:
    text = source.text
    blocks = _directives(text) if source.path.lower().endswith(".rst") else _fences(text)
    return bytes(_keep(text, (span for block in blocks for span in _commands(text, *block))))


def _fences(text: bytes) -> Iterator[Span]:
    opened: re.Match[bytes] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1][:1] == opened[1][:1] and len(fence[1]) >= len(opened[1]) and not fence[2]:
            if opened[2].lower() in _SHELLS:
                yield opened.end(), fence.start()
            opened = None


def _directives(text: bytes) -> Iterator[Span]:
    end = 0
    for match in _DIRECTIVE.finditer(text):
        if match.start() < end:
            continue  # in the block before, which has its lines
        end = position = min(match.end() + 1, len(text))
        while position < len(text):
            line = _BODY_LINE.match(text, position)
            if line is None:
                break
            body = line[0]
            indent = len(body) - len(body.lstrip(b" \t"))
            if body.strip() and indent <= len(match[1]):
                break
            position = line.end()
            end = position
        yield match.end(), end


def _commands(text: bytes, start: int, end: int) -> Iterator[Span]:
    """The commands of a block: after their prompts, where it shows prompts and output."""
    prompts = list(_PROMPT.finditer(text, start, end))
    if not any(b"$" in prompt[0] or b">" in prompt[0] for prompt in prompts):
        yield start, end
        return
    stop = start
    for prompt in prompts:
        if prompt.start() < stop:
            continue
        stop = prompt.end()
        while True:
            line, line_end = stop, text.find(b"\n", stop, end)
            stop = end if line_end < 0 else line_end + 1
            if line_end < 0 or not text[line:line_end].rstrip().endswith(b"\\"):
                break
        yield prompt.end(), stop


_READERS: dict[Carrier, Callable[[Source], bytes]] = {
    Carrier.CONTAINER: _container,
    Carrier.WORKFLOW: _workflow,
    Carrier.RECIPE: _recipe,
    Carrier.INSTRUCTIONS: _instructions,
}
