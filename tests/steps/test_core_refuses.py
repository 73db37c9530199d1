"""Every function of the core refuses, with a sentence, what would make it read or write outside an array."""

from __future__ import annotations

import numpy as np
import pytest

from catalpa.steps.assign import label_rows
from catalpa.steps.scores import Scores, to_fixed_point
from catalpa.table.blocks import Axis, Block

_core = pytest.importorskip("catalpa.steps._core")

N, K = 10, 3  # rows and clusters; the columns have 3 and 2 places, and there is one number
CODES = np.array([[2, 1]] * N, dtype=np.uint8)
WIDTHS, MEMBERS, STARTS = np.array([3, 2]), np.array([0, 1]), np.array([0, 2])
NUMBERS, BY_CLUSTER = np.zeros((N, 1)), np.zeros((K, 1))


def ints(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.int64)


def bytes_of(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.uint8)


def fused(widths: np.ndarray, starts: np.ndarray, rows: int):
    return _core.fuse_codes(bytes_of(rows, len(widths)), widths, np.arange(len(widths)), starts)


def grouped() -> dict[str, object]:
    return {"widths": WIDTHS, "members": MEMBERS, "starts": STARTS}


def hard_arguments() -> dict[str, object]:
    by_cluster = dict.fromkeys(("means", "scale", "level"), BY_CLUSTER)
    last = {"power": 2, "root": False, "shift": 40, "tie": 3, "limit": 1e6}
    return {"table": ints(5, K), "anchor": ints(K), **grouped(), **by_cluster, **last}


def soft_arguments() -> dict[str, object]:
    table, anchor = np.zeros((5, K), dtype=np.int32), np.zeros(K, dtype=np.int32)
    by_cluster = dict.fromkeys(("curve", "slope"), BY_CLUSTER.astype(np.float32))
    by_cluster |= {"constant": np.zeros((K, 1), dtype=np.int32)}
    last = {"table_rise": table, "anchor_rise": anchor, "coarser": 0}
    return {"table": table, "anchor": anchor, **grouped(), **by_cluster, **last}


def counted() -> dict[str, object]:
    return {
        "by_category": ints(K, 5),
        "sizes": ints(K),
        "sums": ints(K, 1),
        "squares": ints(K, 1),
        "seen": ints(K, 1),
    }


def rows(tables: object) -> dict[str, object]:
    return {"tables": tables, "fused": fused(WIDTHS, STARTS, N), "numbers": NUMBERS}


