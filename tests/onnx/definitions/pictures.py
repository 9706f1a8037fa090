"""Files of pictures without compression, written byte by byte, and the pixels they hold."""
import struct

import numpy as np
from one_node import case

rng = np.random.default_rng(29)


def pixels(height, width, *channels):
    return rng.integers(0, 256, (height, width, *channels), np.uint8)


def grey(rgb):
    r, g, b = (rgb[..., i].astype(np.int64) for i in range(3))
    return ((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16).astype(np.uint8)[..., None]


def decoded(name, file, rgb, forms=("RGB",), extra=b""):
    data = np.frombuffer(file + extra, np.uint8)
    results = {"RGB": rgb, "BGR": rgb[..., ::-1], "Grayscale": grey(rgb)}
    for form in forms:
        case(f"image decoder: {name} as {form}", "ImageDecoder", 20, [data], [np.ascontiguousarray(results[form])],
             {"pixel_format": form})


def bmp(rows, bits, palette=b"", top_down=False, packing=0, masks=b"", gap=0):
    """`rows` are the bytes of every row from the top, with its width."""
    width, lines = rows
    lines = [line + bytes(-len(line) % 4) for line in lines]
    start = 14 + 40 + len(masks) + len(palette) + gap
    height = -len(lines) if top_down else len(lines)
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, packing, 0, 2835, 2835, len(palette) // 4, 0)
    body = b"".join(lines if top_down else reversed(lines))
    size = start + len(body)
    return b"BM" + struct.pack("<IHHI", size, 0, 0, start) + head + masks + palette + bytes(gap) + body


def packed(codes, bits):
    per = 8 // bits
    padded = np.append(codes, np.zeros(-codes.size % per, np.uint8)).reshape(-1, per).astype(np.int64)
    return bytes((padded << np.arange(8 - bits, -1, -bits)).sum(1).astype(np.uint8))


for height, width in ((1, 1), (3, 5), (7, 4)):
    image = pixels(height, width, 3)
    rows = width, [image[y, :, ::-1].tobytes() for y in range(height)]
    decoded(f"bmp 24 bits {height}x{width}", bmp(rows, 24), image, ("RGB", "BGR", "Grayscale"))
    decoded(f"bmp 24 bits from the top {height}x{width}", bmp(rows, 24, top_down=True, gap=6), image, extra=b"\1\2")
    rows = width, [np.dstack([image[y:y + 1, :, ::-1], pixels(1, width, 1)]).tobytes() for y in range(height)]
    decoded(f"bmp 32 bits {height}x{width}", bmp(rows, 32), image)
    masks = struct.pack("<III", 0xFF0000, 0xFF00, 0xFF)
    decoded(f"bmp 32 bits with masks {height}x{width}", bmp(rows, 32, packing=3, masks=masks), image)
    for bits in (1, 4, 8):
        colors, codes = pixels(1 << bits, 4), rng.integers(0, 1 << bits, (height, width), np.uint8)
        rows = width, [packed(codes[y], bits) for y in range(height)]
        file = bmp(rows, bits, palette=colors.tobytes(), top_down=bits == 4)
        decoded(f"bmp {bits} bits {height}x{width}", file, colors[codes][..., 2::-1], ("RGB", "Grayscale"))


def pnm(head, image):
    return head.encode() + image.tobytes()


for height, width in ((1, 1), (4, 3), (2, 11)):
    image, shade = pixels(height, width, 3), pixels(height, width)
    decoded(f"pnm color {height}x{width}", pnm(f"P6\n{width} {height}\n255\n", image), image, ("RGB", "BGR", "Grayscale"))
    commented = f"P6 # {width} 99\n#77\r\n {width}\t#12#34\n\n{height} 255 "
    decoded(f"pnm with comments {height}x{width}", pnm(commented, image), image)
    digits = np.full((height, width), ord("7"), np.uint8)
    decoded(f"pnm that looks like its header {height}x{width}", pnm(f"P5 {width:05} {height} 255\n", digits),
            np.dstack([digits] * 3))
    decoded(f"pnm grey {height}x{width}", pnm(f"P5\n{width} {height}\n255\n", shade), np.dstack([shade] * 3),
            ("RGB", "Grayscale"))
    few = rng.integers(0, 101, (height, width), np.uint8)
    levels = np.array([round(v / 100 * 255) for v in range(101)], np.uint8)
    decoded(f"pnm of 100 levels {height}x{width}", pnm(f"P5\n{width} {height}\n100\n", few), np.dstack([levels[few]] * 3))


def tiff(image, order, rows_per_strip=None, photometric=None, bits_type=3, strip_type=4, alpha=False):
    height, width = image.shape[:2]
    samples = 1 if image.ndim == 2 else image.shape[2] + alpha
    content = image if not alpha else np.dstack([image, pixels(height, width, 1)])
    rows_per_strip = rows_per_strip or height
    strips = [content[y:y + rows_per_strip].tobytes() for y in range(0, height, rows_per_strip)]
    if photometric is None:
        photometric = 1 if image.ndim == 2 else 2
    file = bytearray((b"II*\0" if order == "<" else b"MM\0*") + bytes(4))
    offsets = []
    for strip in strips:
        offsets.append(len(file))
        file += strip
    file += bytes(len(file) % 2)
    size = {3: 2, 4: 4}
    code = {3: "H", 4: "I"}

    def entry(tag, kind, values):
        data = struct.pack(f"{order}{len(values)}{code[kind]}", *values)
        if len(data) > 4:
            at = len(file)
            file.extend(data)
            data = struct.pack(order + "I", at)
        assert len(values) * size[kind] >= 0
        return struct.pack(order + "HHI", tag, kind, len(values)) + data.ljust(4, b"\0")

    entries = [entry(256, 3, [width]), entry(257, 4, [height]), entry(258, bits_type, [8] * samples), entry(259, 3, [1]),
               entry(262, 3, [photometric]), entry(273, strip_type, offsets), entry(277, 3, [samples]),
               entry(278, 3, [rows_per_strip]), entry(279, 4, [len(s) for s in strips]), entry(284, 3, [1])]
    file[4:8] = struct.pack(order + "I", len(file))
    return bytes(file) + struct.pack(order + "H", len(entries)) + b"".join(entries) + bytes(4)


for order in "<>":
    for height, width, rows in ((1, 1, 1), (5, 3, 2), (6, 7, 6), (4, 4, 1)):
        image, shade = pixels(height, width, 3), pixels(height, width)
        what = f"{'little' if order == '<' else 'big'} {height}x{width} by {rows}"
        decoded(f"tiff color {what}", tiff(image, order, rows), image, ("RGB", "BGR", "Grayscale"))
        decoded(f"tiff with alpha and short strips {what}", tiff(image, order, rows, strip_type=3, alpha=True), image)
        decoded(f"tiff grey {what}", tiff(shade, order, rows), np.dstack([shade] * 3), ("RGB", "Grayscale"))
        decoded(f"tiff inverse {what}", tiff(shade, order, rows, photometric=0), np.dstack([255 - shade] * 3))
