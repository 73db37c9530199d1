from catalpa.table.blocks import FloatArray, IntArray

class Tables:
    def __init__(
        self,
        table: IntArray,
        anchor: IntArray,
        widths: IntArray,
        starts: IntArray,
        means: FloatArray,
        scale: FloatArray,
        level: FloatArray,
        power: int,
        root: bool,
        shift: int,
        tie: int,
        number_limit: float,
        /,
    ) -> None: ...

def levels() -> list[str]: ...
def fuse_codes(codes: IntArray, widths: IntArray, starts: IntArray, fused: IntArray, /) -> bool: ...
def label(
    tables: Tables,
    fused: IntArray,
    numbers: FloatArray,
    before: IntArray,
    labels: IntArray,
    level: str,
    /,
) -> int: ...
def count_all(
    tables: Tables,
    fused: IntArray,
    numbers: FloatArray,
    weights: IntArray,
    labels: IntArray,
    by_category: IntArray,
    sizes: IntArray,
    sums: IntArray,
    squares: IntArray,
    seen: IntArray,
    /,
) -> None: ...
def count_moved(
    tables: Tables,
    fused: IntArray,
    numbers: FloatArray,
    weights: IntArray,
    before: IntArray,
    labels: IntArray,
    by_category: IntArray,
    sizes: IntArray,
    sums: IntArray,
    squares: IntArray,
    seen: IntArray,
    /,
) -> None: ...
def cost_by_rows(
    tables: Tables,
    fused: IntArray,
    numbers: FloatArray,
    weights: IntArray,
    present: IntArray,
    labels: IntArray,
    /,
) -> tuple[int, int]: ...
def cost_by_counts(tables: Tables, by_category: IntArray, sizes: IntArray, /) -> tuple[int, int]: ...

class SoftTables:
    def __init__(
        self,
        table: IntArray,
        anchor: IntArray,
        widths: IntArray,
        starts: IntArray,
        means: FloatArray,
        scale: FloatArray,
        level: FloatArray,
        table_rise: IntArray,
        anchor_rise: IntArray,
        coarser: int,
        /,
    ) -> None: ...

def share(
    tables: SoftTables,
    fused: IntArray,
    numbers: FloatArray,
    weights: IntArray,
    before: IntArray,
    level: str,
    former: IntArray,
    leaders: IntArray,
    shares: IntArray,
    by_category: IntArray,
    sizes: IntArray,
    sums: IntArray,
    squares: IntArray,
    seen: IntArray,
    led: IntArray,
    /,
) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int], tuple[int, int], int]: ...
