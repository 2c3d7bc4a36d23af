"""The snapshot as a file to keep or to hand on: Markdown, JSON, HTML or SVG, by the file's suffix.

Each form stands alone: no script, no font and no picture is fetched from anywhere. What comes from
the scanned project is text in it, never markup. Names of this user and of this machine stay out.
"""

import contextlib
import getpass
import io
import json
import math
import os
import platform
import re
import secrets
import shlex
import stat
from collections.abc import Callable, Mapping
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from project.errors import UserError
from project.paths import visible
from project.translation import N_, _, plural
from project.vocabulary import (
    Fix,
    Layer,
    On,
    Outcome,
    Result,
    Severity,
    State,
    Status,
)
from reports.session import Session
from reports.snapshot import snapshot
from reports.words import FIXES, SEVERITIES, SIGNS, STATUSES, layer_word, outcome_word, status_word

if TYPE_CHECKING:
    from jinja2 import Environment
    from rich.console import Console

Data = Mapping[str, Any]

_PLACES = {
    On.MPS: N_("MPS"),
    On.CUDA: N_("CUDA"),
    On.CPU: N_("CPU"),
    On.REHEARSAL: N_("rehearsal"),
    On.STATIC: N_("the project's files"),
}
_DECISIONS = {
    State.OPEN: N_("open"),
    State.ACCEPTED: N_("accepted"),
    State.DECLINED: N_("declined"),
    State.KEPT: N_("kept on CUDA"),
    State.APPLIED: N_("applied"),
}


def export(session: Session, file: Path) -> Path:
    """Write the snapshot of a scanned session to ``file``, whole or not at all.

    Args:
        session: a session whose project was scanned.
        file: where to; its suffix, ``.md``, ``.json``, ``.html`` or ``.svg``, chooses the form.

    Returns the file.

    Raises:
        UserError: the suffix is another one, or the file cannot be written there.
    """
    form = _FORMS.get(file.suffix.lower())
    if form is None:
        raise UserError(
            _("{file} has no suffix that says what to write: end it in {suffixes}.").format(
                file=visible(str(file)), suffixes=", ".join(_FORMS)
            )
        )
    _check(file)
    text = form(_clean(snapshot(session), _private_names()))
    try:
        _write(file, text.encode("utf-8"))
    except OSError as error:
        raise UserError(
            _("{file} cannot be written ({reason}): name a file somewhere else.").format(
                file=visible(str(file)), reason=error.strerror
            )
        ) from None
    return file


# -- writing -----------------------------------------------------------------------------------


def _check(file: Path) -> None:
    """Refuse what cannot be a new file before the work is done."""
    name = visible(str(file))
    if not file.parent.is_dir():
        raise UserError(
            _("There is no folder {folder}: make it, or name a file somewhere else.").format(
                folder=visible(str(file.parent))
            )
        )
    if file.is_dir():
        raise UserError(_("{file} is a folder: name a file in it.").format(file=name))
    if file.exists() and not (file.is_file() and os.access(file, os.W_OK)):
        raise UserError(
            _("{file} is there already and cannot be written to: name another file.").format(
                file=name
            )
        )


def _write(file: Path, data: bytes) -> None:
    """Put the content beside the file, then in its place in one step; its mode is kept."""
    part = file.parent / f".cuda2mps-{secrets.token_hex(8)}.part"
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        with open(descriptor, "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
            stream.write(data)
            stream.flush()
            if file.is_file():
                os.fchmod(descriptor, stat.S_IMODE(file.stat().st_mode))
            os.fsync(descriptor)
        part.replace(file)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


# -- what stays out ----------------------------------------------------------------------------

#: Names that many machines share, and which a report must be able to say.
_COMMON = frozenset(
    {"root", "user", "users", "admin", "runner", "ubuntu", "local", "localhost", "host", "home"}
    | {"mac", "linux", "darwin", "cuda2mps", "python", "torch", "pytorch", "unknown"}
    | {
        str(word)
        for words in (Fix, Layer, On, Outcome, Result, Severity, State, Status)
        for word in words
    }
)
_HOMES = re.compile(r"(?<![\w.])/(?:home|Users)/[^/\s\"':;,]+")


def _private_names() -> re.Pattern[str]:
    """What matches the names of this user and this machine."""
    host = platform.node()
    names = {host, host.partition(".")[0], Path.home().name}
    with contextlib.suppress(KeyError, OSError, ImportError):  # an account without a name
        names.add(getpass.getuser())
    secret = sorted({n for n in names if len(n) > 1 and n.lower() not in _COMMON}, key=len)
    words = "|".join(re.escape(name) for name in reversed(secret))
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])", re.IGNORECASE) if words else _NOTHING


