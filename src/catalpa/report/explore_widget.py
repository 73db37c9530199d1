"""The explorer as a notebook widget, whose names, merges and notes are available in Python."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

from catalpa.errors import needing

if TYPE_CHECKING:
    from catalpa.estimator.base import Clusterer
    from catalpa.report.explore_page import Explorer

RENDER = """
export default {
  render({ model, el }) {
    const shadow = el.shadowRoot || el.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = model.get("style").replaceAll(":root", ":host");
    const root = document.createElement("main");
    shadow.replaceChildren(style, root);
    catalpaExplorer(root, model.get("data"), {
      edited(edits) {
        model.set("edits", edits);
        model.save_changes();
      },
    });
  },
};
"""


def explore_widget(page: Explorer) -> Any:
    """The explorer as an anywidget; see ``Explorer.widget``."""
    with needing("A widget needs anywidget", '"catalpa[notebook]"'):
        import anywidget
        import traitlets

    folder, own = files("catalpa.report") / "page", page.summary["model"]

    class ExplorerWidget(anywidget.AnyWidget):  # type: ignore[misc, unused-ignore]
        _esm = (folder / "explore.js").read_text("utf-8") + RENDER
        style = traitlets.Unicode().tag(sync=True)
        data = traitlets.Dict().tag(sync=True)
        edits = traitlets.Dict().tag(sync=True)

        @property
        def names(self) -> dict[int, str]:
            """The names entered by the reader, for ``model.name_clusters``."""
            return {int(cluster): name for cluster, name in self.edits.get("names", {}).items()}

        @property
        def model(self) -> Clusterer:
            """The model of the shown number of clusters, with the names and merges of the reader."""
            return page.edited_model(self.edits or {"n_clusters": page.summary["partitions"][own]["k"]})

    style = "".join((folder / name).read_text("utf-8") for name in ("report.css", "explore.css"))
    return ExplorerWidget(style=style, data=dict(page.summary))
