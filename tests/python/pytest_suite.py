#!/usr/bin/env python3
"""Runs a framework's own suite by pytest on Ordito and compares the failures with the list of those that are expected.

    pytest_suite.py SUITE ORDITO PYTHON LIST [--plugin MODULE] [--gpu NAME] [--gpus N] [--seconds N] [--processes N]
                    [--by-module | --part K/N] CHUNK...

Each CHUNK is what pytest is to run at once, with its options, as one argument ("--pyargs package.tests.part", or a
file): two processes, or as many as are asked for, share its cases, and one that dies is started anew. A case that takes
longer than a quarter of an hour has failed, and so has a chunk that takes longer than N. Cases that ran out of time, by
this limit or by one of their own, run once more, one after the other. A case is called by its package if the
chunk names one, module, class and name; expected_failures.py tells of LIST. MODULE is a module beside this file that
pytest loads first.
With --by-module each test module of a package is a chunk of its own; with --part the K-th of N parts of its modules is
one.
"""
import argparse
import os
import pathlib
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from collections.abc import Sequence

import suite_modules
from expected_failures import expected, has_failed, judge, tell

OPTIONS = ["-q", "--no-header", "-p", "no:cacheprovider", "--max-worker-restart", "99", "--timeout", "900",
           "-o", "consider_namespace_packages=true", "-o", "junit_family=xunit1"]  # which names each case's file


def verdict(case: xml.etree.ElementTree.Element) -> str:
    for kind in ("failure", "error", "skipped"):
        if (found := case.find(kind)) is not None:
            # What pytest expects to fail and does is skipped by the report's words.
            expects = kind == "skipped" and found.get("type") == "pytest.xfail"
            return "expected" if expects else kind if kind == "skipped" else one_line(found.get("message", kind))
    return "passed"


def one_line(message: str) -> str:
    return (message.strip().splitlines() or [""])[0][:160]


def name_of(case: xml.etree.ElementTree.Element, package: str) -> str:
    """Folders before the module differ with the folder that pytest takes for the root. It leaves out modules that it was
    given by name: the case's file has that, or `package`, the last one of them."""
    parts = (case.get("classname") or "").split(".")
    module = next((i for i, part in enumerate(parts) if part.startswith("test_") or part.endswith("_test")), 0)
    own = "" if parts[module].startswith("test_") or parts[module].endswith("_test") else file_of(case) or module_of(package)
    return ".".join(filter(None, [package_of(package), own, *parts[module:], case.get("name")]))


def file_of(case: xml.etree.ElementTree.Element) -> str:
    """The test module that a case is in, if the report tells."""
    return pathlib.PurePath(case.get("file", "")).stem


def verdicts(report: pathlib.Path, package: str) -> dict[str, str]:
    """Of each case: "passed", "expected", "skipped" or why it failed. A case that has parts fails with any of them."""
    found: dict[str, str] = {}
    for case in xml.etree.ElementTree.parse(report).iter("testcase"):
        name, said = name_of(case, package), verdict(case)
        if name not in found or has_failed(said):
            found[name] = said
    return found


def package_of(name: str) -> str:
    """The last part of a package's name, which may be that of one of its test modules."""
    parts = [part for part in name.split(".") if not part.startswith("test_")]
    return parts[-1] if parts else ""


def module_of(name: str) -> str:
    """The test module that a name ends with, if it does."""
    last = name.split(".")[-1]
    return last if last.startswith("test_") else ""


def modules_of(python: str, chunk: str) -> list[str]:
    """The test modules of the package that `chunk` names last."""
    package = shlex.split(chunk)[-1]
    return [f"{package}.{module}" for module in suite_modules.modules(python, package)]


def chunks_of(options: argparse.Namespace) -> list[str]:
    chunks = []
    for chunk in options.chunks:
        before = shlex.join(shlex.split(chunk)[:-1])
        if options.by_module:
            chunks += [f"{before} {module}" for module in modules_of(options.python, chunk)]
        elif options.part:
            chunks.append(f"{before} {' '.join(suite_modules.part_of(modules_of(options.python, chunk), options.part))}")
        else:
            chunks.append(chunk)
    return chunks


def absolute(name: str) -> str:
    """A path that also holds in another folder; a program's bare name stays what it is."""
    return str(pathlib.Path(name).absolute()) if "/" in name else name


def late(found: dict[str, str]) -> list[str]:
    """The names of the cases that ran out of time, without what parametrises them."""
    return sorted({name.split("[")[0].split(".")[-1] for name, verdict in found.items()
                   if has_failed(verdict) and "Timeout" in verdict})


def run_twice(options: argparse.Namespace, chunk: str) -> dict[str, str]:
    """A busy machine is no failure."""
    found = run(options, chunk)
    if names := late(found):
        print(f"once more, for want of time: {' '.join(names)}", flush=True)
        alone = argparse.Namespace(**vars(options) | {"processes": 1})
        again = run(alone, chunk, ["-k", " or ".join(names)])
        found |= {name: verdict for name, verdict in again.items() if name in found}
    return found


def call(command: list[str], seconds: int, **how: object) -> None:
    """Ends all processes that the command has begun if it takes longer: pytest's workers do not end with it."""
    with subprocess.Popen(command, start_new_session=True, **how) as process:
        try:
            process.wait(seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def run(options: argparse.Namespace, chunk: str, chosen: Sequence[str] = ()) -> dict[str, str]:
    words = shlex.split(chunk)
    if words[-1].endswith(".py"):
        words[-1] = str(pathlib.Path(words[-1]).absolute())
    is_file = words[-1].endswith(".py")
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report.xml")
        gpu = [word for name in ("gpu", "gpus") if (said := getattr(options, name)) for word in (f"--{name}", said)]
        plugin = ["-p", options.plugin] if options.plugin else []
        # The classes of a package's tests keep to one process; those of a file are thousands of cases of functions.
        how = [] if is_file else ["--rootdir", ".", "--dist", "loadscope"]
        command = [absolute(options.ordito), "run", *gpu, absolute(options.python), "-m", "pytest", *OPTIONS, "-n",
                   str(options.processes), *how, *plugin, f"--junit-xml={report}", *chosen, *words]
        path = os.pathsep.join(filter(None, [str(pathlib.Path(__file__).parent), os.environ.get("PYTHONPATH")]))
        where = pathlib.Path(words[-1]).parent if is_file else folder
        try:
            call(command, options.seconds, cwd=where, env=os.environ | {"PYTHONPATH": path},
                 stdout=subprocess.DEVNULL if not options.verbose else None)
            return verdicts(report, "" if is_file else words[-1])
        except (subprocess.TimeoutExpired, FileNotFoundError) as problem:
            return {chunk: f"no report: {problem}"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("suite", "ordito", "python", "list"):
        parser.add_argument(name)
    parser.add_argument("--plugin")
    parser.add_argument("--gpu")
    parser.add_argument("--gpus")
    parser.add_argument("--seconds", type=int, default=1500)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--by-module", action="store_true")
    parser.add_argument("--part")
    parser.add_argument("--verbose", action="store_true", help="what pytest says, too")
    parser.add_argument("chunks", nargs="+")
    options = parser.parse_args()
    reasons = expected(options.list)
    results: dict[str, str] = {}
    for chunk in chunks_of(options):
        begin = time.monotonic()
        found = run_twice(options, chunk)
        results |= found
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
        tell(f"{chunk}: {time.monotonic() - begin:.0f} s, largest process so far {largest} MiB", found, reasons)
    return judge(options.suite, results, options.list)


if __name__ == "__main__":
    sys.exit(main())
