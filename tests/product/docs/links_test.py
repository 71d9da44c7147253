"""Every link of the documentation leads to a file of the tree, and to a heading that is there.

usage: links_test.py REPOSITORY
"""
import pathlib
import re
import sys

FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(page: str) -> set:
    """As the usual renderers make them: lower case, no punctuation, a hyphen for a blank."""
    heads = re.findall(r"^#+ +(.*?) *$", FENCE.sub("", page), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def faults(page: pathlib.Path) -> list:
    found = []
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        place, _, anchor = target.partition("#")
        file = page.parent / place if place else page
        if re.match(r"\w+:", target):
            found.append(f"{target} leads out of the tree")
        elif not file.exists():
            found.append(f"{target} is not there")
        elif anchor and anchor not in anchors(file.read_text()):
            found.append(f"{target}: no such heading")
    return [f"{page}: {fault}" for fault in found]


def main() -> int:
    repository = pathlib.Path(sys.argv[1])
    pages = [page for page in sorted(repository.rglob("*.md"))
             if not {"build", ".git"} & {part.split("-")[0] for part in page.relative_to(repository).parts[:-1]}]
    links = sum(len(LINK.findall(page.read_text())) for page in pages)
    found = [fault for page in pages for fault in faults(page)]
    print("\n".join(found) or f"{links} links in {len(pages)} pages lead somewhere")
    return 1 if found or links < 20 else 0


sys.exit(main())
