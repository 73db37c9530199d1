"""Change the code in one small place at a time and see whether a test notices.

    make mutants                              # 200 random mutants of costs, loop, table and explain
    python tools/mutants.py --sample 50 --seed 3 --jobs 2
    python tools/mutants.py src/catalpa/explain/reasons.py --sample 0   # all mutants of one file
    python tools/mutants.py --again --tests tests/table/test_limits.py    # survivors, against new tests

A mutant changes one comparison, number, sign, ``and``/``or``, ``not``, ``min``/``max`` or return value. It is
run against the nearest tests: those that execute the changed line, first those of the same room, the quickest
first, until they add up to ``--budget`` seconds. Which test executes which line is recorded once per test
file. Nothing on disk is changed: each mutant is a forked process in which one module is compiled from the
mutated source, so tests that start other processes do not see it.

Records and results are kept in ``build/mutants``; a run that was interrupted continues where it stopped. What
survives is printed and written to ``build/mutants/survivors.txt``. A survivor is a question, not a fault:
some mutants mean the same as the code (a cache of another size, ``<`` for ``<=`` on numbers that never tie).
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import re
import resource
import signal
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType

import coverage
import pytest

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
STORE = ROOT / "build" / "mutants"
TARGETS = [f"src/catalpa/{room}" for room in ("costs", "loop", "table", "explain")]
TESTS = [
    *(f"tests/{room}" for room in ("costs", "loop", "table", "explain", "oracle", "golden", "steps")),
    *(f"tests/{room}" for room in ("cluster", "estimator", "metrics", "report")),
]
# They start other processes or run through scikit-learn's own checks, for minutes.
LEFT_OUT = {
    "tests/cluster/test_adding_a_method.py",
    "tests/cluster/test_published_results.py",
    "tests/cluster/test_scikit_learn.py",
}
# Imported once, before forking. Not polars, whose threads do not survive a fork, nor plugins of pytest, which
# it must import itself.
WARM = ("numpy", "pandas", "pyarrow", "scipy.stats", "scipy.sparse", "sklearn", "narwhals")

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
EXTREMES = {"min": "max", "minimum": "maximum", "argmin": "argmax", "amin": "amax", "any": "all"}
EXTREMES |= {after: before for before, after in EXTREMES.items()}
# Keywords that say how something is computed, not what.
# Exit codes of a process that failed itself, and of one that used up its time.
BROKEN, TIMED_OUT = 70, 71
PATIENCE = 20  # times the limit of processor time, after which a process that only waits is stopped too
SETTINGS = {"strict", "copy", "optimize", "stacklevel", "maxsize"}
NUMBERS = {"int", "float", "FloatArray", "IntArray"}


@dataclass(frozen=True)
class Mutant:
    """One change of one expression."""

    path: str  # from the root of the project
    digest: str  # of the file it was made from
    at: int  # which change of the file, in the order of `changes`
    line: int
    scope: str
    before: str
    after: str

    @property
    def key(self) -> str:
        return f"{self.path} {self.digest} {self.at}"

    def __str__(self) -> str:
        return f"{self.path}:{self.line} ({self.scope}): {self.before}  ->  {self.after}"


@dataclass(frozen=True)
class Result:
    """What became of a mutant: "killed", "survived", "timeout", or "uncovered" if no test executes it."""

    key: str
    outcome: str
    tests: int
    by: str = ""  # the test that failed
    seconds: float = 0.0


@dataclass
class Record:
    """One test: how long it takes, and which lines of the package it executes."""

    seconds: float = 0.0
    lines: dict[str, list[int]] = field(default_factory=dict)


Change = tuple[ast.AST, Callable[[], ast.AST], str]  # node, its replacement, and its scope


def main() -> None:
    """Make mutants, run them, and list those that survive."""
    options = read_options()
    os.chdir(ROOT)
    STORE.mkdir(parents=True, exist_ok=True)
    for name in WARM:
        importlib.import_module(name)
    mutants = sampled(options)
    results = kept_results()
    if options.again:
        mutants = [one for one in mutants if one.key in results and results[one.key].outcome != "killed"]
        results = {key: result for key, result in results.items() if result.outcome == "killed"}
    records = recorded(options.tests or test_files(), options.jobs)
    run_all([one for one in mutants if one.key not in results], records, options)
    summarize(mutants, kept_results())


def read_options() -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("targets", nargs="*", default=TARGETS, help="files or folders to mutate")
    parser.add_argument("--sample", type=int, default=200, help="number of random mutants; 0 takes all")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--budget", type=float, default=15.0, help="seconds of tests per mutant")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time of a mutant")
    parser.add_argument("--jobs", type=int, default=1, help="mutants at the same time")
    parser.add_argument("--again", action="store_true", help="run again what was not killed")
    parser.add_argument(
        "--tests", nargs="*", help="test files to run, for instance new ones; all if not given"
    )
    return parser.parse_args()


# Making mutants


def sampled(options: argparse.Namespace) -> list[Mutant]:
    """A random sample of the mutants of all targets.

    Each mutant has its own random place, so that a sample stays what it is when other lines change.
    """
    mutants = [mutant for path in python_files(options.targets) for mutant in mutants_of(path)]
    if not options.sample:
        return mutants
    times: Counter[str] = Counter()
    places = {}
    for mutant in mutants:
        identity = f"{mutant.path} {mutant.scope} {mutant.before} {mutant.after}"
        times[identity] += 1
        text = f"{options.seed} {identity} {times[identity]}"
        places[mutant.key] = hashlib.sha256(text.encode()).digest()
    return sorted(mutants, key=lambda mutant: places[mutant.key])[: options.sample]


def python_files(targets: Sequence[str]) -> list[str]:
    """Python files of files and folders, as paths from the root."""
    files: set[Path] = set()
    for target in targets:
        path = (ROOT / target).resolve()
        if not path.exists():
            raise SystemExit(f"{target} does not exist")
        files |= {path} if path.is_file() else set(path.rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in files)


def mutants_of(path: str) -> list[Mutant]:
    """All mutants of a file."""
    source = (ROOT / path).read_text(encoding="utf-8")
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    found = []
    for at, (node, replacement, scope) in enumerate(changes(ast.parse(source))):
        before, after = ast.unparse(node), ast.unparse(replacement())
        found.append(Mutant(path, digest, at, node.lineno, scope, before, after))  # type: ignore[attr-defined]
    return found


def mutated(mutant: Mutant) -> ast.Module:
    """The module with the mutant's change."""
    tree = ast.parse((ROOT / mutant.path).read_text(encoding="utf-8"))
    for at, (node, replacement, _) in enumerate(changes(tree)):
        if at == mutant.at:
            changed = _Replace(node, replacement()).visit(tree)
            return ast.fix_missing_locations(changed)
    raise ValueError(f"{mutant.path} has changed since its mutants were listed")


