"""The test modules of a package, and parts of them."""
import pathlib
import subprocess


def modules(python: str, package: str) -> list[str]:
    """Each by its name within the package."""
    command = [python, "-c", f"import {package} as package; print(list(package.__path__)[0])"]
    folder = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    root = pathlib.Path(folder)
    return sorted(".".join(path.relative_to(root).with_suffix("").parts) for path in root.rglob("test_*.py"))


def part_of(chosen: list[str], part: str) -> list[str]:
    """Of a part K/N every N-th from the K-th on, so that parts can run side by side."""
    which, count = map(int, part.split("/"))
    return chosen[which - 1::count]
