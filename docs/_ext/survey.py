"""The survey of the front page: its table, its named clusters, and the report page that the site links to.

The data are 944 respondents of the American National Election Study of 1996 (public domain).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
from statsmodels.datasets import anes96

import catalpa
from catalpa.explain.formatting import percent

TITLE = "Voters of 1996"
PAGE = "voters.html"
SIDES = ["extremely {}", "{}", "slightly {}"]
LEANING = [side.format("liberal") for side in SIDES] + ["moderate"]
LEANING += [side.format("conservative") for side in reversed(SIDES)]
PARTY = ["strong Democrat", "weak Democrat", "leans Democrat", "independent"]
PARTY += ["leans Republican", "weak Republican", "strong Republican"]
EDUCATION = ["1-8 grades", "some high school", "high school", "some college", "college", "master", "PhD"]


def voters() -> pd.DataFrame:
    """Answers in words and in their order; age is a number."""
    raw = anes96.load_pandas().data

    def ordered(name: str, words: list[str], first: int) -> pd.Categorical:
        return pd.Categorical.from_codes(raw[name].astype(int) - first, words, ordered=True)

    days = ["never", "some days", "most days", "daily"]
    return pd.DataFrame(
        {
            "own leaning": ordered("selfLR", LEANING, 1),
            "Clinton's leaning": ordered("ClinLR", LEANING, 1),
            "Dole's leaning": ordered("DoleLR", LEANING, 1),
            "party": ordered("PID", PARTY, 0),
            "education": ordered("educ", EDUCATION, 1),
            "TV news": pd.cut(raw["TVnews"], [-1, 0, 3, 6, 7], labels=days),
            "income bracket": raw["income"].astype(int),
            "age": raw["age"].astype(int),
        }
    )


@cache
def fitted() -> catalpa.Grove:
    """Four clusters with names, which follow from their centres."""
    model = catalpa.Grove(4, random_state=0).fit(voters())
    centers = model.cluster_centers_
    leaning = centers["own leaning"].map(LEANING.index)
    right, left = int(leaning.idxmax()), int(leaning.idxmin())
    others = centers["age"].drop([right, left])
    names = {right: "conservatives", left: "liberals"}
    names |= {int(others.idxmax()): "older news watchers", int(others.idxmin()): "young and moderate"}
    return model.name_clusters(names)


def table(rows: int = 7) -> pd.DataFrame:
    """The first rows, with the columns that fit beside a picture."""
    return voters()[["own leaning", "party", "TV news", "age"]].head(rows)


def clusters() -> pd.DataFrame:
    """Name, share and most informative reason of each cluster."""
    model = fitted()
    reasons = model.reasons(top=2).groupby("cluster")["text"].agg("; ".join)
    shares = model.cluster_sizes_ / model.cluster_sizes_.sum()
    return pd.DataFrame(
        {
            "cluster": model.cluster_names_,
            "share": [percent(share) for share in shares],
            "typical": [reasons.get(cluster, "") for cluster in range(model.n_clusters_)],
        }
    )


def votes() -> str:
    """One sentence on the vote, which was not clustered."""
    vote = anes96.load_pandas().data["vote"]
    by_name = vote.groupby([fitted().cluster_names_[label] for label in fitted().labels_]).mean()
    dole, clinton = percent(by_name["conservatives"]), percent(1 - by_name["liberals"])
    return f"{dole} of the conservatives voted for Dole and {clinton} of the liberals for Clinton"


def write_page(app: Any, exception: Exception | None) -> None:
    """The report of these clusters, as a page of the site."""
    if exception is None and app.builder.name == "html":
        fitted().report(voters(), title=TITLE).save(Path(app.outdir, PAGE))


def setup(app: Any) -> dict[str, Any]:
    """Write the report when the site is built."""
    app.connect("build-finished", write_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
