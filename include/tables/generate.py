#!/usr/bin/env python3
"""Makes C headers, and the list of calls that are refused, from a table of public facts.

    generate.py TABLE INCLUDE-DIRECTORY DEF-DIRECTORY

A table holds names, numbers and prototypes and nothing else, one fact a line, so that a new release of CUDA is a few
more lines and no name is written twice. `#` opens a comment; a line that begins with a space belongs to the row above.

    header FILE TEXT            what follows goes to FILE; TEXT says what the header is
    include FILE                #include <FILE>
    define NAME [VALUE]         #define; VALUE as in C
    rename NAME SYMBOL          #define NAME SYMBOL: the version that a plain name stands for
    enum TAG [TYPEDEF...]       values follow, NAME NUMBER, with commas between those on one line; the tag `-` is none
    struct|union TAG [TYPEDEF...] [@packedN|@alignedN] [{ MEMBERS }]
                                members as in C, or on the lines that follow; without members only declared
    handle NAME TAG             typedef struct TAG* NAME
    alias NAME TYPE             typedef TYPE NAME
    complex NAME TYPE           an array of two, or C's own complex type in C that included complex.h before (FFTW's rule)
    callback TYPE NAME(TYPES)   a pointer to a function
    function TYPE NAME(TYPES)   a type of functions
    call TYPE NAME(TYPES)       a function that the library has
    refuse TYPE NAME(TYPES)     one that answers "not supported" and names itself once
    stub NAME                   the same, but declared elsewhere or nowhere (old versions)
    texts TAG                   a list of the values of an enumeration above: DEF-DIRECTORY/TAG.def has VALUE(NAME) for each

`call` and `refuse` may end in `per-thread SUFFIX`: with -default-stream per-thread the plain name means NAME_SUFFIX.
For every table X.table with a `refuse` or `stub` there is a DEF-DIRECTORY/X.def with REFUSED(NAME) for each.
"""
import pathlib
import re
import sys


PER_THREAD = "#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM) || defined(__CUDA_API_PER_THREAD_DEFAULT_STREAM)"
C_COMPLEX = "#if !defined(__cplusplus) && defined(_Complex_I) && defined(complex) && defined(I)"


class TableError(Exception):
    pass


def declared(kind: str, row: str) -> str:
    """`TYPE NAME(TYPES)` as a declaration of the kind."""
    match = re.match(r"(.*?)(\w+)\((.*)\)$", row)
    if not match:
        raise TableError(f"no prototype: {row}")
    result, name, parameters = (part.strip() for part in match.groups())
    if kind == "callback":
        return f"typedef {result} (*{name})({parameters or 'void'});"
    if kind == "function":
        return f"typedef {result} {name}({parameters or 'void'});"
    return f"{result} {name}({parameters or 'void'});"


class Header:
    """One output file: its lines, and whether they are between the braces of extern "C"."""

    def __init__(self, file: str, about: str):
        self.file, self.about = file, about
        self.preamble: list[str] = []
        self.lines: list[str] = []

    def text(self, table: str) -> str:
        guard = "ORDITO_" + re.sub(r"\W", "_", self.file).upper()
        opening = [f"// {self.about}", f"// Made from include/tables/{table} by generate.py.", f"#ifndef {guard}", f"#define {guard}",
                   "#pragma GCC system_header"]
        c_plus_plus = ["#ifdef __cplusplus", 'extern "C" {', "#endif"]
        closing = ["#ifdef __cplusplus", "}", "#endif", "#endif"]
        return "\n".join(opening + self.preamble + c_plus_plus + self.lines + closing) + "\n"


def aggregate(kind: str, names: list[str], body: list[str]) -> list[str]:
    """An enumeration, structure or union, with its typedefs."""
    layout = names.pop() if names[-1].startswith("@") else ""
    tag = "" if names[0] == "-" else " " + names[0]
    if not body:
        return [f"typedef {kind}{tag} {name};" for name in names[1:]] or [f"{kind}{tag};"]
    if kind == "enum":
        values = [value.split() for line in body for value in line.split(",")]
        body = [f"  {name} = {number}," for name, number in values]
        body[-1] = body[-1].rstrip(",")
    opening = f"{'typedef ' if len(names) > 1 else ''}{kind}{attributes(layout)}{tag} {{"
    return [opening, *body, "}" + (" " + ", ".join(names[1:]) if len(names) > 1 else "") + ";"]


