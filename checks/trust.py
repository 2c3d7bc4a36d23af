"""Which checks a person has allowed to run.

A grant is bound to the project's place, the host, the interpreter with what it resolves to, and
the command: when any of them changes, there is none. It is kept with the project's state, and a
project may come from anywhere with a state of its own making; so a grant is signed with a key
that lies with the user, outside every project.
"""

import hashlib
import hmac
import os
import secrets
from pathlib import Path

from checks.plan import Plan
from project import records, state
from project.workspace import Workspace

_FILE = "trust.jsonl"


def granted(workspace: Workspace, plan: Plan) -> bool:
    """Whether this very plan was allowed, on this machine, by this user.

    Raises:
        UserError: the record of grants or the key is there and cannot be read.
    """
    key = _key()
    if key is None:
        return False
    wanted = _signed(key, workspace, plan)
    return any(
        hmac.compare_digest(wanted, str(record.get("grant")).encode("utf-8", "replace"))
        for record in records.read(workspace.state / _FILE).records
    )


def grant(workspace: Workspace, plan: Plan) -> None:
    """Remember that this plan may run.

    Raises:
        UserError: the state or the key cannot be written.
    """
    key = _key() or _new_key()
    signature = _signed(key, workspace, plan).decode("ascii")
    records.append(workspace.state / _FILE, [{"grant": signature}])


def _signed(key: bytes, workspace: Workspace, plan: Plan) -> bytes:
    bound = [
        os.fspath(workspace.root),
        plan.target,
        plan.host,
        os.fspath(plan.interpreter.path),
        os.fspath(plan.interpreter.path.resolve()),
        list(plan.command),
    ]
    text = records.canonical(bound).encode("ascii")
    return hmac.new(key, text, hashlib.sha256).hexdigest().encode("ascii")


def _place() -> Path:
    home = os.environ.get("XDG_STATE_HOME")
    base = Path(home) if home and Path(home).is_absolute() else Path.home() / ".local" / "state"
    return base / "cuda2mps" / "key"


def _key() -> bytes | None:
    try:
        key = _place().read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise state.unreadable(_place(), error) from None
    return key if len(key) == 32 else None


def _new_key() -> bytes:
    """Make the user's key; of two programs that make one, both end with the same."""
    place = _place()
    state.make(place.parent)
    made = place.with_name(f"key.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            records.write_all(descriptor, secrets.token_bytes(32))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        try:
            os.link(made, place)
        except FileExistsError:
            if _key() is None:  # damaged: nothing that it signed can be trusted
                made.replace(place)
        made.unlink(missing_ok=True)
    except OSError as error:
        raise state.unwritable(place, error) from None
    key = _key()
    assert key is not None
    return key
