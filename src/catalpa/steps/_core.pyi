from typing import Any, TypeAlias

from numpy.typing import NDArray

from catalpa.table.blocks import FloatArray, IntArray

AnyArray: TypeAlias = NDArray[Any]

# table and anchor; widths of the columns, the columns group by group and the starts of the groups;
# means, scale and level of the numbers, or curve, slope and constant
Costs: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray, IntArray, AnyArray, AnyArray, AnyArray]

class Tables:
    # Costs, then power, root, shift, tie and number_limit.
    def __init__(self, *parts: *tuple[*Costs, int, bool, int, int, float]) -> None: ...

def levels() -> list[str]: ...

class Fused:
    @property
    def nbytes(self) -> int: ...
    def __len__(self) -> int: ...

def fuse_codes(codes: IntArray, widths: IntArray, members: IntArray, starts: IntArray, /) -> Fused | None: ...
def fused_codes(
    codes: IntArray, rows: int, widths: IntArray, members: IntArray, starts: IntArray, /
) -> Fused | None: ...
def label(
    tables: Tables,
    fused: Fused,
    numbers: FloatArray,
    labels: IntArray,
    level: str,
    /,
) -> None: ...
def least_sums(tables: Tables, codes: Fused, numbers: FloatArray, least: IntArray, level: str, /) -> None: ...
def assign_and_count(
    tables: Tables,
    fused: Fused,
    numbers: FloatArray,
    weights: IntArray,
    present: IntArray,
    before: IntArray,
    labels: IntArray,
    by_category: IntArray,
    sizes: IntArray,
    sums: IntArray,
    squares: IntArray,
    seen: IntArray,
    level: str,
    /,
) -> tuple[int, int, int]: ...

class SoftTables:
    # Costs, then table_rise, anchor_rise and coarser.
    def __init__(self, *parts: *tuple[*Costs, IntArray, IntArray, int]) -> None: ...

class SoftNumbers:
    def __init__(self, numbers: FloatArray, /) -> None: ...

class Owned:
    def __init__(self) -> None: ...

def share(
    tables: SoftTables,
    fused: Fused,
    numbers: SoftNumbers,
    weights: IntArray,
    before: IntArray,
    level: str,
    former: IntArray,
    leaders: IntArray,
    shares: IntArray,
    owned_before: Owned,
    owned: Owned,
    by_category: IntArray,
    sizes: IntArray,
    sums: IntArray,
    squares: IntArray,
    seen: IntArray,
    led: IntArray,
    /,
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int], int]: ...

class SoftPasses:
    def next(
        self, least: FloatArray, number_least: FloatArray, /
    ) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], int, int, float] | None: ...
    def counted(
        self,
        by_category: IntArray,
        sizes: IntArray,
        sums: IntArray,
        squares: IntArray,
        seen: IntArray,
        led: IntArray,
        /,
    ) -> tuple[tuple[int, int], tuple[int, int]]: ...

def soft_passes(
    codes: Fused,
    numbers: SoftNumbers,
    weights: IntArray,
    counts: IntArray,
    sizes: IntArray,
    sums: IntArray,
    squares: IntArray,
    seen: IntArray,
    columns: ColumnPriors,
    of_numbers: NumberPriors,
    units: float,
    released: bool,
    quanta: float,
    room: float,
    level: str,
    /,
) -> SoftPasses | None: ...
def logarithm(numbers: FloatArray, found: FloatArray, level: str, /) -> None: ...

class NumberPriors:
    def __init__(
        self,
        middle: FloatArray,
        spread: FloatArray,
        missing: FloatArray,
        common: IntArray,
        prior: float,
        /,
    ) -> None: ...

class ColumnPriors:
    def __init__(
        self,
        starts: IntArray,
        overall: FloatArray,
        strengths: FloatArray,
        ordered: IntArray,
        parents: IntArray,
        lift: FloatArray,
        /,
    ) -> None: ...

def category_costs(
    counts: IntArray,
    sizes: IntArray,
    columns: ColumnPriors,
    units: float,
    logs: bool,
    costs: FloatArray,
    pairs: FloatArray,
    anchors: FloatArray,
    level: str,
    /,
) -> None: ...
def log_gamma(numbers: FloatArray, found: FloatArray, level: str, /) -> None: ...
def pair_gains(
    counts: FloatArray,
    shares: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    columns: IntArray,
    price: float,
    gains: FloatArray,
    level: str,
    /,
) -> None: ...
def tie_gains(
    counts: IntArray,
    sizes: IntArray,
    pairs: IntArray,
    columns: ColumnPriors,
    units: float,
    price: float,
    gains: FloatArray,
    level: str,
    /,
) -> None: ...
def round_costs(
    costs: FloatArray,
    after: FloatArray,
    anchors: FloatArray,
    quanta: float,
    room: float,
    columns: float,
    table: IntArray,
    least: IntArray,
    rise: IntArray,
    anchors_above: IntArray,
    level: str,
    /,
) -> int | None: ...
def most_frequent(by_category: IntArray, starts: IntArray, modes: IntArray, most: IntArray, /) -> None: ...
def sum_by_place(
    codes: IntArray, labels: IntArray, values: IntArray, starts: IntArray, into: IntArray, /
) -> None: ...
def points_away(points: FloatArray, rows: IntArray, drop: float, away: IntArray, level: str, /) -> None: ...
def cells_away(
    codes: IntArray, numbers: FloatArray, rows: IntArray, away: IntArray, level: str, /
) -> None: ...

class Table:
    def __init__(
        self, places: IntArray, starts: IntArray, ticks: IntArray, seen: IntArray, weights: IntArray, /
    ) -> None: ...
    def join(
        self,
        column_weights: FloatArray,
        by_category: IntArray,
        sums: IntArray,
        seen: IntArray,
        tie: float,
        labels: IntArray,
        /,
    ) -> None: ...
    def visit(self, column_weights: FloatArray, tie: float, labels: IntArray, /) -> int: ...
    def compete(
        self,
        column_weights: FloatArray,
        tie: float,
        rate: float,
        unit: float,
        total: float,
        wins: FloatArray,
        strength: FloatArray,
        labels: IntArray,
        /,
    ) -> int: ...
    def alike(
        self, by_category: IntArray, by_column: IntArray, labels: IntArray, sums: FloatArray, /
    ) -> None: ...
