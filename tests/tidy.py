"""clang-tidy over the sources, with the rules of .clang-tidy.
usage: tidy.py <build tree> [file ...]          otherwise all of src/

Nearly all of the time goes into headers, above all LLVM's, that clang-tidy reads again for each file. So the checks walk through our
own declarations only (tidy_scope.cpp), and what the build tree compiles together (cmake/OrditoUnity.cmake) is read together, with the
tree's precompiled headers where they are built. A file that is named is read by itself. ORDITO_TEST_JOBS of them are read at a time."""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

TIDY = "clang-tidy-19"
plugin = []  # clang-tidy's options that load it
ROOT = pathlib.Path(__file__).resolve().parent.parent


def build_plugin(output):
    """clang-tidy's plugin. It needs clang's headers, which CI installs; without them the same is found, in thrice the time."""
    line = ["clang++-19", "-std=c++17", "-O1", "-shared", "-fPIC", "-fno-rtti", "-isystem", "/usr/lib/llvm-19/include"]
    done = subprocess.run([*line, ROOT / "tests/tidy_scope.cpp", "-o", output], stderr=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return [f"--load={output}"]
    print("clang-tidy: libclang-19-dev is not installed, system headers are searched too")
    return []


def compiler_arguments(entry):
    """All but the compiler, the output and the source; without a precompiled header that is not built."""
    words = shlex.split(entry["command"])
    words = words[next(at for at, word in enumerate(words) if "clang++" in word) + 1 :]
    for word in ("-o", "-c"):
        at = words.index(word)
        del words[at : at + 2]
    headers = [word for word in words if word.endswith(".pch")]
    if not all(pathlib.Path(header).exists() for header in headers):
        words = words[: words.index("-Winvalid-pch")]
    return words


def parts(entry):
    """The files that the entry's source puts together, or the source."""
    source = pathlib.Path(entry["file"])
    return re.findall(r'^#include "(.*)"', source.read_text(), re.M) if source.parent.name == "Unity" else [entry["file"]]


def tidy(source, entry):
    """The output where something was found, otherwise nothing. The count of warnings in system headers on stderr interests nobody."""
    line = [TIDY, "--quiet", *plugin, f"--config-file={ROOT / '.clang-tidy'}", source, "--", *compiler_arguments(entry)]
    done = subprocess.run(line, cwd=entry["directory"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout or f"{source}: {TIDY} ended with {done.returncode}\n"


def is_source(file):
    return file.startswith(f"{ROOT}/src/") and file.endswith(".cpp")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    plugin.extend(build_plugin(build / "tidy_scope.so"))
    wanted = {str(pathlib.Path(file).resolve()) for file in sys.argv[2:]}
    known = {}  # each file once, though several targets may compile it
    for entry in json.loads((build / "compile_commands.json").read_text()):
        for file in filter(is_source, parts(entry)):
            known.setdefault(file, entry)
    if wanted:
        work = [(file, entry) for file, entry in known.items() if file in wanted]
    else:
        work = list({entry["file"]: (entry["file"], entry) for entry in known.values()}.values())
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("ORDITO_TEST_JOBS", "2"))) as pool:
        found = False
        for text in pool.map(lambda pair: tidy(*pair), work):
            found |= bool(text)
            print(text, end="", flush=True)
    files = len(work) if wanted else len(known)
    print(f"clang-tidy: {files} files, {'see above' if found else 'nothing found'}")
    sys.exit(found)


if __name__ == "__main__":
    main()