_NOTHING = re.compile(r"(?!)")


def _clean(value: Any, names: re.Pattern[str]) -> Any:
    """The data without private names, and without what JSON or UTF-8 cannot hold."""
    if isinstance(value, str):
        home = str(Path.home())
        if len(home) > 1:
            value = re.sub(rf"{re.escape(home)}(?![\w.-])", "~", value)
        value = names.sub("…", _HOMES.sub("~", value))
        return re.sub("[\ud800-\udfff]", lambda found: visible(found[0]), value)
    if isinstance(value, Mapping):
        # Keys that are words of the schema hold no path; those that were measured may.
        return {_clean(str(key), _NOTHING): _clean(inner, names) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(inner, names) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


# -- text forms --------------------------------------------------------------------------------


def _json(data: Data) -> str:
    return json.dumps(data, indent=1, allow_nan=False) + "\n"


def _markdown(data: Data) -> str:
    return _environment("md").get_template("snapshot.md.j2").render(_view(data))


def _html(data: Data) -> str:
    return _environment("html").get_template("snapshot.html.j2").render(_view(data))


@cache
def _environment(form: str) -> "Environment":
    """The templates; every value that one shows passes the form's own escape, without a filter."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=form == "html",
        finalize=_shown if form == "html" else markdown_text,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.globals.update(_=_, plural=plural)
    return made


def _shown(value: object) -> str:
    """A value on one line, in characters that HTML and XML may hold; nothing is left blank."""
    text = visible("" if value is None else str(value))
    if not text.strip():
        return _("unknown")
    return re.sub("[\ufffe\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text)


#: What starts a heading, a list, a quotation or a rule, where a line could start with the text.
_STARTS = re.compile(r"^(?:(\d+)(?=[.)](?:\s|$))|(?=[-+=#]))")
#: What else Markdown may obey; between two letters or digits an underscore is one.
_MARKS = re.compile(r"[\\`*\[\]|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def markdown_text(value: object) -> str:
    """A value as Markdown that shows it: one line, in a paragraph, a list or a table's cell.

    Whatever Markdown (CommonMark 0.31, with GitHub's tables, strikethrough and mathematics) or
    HTML would obey is escaped.
    """
    text = _MARKS.sub(r"\\\g<0>", _shown(value).strip())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _STARTS.sub(r"\1\\", text)


def _view(data: Data) -> dict[str, Any]:
    """The data with the words that people read."""
    verdict, project = data["verdict"], data["project"]
    return {
        **data,
        "groups": [
            {"title": title, "items": [_item_view(one) for one in items]}
            for title, items in groupby(data["checklist"], key=lambda one: one["group_title"])
        ],
        "counts": _counts(data),
        "outcome": outcome_word(Outcome(verdict["outcome"])),
        "leaning": outcome_word(Outcome(verdict["leaning"])) if verdict["leaning"] else None,
        "uses": [
            {"use": one["use"], "outcome": outcome_word(Outcome(one["outcome"]))}
            for one in verdict["uses"]
        ],
        "commit": _commit(project),
        "layers": [
            {"title": layer_word(layer), "count": data["findings_summary"][layer.value]}
            for layer in Layer
        ],
        "severities": _named(SEVERITIES, data["findings_summary"]["by_severity"]),
        "fixes": _named(FIXES, data["findings_summary"]["by_fix"]),
        "rules": [
            {**one, "layer": layer_word(Layer(one["layer"]))}
            for one in data["findings_summary"]["by_rule"]
        ],
        "decided": [
            {**one, "state": _(_DECISIONS[State(one["state"])])} for one in data["decisions"]
        ],
    }


def _item_view(item: Data) -> dict[str, Any]:
    status = Status(item["status"])
    return {
        **item,
        "word": _(STATUSES[status]),
        "sign": SIGNS[status],
        "where": _where(item),
        "evidence": [_evidence_view(one) for one in item["evidence"]],
    }


def _where(item: Data) -> str:
    """Where the evidence comes from, or that there is none."""
    return _(_PLACES[On(item["on"])]) if item["on"] else _("no evidence")


def _evidence_view(evidence: Data) -> dict[str, Any]:
    return {
        **evidence,
        "where": _(_PLACES[On(evidence["on"])]),
        "word": status_word(Status(evidence["result"])),
        "command": shlex.join(evidence["command"]),
        "details": [
            f"{name}: {inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)}"
            for name, inner in (*evidence["versions"].items(), *evidence["facts"].items())
        ],
    }


def _named(words: Mapping[Any, str], counts: Mapping[str, int]) -> list[dict[str, Any]]:
    return [{"title": _(text), "count": counts[word.value]} for word, text in words.items()]


def _counts(data: Data) -> list[dict[str, Any]]:
    """How many items have each status; those that none has are left out."""
    found = [Status(one["status"]) for one in data["checklist"]]
    return [
        {"status": word.value, "sign": SIGNS[word], "word": _(STATUSES[word]), "count": count}
        for word in Status
        if (count := found.count(word))
    ]


def _commit(project: Data) -> str:
    if project["commit"] is None:
        return _("no commit")
    words = _("{commit}, with changes") if project["dirty"] else "{commit}"
    return words.format(commit=project["commit"])


# -- picture -----------------------------------------------------------------------------------

_COLOURS = {
    Status.PASSED: "bold green",
    Status.REHEARSED: "bold cyan",
    Status.WARNING: "bold yellow",
    Status.FAILED: "bold red",
    Status.BLOCKED: "bold magenta",
}


def _svg(data: Data) -> str:
    """The checklist and the verdict as a picture of a terminal."""
    from rich._export_format import CONSOLE_SVG_FORMAT
    from rich.console import Console

    console = Console(
        record=True,
        file=io.StringIO(),
        width=100,
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    _draw(console, data)
    # Rich's own form asks a server for its fonts.
    form = re.sub(r"@font-face \{\{.*?\}\}\s*|<!--.*?-->", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL)
    return console.export_svg(
        title=f"cuda2mps: {_shown(data['project']['name'])}", code_format=form
    )


def _draw(console: "Console", data: Data) -> None:
    from rich.table import Table
    from rich.text import Text

    view = _view(data)
    console.print(Text.assemble((_("Verdict"), "bold"), f"  {view['outcome']}"))
    if view["leaning"]:
        console.print(Text(_("Leaning: {outcome}").format(outcome=view["leaning"])))
    for reason in data["verdict"]["reasons"]:
        console.print(Text(f"· {_shown(reason)}"))
    for group in view["groups"]:
        console.print(Text(f"\n{group['title']}", style="bold"))
        table = Table.grid(padding=(0, 2), expand=True)
        table.add_column(width=16)
        table.add_column(ratio=3)
        table.add_column(ratio=1)
        for item in group["items"]:
            style = _COLOURS.get(Status(item["status"]), "dim")
            table.add_row(
                Text(f"{item['sign']} {item['word']}", style=style),
                Text(_shown(item["title"])),
                Text(_shown(item["where"]), style="dim"),
            )
        console.print(table)
    counts = "  ".join(f"{one['title']}: {one['count']}" for one in view["layers"])
    console.print(Text.assemble(("\n" + _("Findings"), "bold"), f"  {counts}"))
    about = f"{_shown(view['commit'])} · {_shown(data['project']['date'])}"
    console.print(Text(about, style="dim"))


_FORMS: dict[str, Callable[[Data], str]] = {
    ".md": _markdown,
    ".json": _json,
    ".html": _html,
    ".svg": _svg,
}
