"""A local server for the explorer, with which columns and numbers of clusters can be changed."""

from __future__ import annotations

import hmac
import json
import secrets
import shlex
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from catalpa.errors import CatalpaError, NoStructureWarning, ParameterError
from catalpa.estimator.base import Clusterer
from catalpa.inspection.recipe import Field, Recipe
from catalpa.report.explore_data import coarser
from catalpa.report.explore_edits import Edits
from catalpa.report.explore_page import NO_GROUPS, Explorer, explorer_of
from catalpa.report.first_screen import ROLES

MOST_BYTES = 1 << 20  # of a request
LOCAL = ("127.0.0.1", "localhost")
FOUND, AS_IT_IS, CATEGORIES = USES = ("as found", "as it is", "categories")  # of a column
RECIPE_FILE, EDITS_FILE = "recipe.json", "clusters.json"
MORE = 2  # larger numbers of clusters that are fitted in addition to the chosen one


class _Cancelled(Exception):
    """Raised when the user cancels a fit."""


@dataclass
class Session:
    """State of an explorer session: a table, the clusters shown, and the running fit, if any.

    Parameters
    ----------
    source : str
        The file, for the command that repeats the session.
    table : frame
        The table with all columns.
    new_model : callable
        Returns an unfitted estimator for a number of clusters, or ``"auto"``.
    columns : sequence of str, optional
        Columns that are clustered at first; by default all that the recipe does not leave out.
    recipe : Recipe, optional
        Recipe that prepares the columns for clustering.
    sample_weight : array-like, optional
        Weights of the rows.
    options : sequence of str
        Options of the command that started the session, to repeat in ``command``.
    """

    source: str
    table: Any
    new_model: Callable[[int | str], Clusterer]
    columns: Sequence[str] | None = None
    recipe: Recipe | None = None
    sample_weight: Any = None
    options: Sequence[str] = ()
    title: str = "Explore the clusters"
    rows: bool = True  # True if pages contain the cells of the rows
    model: Clusterer | None = field(default=None, init=False)
    models: dict[int, Clusterer] = field(default_factory=dict, init=False)  # of every number on the page
    page: Explorer | None = field(default=None, init=False)
    splits: tuple[int, ...] = field(default=(), init=False)  # clusters that were split since the fit
    fitted_clusters: int = field(default=0, init=False)  # of the fit, before splits
    uses: Mapping[str, str] = field(default_factory=dict, init=False)  # of columns that are not used as found
    verdict: Mapping[str, Any] | None = field(default=None, init=False)  # once samples were compared
    version: int = field(default=0, init=False)
    progress: str = field(default="", init=False)
    error: str | None = field(default=None, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _job: threading.Thread | None = field(default=None, init=False)
    _judging: threading.Thread | None = field(default=None, init=False)
    _stop: threading.Event = field(default_factory=threading.Event, init=False)
    _wanted: Mapping[str, str] = field(default_factory=dict, init=False)  # uses in the fit that is running

    def __post_init__(self) -> None:
        left_out = () if self.recipe is None else self.recipe.left_out
        names = [name for name in self._names() if name not in left_out]
        self.columns = list(names if self.columns is None else self.columns)

    def _names(self) -> list[str]:
        return _names_of(self.table)

    def _recipe_for(self, columns: Sequence[str], uses: Mapping[str, str]) -> Recipe | None:
        """The recipe for these columns; chosen columns that it leaves out are used unchanged."""
        base = self.recipe or Recipe()
        chosen = {name for name in columns if name not in base.left_out and uses.get(name, FOUND) == FOUND}
        recipe = base.keeping(name for name in base.columns if name not in chosen)
        for name in columns:
            if uses.get(name) == CATEGORIES:
                recipe = recipe.with_field(Field(name, type="string"))
        return recipe if recipe.changes_anything else None

    def recipe_file(self) -> Recipe:
        """The recipe of the session, which also leaves out the columns that are not clustered."""
        used = list(self.columns or ())
        recipe = self._recipe_for(used, self.uses) or Recipe()
        layout = {} if self.recipe is None else self.recipe.dialect
        return replace(recipe, drop=tuple(name for name in self._names() if name not in used), dialect=layout)

    @property
    def changes_recipe(self) -> bool:
        """True if columns are used differently than the command would by default."""
        left_out = () if self.recipe is None else self.recipe.left_out
        return bool(self.uses) or any(name in left_out for name in self.columns or ())

    @property
    def busy(self) -> bool:
        """True if a fit is running."""
        return self._job is not None and self._job.is_alive()

    def start(
        self, columns: Sequence[str], n_clusters: int | str, uses: Mapping[str, str] | None = None
    ) -> None:
        """Start a fit in the background; raises an error if one is running or the arguments are invalid.

        ``uses`` maps columns to ``"as found"``, ``"as it is"`` or ``"categories"``.
        """
        unknown = [name for name in columns if name not in self._names()]
        if unknown:
            raise ParameterError(f"The table has no columns {unknown}.")
        if not columns:
            raise ParameterError("Choose at least one column to cluster.")
        number = isinstance(n_clusters, int) and not isinstance(n_clusters, bool) and n_clusters > 0
        if not number and n_clusters != "auto":
            raise ParameterError(
                f"The number of clusters is {n_clusters!r}; it is a positive number or 'auto'."
            )
        uses = {} if uses is None else uses
        if unusable := [name for name, use in uses.items() if name not in self._names() or use not in USES]:
            raise ParameterError(f"The use of {unusable} is not one of {', '.join(USES)} for a column.")
        changed = {name: use for name, use in uses.items() if use != FOUND and name in columns}
        self._begin(columns, lambda rows: self._fitted(rows, n_clusters), uses=changed)

    def split(self, cluster: Any) -> None:
        """Look for clusters inside one cluster of the model, in the background."""
        model: Any = self.model
        if model is None or not hasattr(model, "split"):
            raise ParameterError("Only clusters of Grove can be split.")
        if isinstance(cluster, bool) or not isinstance(cluster, int) or not 0 <= cluster < model.n_clusters_:
            raise ParameterError(f"There is no cluster {cluster!r} to split.")
        weights = self.sample_weight
        self._begin(
            self.columns,
            lambda rows: self._split(model, cluster, rows, weights),
            splits=(*self.splits, cluster),
        )

    def _split(self, model: Any, cluster: int, rows: Any, weights: Any) -> Clusterer:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoStructureWarning)
            parts: Clusterer = model.split(cluster, rows, sample_weight=weights)
        if parts.n_clusters_ == model.n_clusters_:
            raise ParameterError(f"No clusters were found inside cluster {cluster}.")
        return parts

    def _begin(
        self,
        columns: Sequence[str] | None,
        make: Callable[[Any], Clusterer],
        splits: tuple[int, ...] = (),
        uses: Mapping[str, str] | None = None,
    ) -> None:
        with self._lock:
            if self.busy:
                raise ParameterError("A fit is running. Wait for it, or cancel it.")
            self._stop.clear()
            self.error, self.progress = None, "reading the table"
            self._wanted = self.uses if uses is None else uses
            self._job = threading.Thread(
                target=self._fit, args=(list(columns or ()), make, splits), daemon=True
            )
            self._job.start()

    def cancel(self) -> None:
        """Cancel the running fit; the previous clusters are kept."""
        self._stop.set()

    def wait(self) -> None:
        """Wait until no fit is running."""
        if self._job is not None:
            self._job.join()

    def _fit(self, columns: list[str], make: Callable[[Any], Clusterer], splits: tuple[int, ...]) -> None:
        try:
            known = _selected(self.table, columns)
            model = make(known)
            others = coarser(model)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about numbers of clusters that were not requested
                others += [self._fitted(known, k) for k in self._larger(int(model.n_clusters_), len(known))]
            self.progress = "drawing the page"
            page = explorer_of(
                model,
                _selected(self.table, self._worth_showing(columns)),
                others=others,
                sample_weight=self.sample_weight,
                rows=self.rows,
                title=self.title,
                # The full verdict compares samples, which takes longer than the page.
                verdict=model._verdict(),
            )
        except _Cancelled:
            self.error = "Cancelled. The previous clusters are shown."
        except CatalpaError as error:
            self.error = str(error)
        except Exception as error:
            self.error = f"The fit failed: {type(error).__name__}: {error}"
        else:
            fitted = self.fitted_clusters if splits else int(model.n_clusters_)
            known_edits = {"fitted_clusters": fitted, "splits": list(splits)}
            page = replace(page, summary={**page.summary, **known_edits})
            self.model, self.page, self.columns, self.uses = model, page, columns, self._wanted
            self.splits, self.fitted_clusters, self.verdict = splits, fitted, None
            self.models = {int(one.n_clusters_): one for one in (*others, model)}
            self.version += 1
            self._judging = threading.Thread(target=self._judge, args=(model,), daemon=True)
            self._judging.start()
        finally:
            self.progress = ""

    def judged(self) -> Explorer | None:
        """Wait for the page of the current fit and for its verdict."""
        self.wait()
        if self._judging is not None:
            self._judging.join()
        if self.page is None or self.verdict is None:
            return self.page
        return replace(self.page, summary={**self.page.summary, "verdict": self.verdict})

    def _judge(self, model: Clusterer) -> None:
        """Measure the verdict of a model; discarded if other clusters are shown by then."""
        try:
            verdict = model.verdict_.to_dict()
        except Exception:
            return  # the page keeps the verdict that needs no samples
        if self.model is model:
            self.verdict = verdict

    def _worth_showing(self, columns: Sequence[str]) -> list[str]:
        """The columns that are clustered, and others except identifiers and free text."""
        fields = () if self.recipe is None else self.recipe.fields
        useless = {one.name for one in fields if one.role in NO_GROUPS} - set(columns)
        return [name for name in self._names() if name not in useless]

    def _fitted(self, rows: Any, n_clusters: int | str) -> Clusterer:
        def watch(progress: Any) -> None:
            if self._stop.is_set():
                raise _Cancelled
            self.progress = str(progress)

        if self._stop.is_set():
            raise _Cancelled
        model = self.new_model(n_clusters)
        model.set_params(callback=watch)
        recipe = self._recipe_for(_names_of(rows), self._wanted)
        if recipe is not None:
            model.set_params(recipe=recipe)
        model.fit(rows, sample_weight=self.sample_weight)
        model.set_params(callback=None)
        return model

    def _larger(self, k: int, rows: int) -> list[int]:
        """Other numbers of clusters to fit, for methods with this parameter."""
        if "n_clusters" not in self.new_model(k).get_params(deep=False):
            return []
        fewer = [] if hasattr(self.new_model(k), "cut") else range(max(k - MORE, 2), k)
        return [*fewer, *range(k + 1, min(k + MORE, rows) + 1)]

    @property
    def command(self) -> str:
        """The command that reproduces the clusters; after splits it needs the edits of the page."""
        return self._command(edits=bool(self.splits))

    def _command(self, *, edits: bool) -> str:
        dropped = [name for name in self._names() if name not in (self.columns or ())]
        options = list(self.options)
        if self.changes_recipe:
            options = [*_without_preparing(options), "--recipe", RECIPE_FILE]
            dropped = []  # left out by the recipe
        parts = ["catalpa", "cluster", self.source, *options]
        if edits:
            parts += ["--edits", EDITS_FILE]  # includes the number of clusters
        elif self.model is not None and "n_clusters" in self.model.get_params(deep=False):
            parts += ["-k", str(self.model.n_clusters_)]
        for name in dropped:
            parts += ["--drop", f'"{name}"' if "," in name else name]
        return shlex.join([*parts, "-o", "out/"])

    def state(self) -> dict[str, Any]:
        """The state that the page polls."""
        return {
            "busy": self.busy,
            "progress": self.progress,
            "error": self.error,
            "version": self.version,
            "command": self.command,
            "command_with_edits": self._command(edits=True),
            "verdict": self.verdict,
            "columns": [
                {
                    "name": name,
                    "title": name if self.recipe is None else self.recipe.title_of(name) or name,
                    "used": name in (self.columns or ()),
                    "use": self.uses.get(name, FOUND),
                    "found": self._role_text(name),
                }
                for name in self._names()
            ],
        }

    def _role_text(self, name: str) -> str:
        """Short text on how the recipe treats a column; empty if it is not changed."""
        field = Field(name) if self.recipe is None else self.recipe[name]
        if self.recipe is not None and name in self.recipe.left_out:
            return f"left out: {ROLES.get(field.role or '', 'as asked')}"
        records = [
            "ordered scale" if field.ordered else "",
            {"any": "", "string": "categories"}.get(field.type, field.type),
            "missing codes" if field.missing else "",
        ]
        return ", ".join(part for part in records if part)

    def export(self, kind: str, edits: Mapping[str, Any]) -> tuple[str, str]:
        """Content type and text of a file with the shown clusters and their names."""
        if self.model is None:
            raise ParameterError("Nothing was clustered yet.")
        if kind == "recipe":
            return "application/json", json.dumps(self.recipe_file().to_dict(), ensure_ascii=False, indent=2)
        wanted = edits.get("n_clusters", self.model.n_clusters_)
        if wanted not in self.models:
            raise ParameterError(f"The page shows {wanted!r} clusters, which the session does not have.")
        # Levels and larger numbers are models of their own here.
        model = replace(Edits.of({**edits, "n_clusters": wanted}), model_clusters=wanted).apply(
            self.models[wanted]
        )
        if kind == "model":
            from catalpa.estimator.model_json import model_document
            from catalpa.model.file import model_text

            return "application/json", model_text(model_document(model))
        if kind == "report":
            return "text/html", model.report(
                self.table, sample_weight=self.sample_weight, title=self.title
            ).html
        raise ParameterError(f"There is no export called {kind!r}; there are 'model', 'report' and 'recipe'.")