class _Replace(ast.NodeTransformer):
    def __init__(self, node: ast.AST, replacement: ast.AST) -> None:
        self.node, self.replacement = node, replacement

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.node:
            return ast.copy_location(self.replacement, node)
        return self.generic_visit(node)


def changes(tree: ast.Module) -> Iterator[Change]:
    """Every change of a module, in a fixed order."""
    yield from _changes(tree, "module", None)


def _changes(node: ast.AST, scope: str, returns: str | None) -> Iterator[Change]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        scope = node.name if scope == "module" else f"{scope}.{node.name}"
        returns = ast.unparse(node.returns) if node.returns else None
    elif isinstance(node, ast.ClassDef):
        scope = node.name
    for replacement in _replacements(node, returns):
        yield node, replacement, scope
    for child in _children(node):
        yield from _changes(child, scope, returns)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """What may be mutated inside: no annotations, decorators, docstrings, messages or settings."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_comment", "bases"}:
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom):
                continue
            if isinstance(child, ast.keyword) and child.arg in SETTINGS:
                continue
            if isinstance(child, ast.AST):
                yield child


def _replacements(node: ast.AST, returns: str | None) -> Iterator[Callable[[], ast.AST]]:
    if isinstance(node, ast.Compare):
        yield from _other_comparisons(node)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _has_text(node):
        yield lambda: ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    elif isinstance(node, ast.BoolOp):
        other = ast.And() if isinstance(node.op, ast.Or) else ast.Or()
        yield lambda: ast.BoolOp(other, node.values)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub | ast.Invert):
        yield lambda: node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        yield lambda: ast.Constant(_other_number(node.value))
    elif isinstance(node, ast.Name | ast.Attribute) and _called(node) in EXTREMES:
        yield lambda: _renamed(node, EXTREMES[_called(node)])
    elif isinstance(node, ast.Return) and (value := _other_result(node.value, returns)) is not None:
        yield lambda: ast.Return(value)


def _other_comparisons(node: ast.Compare) -> Iterator[Callable[[], ast.AST]]:
    for at, operator in enumerate(node.ops):
        if type(operator) in COMPARISONS:
            ops = [*node.ops[:at], COMPARISONS[type(operator)](), *node.ops[at + 1 :]]
            yield lambda ops=ops: ast.Compare(node.left, ops, node.comparators)


def _has_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(side, ast.JoinedStr | ast.List | ast.Tuple) for side in sides) or any(
        isinstance(side, ast.Constant) and isinstance(side.value, str | bytes) for side in sides
    )


def _called(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _renamed(node: ast.Name | ast.Attribute, name: str) -> ast.AST:
    if isinstance(node, ast.Name):
        return ast.Name(name, node.ctx)
    return ast.Attribute(node.value, name, node.ctx)


def _other_number(value: bool | int | float) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) or value == 0 else value * 1.25


def _other_result(value: ast.expr | None, returns: str | None) -> ast.expr | None:
    if value is None:
        return None
    if returns == "bool":
        return ast.UnaryOp(ast.Not(), value)
    if returns in NUMBERS:
        return ast.BinOp(value, ast.Add(), ast.Constant(1))
    is_none = isinstance(value, ast.Constant) and value.value is None
    return None if is_none else ast.Constant(None)


# Which test executes which line


def test_files() -> list[str]:
    """Test files that mutants are run against."""
    files = [str(path.relative_to(ROOT)) for folder in TESTS for path in (ROOT / folder).rglob("test_*.py")]
    return sorted(set(files) - LEFT_OUT)


def recorded(files: Sequence[str], jobs: int) -> dict[str, Record]:
    """Records of every test, made for the files that changed since they were last recorded."""
    missing = [file for file in files if not _record_path(file).exists()]
    waiting = [(file, lambda file=file: _record(file)) for file in missing]
    for at, (file, code, seconds, error) in enumerate(in_processes(waiting, jobs, limit=1800), 1):
        if code != 0:
            raise SystemExit(f"{file} could not be recorded: {error or 'stopped after half an hour'}")
        print(f"recorded {at} of {len(missing)}: {file} ({seconds:.0f} s)", flush=True)
    records: dict[str, Record] = {}
    for file in files:
        if (path := _record_path(file)).exists():
            held = json.loads(path.read_text(encoding="utf-8"))
            records |= {test: Record(**record) for test, record in held.items()}
    return records


def _record_path(file: str) -> Path:
    content = (ROOT / file).read_bytes()
    name = file.removeprefix("tests/").removesuffix(".py").replace("/", ".")
    return STORE / "tests" / f"{name}.{hashlib.sha256(content).hexdigest()[:12]}.json"


def _record(file: str) -> int:
    tracer = coverage.Coverage(data_file=None, config_file=False, source=[str(SOURCE / "catalpa")])
    plugin = _Recorder(tracer)
    tracer.start()
    run_tests([file], [plugin])
    tracer.stop()
    data = tracer.get_data()
    records = {test: Record(seconds) for test, seconds in plugin.seconds.items()}
    for path in data.measured_files():
        name = str(Path(path).relative_to(ROOT))
        for line, tests in data.contexts_by_lineno(path).items():
            for test in tests:
                if test in records:
                    records[test].lines.setdefault(name, []).append(line)
    target = _record_path(file)
    target.parent.mkdir(parents=True, exist_ok=True)
    for old in target.parent.glob(f"{target.stem.rsplit('.', 1)[0]}.*.json"):  # of an earlier version
        old.unlink()
    text = json.dumps({test: asdict(record) for test, record in records.items()})
    target.write_text(text, encoding="utf-8")
    return 0


class _Recorder:
    """Gives every line the test that executes it, and every test the seconds it takes."""

    def __init__(self, tracer: coverage.Coverage) -> None:
        self.tracer = tracer
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:  # those that the coverage of the suite leaves untraced are traced here
            item.own_markers[:] = [mark for mark in item.own_markers if mark.name != "no_cover"]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.tracer.switch_context(item.nodeid)
        began = time.process_time()
        try:
            return (yield)
        finally:
            self.seconds[item.nodeid] = time.process_time() - began
            self.tracer.switch_context("")


def run_tests(files: Sequence[str], plugins: list[object], *options: str) -> int:
    """Exit code of pytest."""
    return int(pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *options, *files], plugins))


# Running mutants


def run_all(mutants: Sequence[Mutant], records: dict[str, Record], options: argparse.Namespace) -> None:
    """Run mutants against their nearest tests and keep the results."""
    by_line = tests_by_line(records)
    waiting, tests_of = [], {}
    for mutant in mutants:
        tests = nearest(mutant, by_line, records, options.budget)
        if tests:
            tests_of[mutant.key] = tests
            waiting.append((mutant.key, lambda one=mutant, tests=tests: run_mutant(one, tests)))
        else:
            keep(Result(mutant.key, "uncovered", 0), mutant)
    named = {mutant.key: mutant for mutant in mutants}
    for key, code, seconds, by in in_processes(waiting, options.jobs, options.limit):
        if code in {5, BROKEN}:  # no test was collected, or none could be run
            raise SystemExit(f"{named[key]} could not be run: {by or 'no test was collected'}")
        outcome = {0: "survived", None: "timeout", TIMED_OUT: "timeout"}.get(code, "killed")
        keep(Result(key, outcome, len(tests_of[key]), by, round(seconds, 1)), named[key])


def tests_by_line(records: dict[str, Record]) -> dict[tuple[str, int], set[str]]:
    """Tests that execute each line."""
    found: dict[tuple[str, int], set[str]] = defaultdict(set)
    for test, record in records.items():
        for path, lines in record.lines.items():
            for line in lines:
                found[path, line].add(test)
    return found


def nearest(
    mutant: Mutant, by_line: dict[tuple[str, int], set[str]], records: dict[str, Record], budget: float
) -> list[str]:
    """Tests that execute the mutant, of its own room and quick ones first, up to ``budget`` seconds."""
    tests: set[str] = set().union(*(by_line.get(place, set()) for place in places(mutant)))
    room = mutant.path.split("/")[2]
    name = Path(mutant.path).stem

    def distance(test: str) -> tuple[int, float]:
        file = test.split("::")[0]
        own = 0 if name in file else 1 if file.startswith(f"tests/{room}/") else 2
        return own, records[test].seconds

    chosen: list[str] = []
    total = 0.0
    for test in sorted(tests, key=distance):
        if not chosen or total + records[test].seconds <= budget:
            chosen.append(test)
            total += records[test].seconds
    return chosen


def places(mutant: Mutant) -> list[tuple[str, int]]:
    """Lines whose execution depends on the mutant.

    Lines of a module or a class run when they are imported, so those that use the name they bind count.
    """
    tree = ast.parse((ROOT / mutant.path).read_text(encoding="utf-8"))
    inner: ast.AST = tree
    statement: ast.stmt | None = None
    for node in ast.walk(tree):  # breadth first: the last one is the innermost
        if isinstance(node, ast.stmt) and node.lineno <= mutant.line <= (node.end_lineno or node.lineno):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = node
            statement = node
    if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef) and statement is not None:
        body = inner.body if statement is inner else [statement]
        first, last = body[0].lineno, body[-1].end_lineno or body[-1].lineno
        return [(mutant.path, line) for line in range(first, last + 1)]
    names = {node.id for node in ast.walk(statement or tree) if isinstance(node, ast.Name)}
    bound = {name for name in names if re.search(rf"^\s*{name}\b.*=", source_line(mutant), re.MULTILINE)}
    return uses_of(frozenset(bound or names))


def source_line(mutant: Mutant) -> str:
    """The line of a mutant."""
    return (ROOT / mutant.path).read_text(encoding="utf-8").splitlines()[mutant.line - 1]


@cache
def uses_of(names: frozenset[str]) -> list[tuple[str, int]]:
    """Lines of the package that mention one of some names."""
    if not names:
        return []
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, sorted(names))) + r")\b")
    found = []
    for path in python_files(["src/catalpa"]):
        for at, line in enumerate((ROOT / path).read_text(encoding="utf-8").splitlines(), 1):
            if pattern.search(line):
                found.append((path, at))
    return found


def run_mutant(mutant: Mutant, tests: Sequence[str]) -> int:
    """Run the tests of the nearest files first: few mutants need others, and to import these takes time."""
    sys.meta_path.insert(0, _Finder(mutant))
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    code = 0
    for start, end in ((0, 2), (2, 8), (8, len(files))):
        some = files[start:end]
        if not some or code:
            break
        pid = os.fork()
        if not pid:
            os._exit(run_tests(some, [_Chosen(tests)], "-x", "--tb=no"))
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return TIMED_OUT if code == -signal.SIGXCPU else abs(code)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports the mutant in place of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant
        parts = Path(mutant.path).relative_to("src").with_suffix("").parts
        self.package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.package else parts)
        self.file = str(ROOT / mutant.path)

    def find_spec(
        self, fullname: str, _path: object, _target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        where = [str(Path(self.file).parent)] if self.package else None
        return importlib.util.spec_from_file_location(
            fullname, self.file, loader=self, submodule_search_locations=where
        )

    def create_module(self, _spec: object) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(mutated(self.mutant), self.file, "exec"), module.__dict__)


class _Chosen:
    """Runs only the chosen tests, in their order, and reports the first that fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        self.order = {test: at for at, test in enumerate(tests)}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self.order]
        items[:] = sorted(chosen, key=lambda item: self.order[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            _report(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            _report(f"collection of {report.nodeid}")


_REPORT = -1  # where a forked process writes the test that failed


def _report(test: str) -> None:
    if _REPORT >= 0:
        os.write(_REPORT, test.encode())


def in_processes(
    waiting: Sequence[tuple[str, Callable[[], int]]], jobs: int, limit: int
) -> Iterator[tuple[str, int | None, float, str]]:
    """Run each in a forked process; give its key, its exit code (None if stopped), seconds and report.

    The limit is of processor time: seconds of the clock say little on a machine with other work.
    """
    queue = list(reversed(waiting))
    running: dict[int, tuple[str, float, int]] = {}
    try:
        while queue or running:
            while queue and len(running) < jobs:
                key, work = queue.pop()
                pid, pipe = _fork(work, limit)
                running[pid] = key, time.monotonic(), pipe
            for pid, (key, began, pipe) in list(running.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                seconds = time.monotonic() - began
                if not ended and seconds <= PATIENCE * limit:
                    continue
                _kill_group(pid)  # the process itself after its limit, and whatever it has left behind
                if not ended:
                    os.waitpid(pid, 0)
                del running[pid]
                report = os.read(pipe, 4096).decode(errors="replace") if ended else ""
                os.close(pipe)
                yield key, os.waitstatus_to_exitcode(status) if ended else None, seconds, report
            time.sleep(0.02)
    finally:
        for pid in running:
            _kill_group(pid)


def _fork(work: Callable[[], int], limit: int) -> tuple[int, int]:
    global _REPORT  # set in the forked process only
    reading, writing = os.pipe()
    sys.stdout.flush()
    if pid := os.fork():
        os.close(writing)
        return pid, reading
    code = BROKEN
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        _REPORT = writing
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        code = work()
    except BaseException as error:  # whatever it is, the parent reports it
        code = BROKEN
        _report(f"{type(error).__name__}: {error}")
    finally:
        os._exit(code)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


# Results


def keep(result: Result, mutant: Mutant) -> None:
    """Append a result to the file of results, and print it."""
    with (STORE / "results.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(result) | {"mutant": str(mutant)}) + "\n")
    print(f"{result.outcome:>9}  {result.seconds:5.1f} s  {mutant}", flush=True)


def kept_results() -> dict[str, Result]:
    """The last result of every mutant."""
    path = STORE / "results.jsonl"
    if not path.exists():
        return {}
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            values = json.loads(line)
        except json.JSONDecodeError:  # cut off when a run was stopped
            continue
        values.pop("mutant", None)
        found[values["key"]] = Result(**values)
    return found


def summarize(mutants: Sequence[Mutant], results: dict[str, Result]) -> None:
    """Write and print the survivors."""
    done = [(mutant, results[mutant.key]) for mutant in mutants if mutant.key in results]
    counts = Counter(result.outcome for _, result in done)
    lines = [
        f"{result.outcome:>9}  {result.tests:3} tests  {mutant}"
        for mutant, result in sorted(done, key=lambda pair: (pair[0].path, pair[0].line))
        if result.outcome in {"survived", "uncovered"}
    ]
    (STORE / "survivors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(["", *lines]))
    print(f"{len(done)} mutants: " + ", ".join(f"{number} {name}" for name, number in counts.most_common()))


if __name__ == "__main__":
    main()
