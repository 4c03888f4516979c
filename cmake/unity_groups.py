"""Which files of a target are compiled together: reads lines of target, folder and files, separated by tabs, and prints, in CMake's
language, each file's group.

Two files of one translation unit may not use one name for two things, and what is in an anonymous namespace is a file's own. So a file
joins the first group of its target in which no other file defines a name that it defines. The project's format puts every definition
of a namespace at the first column, so single lines tell the names. A name found too much makes smaller groups; a name that is missed is
an error of the compiler, which a better name mends, or SKIP_UNITY_BUILD_INCLUSION."""
import pathlib
import re
import sys

FILES = 6  # with more of them a change costs too much, and a machine of many processors waits for the last unit

USING = re.compile(r"^using .*\b(\w+);$")
USING_ALIAS = re.compile(r"^using (\w+) = ")
DEFINITIONS = [
    re.compile(r"^#define (\w+)"),
    re.compile(r"^(?:class|struct|union|enum class|enum) (\w+)"),
    re.compile(r"^[^(=\"]*[ *&](\w+)\("),  # a function, unless it is a member, which `Class::` stands before
    re.compile(r"^[^(=\"]*[ *&](\w+)(?:\[[^=]*\])?(?: = .*| =|\{.*|;)$"),
]
FURTHER = re.compile(r", (\w+) = ")  # constexpr int kOne = 1, kTwo = 2;
LIST = re.compile(r'#include ".*\.def"')  # from which macros make names that no line tells
NO_DEFINITION = re.compile(r"^(?:[^a-zA-Z#]|namespace |#include|#if|#e|public:|private:|TEST)")


def defined_names(lines):
    """name -> what it stands for where that may be said twice, otherwise None"""
    names = {}
    for line in lines:
        line = re.sub(r"^\[\[.*?\]\] ", "", line)  # an attribute
        if line.startswith("using namespace"):
            continue
        if line.startswith("using "):
            found = USING_ALIAS.match(line) or USING.match(line)
            if found:
                names[found[1]] = line
        elif not NO_DEFINITION.match(line):
            found = next((m for m in (pattern.match(line) for pattern in DEFINITIONS) if m), None)
            if found:
                names[found[1]] = None
                names.update((name, None) for name in FURTHER.findall(line))
    return names


class Group:
    def __init__(self, environment):
        self.environment = environment
        self.files = []
        self.names = {}

    def takes(self, environment, names):
        if len(self.files) == FILES or environment != self.environment:
            return False
        return all(name not in self.names or (meaning and meaning == self.names[name]) for name, meaning in names.items())

    def add(self, file, names):
        self.files.append(file)
        self.names.update(names)


def groups(files):
    made = []
    for file in files:
        lines = pathlib.Path(file).read_text(encoding="utf-8").splitlines()
        if any(LIST.match(line) for line in lines):
            continue
        names = defined_names(lines)
        # A `using namespace` holds for all that follows, so only files that have the same ones go together.
        environment = sorted(line for line in lines if line.startswith("using namespace"))
        group = next((g for g in made if g.takes(environment, names)), None)
        if group is None:
            group = Group(environment)
            made.append(group)
        group.add(file, names)
    return [group.files for group in made if len(group.files) > 1]


def main():
    for line in sys.stdin:
        target, folder, *files = line.rstrip("\n").split("\t")
        print(f"set_target_properties({target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)")
        for number, group in enumerate(groups(files)):
            quoted = " ".join(f'"{file}"' for file in group)
            print(f'set_source_files_properties({quoted} DIRECTORY "{folder}" PROPERTIES UNITY_GROUP {target}{number})')


if __name__ == "__main__":
    main()
