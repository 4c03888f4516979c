"""A table that a program makes and a page shows, between two comments that name the program."""
import pathlib
import sys


def show(script, lines):
    """Prints the table; with `--page F` on the command line, status 1 if the page F has another one between its marks."""
    table, begin, end = "\n".join(lines), f"<!-- {script} -->", f"<!-- end of {script} -->"
    if len(sys.argv) == 1:
        print(table)
        return
    page = pathlib.Path(sys.argv[2]).read_text()
    there = page.split(begin)[1].split(end)[0].strip() if begin in page and end in page else ""
    if there != table:
        sys.exit(f"{sys.argv[2]} has another table: put the output of tests/check/{script} between {begin} and {end}")
