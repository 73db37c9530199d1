"""Look through the built site: links inside it lead somewhere, and no page asks the network for anything.

Run from the root of the repository, after the build::

    python tools/check_site.py docs/_build/html
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

FETCHED = {"img": "src", "script": "src", "source": "src", "iframe": "src", "object": "data", "image": "href"}
SAID = {"canonical", "search", "index", "next", "prev", "author", "copyright"}  # <link>s that load nothing
STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


class Page(HTMLParser):
    """What a page can be reached by, where it leads, and what it loads."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One tag."""
        said = {name: value or "" for name, value in attrs}
        self.anchors |= {said[name] for name in ("id", "name") if name in said}
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
        if said.get(FETCHED.get(tag, "")):
            self.loads.append(said[FETCHED[tag]])
        if tag == "link" and "href" in said and not SAID & set(said.get("rel", "").split()):
            self.loads.append(said["href"])
        self.loads += STYLE.findall(said.get("style", ""))


def complaints(site: Path) -> Iterator[str]:
    """What is wrong, one sentence each."""
    pages = {
        path.resolve(): Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    }
    for path, page in pages.items():
        name = path.relative_to(site.resolve()).as_posix()
        for load in page.loads:
            if urlsplit(load).netloc:
                yield f"{name} loads {load} from the network"
        for link in {*page.links, *page.loads}:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{name} leads to {link}, which is not there"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{name} leads to {link}, a place that {target.name} does not have"
    for style in sorted(site.rglob("*.css")):
        for load in STYLE.findall(style.read_text(encoding="utf-8")):
            yield f"{style.relative_to(site).as_posix()} loads {load} from the network"


def main(site: str) -> int:
    """Say what is wrong; 1 if something is."""
    found = list(complaints(Path(site)))
    print(
        "\n".join(found)
        if found
        else "Every link inside the site leads somewhere; nothing is loaded from elsewhere."
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
