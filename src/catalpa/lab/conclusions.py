"""What of the paper reproduces and what does not, in a line for each table, figure and claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from catalpa.lab.counterparts import printed_scores, reproduced, scores
from catalpa.lab.figures.notes import best_random, best_separated, leaders, slower_than_disc
from catalpa.lab.figures.seeds import ranks_of_seeds
from catalpa.lab.grids import markdown
from catalpa.lab.protocol import Protocol
from catalpa.lab.published import ranks_of
from catalpa.lab.published_table import AsPublished, as_published_table
from catalpa.lab.tables import PublishedTable

CLOSE = 0.0002  # as near as CMP comes


@dataclass(frozen=True, eq=False)
class StoredResults:
    """Stored results in addition to the runs of the protocol; None if there are none."""

    published: pd.DataFrame | None = None  # runs from the published starts
    claims: pd.DataFrame | None = None
    figures: Mapping[int, pd.DataFrame] = field(default_factory=dict)
    counterparts: pd.DataFrame | None = None


def verdicts(
    tables: Mapping[tuple[str, str], PublishedTable],
    results: pd.DataFrame,
    protocol: Protocol,
    stored: StoredResults,
) -> str:
    """The summary as a Markdown table: what, how far it reproduces, and the number."""
    lines: list[list[str]] = []
    if stored.published is not None:
        lines += _published_lines(stored.published, results, protocol)
    lines.append(_unpicked(tables["2", "ACC"]))
    if 5 in stored.figures and protocol.as_published is not None:
        lines.append(_seeds(ranks_of_seeds(stored.figures[5], protocol.as_published.seeds)))
    lines.append(_counterparts(tables["2", "ACC"], stored.counterparts))
    if stored.counterparts is not None:
        lines.append(_from_same_rows(stored.counterparts))
    if len(mixed_gain(tables["4", "ACC"])):
        lines.append(_mixed(tables["4", "ACC"]))
    if 1 in stored.figures:
        lines.append(_random_relations(stored.figures[1]))
    if stored.claims is not None:
        lines += _claim_lines(stored.claims)
    if 3 in stored.figures:
        lines.append(_seconds(stored.figures[3]))
    if 4 in stored.figures:
        lines.append(_embedding(stored.figures[4]))
    return markdown(["what the paper prints or claims", "reproduces", "measured"], lines, align="---")


def mixed_gain(one: PublishedTable) -> pd.DataFrame:
    """ACC of the best setting of DISC with numbers less that of the best without, ours and printed."""
    cells = one.cells.dropna(subset=["mean", "printed"])
    best = {
        label: part.groupby("dataset", sort=False)[["mean", "printed"]].max()
        for label, part in cells.groupby("label")
    }
    none = pd.DataFrame(columns=["mean", "printed"], dtype=float)
    return (
        (best.get("DISC (mixed)", none) - best.get("DISC", none)).reindex(cells["dataset"].unique()).dropna()
    )


def _verdict(good: int, of: int) -> str:
    return "yes" if good == of else "no" if good == 0 else f"{good} of {of}"


def _published_lines(published: pd.DataFrame, results: pd.DataFrame, protocol: Protocol) -> list[list[str]]:
    lines = {
        key: as_published_table(published, results, protocol, *key)
        for key in [("2", "ACC"), ("2", "ARI"), ("2", "CMP"), ("3", "ACC")]
    }
    acc, ari, cmp = (_cells_of(lines["2", measure], "DISC") for measure in ("ACC", "ARI", "CMP"))
    both = acc["equal"] & ari["equal"]
    rest = [f"{name} {away:+.4f}" for name, away in acc["script_difference"][~both].items()]
    near = int((cmp["script_difference"].abs().round(4) <= CLOSE).sum())
    once = _cells_of(lines["3", "ACC"], "DISC-I")
    beside = acc["script"] - acc["kmodes"]
    return [
        [
            "Tables 2 and 3, DISC and DISC-I: from the script's seeds",
            f"{_verdict(int(both.sum()), len(both))}; {_verdict(int(once['equal'].sum()), len(once))}",
            f"ACC and ARI to the last digit but for ACC {', '.join(rest)}; CMP within {CLOSE} on {near}; "
            f"DISC-I not on {', '.join(once.index[~once['equal']]) or 'none'}",
        ],
        [
            "DISC better than k-modes, from the same rows",
            _verdict(int((beside > 0).sum()), len(beside)),
            f"mean ACC {acc['script'].mean():.3f} and {acc['kmodes'].mean():.3f}; printed from other rows: "
            f"{acc['printed'].mean():.3f} and {_cells_of(lines['2', 'ACC'], 'KMD')['printed'].mean():.3f}",
        ],
    ]


def _cells_of(result_table: AsPublished, label: str) -> pd.DataFrame:
    cells = result_table.cells[result_table.cells["label"] == label].dropna(subset=["script", "printed"])
    return cells.drop_duplicates("dataset").set_index("dataset")


def _unpicked(accuracy: PublishedTable) -> list[str]:
    cells = accuracy.cells
    rows = cells[(cells["label"] == "DISC") & (cells["variant"] == "program")].dropna(subset=["difference"])
    good, ours = int((rows["difference"] > -0.005).sum()), rows["mean"].mean()
    return [
        "Table 2, DISC: from unpicked seeds",
        _verdict(good, len(rows)),
        f"mean ACC {ours:.3f}, printed {rows['printed'].mean():.3f}; at most 0.005 below on {good}",
    ]


def _seeds(places: pd.DataFrame) -> list[str]:
    disc = places[places["method"] == "DISC"]
    ranks = [
        f"{row['dataset']} {row['rank']} of {row['seeds']}"
        + (f" ({row['tied']} tied)" if row["tied"] > 1 else "")
        for row in disc.to_dict("records")
    ]
    return ["Rank of the script's seed by ACC", "-", ", ".join(ranks)]


def _counterparts(accuracy: PublishedTable, runs: pd.DataFrame | None) -> list[str]:
    cells = accuracy.cells[accuracy.cells["ranked"] & (accuracy.cells["label"] != "DISC")]
    known = cells.dropna(subset=["difference"])
    allowed = known["printed_std"].fillna(0).clip(lower=0.03)
    near = int((known["difference"].abs().round(4) <= allowed).sum())
    measured = "means within 0.03 or the printed deviation"
    if runs is not None:
        hits = reproduced(runs)
        counts = (f"{label} {hits[label].sum()} of {hits[label].notna().sum()}" for label in hits)
        measured += f"; to four digits from the printed runs' starts: {', '.join(counts)}"
    return ["Table 2, ten counterparts: from unpicked seeds", f"{near} of {len(known)}", measured]


def _from_same_rows(runs: pd.DataFrame) -> list[str]:
    texts, first = [], []
    for measure in ("ACC", "ARI", "CMP"):
        ours, theirs = (ranks_of(table(runs, measure), measure) for table in (scores, printed_scores))
        texts.append(f"{measure} {ours['DISC']:.2f} (printed {theirs['DISC']:.2f})")
        first.append(f"{measure} {'yes' if ours.idxmin() == 'DISC' else 'no'}")
    return [
        "DISC first of eleven methods, from the same rows",
        ", ".join(first),
        f"mean rank in {', '.join(texts)}",
    ]


def _mixed(one: PublishedTable) -> list[str]:
    gains = mixed_gain(one)
    good = int((gains["mean"] > 0).sum())
    ours = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains["mean"].items())
    return [
        "Table 4: DISC with numbers beats DISC without on all five",
        _verdict(good, len(gains)),
        f"gain in ACC, best setting of each: {ours}; "
        f"printed {gains['printed'].min():+.3f} to {gains['printed'].max():+.3f}",
    ]


def _random_relations(frame: pd.DataFrame) -> list[str]:
    winners, best = leaders(frame), best_random(frame)
    good = sum(strategy == "Customized" for strategy in best.values())
    return [
        "Figure 1: DISC first, Customized best of the random ones",
        f"{len(winners)} of {len(best)}; {_verdict(good, len(best))}",
        "best random: " + ", ".join(f"{strategy} ({name})" for name, strategy in best.items()),
    ]


def _claim_lines(claims: pd.DataFrame) -> list[list[str]]:
    again, higher = int(claims["relearnings"].sum()), int(claims["rises"].sum())
    swaps = claims[claims["stops"] & ~claims["literal_stops"]].groupby("dataset", sort=False).size()
    never = claims[~claims["stops"]].groupby("dataset", sort=False).size()
    starts = claims["seed"].nunique()
    zero, present = int(claims["present_pairs_at_0"].sum()), int(claims["present_pairs"].sum())
    return [
        [
            "Figure 2, Theorem 3: z falls at every update of the trees",
            _verdict(again - higher, again),
            f"rises at {higher} of {again} updates on {claims['dataset'].nunique()} data sets",
        ],
        [
            "Algorithm 1 stops; its distance is a metric (Theorems 1, 2)",
            "in part",
            f"of {starts} starts in the program's reading {_runs(swaps)} swap names for ever, {_runs(never)} "
            f"cycle; {zero} of {present} pairs of categories that occur are at distance 0",
        ],
    ]


def _runs(counts: pd.Series) -> str:
    return ", ".join(f"{count} on {name}" for name, count in counts.items()) or "none"


def _seconds(frame: pd.DataFrame) -> list[str]:
    by_setting = slower_than_disc(frame)
    good, of = sum(len(slower) for slower, _ in by_setting.values()), sum(map(len, _flat(by_setting)))
    others = [f"{name} (many {against})" for against, (_, rest) in by_setting.items() for name in rest]
    return [
        "Figure 3: methods that are slower than DISC",
        _verdict(good, of),
        f"not {', '.join(others)}" if others else "all that the paper lists",
    ]


def _flat(slower: Mapping[str, tuple[list[str], list[str]]]) -> list[list[str]]:
    return [names for pair in slower.values() for names in pair]


def _embedding(frame: pd.DataFrame) -> list[str]:
    best = best_separated(frame)
    good = sum(name == "DISC" for name in best.values())
    return [
        "Figure 4: DISC separates the classes best",
        _verdict(good, len(best)),
        f"highest 1-NN accuracy {best['neighbour']}, widest silhouette {best['silhouette']}",
    ]
