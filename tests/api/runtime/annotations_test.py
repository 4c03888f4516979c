"""The timeline of tests/api/runtime/annotations.cu: annotations_test.py ORDITO PROGRAM full|by_name"""
import json
import pathlib
import subprocess
import sys
import tempfile


def annotated(ordito: str, program: str) -> list[dict]:
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "timeline.json"
        subprocess.run([ordito, "run", "--timeline", path, program], check=True)
        return json.loads(path.read_text())["traceEvents"]


def spans(events: list[dict], name: str) -> tuple[float, float]:
    """Begin and end of the range, in microseconds."""
    found = [e for e in events if e["name"] == name and e["pid"] == 2]
    if found[0]["ph"] == "X":
        assert len(found) == 1, found
        return found[0]["ts"], found[0]["ts"] + found[0]["dur"]
    begin, end = found
    assert (begin["ph"], end["ph"]) == ("b", "e") and begin["id"] == end["id"], found
    return begin["ts"], end["ts"]


def main(ordito: str, program: str, kind: str) -> None:
    events = annotated(ordito, program)
    outer, inner, crossing = (spans(events, name) for name in ("outer", "inner", "crossing"))
    mark, = [e for e in events if e["name"] == "mark"]
    kernel = [e for e in events if e["cat" if "cat" in e else "ph"] == "kernel"][0]
    assert outer[0] <= inner[0] <= kernel["ts"] <= kernel["ts"] + kernel["dur"] <= inner[1] <= mark["ts"] <= outer[1], events
    assert inner[1] <= crossing[0] <= outer[1] <= crossing[1], events
    if kind == "by_name":
        return
    registered, = [e for e in events if e["name"] == "registered"]
    assert registered["args"] == {"domain": "library", "category": "phase", "payload": "-5", "color": "#102030"}, registered
    wide, = [e for e in events if e["name"] == "wide ä"]
    assert wide["ph"] == "i" and wide["cat"] == "mark", wide
    function, = [e for e in events if e["name"] == "inClasses"]
    assert function["args"]["domain"] == "tools", function
    scopes = [e for e in events if e["name"] == "scope"]
    assert len(scopes) == 2, scopes
    assert scopes[0]["args"] == {"domain": "tools", "category": "phase of tools", "payload": "2.5", "color": "#010203"}, scopes
    assert function["ts"] <= scopes[0]["ts"] <= scopes[0]["ts"] + scopes[0]["dur"] <= function["ts"] + function["dur"], events
    marked, = [e for e in events if e["name"] == "marked"]
    assert marked["args"]["payload"] == "-4" and scopes[0]["ts"] <= marked["ts"], marked
    spans(events, "unique")
    names = [e["args"]["name"] for e in events if e["name"] == "thread_name"]
    assert "main thread" in names and any(name.endswith(" (copies)") for name in names), names


main(*sys.argv[1:])
