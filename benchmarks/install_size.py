"""What an installation takes: packages and megabytes of the core and of every extra, as installed in this environment.

    python benchmarks/install_size.py            # a table
    python benchmarks/install_size.py --check    # fails if the core takes more than MOST_PACKAGES or MOST_MEGABYTES

Counted is what the requirements of pyproject.toml bring, lab2048 included, and not what comes with every
environment (pip).  A package that is not installed here is marked.
"""

import argparse
import importlib.metadata
import sys
import tomllib
from pathlib import Path

from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name

TOP = Path(__file__).parent.parent
PROJECT = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
MOST_PACKAGES, MOST_MEGABYTES = 24, 370
BLOCK = 4096  # a file takes whole blocks on the disk


def closure(requirements: list[str]) -> set[str]:
    """Return the names of all packages that these requirements bring on this system."""
    found: set[str] = set()
    pending = [(Requirement(text), frozenset[str]()) for text in requirements]
    seen = set()
    while pending:
        requirement, extras = pending.pop()
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            continue
        name, wanted = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        if name == "lab2048":
            inner = [each for extra in wanted for each in PROJECT["optional-dependencies"][extra]]
            pending += [(Requirement(each), frozenset()) for each in inner]
            continue
        found.add(name)
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        pending += [(Requirement(text), wanted) for text in needs]
    return found


def size(name: str) -> int | None:
    """Return the bytes of an installed package on the disk, or None if it is not installed."""
    if name == "lab2048":
        return sum(map(blocks, (TOP / "src" / "lab2048").rglob("*")))
    try:
        files = importlib.metadata.files(name) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    return sum(blocks(Path(str(file.locate()))) for file in files)


def blocks(path: Path) -> int:
    return -(-path.stat().st_size // BLOCK) * BLOCK if path.is_file() else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    is_check = parser.parse_args().check
    core = {*closure(PROJECT["dependencies"]), "lab2048"}
    parts = {"core": core}
    for extra, requirements in PROJECT["optional-dependencies"].items():
        parts[extra] = closure(requirements) - core
    for part, names in parts.items():
        sizes = {name: size(name) for name in sorted(names)}
        missing = [name for name, n in sizes.items() if n is None]
        megabytes = sum(filter(None, sizes.values())) / 2**20
        note = f"  without {', '.join(missing)}: not installed here" if missing else ""
        print(f"{'' if part == 'core' else '+ '}{part:<10} {len(names):3} packages  {megabytes:6.0f} MB{note}")
        if part == "core" and is_check:
            if len(names) > MOST_PACKAGES or megabytes > MOST_MEGABYTES:
                sys.exit(f"expected at most {MOST_PACKAGES} packages and {MOST_MEGABYTES} MB: {', '.join(names)}")
            return


if __name__ == "__main__":
    main()