def arguments_of(name: str) -> dict[str, object]:
    """Arguments that a function of the core takes."""
    hard = rows(_core.Tables(*hard_arguments().values()))
    table = _core.Table(*table_arguments().values())
    passes = _core.soft_passes(*passes_arguments().values())
    weights = {"weights": np.ones(N, dtype=np.int64)}
    away = {"away": ints(2, N), "level": "baseline"}
    narrow = np.zeros((5, K), dtype=np.int32)
    labels, held = {"labels": np.zeros(N, dtype=np.int32)}, {"column_weights": np.ones((K, 3))}
    return {
        "fuse_codes": {"codes": CODES} | grouped(),
        "fused_codes": {"codes": bytes_of(N + 8, 1), "rows": N} | grouped(),
        "Tables": hard_arguments(),
        "label": hard | {"labels": bytes_of(N), "level": "baseline"},
        "least_sums": hard | {"least": ints(N), "level": "baseline"},
        "assign_and_count": hard
        | weights
        | {"present": np.full(N, 2), "before": bytes_of(N), "labels": bytes_of(N)}
        | counted()
        | {"level": "baseline"},
        "SoftTables": soft_arguments(),
        "share": rows(_core.SoftTables(*soft_arguments().values()))
        | {"numbers": _core.SoftNumbers(NUMBERS)}
        | weights
        | {"before": np.zeros((N, K), dtype=np.int32), "level": "baseline"}
        | {"former": bytes_of(N), "leaders": bytes_of(N), "shares": np.zeros((N, K), dtype=np.int32)}
        | {"owned_before": _core.Owned(), "owned": _core.Owned()}
        | counted()
        | {"led": ints(K)},
        "soft_passes": passes_arguments(),
        "SoftPasses.next": {"passes": passes, "least": np.zeros(5), "number_least": np.zeros(1)},
        "SoftPasses.counted": {"passes": passes} | counted() | {"led": ints(K)},
        "logarithm": {"numbers": np.ones(N), "found": np.ones(N), "level": "baseline"},
        "ColumnPriors": priors_arguments(),
        "NumberPriors": number_priors_arguments(),
        "category_costs": {"counts": ints(K, 5), "sizes": ints(K), "columns": priors()}
        | {"units": 1.0, "logs": True, "costs": np.zeros((2 * K, 5)), "pairs": np.zeros((2 * K, 0))}
        | {"anchors": np.zeros(2 * K), "level": "baseline"},
        "log_gamma": {"numbers": np.ones(N), "found": np.ones(N), "level": "baseline"},
        "pair_gains": {"counts": np.ones((5, 5)), "shares": np.full((K, 5), 0.4), "weights": np.ones(K)}
        | {"starts": np.array([0, 3, 5]), "columns": np.array([0, 1]), "price": 0.0}
        | {"gains": np.zeros((2, 2)), "level": "baseline"},
        "tie_gains": {"counts": ints(K, 5), "sizes": ints(K), "pairs": ints(K, 0), "columns": priors()}
        | {"units": 1.0, "price": 0.0, "gains": np.zeros(0), "level": "baseline"},
        "round_costs": {"costs": np.zeros((K, 5)), "after": np.zeros((K, 5)), "anchors": np.zeros((2, K))}
        | {"quanta": 1.0, "room": 9.0, "columns": 2.0, "table": narrow, "least": ints(5), "rise": narrow}
        | {"anchors_above": np.zeros((2, K), dtype=np.int32), "level": "baseline"},
        "most_frequent": {"by_category": ints(K, 5), "starts": np.array([0, 3, 5])}
        | {"modes": ints(K, 2), "most": ints(K, 2)},
        "sum_by_place": {"codes": CODES, "labels": ints(N), "values": ints(N, 4)}
        | {"starts": np.array([0, 3, 5]), "into": ints(2 * 5, 4)},
        "points_away": {"points": np.zeros((2, N)), "rows": np.array([0, N - 1]), "drop": 1.0} | away,
        "cells_away": {"codes": bytes_of(3, N), "numbers": np.zeros((1, N)), "rows": np.array([0, 1])} | away,
        "Table": table_arguments(),
        "Table.join": {"table": table}
        | held
        | {"by_category": ints(K, 5), "sums": ints(K, 1), "seen": ints(K, 1), "tie": 0.0}
        | labels,
        "Table.visit": {"table": table} | held | {"tie": 0.0} | labels,
        "Table.compete": {"table": table}
        | held
        | {"tie": 0.0, "rate": 0.1, "unit": 1.0, "total": 3.0, "wins": np.ones(K), "strength": np.ones(K)}
        | labels,
        "Table.alike": {"table": table, "by_category": ints(K, 5), "by_column": ints(K, 2)}
        | labels
        | {"sums": np.zeros((K, 2))},
    }[name]


def priors_arguments() -> dict[str, object]:
    return {
        "starts": np.array([0, 3, 5]),
        "overall": np.full(5, 0.5),
        "strengths": np.full(2, 3.0),
        "ordered": ints(2),
        "parents": np.full(2, -1),
        "lift": np.zeros(0),
    }


def priors() -> _core.ColumnPriors:
    return _core.ColumnPriors(*priors_arguments().values())


def number_priors_arguments() -> dict[str, object]:
    return {
        "middle": np.full(1, 0.5),
        "spread": np.full(1, 0.2),
        "missing": np.full(1, 0.1),
        "common": np.array([0]),
        "prior": 1.0,
    }


def passes_arguments() -> dict[str, object]:
    return {
        "codes": fused(WIDTHS, STARTS, N),
        "numbers": _core.SoftNumbers(NUMBERS),
        "weights": np.ones(N, dtype=np.int64),
        "counts": ints(K, 5),
        "sizes": ints(K),
        "sums": ints(K, 1),
        "squares": ints(K, 1),
        "seen": ints(K, 1),
        "columns": priors(),
        "of_numbers": _core.NumberPriors(*number_priors_arguments().values()),
        "units": 2.0**20,
        "released": True,
        "quanta": 9e4,
        "room": 2e4,
        "level": "baseline",
    }


