"""D135: a device that is written into settings which are then read anew."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of
from analyzers.reach import root_of
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_SET = re.compile(rb"""\[["']device["']\] =(?!=)""")
#: How far below the settings may be replaced, in statements.
_NEAR = 12


def find(document: PythonDocument) -> Iterator[Match]:
    """Devices that are stored under a name which is assigned anew before anything reads it."""
    for _found, node in document.hits(_SET):
        assignment = enclosing(node, ("assignment", "block", "module"))
        if node.type == "assignment":
            assignment = node
        left = assignment.child_by_field_name("left") if assignment is not None else None
        name = root_of(document, left) if left is not None else None
        if assignment is None or left is None or name is None or not name.isidentifier():
            continue
        if _is_replaced(document, statement_of(assignment), name):
            yield Match(
                assignment.start_byte,
                assignment.end_byte,
                _(
                    "`{name}` is assigned anew below before anything reads this: the device that is "
                    "set here never arrives, and what is read there decides, which fails on a Mac "
                    "where it is cuda. Set it afterwards, and look whether the setting takes mps."
                ).format(name=name),
            )


def _is_replaced(document: PythonDocument, statement: Node, name: str) -> bool:
    """Whether the next statement that says ``name``, in the same block, only assigns to it."""
    word = re.compile(rb"(?<![\w.])" + name.encode() + rb"\b")
    following = statement.next_named_sibling
    for _step in range(_NEAR):
        if following is None:
            return False
        if word.search(document.text, following.start_byte, following.end_byte) is None:
            following = following.next_named_sibling
            continue
        inner = nth(following, 0) if following.type == "expression_statement" else None
        if inner is None or inner.type != "assignment":
            # A comment may say the name, and reads nothing.
            if following.type != "comment":
                return False
            following = following.next_named_sibling
            continue
        left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
        return (
            left is not None
            and right is not None
            and left.type == "identifier"
            and document.slice(left) == name
            and word.search(document.text, right.start_byte, right.end_byte) is None
        )
    return False


RULE = Rule(
    code="D135",
    name="lost-device-setting",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b'["device"] =', b"['device'] ="),
    what=N_("A device is written into settings that are read anew afterwards."),
    why=N_(
        "Somebody asks for another device than CUDA, as one does on a Mac, and the program goes on "
        "with what its file of settings says. Changing the file to mps is no cure where the type of "
        "the setting lists auto, cpu and cuda alone: then it is refused as a value."
    ),
    advice=N_("Read the settings first, and write the device into them then."),
    source="https://docs.python.org/3/reference/simple_stmts.html#assignment-statements",
    find=find,
    examples=(
        Example(
            text="""\
                import yaml
                def load(path, device):
                    settings = {"model": {}}
                    settings["model"]["device"] = device
                    # settings of the server
                    with_defaults(path)
                    settings = yaml.safe_load(open(path))
                    return build(**settings["model"])
                """,
            finds=('settings["model"]["device"] = device',),
        ),
        Example(
            text="""\
                def load(path, device):
                    settings = yaml.safe_load(open(path))
                    settings["model"]["device"] = device
                    return build(**settings["model"])
                """,
        ),
        Example(
            text="""\
                def load(settings, device):
                    settings["device"] = device
                    settings = merged(settings, DEFAULTS)
                    return settings
                """,
        ),
        Example(
            text="""\
                def load(settings, device):
                    settings["device"] = device
                    first = build(**settings)
                    settings = other()
                    return first, settings
                """,
        ),
        Example(
            text="""\
                def load(settings, device):
                    if device:
                        settings["device"] = device
                    settings = {}
                """,
        ),
    ),
)
