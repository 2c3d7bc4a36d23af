import os
from pathlib import Path

import pytest

from reports.session import Session

#: Names that are markup everywhere: in Markdown, in HTML and for a terminal.
NAME = "a`|<b>*x*_\u202e.py"


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """A user with an empty home, in English."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "LC_", "LANG")):
            monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("homes") / "zelda-quux"
    folder.mkdir()
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "zelda-quux")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("platform.node", lambda: "vega-box.example.org")
    return folder


@pytest.fixture
def tiny(home: Path) -> Session:
    """A scanned project without git, in the user's home, whose names are markup."""
    folder = home / "pro|ject"
    folder.mkdir()
    (folder / "train.py").write_text("import torch\nmodel.cuda()\n", encoding="utf-8")
    (folder / NAME).write_text("import torch\nx = torch.zeros(1).cuda()\n", encoding="utf-8")
    session = Session.open(folder)
    session.scan()
    return session


@pytest.fixture
def demo(tmp_path: Path) -> Session:
    """The bundled demo, scanned."""
    from tui.demo import unpack

    session = Session.open(unpack(tmp_path / "tremor-net"))
    session.scan()
    return session