def table_arguments() -> dict[str, object]:
    places = np.array([[2, 3]] * N, dtype=np.uint32)
    return {
        "places": places,
        "starts": np.array([0, 3, 5]),
        "ticks": ints(N, 1),
        "seen": bytes_of(N, 1),
        "weights": np.ones(N, dtype=np.int64),
    }


def call(name: str, arguments: dict[str, object]) -> None:
    function = _core
    for part in name.split("."):
        function = getattr(function, part)
    function(*arguments.values())


BEYOND = np.full(N, K, dtype=np.uint8)
NEGATIVE = np.full(N, -1, dtype=np.int32)
ELSEWHERE = np.array([[2, 2]] * N, dtype=np.uint32)  # the second cell lies in the first column
COUNTED = [
    ("by_category", ints(K, 4)),
    ("sizes", ints(K - 1)),
    ("sums", ints(K, 2)),
    ("squares", ints(2, 1)),
    ("seen", ints(K, 0)),
]
ROWS = [
    ("fused", (np.array([3, 3]), STARTS, N)),
    ("fused", (WIDTHS, np.array([0, 1, 2]), N)),
    ("fused", (WIDTHS, STARTS, N - 1)),
    ("numbers", np.zeros((N, 2))),
]
WEIGHED = [("weights", np.ones(N - 1, dtype=np.int64))]
LABELS = [("labels", bytes_of(N - 1)), ("labels", np.zeros(N)), ("labels", np.zeros(N, dtype=np.int8))]
TABLES = [
    ("table", np.zeros((4, K))),
    ("table", np.zeros((5, 0))),
    ("anchor", np.zeros(K - 1)),
    ("widths", np.array([3, 3])),
    ("widths", np.array([6, -1])),
    ("widths", np.array([1 << 32, 2])),
    ("members", np.array([0])),
    ("members", np.array([0, 0])),
    ("members", np.array([0, 2])),
    ("members", np.array([-1, 0])),
    ("starts", np.array([0, 1])),
    ("starts", np.array([1, 2])),
    ("starts", np.array([0, 2, 2])),
    ("starts", ints(0)),
]
BY_NUMBER = [("means", np.zeros((K, 2))), ("scale", np.zeros((2, 1))), ("level", np.zeros((K, 0)))]
SOFT_ROWS = [*ROWS[:-1], ("numbers", (N, 2)), ("numbers", (N - 1, 1))]
AWAY = [
    ("rows", np.array([0, N])),
    ("rows", np.array([-1, 0])),
    ("rows", np.array([0])),
    ("away", ints(2, N - 1)),
    ("level", "abacus"),
]
CASES = {
    "fuse_codes": [
        ("codes", CODES.astype(np.int64)),
        ("codes", CODES[:, :1].copy()),
        ("widths", np.array([3, -2])),
        ("members", np.array([1, 1])),
        ("starts", np.array([0, 3])),
    ],
    "fused_codes": [
        ("codes", np.zeros((N + 8, 1), dtype=np.uint16)),
        ("codes", np.zeros((N + 8, 1), dtype=np.int8)),
        ("codes", bytes_of(N + 8, 2)),
        ("codes", bytes_of(N, 1)),
        ("rows", N + 8),
        ("rows", 2**64 - 1),
        ("widths", np.array([3, 200])),
        ("members", np.array([1, 1])),
        ("starts", np.array([0, 1, 2])),
    ],
    "Tables": [*TABLES, *BY_NUMBER, ("tie", -1)],
    "label": [*ROWS, *LABELS, ("level", "abacus")],
    "least_sums": [*ROWS, ("least", ints(N - 1)), ("level", "abacus")],
    "assign_and_count": [
        *ROWS,
        *WEIGHED,
        *LABELS,
        *COUNTED,
        ("before", BEYOND),
        ("before", bytes_of(N - 1)),
        ("before", np.zeros(N, dtype=np.uint16)),
        ("present", ints(N)),
        ("present", np.ones(9, dtype=np.int64)),
        ("level", "abacus"),
    ],
    "SoftTables": [
        *TABLES,
        ("curve", np.zeros((K, 2), dtype=np.float32)),
        ("slope", np.zeros((2, 1), dtype=np.float32)),
        ("constant", np.zeros((K, 0), dtype=np.int32)),
        ("table", np.zeros((5, 1448))),
        ("table_rise", np.zeros((5, 2), dtype=np.int32)),
        ("anchor_rise", np.zeros(2, dtype=np.int32)),
        ("coarser", 17),
    ],
    "share": [
        *SOFT_ROWS,
        *WEIGHED,
        *COUNTED,
        ("weights", np.full(N, -1)),
        ("before", np.zeros((N, 2), dtype=np.int32)),
        ("level", "abacus"),
        ("former", bytes_of(N - 1)),
        ("former", np.zeros(N, dtype=np.uint16)),
        ("leaders", np.zeros(N, dtype=np.int8)),
        ("shares", np.zeros((9, K), dtype=np.int32)),
        ("led", ints(4)),
    ],
    "soft_passes": [
        *WEIGHED,
        ("weights", np.full(N, -1)),
        ("numbers", (N - 1, 1)),
        ("numbers", (N, 2)),
        ("counts", ints(K, 4)),
        ("counts", ints(2, 5)),
        ("sums", ints(K, 2)),
        ("squares", ints(2, 1)),
        ("seen", ints(K, 0)),
        ("sizes", ints(0)),
        ("quanta", 0.0),
        ("quanta", np.nan),
        ("room", 2.0**31),
        ("room", np.nan),
        ("level", "abacus"),
    ],
    "SoftPasses.next": [("least", np.zeros(4)), ("number_least", np.zeros(2))],
    "SoftPasses.counted": [*COUNTED, ("led", ints(4))],
    "NumberPriors": [
        ("spread", np.ones(2)),
        ("spread", np.zeros(1)),
        ("spread", np.full(1, np.nan)),
        ("missing", np.zeros(2)),
        ("common", np.array([1])),
        ("common", np.array([-1])),
        ("prior", 0.0),
        ("prior", np.nan),
    ],
    "logarithm": [("found", np.ones(N - 1)), ("level", "abacus")],
    "ColumnPriors": [
        ("starts", np.array([0, 5])),
        ("starts", np.array([1, 3, 5])),
        ("starts", np.array([0, 3, 6])),
        ("starts", np.array([0, 6, 5])),
        ("starts", np.array([0, -1, 5])),
        ("overall", np.ones(4)),
        ("overall", np.full(5, -1.0)),
        ("overall", np.full(5, np.nan)),
        ("strengths", np.ones(3)),
        ("strengths", np.full(2, -1.0)),
        ("strengths", np.full(2, np.nan)),
        ("ordered", ints(3)),
        ("ordered", np.array([4, 0])),
        ("ordered", np.array([-1, 0])),
        ("parents", ints(3)),
        ("parents", np.array([0, -1])),
        ("parents", np.array([2, -1])),
        ("parents", np.array([-2, -1])),
        ("parents", np.array([1, -1])),
        ("lift", np.ones(6)),
    ],
    "category_costs": [
        ("counts", ints(K, 4)),
        ("sizes", ints(K - 1)),
        ("units", 0.0),
        ("units", np.nan),
        ("costs", np.zeros((K + 1, 5))),
        ("costs", np.zeros((2 * K, 4))),
        ("costs", np.zeros((K, 5))),
        ("pairs", np.zeros((2 * K, 1))),
        ("pairs", np.zeros((K, 0))),
        ("anchors", np.zeros(K)),
        ("level", "abacus"),
    ],
    "log_gamma": [("found", np.ones(N - 1)), ("level", "abacus")],
    "pair_gains": [
        ("counts", np.ones((5, 4))),
        ("counts", np.ones((4, 5))),
        ("shares", np.ones((K, 4))),
        ("weights", np.ones(K + 1)),
        ("starts", np.array([0, 3, 6])),
        ("starts", ints(0)),
        ("columns", np.array([0, 2])),
        ("columns", np.array([-1, 1])),
        ("gains", np.zeros((2, 3))),
        ("level", "abacus"),
    ],
    "tie_gains": [
        ("counts", ints(K, 4)),
        ("counts", ints(0, 5)),
        ("sizes", ints(K + 1)),
        ("pairs", ints(K, 1)),
        ("pairs", ints(K + 1, 0)),
        ("units", 0.0),
        ("units", np.nan),
        ("gains", np.zeros(1)),
        ("level", "abacus"),
    ],
    "round_costs": [
        ("costs", np.zeros((K, 4))),
        ("costs", np.zeros((0, 5))),
        ("after", np.zeros((K, 4))),
        ("anchors", np.zeros((2, K + 1))),
        ("anchors", np.zeros((3, K))),
        ("anchors_above", np.zeros((1, K), dtype=np.int32)),
        ("quanta", 0.0),
        ("quanta", np.nan),
        ("quanta", 2.0**25),
        ("room", 2.0**31),
        ("room", np.nan),
        ("table", np.zeros((5, 2), dtype=np.int32)),
        ("least", ints(4)),
        ("rise", np.zeros((4, K), dtype=np.int32)),
        ("level", "abacus"),
    ],
    "most_frequent": [
        ("by_category", ints(K, 4)),
        ("by_category", ints(2, 5)),
        ("starts", np.array([0, 5])),
        ("starts", np.array([0, 6, 5])),
        ("modes", ints(K, 3)),
        ("most", ints(2, 2)),
    ],
    "sum_by_place": [
        ("codes", CODES.astype(np.int64)),
        ("codes", CODES[:, :1]),
        ("codes", CODES + 1),
        ("labels", ints(N - 1)),
        ("labels", np.full(N, 2)),
        ("labels", np.full(N, -1)),
        ("values", ints(N, 3)),
        ("values", ints(N - 1, 4)),
        ("values", ints(0, 4)),
        ("starts", np.array([0, 5])),
        ("starts", np.array([1, 3, 5])),
        ("starts", np.array([0, 3, -5])),
        ("into", ints(4, 4)),
    ],
    "points_away": [*AWAY, ("points", np.zeros((2, N - 1))), ("drop", -1.0), ("drop", np.nan)],
    "cells_away": [
        *AWAY,
        ("codes", bytes_of(3, N - 1)),
        ("codes", ints(3, N)),
        ("numbers", np.zeros((1, N - 1))),
    ],
    "Table": [
        ("places", np.full((N, 2), 5, dtype=np.uint32)),
        ("places", ELSEWHERE),
        ("starts", np.array([0, 3])),
        ("starts", np.array([1, 3, 5])),
        ("starts", np.array([0, 6, 5])),
        ("starts", np.array([0, 3, 1 << 32])),
        ("ticks", ints(N - 1, 1)),
        ("seen", bytes_of(N, 2)),
        *WEIGHED,
    ],
    "Table.join": [
        ("column_weights", np.ones((K, 2))),
        ("column_weights", np.ones((0, 3))),
        ("by_category", ints(K, 4)),
        ("sums", ints(K, 2)),
        ("seen", ints(2, 1)),
        ("labels", np.zeros(9, dtype=np.int32)),
    ],
    "Table.visit": [
        ("column_weights", np.ones((K, 2))),
        ("labels", NEGATIVE),
        ("labels", BEYOND.astype(np.int32)),
        ("labels", np.zeros(9, dtype=np.int32)),
    ],
    "Table.compete": [
        ("column_weights", np.ones((K, 2))),
        ("labels", BEYOND.astype(np.int32)),
        ("wins", np.ones(2)),
        ("strength", np.ones(4)),
    ],
    "Table.alike": [
        ("by_category", ints(K, 4)),
        ("by_column", ints(K, 3)),
        ("labels", BEYOND.astype(np.int32)),
        ("sums", np.zeros((2, 2))),
    ],
}


