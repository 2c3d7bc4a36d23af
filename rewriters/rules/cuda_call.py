"""D107: a call that matters to CUDA alone is made only where CUDA is available."""

from analyzers.documents.python import nth, statement_of
from analyzers.guards import AVAILABLE
from analyzers.torch_cuda import EFFECT_ONLY
from project.translation import _
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.wording import cuda_test, import_torch, line_end


def rewrite(context: Context) -> Draft | None:
    """Guard a statement that is such a call and nothing else, alone on its lines."""
    document = context.document
    finding = context.finding
    call = document.node_at(finding.start, finding.end)
    if call is None:
        return None
    statement = statement_of(call)
    inner = nth(statement, 0)
    if statement.type != "expression_statement" or inner is None or inner.type != "call":
        return None
    function = inner.child_by_field_name("function")
    name = document.dotted(function) if function is not None else None
    if (inner.start_byte, inner.end_byte) != (finding.start, finding.end) or name is None:
        return None
    if name.removeprefix("torch.cuda.") not in EFFECT_ONLY or name == AVAILABLE:
        return None
    indent = document.line_prefix(statement)
    after = document.text[statement.end_byte :].split(b"\n", 1)[0].strip()
    if indent.strip() or (after and not after.startswith(b"#")):
        return None
    if statement.start_point.row != statement.end_point.row:
        return None
    step = b"\t" if indent.endswith(b"\t") else b"    "
    guard = f"if {cuda_test(document)}:{line_end(document)}".encode()
    edit = Edit(statement.start_byte, statement.start_byte, guard + indent + step)
    why = _("Where CUDA is available the call is made as before; elsewhere there is nothing to do.")
    extra = () if cuda_test(document).split(".")[0] != "torch" else import_torch(document)
    return Draft((edit, *extra), Fix.SAFE, why)
