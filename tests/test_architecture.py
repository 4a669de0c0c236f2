"""The house: modules import only from their left, and nothing holds state of its own."""

import ast
from pathlib import Path

import pytest

import orgctx

PACKAGE = Path(orgctx.__file__).parent
LAYERS = (
    *("errors", "core", "tokens", "ranks", "config", "store", "cites", "views", "workcopy"),
    "surfaces",
)
CORE = (
    "ast",
    "elements",
    "model",
    "outline",
    "links",
    "planning",
    "heading",
    "entry",
    "lens",
    "ledger",
    "frame",
    "document",
    "budget",
    "render",
    "privacy",
    "identity",
    "merge",
)
CORE_ORDER = {
    "ast": set(),
    "elements": set(),
    "model": {"ast"},
    "outline": {"model", "elements"},
    "links": {"model"},
    "planning": set(),
    "heading": {"model", "outline"},
    "entry": {"model", "elements", "heading"},
    "lens": {"model"},
    "ledger": {"model", "entry"},
    "frame": {"model", "outline", "entry", "heading", "ledger"},
    "document": {"model", "frame", "ledger"},
    "budget": {"model", "document"},
    "render": {"model", "document", "ledger"},
    "privacy": {"model", "outline"},
    "identity": {"model", "outline"},
    "merge": {"model", "identity"},
}
MODULES = sorted(
    path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem in LAYERS
)


def imports(path: Path) -> set[str]:
    """Dotted names inside orgctx that a module imports, lazily or not."""
    package = ["orgctx", *path.relative_to(PACKAGE).parent.parts]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = [*base, *(node.module.split(".") if node.module else [])]
            found.add(".".join(module))
            found |= {".".join([*module, alias.name]) for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.startswith("orgctx.")}


def layer(dotted: str) -> int | None:
    part = dotted.split(".")[1]
    return LAYERS.index(part) if part in LAYERS else None


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_only_from_its_left(path):
    own = LAYERS.index(path.relative_to(PACKAGE).parts[0].removesuffix(".py"))
    for name in imports(path):
        assert (layer(name) or 0) <= own, f"{path.name} imports {name}"


def test_every_module_belongs_to_a_layer():
    outside = {path.name for path in PACKAGE.glob("*.py") if path.stem not in LAYERS}
    assert outside == {"__init__.py", "__main__.py"}
    folders = {path.parent.name for path in PACKAGE.rglob("*.py")} - {PACKAGE.name}
    assert folders <= set(LAYERS)


@pytest.mark.parametrize("name", CORE)
def test_core_is_a_chain(name):
    path = PACKAGE / "core" / f"{name}.py"
    used = {dotted.split(".")[2] for dotted in imports(path) if dotted.startswith("orgctx.core.")}
    assert used <= CORE_ORDER[name]


def test_the_chain_names_every_core_module():
    assert {path.stem for path in (PACKAGE / "core").glob("*.py")} - {"__init__"} == set(CORE)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_holds_mutable_state(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            names = [t.id for t in getattr(node, "targets", [getattr(node, "target", None)])
                     if isinstance(t, ast.Name)]  # fmt: skip
            is_constant_table = all(name.isupper() for name in names)
            mutable = isinstance(value, ast.List | ast.Set | ast.ListComp | ast.DictComp)
            assert not mutable, f"{names}"
            assert not isinstance(value, ast.Dict) or is_constant_table, f"{names}"


def test_the_core_opens_no_file_and_reads_no_clock():
    for name in CORE:
        source = (PACKAGE / "core" / f"{name}.py").read_text(encoding="utf-8")
        tree = ast.parse(source)
        modules = {
            a.name.split(".")[0]
            for n in ast.walk(tree)
            if isinstance(n, ast.Import)
            for a in n.names
        }
        modules |= {
            (n.module or "").split(".")[0]
            for n in ast.walk(tree)
            if isinstance(n, ast.ImportFrom) and not n.level
        }
        assert not modules & {
            "os",
            "io",
            "pathlib",
            "time",
            "datetime",
            "random",
            "socket",
            "tiktoken",
            "toktok",
        }
        called = {
            n.func.id
            for n in ast.walk(tree)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        assert "open" not in called


def test_functions_are_short():
    """8 lines or fewer in the median, 25 at the 90th percentile, 50 at most, docstrings aside."""
    lengths = sorted(length for path in MODULES for length in function_lengths(path))
    assert lengths[len(lengths) // 2] <= 8
    assert lengths[len(lengths) * 9 // 10] <= 25
    assert lengths[-1] <= 50


def function_lengths(path: Path) -> list[int]:
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            found.append(body[-1].end_lineno - body[0].lineno + 1 if body else 0)
    return found


def test_core_modules_are_under_400_lines():
    for name in CORE:
        lines = (PACKAGE / "core" / f"{name}.py").read_text(encoding="utf-8").count("\n")
        assert lines < 400, name