@pytest.mark.parametrize("name", CASES)
def test_arguments_that_fit_are_taken(name):
    call(name, arguments_of(name))


@pytest.mark.parametrize(
    ("name", "argument", "wrong"),
    [
        pytest.param(name, *case, id=f"{name} {case[0]} {at}")
        for name, cases in CASES.items()
        for at, case in enumerate(cases)
    ],
)
def test_arguments_that_do_not_fit_are_refused(name, argument, wrong):
    arguments = arguments_of(name)
    if argument == "fused":
        wrong = fused(*wrong)
    if argument == "numbers" and isinstance(wrong, tuple):
        wrong = _core.SoftNumbers(np.zeros(wrong))
    if argument in ("table", "anchor"):
        wrong = wrong.astype(arguments[argument].dtype)
    with pytest.raises(ValueError, match=r"^[A-Za-z].*\.$"):
        call(name, arguments | {argument: wrong})


@pytest.mark.parametrize(
    ("argument", "wrong"),
    [
        ("weights", np.full(N, 2**32)),
        ("counts", np.full((K, 5), 2**52)),
        ("sizes", np.full(K, -1)),
        ("seen", np.full((K, 1), -1)),
        ("units", 3.0),
        ("units", np.nan),
    ],
)
def test_passes_of_what_the_core_cannot_count_exactly_are_not_begun(argument, wrong):
    assert _core.soft_passes(*(passes_arguments() | {argument: wrong}).values()) is None