def _without_preparing(options: Sequence[str]) -> list[str]:
    """Options without those that prepare the table, which a recipe file replaces.

    Examples
    --------
    >>> _without_preparing(["--method", "kmodes", "--keep", "id", "--as-is"])
    ['--method', 'kmodes']
    """
    others, remaining = [], list(options)
    while remaining:
        option = remaining.pop(0)
        if option in ("--recipe", "--accept", "--keep", "--order"):
            remaining.pop(0)
        elif option != "--as-is":
            others.append(option)
    return others


def _names_of(table: Any) -> list[str]:
    names = getattr(table, "column_names", None)
    return [str(name) for name in (table.columns if names is None else names)]


def _selected(table: Any, columns: list[str]) -> Any:
    return table.select(columns) if hasattr(table, "column_names") else table[columns]


class ExploreServer(ThreadingHTTPServer):
    """Serves one session to this computer only.

    Listens on 127.0.0.1. Every URL contains a random token; requests with another Host header or from another
    origin are rejected. No files are served.
    """

    daemon_threads = True

    def __init__(self, session: Session, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.session = session
        self.token = secrets.token_urlsafe(24)

    @property
    def address(self) -> str:
        """The address to open."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.token}/"

    def hosts(self) -> list[str]:
        """Values of the Host header that belong to this server."""
        return [f"{name}:{self.server_address[1]}" for name in LOCAL]


class _Refused(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class _Handler(BaseHTTPRequestHandler):
    server: ExploreServer
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._answer(self._get)

    def do_POST(self) -> None:
        self._answer(self._post)

    def _answer(self, answered: Callable[[str], tuple[str, str]]) -> None:
        try:
            kind, text = answered(self._checked_path())
        except _Refused as refused:
            self._send(refused.status, "application/json", json.dumps({"error": str(refused)}))
        except CatalpaError as error:
            self._send(400, "application/json", json.dumps({"error": str(error)}))
        else:
            self._send(200, kind, text)

    def _checked_path(self) -> str:
        """The requested path, if the request comes from the page of this session."""
        if self.headers.get("Host", "") not in self.server.hosts():
            raise _Refused(403, "This address belongs to another host.")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in [f"http://{host}" for host in self.server.hosts()]:
            raise _Refused(403, "Requests of other pages are refused.")
        _, token, *parts = [*self.path.split("/", 2), "", ""]
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refused(403, "The address lacks the token that the command printed.")
        return parts[0]

    def _get(self, path: str) -> tuple[str, str]:
        session = self.server.session
        if path == "":
            if session.page is None:
                session.wait()
            if session.page is None:
                raise _Refused(400, session.error or "Nothing was clustered yet.")
            return "text/html", session.page.served().html
        if path == "data" and session.page is not None:
            return "application/json", json.dumps(session.page.summary, allow_nan=False)
        if path == "state":
            return "application/json", json.dumps(session.state())
        raise _Refused(404, "There is nothing at this address.")

    def _post(self, path: str) -> tuple[str, str]:
        # Forms of other pages cannot set this header without a preflight request, which is not answered.
        if self.headers.get("Content-Type", "").partition(";")[0] != "application/json":
            raise _Refused(415, "Send JSON.")
        wish, session = self._body(), self.server.session
        if path == "fit":
            columns = wish.get("columns")
            if not isinstance(columns, list) or not all(isinstance(name, str) for name in columns):
                raise _Refused(400, "columns must be a list of names.")
            uses = wish.get("uses", {})
            if not isinstance(uses, dict) or not all(isinstance(use, str) for use in uses.values()):
                raise _Refused(400, "uses must be an object with a string for each column.")
            session.start(columns, wish.get("n_clusters", "auto"), uses)
        elif path == "split":
            session.split(wish.get("cluster", -1))
        elif path == "cancel":
            session.cancel()
        elif path.startswith("export/"):
            return session.export(path.removeprefix("export/"), wish)
        else:
            raise _Refused(404, "There is nothing at this address.")
        return "application/json", json.dumps(session.state())

    def _body(self) -> dict[str, Any]:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit():
            raise _Refused(411, "The request does not say how long it is.")
        if int(length) > MOST_BYTES:
            self._discard(int(length))
            raise _Refused(413, f"Requests have at most {MOST_BYTES:,} bytes.")
        try:
            wish = json.loads(self.rfile.read(int(length)))
        except ValueError:
            raise _Refused(400, "The request is not JSON.") from None
        if not isinstance(wish, dict):
            raise _Refused(400, "The request is not a JSON object.")
        return wish

    def _discard(self, length: int) -> None:
        """Read a too long request, up to a limit, so that its sender receives the response."""
        self.close_connection = True
        left = min(length, 16 * MOST_BYTES)
        while left > 0 and (part := self.rfile.read(min(left, MOST_BYTES))):
            left -= len(part)

    def _send(self, status: int, kind: str, text: str) -> None:
        content = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Do not log requests to the terminal."""