def attributes(layout: str) -> str:
    """@packed, @packed8 or @aligned8 as the compilers spell them."""
    if not layout:
        return ""
    word, alignment = re.match(r"@(packed|aligned)(\d*)$", layout).groups()
    wanted = ["packed"] if word == "packed" else []
    wanted += [f"aligned({alignment})"] if alignment else []
    return f" __attribute__(({', '.join(wanted)}))"


class Table:
    """Reads the rows of one table in order."""

    def __init__(self, path: pathlib.Path):
        self.path = path
        self.headers: list[Header] = []
        self.refused: list[str] = []
        self.values: dict[str, dict[int, str]] = {}  # of each enumeration: the first name of a number
        self.texts: list[str] = []

    def read(self) -> None:
        rows: list[tuple[int, str, list[str]]] = []
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith(" "):
                rows[-1][2].append(line)
            else:
                rows.append((number, line, []))
        for number, line, body in rows:
            try:
                self.row(line, body)
            except (TableError, IndexError, ValueError) as error:
                raise SystemExit(f"{self.path}:{number}: {error or 'bad row'}: {line}")

    def row(self, line: str, body: list[str]) -> None:
        kind, _, rest = line.partition(" ")
        if kind == "header":
            file, _, about = rest.partition(" ")
            self.headers.append(Header(file, about))
        elif kind == "stub":
            self.refused.append(rest)
        elif kind == "texts":
            self.texts.append(rest)
        else:
            self.declare(self.headers[-1], kind, rest, body)

    def declare(self, header: Header, kind: str, rest: str, body: list[str]) -> None:
        words = rest.split()
        if kind == "include":
            header.preamble.append(f"#include <{rest}>")
        elif kind in ("define", "rename"):
            header.lines.append(f"#define {rest}")
        elif kind in ("enum", "struct", "union"):
            names, brace, members = rest.partition(" { ")
            inline = [f"  {members.removesuffix(' }')}"] if brace else []
            if kind == "enum":
                self.remember(names.split(), body)
            header.lines += aggregate(kind, names.split(), inline + body)
        elif kind == "handle":
            header.lines.append(f"typedef struct {words[1]}* {words[0]};")
        elif kind == "alias":
            name, _, type_ = rest.partition(" ")
            header.lines.append(f"typedef {type_} {name};")
        elif kind == "complex":
            header.lines += [C_COMPLEX, f"typedef {words[1]} _Complex {words[0]};", "#else",
                             f"typedef {words[1]} {words[0]}[2];", "#endif"]
        elif kind in ("callback", "function"):
            header.lines.append(declared(kind, rest))
        elif kind in ("call", "refuse"):
            self.call(header, kind, rest)
        else:
            raise TableError(f"no kind of row is called {kind}")

    def remember(self, names: list[str], body: list[str]) -> None:
        first: dict[int, str] = {}
        for value in (value.split() for line in body for value in line.split(",")):
            first.setdefault(int(value[1], 0), value[0])
        for name in names:
            self.values[name] = first

    def call(self, header: Header, kind: str, rest: str) -> None:
        prototype, _, suffix = rest.partition(" per-thread ")
        name = re.match(r".*?(\w+)\(", prototype)[1]
        if suffix:
            header.lines += [PER_THREAD, f"#define {name} {name}_{suffix}", "#endif"]
        header.lines.append(declared(kind, prototype))
        if kind == "refuse":
            self.refused += [name] + ([f"{name}_{suffix}"] if suffix else [])


def write(path: pathlib.Path, text: str) -> None:
    """Writes only what changed, so that nothing is compiled again for nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(table_path: str, include: str, definitions: str) -> None:
    table = Table(pathlib.Path(table_path))
    table.read()
    for header in table.headers:
        write(pathlib.Path(include) / header.file, header.text(table.path.name))
    for tag in table.texts:
        values = "".join(f"VALUE({name})\n" for name in table.values[tag].values())
        write(pathlib.Path(definitions) / f"{tag}.def", values + "#undef VALUE\n")
    stubs = "".join(f"REFUSED({name})\n" for name in table.refused)
    write(pathlib.Path(definitions) / f"{table.path.stem}.def", stubs + "#undef REFUSED\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