def test_a_pass_whose_costs_may_not_fit_is_not_made():
    counts = np.array([[9, 0, 0, 9, 0], [0, 9, 0, 0, 9], [0, 0, 9, 9, 0]]) << 20
    arguments = passes_arguments() | {"counts": counts, "sizes": np.full(K, 9 << 20), "units": 2.0**20}
    assert _core.soft_passes(*arguments.values()).next(np.zeros(5), np.zeros(1)) is not None
    assert _core.soft_passes(*(arguments | {"room": 1.0}).values()).next(np.zeros(5), np.zeros(1)) is None


def test_codes_beyond_their_column_are_not_fused():
    assert _core.fuse_codes(np.array([[3, 1]], dtype=np.uint8), *grouped().values()) is None


@pytest.mark.parametrize("row", [0, N - 1, N, N + 7])
def test_fused_codes_beyond_their_group_are_not_taken_not_even_behind_the_last_row(row):
    cells = np.full((N + 8, 1), 5, dtype=np.uint8)
    assert _core.fused_codes(cells, N, *grouped().values()) is not None
    cells[row] = 6
    assert _core.fused_codes(cells, N, *grouped().values()) is None


def test_labels_too_narrow_for_the_clusters_are_refused():
    many = hard_arguments() | {"table": ints(5, 300), "anchor": ints(300)}
    many |= dict.fromkeys(("means", "scale", "level"), np.zeros((300, 1)))
    with pytest.raises(ValueError, match="hold every cluster"):
        call("label", arguments_of("label") | {"tables": _core.Tables(*many.values())})


