#!/usr/bin/env python3
"""The lab's readers of images: the shipped cloth in every form they take gives the same histogram, and every broken
image one clear line and status 2.

usage: images_test.py PATH/TO/ordito PROGRAM FOLDER_WITH_IMAGES        PROGRAM: rgb_histogram
       images_test.py --png IN.ppm OUT.png                            how lab/images/weave.png was made
"""
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def read_ppm(path):
    magic, size, most, pixels = path.read_bytes().split(b"\n", 3)
    assert (magic, most) == (b"P6", b"255")
    width, height = map(int, size.split())
    return width, height, pixels


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def paeth(left, up, corner):
    guess = left + up - corner
    return min((abs(guess - left), 0, left), (abs(guess - up), 1, up), (abs(guess - corner), 2, corner))[2]


def filtered(row, above, kind, step):
    out = bytearray([kind])
    for i, value in enumerate(row):
        left = row[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner))[kind]
        out.append((value - guess) % 256)
    return bytes(out)


def compressed(data, level, strategy):
    packer = zlib.compressobj(level, zlib.DEFLATED, 15, 9, strategy)
    return packer.compress(data) + packer.flush()


def png(width, height, rows, samples, colour, level=9, strategy=zlib.Z_DEFAULT_STRATEGY, filters=(0, 1, 2, 3, 4), depth=8,
        interlace=0, palette=b"", parts=3):
    """A PNG whose rows take the filters in turn; the data is cut into several chunks."""
    stride = width * samples
    above = bytes(stride)
    data = b""
    for y in range(height):
        row = rows[y * stride:(y + 1) * stride]
        data += filtered(row, above, filters[y % len(filters)], samples)
        above = row
    data = compressed(data, level, strategy)
    cut = len(data) // parts + 1
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    chunks = [chunk(b"IHDR", header)]
    if palette:
        chunks.append(chunk(b"PLTE", palette))
    chunks += [chunk(b"IDAT", data[i:i + cut]) for i in range(0, len(data), cut)]
    return SIGNATURE + b"".join(chunks) + chunk(b"IEND", b"")


def good_images(width, height, pixels):
    """The same picture in every form."""
    numbers = b" ".join(str(v).encode() for v in pixels)
    with_alpha = b"".join(pixels[i:i + 3] + bytes([i % 251]) for i in range(0, len(pixels), 3))
    yield "p6.ppm", b"P6 # a cloth\n%d\t%d\n# comment\n255\n" % (width, height) + pixels
    yield "p3.ppm", b"P3\n%d %d 255\n" % (width, height) + numbers + b"\n"
    for level, strategy in ((0, 0), (1, 0), (9, 0), (9, zlib.Z_FIXED), (9, zlib.Z_HUFFMAN_ONLY), (9, zlib.Z_RLE)):
        yield f"level{level}_{strategy}.png", png(width, height, pixels, 3, 2, level, strategy)
    yield "alpha.png", png(width, height, with_alpha, 4, 6)


