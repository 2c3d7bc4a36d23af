"""D115: statements that import CUDA's part of PyTorch."""

from collections.abc import Iterator

from analyzers.documents.python import PythonDocument, under
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_PARTS = ("torch.cuda", "torch.backends.cuda", "torch.backends.cudnn")


def find(document: PythonDocument) -> Iterator[Match]:
    """Names that are imported from ``torch.cuda``, cuDNN or CUDA's backend."""
    message = _("The import works in a PyTorch without CUDA; what matters is how it is used.")
    statements = {one.statement.start_byte: one.statement for one in document.imports}
    for statement in statements.values():
        module = statement.child_by_field_name("module_name")
        prefix = "" if module is None else document.slice(module)
        if module is not None and _is_cuda(prefix):
            yield Match(statement.start_byte, module.end_byte, message)
            continue
        for name in statement.children_by_field_name("name"):
            plain = name.child_by_field_name("name") or name
            if _is_cuda(f"{prefix}.{document.slice(plain)}".lstrip(".")):
                yield Match(name.start_byte, name.end_byte, message)


def _is_cuda(name: str) -> bool:
    return any(under(name, part) for part in _PARTS)


RULE = Rule(
    code="D115",
    name="cuda-import",
    severity=Severity.COSMETIC,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(rb"cuda", rb"cudnn"),
    what=N_("A module of PyTorch that speaks to CUDA is imported."),
    why=N_(
        "Nothing fails here: these modules are in every build of PyTorch. What is imported is used "
        "elsewhere, and is found there."
    ),
    advice=N_("Change it together with its uses."),
    source="Imported one by one in PyTorch 2.13.0 built without CUDA, on Linux; not run on a Mac.",
    find=find,
    examples=(
        Example(
            text="""\
                import torch.cuda
                import torch.backends.cudnn as cudnn
                from torch import nn, cuda
                from torch.cuda.amp import autocast, GradScaler
                from torch.backends import cudnn
                """,
            finds=(
                "torch.cuda",
                "torch.backends.cudnn as cudnn",
                "cuda",
                "from torch.cuda.amp",
                "cudnn",
            ),
        ),
        Example(text="""from numba import cuda\nimport cupy.cuda\n"""),
        Example(text="""# import torch.cuda\ntext = "import torch.cuda"\n"""),
        Example(text="""import torch\nfrom torch import nn\n"""),
    ),
)
