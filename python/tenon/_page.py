"""The page that shows a graph: `Model.explore` makes it."""

from __future__ import annotations

import dataclasses
import html
import os
import tempfile
from typing import Union


@dataclasses.dataclass(frozen=True, repr=False)
class Page:
    """A graph through all phases of rewriting, to look at in a browser or a notebook.

    Attributes:
      html: the text of an HTML file, which works without a network
    """

    html: str

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the page to a file: the whole page, or nothing and an OSError."""
        folder = os.path.dirname(os.path.abspath(os.fspath(path)))
        handle, fresh = tempfile.mkstemp(dir=folder, suffix=".html")
        try:
            with open(handle, "w", encoding="utf-8") as file:
                file.write(self.html)
            os.chmod(fresh, 0o644)
            os.replace(fresh, path)
        except BaseException:
            os.unlink(fresh)
            raise

    def __repr__(self) -> str:
        return f"<tenon.Page of {len(self.html) / 1e6:.1f} MB: save it, or show it in a notebook>"

    def _repr_html_(self) -> str:
        # A frame of its own, without access to the notebook.
        return ('<iframe sandbox="allow-scripts allow-downloads" title="Tenon explorer" '
                'style="width: 100%; height: 720px; border: 0" '
                f'srcdoc="{html.escape(self.html, quote=True)}"></iframe>')
