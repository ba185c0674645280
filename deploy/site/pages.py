"""Hook of MkDocs: the pages of the repository, and the files that they link to, become the site."""

from __future__ import annotations

import json
import posixpath
import re
from fnmatch import filter as matching
from os.path import normpath
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
FOLDERS = (".github", "conf", "deploy", "jobs", "lib", "notebooks", "tests")
TARGET = re.compile(r"(?<=\]\()(?!https?:)[^)#\s]+")
PICTURE = ".png"
LANGUAGES = {"conf": "properties", "service": "ini", "yml": "yaml"}


def on_files(files: Files, config: MkDocsConfig) -> None:
    """Adds the pages, their pictures, a page for each other file that they link to, and those that the navigation names by a pattern."""
    pages = [ROOT / "README.md", *(p for name in FOLDERS for p in (ROOT / name).rglob("*.md"))]
    for page in pages:
        file = File.generated(config, path_of(page), abs_src_path=str(page))
        add(files, file, InclusionLevel.INCLUDED)
    for source in sorted({source for page in pages for source in linked_sources(page)}):
        if source.suffix == PICTURE:
            file = File.generated(config, path_of(source), abs_src_path=str(source))
        else:
            file = File.generated(config, f"{path_of(source)}.md", content=page_of(source))
        add(files, file, InclusionLevel.NOT_IN_NAV)
    config.watch.extend(str(page) for page in pages)
    config.nav = expanded(config.nav, sorted(files.src_uris))


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001 - MkDocs names the arguments
    """Links to a file that is no page go to the page that shows it."""
    folder = posixpath.dirname(page.file.src_uri)

    def shown(link: re.Match[str]) -> str:
        page_of_file = posixpath.normpath(posixpath.join(folder, f"{link[0]}.md"))
        return f"{link[0]}.md" if page_of_file in files.src_uris else link[0]

    return TARGET.sub(shown, markdown)


def add(files: Files, file: File, inclusion: InclusionLevel) -> None:
    # By default MkDocs leaves out paths that begin with a dot. So do many servers.
    file.inclusion = inclusion
    file.dest_uri = file.dest_uri.removeprefix(".")
    files.append(file)


def path_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def linked_sources(page: Path) -> list[Path]:
    links = TARGET.findall(page.read_text(encoding="utf-8"))
    targets = [Path(normpath(page.parent / link)) for link in links]
    return [target for target in targets if target.is_file() and target.suffix != ".md"]


def page_of(source: Path) -> str:
    text = source.read_text(encoding="utf-8")
    if source.suffix != ".ipynb":
        return f"# {source.name}\n\n{fenced(text, source.suffix[1:])}"
    cells = [(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"]]
    return "\n\n".join(fenced(cell, "py") if kind == "code" else cell for kind, cell in cells)


def fenced(text: str, suffix: str) -> str:
    return f"````{LANGUAGES.get(suffix, suffix or 'bash')}\n{text}\n````"


def expanded(nav: list[Any], paths: list[str]) -> list[Any]:
    entries: list[Any] = []
    for entry in nav:
        if isinstance(entry, str):
            entries += matching(paths, entry) or [entry]
        else:
            entries += [
                {title: part if isinstance(part, str) else expanded(part, paths)}
                for title, part in entry.items()
            ]
    return entries
