"""The examples do what they say."""
import math
import random
import re
import struct
import subprocess

from svodc import BIN, ROOT, ToolTest, clean_environment, main, npy, run

GAUSS = [math.exp(-(i - 4) ** 2 / 8) for i in range(9)]
LUMA = (0.299, 0.587, 0.114)


def npy_bytes(path):
    data = path.read_bytes()
    return data[10 + struct.unpack_from("<H", data, 8)[0]:]


def at(plane, y, x):
    """The pixel, or the nearest one of the picture."""
    return plane[min(max(y, 0), len(plane) - 1)][min(max(x, 0), len(plane[0]) - 1)]


def blur(plane):
    for dy, dx in ((1, 0), (0, 1)):
        plane = [[sum(g * at(plane, y + dy * (i - 4), x + dx * (i - 4)) for i, g in enumerate(GAUSS)) / sum(GAUSS)
                  for x in range(len(plane[0]))] for y in range(len(plane))]
    return plane


def slope(gray, y, x, transposed):
    total = 0.0
    for i in (-1, 0, 1):
        for side in (-1, 1):
            dy, dx = (side, i) if transposed else (i, side)
            total += side * (2 - abs(i)) * at(gray, y + dy, x + dx)
    return total


class Examples(ToolTest):
    def test_demo(self):
        done = subprocess.run([ROOT / "examples/demo.sh", BIN], env=clean_environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        right, images = map(int, re.search(r"(\d+) of (\d+) images read correctly", done.stdout).groups())
        self.assertEqual(images, 360)
        self.assertGreaterEqual(right, 354)  # 98.6 %; a last bit may decide one image
        self.assertIn("GFLOP/s", done.stdout)

    def test_image_filter_computes_what_it_says(self):
        h, w, amount = 20, 37, 0.75
        draw = random.Random(3)
        planes = [[[draw.randrange(256) for _ in range(w)] for _ in range(h)] for _ in range(3)]
        npy(self.folder / "image.npy", "|u1", (h, w, 3),
                  bytes(planes[c][y][x] for y in range(h) for x in range(w) for c in range(3)))
        npy(self.folder / "amount.npy", "<f4", (), struct.pack("<f", amount))
        plan = self.folder / "plan"
        self.svodc("compile", ROOT / "examples/image_filter/photo.svod", "-o", plan)
        done = run("svod-run", plan, "--input", f"image={self.folder}/image.npy", "--input", f"amount={self.folder}/amount.npy",
                   "--output-dir", self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

        rgb = [[[v / 255 for v in row] for row in plane] for plane in planes]
        blurred = [blur(plane) for plane in rgb]
        gray = [[sum(k * b[y][x] for k, b in zip(LUMA, blurred)) for x in range(w)] for y in range(h)]
        sharpened, edges = npy_bytes(self.folder / "sharpened.npy"), npy_bytes(self.folder / "edges.npy")
        for y in range(h):
            for x in range(w):
                for c in range(3):
                    value = rgb[c][y][x] + amount * (rgb[c][y][x] - blurred[c][y][x])
                    self.assertAlmostEqual(sharpened[(y * w + x) * 3 + c], min(max(value, 0), 1) * 255, delta=0.501)
                steep = math.hypot(slope(gray, y, x, False), slope(gray, y, x, True))
                self.assertAlmostEqual(edges[y * w + x], min(steep, 1) * 255, delta=0.501)

    def test_image_filter_program(self):
        prefix = self.folder / "photo"
        done = subprocess.run([ROOT / "examples/image_filter/run.sh", "", prefix], capture_output=True, text=True,
                              env=clean_environment({"SVOD_PREFIX": str(BIN.parent)}))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("image", "sharpened", "edges"):
            png = (self.folder / f"photo-{name}.png").read_bytes()
            self.assertEqual((png[:4], struct.unpack(">II", png[16:24])), (b"\x89PNG", (1920, 1280)))


if __name__ == "__main__":
    main()