@pytest.mark.parametrize("tables", ["Tables", "SoftTables"])
def test_groups_too_large_for_a_table_are_refused(tables):
    arguments = arguments_of(tables)
    kind = arguments["table"].dtype
    wide = arguments | {
        "table": np.zeros((128, K), kind),
        "widths": np.full(64, 2),
        "members": np.arange(64),
        "starts": np.array([0, 64]),
    }
    with pytest.raises(ValueError, match="must fit a table"):
        call(tables, wide)


def test_all_groups_together_must_fit_the_table_of_a_soft_pass():
    wide = soft_arguments() | {"table": np.zeros((1 << 17, 8), np.int32), "anchor": np.zeros(8, np.int32)}
    wide |= dict.fromkeys(("curve", "slope"), np.zeros((8, 0), np.float32))
    wide |= {"constant": np.zeros((8, 0), np.int32)}
    wide |= {"widths": np.full(2, 1 << 16), "starts": np.array([0, 2]), "anchor_rise": np.zeros(0, np.int32)}
    with pytest.raises(ValueError, match="must fit a table"):
        call("SoftTables", wide)


@pytest.mark.parametrize("broken", [np.nan, np.inf, -np.inf])
def test_costs_that_are_no_numbers_name_a_cluster_all_the_same(broken, levels, core):
    axis, k = Axis((2,)), 4
    block = Block(np.array([[0], [1]] * 5, dtype=np.uint8), np.linspace(0.0, 1.0, N)[:, None])
    scores = Scores.of(np.eye(2, k), means=np.full((k, 1), 0.5), level=np.full((k, 1), 0.1))
    fixed = to_fixed_point(scores, axis)
    for part in (fixed.means, fixed.scale, fixed.level):
        part[1:] = broken
    for level in ("numpy", *levels):
        with core(level), np.errstate(all="ignore"):
            labels = label_rows(block, fixed)
        assert set(labels.tolist()) <= set(range(k))
