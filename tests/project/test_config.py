import pytest

from project.config import Config, load
from project.errors import UserError


def test_without_settings_the_defaults(tmp_path):
    assert load(tmp_path) == Config()
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert load(tmp_path) == Config()


FULL = """
python = ".venv/bin/python"
style = "helper"
torch = "2.14"
select = ["D1"]
ignore = ["E301", "E302"]
exclude = ["docs/**"]
"""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("cuda2mps.toml", FULL + '[work]\nuses = ["inference"]\n'),
        ("pyproject.toml", f'[tool.cuda2mps]{FULL}[tool.cuda2mps.work]\nuses = ["inference"]\n'),
    ],
)
def test_every_setting_is_read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert load(tmp_path) == Config(
        python=".venv/bin/python",
        style="helper",
        torch="2.14",
        select=("D1",),
        ignore=("E301", "E302"),
        exclude=("docs/**",),
        uses=("inference",),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("ignroe = []", "unknown key tool.cuda2mps.ignroe: did you mean tool.cuda2mps.ignore?"),
        ("zzz = 1", "unknown key tool.cuda2mps.zzz: did you mean tool.cuda2mps."),
        ('"a\\u001b" = 1', "unknown key tool.cuda2mps.a\\x1b: "),
        ("[tool.cuda2mps.work]\nuse = []", "work.use: did you mean tool.cuda2mps.work.uses?"),
        ("torch = 2.14", "tool.cuda2mps.torch in pyproject.toml has a wrong value: it must be a"),
        ('torch = "latest"', 'it must be a release in quotes, such as "2.14"'),
        ('style = "fancy"', "it must be one of auto, inline, helper"),
        ('select = "D1"', "tool.cuda2mps.select in pyproject.toml has a wrong value"),
        ("ignore = [1]", "it must be a list of texts in quotes"),
        ("work = 1", "tool.cuda2mps.work in pyproject.toml has a wrong value: it must be a table"),
        ("style = ", "pyproject.toml is not valid TOML"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_it(tmp_path, text, sentence):
    (tmp_path / "pyproject.toml").write_text(f"[tool.cuda2mps]\n{text}\n")
    with pytest.raises(UserError) as caught:
        load(tmp_path)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_own_file_names_itself(tmp_path):
    (tmp_path / "cuda2mps.toml").write_text("pyhton = 'x'")
    with pytest.raises(UserError, match=r"cuda2mps.toml has the unknown key pyhton: .* python\?"):
        load(tmp_path)


def test_the_table_itself_may_be_no_table(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool]\ncuda2mps = 1\n")
    with pytest.raises(UserError, match=r"tool.cuda2mps in pyproject.toml .* must be a table"):
        load(tmp_path)


def test_settings_in_two_places_are_an_error(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.cuda2mps]\n")
    (tmp_path / "cuda2mps.toml").write_text("")
    with pytest.raises(UserError, match="keep one of them"):
        load(tmp_path)


def test_a_broken_pyproject_that_is_not_about_us_does_not_matter(tmp_path):
    (tmp_path / "pyproject.toml").write_bytes(b"= [broken \xff")
    assert load(tmp_path) == Config()


def test_bytes_that_are_no_text_are_one_sentence(tmp_path):
    (tmp_path / "cuda2mps.toml").write_bytes(b'torch = "\xff"')
    with pytest.raises(UserError, match="not valid TOML"):
        load(tmp_path)


def test_a_link_is_not_followed(tmp_path):
    (tmp_path / "elsewhere").write_text('style = "helper"')
    (tmp_path / "cuda2mps.toml").symlink_to("elsewhere")
    with pytest.raises(UserError, match=r"cuda2mps.toml was not read: .*symbolic link"):
        load(tmp_path)
