#!/usr/bin/env python3
"""The runners of the frameworks' suites: what a report says of each case, and that a list of failures can only shrink."""
import argparse
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numba_suite
import pytest_suite
import suite_modules
from expected_failures import expected, judge

REPORT = """<testsuites><testsuite>
<testcase classname="some.folder.test_a.Class" name="test_good"/>
<testcase classname="some.folder.test_a.Class" name="test_bad[1 #2]"><failure message="first line&#10;second"/></testcase>
<testcase classname="some.folder.test_a.Class" name="test_parts"/>
<testcase classname="some.folder.test_a.Class" name="test_parts"><failure message="a part"/></testcase>
<testcase classname="b_test" name="test_left_out"><skipped type="pytest.skip" message="no"/></testcase>
<testcase classname="b_test" name="test_known"><skipped type="pytest.xfail" message="no"/></testcase>
</testsuite></testsuites>"""
# What pytest says of a module that it was given alone.
ALONE = '<testsuites><testsuite><testcase classname=".Class" name="test_good"/></testsuite></testsuites>'
# A process that runs several modules of Numba's suite and dies in the second one's first case.
DIES = """#!/bin/sh
case "$*" in
  *.test_a*) echo "test_x (numba.cuda.tests.test_a.C.test_x) ... ok"; echo "test_y (numba.cuda.tests.test_b.C.test_y) ... ";
             kill -9 $$ ;;
  *) echo "test_z (numba.cuda.tests.test_c.C) ... skipped 'no'" ;;
esac
"""
# Stands for `ordito run python -m pytest`: one case runs out of time at first, another fails for good.
SLOW = """#!/bin/sh
verdict='<failure message="Failed: Timeout (&gt;900.0s) from pytest-timeout."/>'
for word; do case $word in --junit-xml=*) report=${word#*=} ;; -k) verdict= ;; esac; done
cat > "$report" << END
<testsuites><testsuite><testcase classname="p.test_a.C" name="test_slow[0.5]">$verdict</testcase>
<testcase classname="p.test_a.C" name="test_bad"><failure message="wrong"/></testcase></testsuite></testsuites>
END
"""
# Begins a process of its own and waits for it, as pytest does for its workers.
WAITS = """#!/bin/sh
sleep 60 &
echo $! > "$WORKER"
wait
"""
BAD, PARTS = "part.test_a.Class.test_bad[1 #2]", "part.test_a.Class.test_parts"


def judged(results: dict[str, str], listed: pathlib.Path, text: str) -> tuple[int, str]:
    listed.write_text(text)
    with contextlib.redirect_stdout(io.StringIO()) as said:
        status = judge("suite", results, str(listed))
    return status, said.getvalue()


def check_numba(folder: str) -> None:
    """Modules that a process did not come to get another, and one without cases has failed."""
    program = pathlib.Path(folder, "dies")
    program.write_text(DIES)
    program.chmod(0o755)
    found = numba_suite.run(str(program), "python", ["test_a", "test_b", "test_c", "test_d"])
    assert found == {"test_a.C.test_x": "ok", "test_b.C.test_y": "crashed", "test_c.C.test_z": "skipped",
                     "test_d": "crashed"}, found
    parts = [suite_modules.part_of(list("abcde"), f"{k}/2") for k in (1, 2)]
    assert parts == [["a", "c", "e"], ["b", "d"]], parts


def check_late(folder: str) -> None:
    """What ran out of time has another try, and what failed otherwise has none."""
    program = pathlib.Path(folder, "slow")
    program.write_text(SLOW)
    program.chmod(0o755)
    options = argparse.Namespace(ordito=str(program), python="python", gpu=None, gpus=None, plugin=None, processes=2,
                                 seconds=60, verbose=False)
    slow, bad = "p.test_a.C.test_slow[0.5]", "p.test_a.C.test_bad"
    found = pytest_suite.run(options, "--pyargs p")
    assert pytest_suite.late(found) == ["test_slow"], found
    with contextlib.redirect_stdout(io.StringIO()):
        assert pytest_suite.run_twice(options, "--pyargs p") == {slow: "passed", bad: "wrong"}


def check_stuck(folder: str) -> None:
    """What takes too long ends, with all that it has begun."""
    program, worker = pathlib.Path(folder, "waits"), pathlib.Path(folder, "worker")
    program.write_text(WAITS)
    program.chmod(0o755)
    try:
        pytest_suite.call([str(program)], 1, env=os.environ | {"WORKER": str(worker)})
        raise AssertionError("it ended")
    except subprocess.TimeoutExpired:
        number = int(worker.read_text())
    for _ in range(50):  # init may take a moment to bury it
        state = pathlib.Path(f"/proc/{number}/stat")
        if not state.exists() or state.read_text().split(")")[-1].split()[0] == "Z":
            return
        time.sleep(0.1)
    raise AssertionError("the worker goes on")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        report, listed = pathlib.Path(folder, "report.xml"), pathlib.Path(folder, "list.txt")
        report.write_text(REPORT)
        found = pytest_suite.verdicts(report, "part")
        assert pytest_suite.package_of("some.part") == pytest_suite.package_of("some.part.test_a") == "part"
        assert found == {"part.test_a.Class.test_good": "passed", BAD: "first line", PARTS: "a part",
                         "part.b_test.test_left_out": "skipped", "part.b_test.test_known": "expected"}, found
        report.write_text(ALONE)
        assert pytest_suite.verdicts(report, "some.part.test_a") == {"part.test_a.Class.test_good": "passed"}
        both = f"# why\n{BAD}  a reason\n\n{PARTS}  another\n"
        status, said = judged(found, listed, both)
        assert status == 0 and "2 passed, 2 failed, 1 skipped" in said and "1 expected: a reason" in said, said
        assert expected(str(listed)) == {BAD: "a reason", PARTS: "another"}
        status, said = judged(found, listed, f"{BAD}  a reason\n")
        assert status == 1 and f"FAILED and not listed: {PARTS}" in said, said
        status, said = judged(found, listed, both + "part.test_a.Class.test_good  no longer\n")
        assert status == 1 and "passes, so" in said, said
        assert judged({}, listed, both)[0] == 1, "nothing ran"
        # A suite runs in a folder of its own: paths hold there, and a program's bare name is left to PATH.
        assert pytest_suite.absolute("ordito") == "ordito"
        assert pytest_suite.absolute("build/ordito") == str(pathlib.Path.cwd() / "build/ordito")
        check_numba(folder)
        check_late(folder)
        check_stuck(folder)


if __name__ == "__main__":
    sys.exit(main())
