"""Which files cmake/unity_groups.py puts together: none that define one name in two ways."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cmake"))
import unity_groups


def groups_of(**texts):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for name, text in texts.items():
            paths.append(str(pathlib.Path(folder, name + ".cpp")))
            pathlib.Path(paths[-1]).write_text(text)
        return [[pathlib.Path(file).stem for file in group] for group in unity_groups.groups(paths)]


class Names(unittest.TestCase):
    def names(self, line):
        return list(unity_groups.defined_names([line]))

    def test_definitions(self):
        for line, name in {
            "constexpr size_t kPage = 4096;": "kPage",
            "constexpr std::string_view kWords[] = {": "kWords",
            "thread_local Worker* current{};": "current",
            "class Finder {": "Finder",
            "enum class Side { From, To };": "Side",
            "using Kind = ptx::Operand::Kind;": "Kind",
            "using isa::Type;": "Type",
            "#define REFUSED(name) #name": "REFUSED",
            "[[noreturn]] void refuse(const std::string& why) {": "refuse",
            "std::vector<const Block*> blocksOf(const Function& f) {": "blocksOf",
        }.items():
            self.assertEqual(self.names(line), [name], line)

    def test_several_in_a_line(self):
        self.assertEqual(self.names("constexpr unsigned kPair = 64, kWord = 32;"), ["kPair", "kWord"])

    def test_others(self):
        for line in ["namespace ordito {", "#include <vector>", "  int local = 3;", "TEST(Name, Case) {", "// void comment() {", "}",
                     "void Emitter::lower(const Load& load) {", "using namespace ordito::libs;"]:
            self.assertEqual(self.names(line), [], line)


class Groups(unittest.TestCase):
    def test_one_name_for_two_things(self):
        self.assertEqual(groups_of(a="class Finder {};\n", b="class Finder {};\n", c="class Other {};\n"), [["a", "c"]])

    def test_one_alias_for_one_thing(self):
        same, other = "using Kind = Operand::Kind;\n", "using Kind = Terminator::Kind;\n"
        self.assertEqual(groups_of(a=same, b=same, c=other), [["a", "b"]])

    def test_names_of_a_namespace_hold_for_what_follows(self):
        self.assertEqual(groups_of(a="using namespace x;\n", b="int value;\n", c="int other;\n"), [["b", "c"]])

    def test_lists_define_what_no_line_tells(self):
        self.assertEqual(groups_of(a='#define X(n) int n();\n#include "names.def"\n', b="int one;\n", c="int two;\n"), [["b", "c"]])

    def test_no_more_than_a_few(self):
        files = {f"f{i}": f"int value{i};\n" for i in range(unity_groups.FILES + 2)}
        self.assertEqual([len(group) for group in groups_of(**files)], [unity_groups.FILES, 2])


if __name__ == "__main__":
    unittest.main()