def bad_images(width, height, pixels):
    """Name, bytes, and a part of what must be said."""
    p6 = b"P6\n%d %d\n255\n" % (width, height) + pixels
    good = png(width, height, pixels, 3, 2)
    yield "empty.ppm", b"", "neither"
    yield "grey.ppm", b"P5\n2 2\n255\n0000", "neither"
    yield "no_size.ppm", b"P6\n", "line 2: the width is missing"
    yield "word.ppm", b"P6\n12 x\n255\n", "line 2: the height is not a number"
    yield "huge.ppm", b"P6\n99999999999999999999 1\n255\n", "the width is larger than"
    yield "many.ppm", b"P6\n100000 100000\n255\n", "more than 2^28 pixels"
    yield "nothing.ppm", b"P6\n0 4\n255\n", "the image is empty"
    yield "deep.ppm", b"P6\n1 1\n65535\n123456", "largest value is 65535"
    yield "black.ppm", b"P6\n1 1\n0\n123", "largest value is 0"
    yield "short.ppm", p6[:-5], f"after {len(pixels) - 5} of {len(pixels)} bytes"
    yield "bright.ppm", b"P6\n1 1\n9\n\x01\x02\x0a", "above the largest value"
    yield "few.ppm", b"P3\n2 1 255\n1 2 3\n4 5", "line 4: a sample is missing"
    yield "minus.ppm", b"P3\n1 1 255\n1 -2 3", "a sample is not a number"
    yield "cut.png", good[:len(good) // 2], "ends in the middle of a chunk"
    yield "no_end.png", good[:-12], "before its end chunk"
    yield "flipped.png", good[:60] + bytes([good[60] ^ 1]) + good[61:], "is damaged"
    yield "headless.png", SIGNATURE + chunk(b"IEND", b""), "no header chunk"
    yield "interlaced.png", png(width, height, pixels, 3, 2, interlace=1), "interlaced"
    yield "deep.png", png(width // 2, height, pixels, 6, 2, depth=16), "16 bits"
    yield "kind.png", png(width, height, pixels, 3, 5), "unknown kind of colour"
    yield "rows.png", png(width, height - 3, pixels, 3, 2).replace(
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height - 3, 8, 2, 0, 0, 0)),
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))), f"after {height - 3} of {height} rows"
    yield "filter.png", SIGNATURE + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) + chunk(
        b"IDAT", zlib.compress(b"\x07\x00")) + chunk(b"IEND", b""), "unknown filter"
    yield "palette.png", png(2, 1, b"\x00\x09", 1, 3, palette=b"\x01\x02\x03"), "not in the PNG's palette"


def run(command, image):
    return subprocess.run(command + ["--file", str(image), "--rounds", "1", "--variant", "private", "--trace"],
                          capture_output=True, text=True)


def frequencies(result):
    return result.stdout[result.stdout.index(" pixels\nvalue"):] if result.returncode == 0 else result.stderr


def check(command, folder):
    failures = []
    cloth = folder / "weave.ppm"
    expected = frequencies(run(command, cloth))
    width, height, pixels = read_ppm(cloth)
    with tempfile.TemporaryDirectory() as place:
        place = pathlib.Path(place)

        def given(name, data):
            (place / name).write_bytes(data)
            return run(command, place / name)

        for name, image in [("weave.png", (folder / "weave.png").read_bytes())] + list(good_images(width, height, pixels)):
            if frequencies(given(name, image)) != expected:
                failures.append(f"{name} gives another histogram than weave.ppm")
        for name, data, words in bad_images(width, height, pixels):
            result = given(name, data)
            lines = result.stderr.strip().splitlines()
            if result.returncode != 2 or len(lines) != 1 or words not in lines[0] or name not in lines[0]:
                failures.append(f"{name}: status {result.returncode}, {result.stderr!r}; expected 2 and '{words}'")
        # Damage anywhere must end in an image or in one line, never in a crash.
        random.seed(7)
        good = png(width, height, pixels, 3, 2)
        for attempt in range(12):
            damaged = bytearray(good)
            for _ in range(3):
                damaged[random.randrange(8, len(damaged))] = random.randrange(256)
            if given(f"damaged{attempt}.png", damaged).returncode not in (0, 2):
                failures.append(f"damage {attempt} is neither an image nor status 2")
        missing = run(command, place / "not_there.png")
        if missing.returncode != 2 or "cannot read" not in missing.stderr:
            failures.append("a missing image: " + missing.stderr)
        directory = run(command, place)
        if directory.returncode != 2 or "cannot read" not in directory.stderr:
            failures.append("a folder: " + directory.stderr)
    return failures


if __name__ == "__main__":
    if sys.argv[1] == "--png":
        width, height, pixels = read_ppm(pathlib.Path(sys.argv[2]))
        pathlib.Path(sys.argv[3]).write_bytes(png(width, height, pixels, 3, 2, filters=(4,), parts=1))
        sys.exit(0)
    found = check([sys.argv[1], "run", sys.argv[2]], pathlib.Path(sys.argv[3]))
    print("\n".join(found) or "all images are read or refused as they should be")
    sys.exit(1 if found else 0)
