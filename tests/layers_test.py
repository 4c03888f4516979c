"""layers.py finds what it is there to find."""
import pathlib
import tempfile
import unittest

from layers import violations


class Layers(unittest.TestCase):
    def check(self, file, text):
        with tempfile.TemporaryDirectory() as folder:
            sources = pathlib.Path(folder)
            (sources / "LAYERS").write_text("# a comment\ntop\nleft right\nbottom\n")
            (sources / file).parent.mkdir(parents=True)
            (sources / file).write_text(text)
            return [v.split(": ", 1)[1] for v in violations(sources)]

    def test_downwards_and_own_folder_are_allowed(self):
        self.assertEqual(self.check("left/a.cpp", '#include "left/a.hpp"\n#include "bottom/b.hpp"\n'), [])

    def test_upwards_is_caught(self):
        self.assertEqual(self.check("bottom/sub/a.hpp", '\n  # include "top/t.hpp"\n'),
                         ["bottom must not include top: it is not below it in LAYERS"])

    def test_neighbours_on_a_line_are_caught(self):
        self.assertEqual(len(self.check("left/a.cpp", '#include "right/r.hpp"\n')), 1)

    def test_other_headers_are_ignored(self):
        self.assertEqual(self.check("left/a.cpp", '#include <top/t.hpp>\n#include "cuda.h"\n#include "other/o.h"\n'), [])

    def test_a_folder_without_a_layer_is_caught(self):
        self.assertEqual(self.check("new/a.cpp", ""), ["the folder new is not in LAYERS"])


if __name__ == "__main__":
    unittest.main()
