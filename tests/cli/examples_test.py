"""The examples do what they say."""
import re
import subprocess

from svodc import BIN, ROOT, ToolTest, clean_environment, main


class Examples(ToolTest):
    def test_demo(self):
        done = subprocess.run([ROOT / "examples/demo.sh", BIN], env=clean_environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        right, images = map(int, re.search(r"(\d+) of (\d+) images read correctly", done.stdout).groups())
        self.assertEqual(images, 360)
        self.assertGreaterEqual(right, 354)  # 98.6 %; a last bit may decide one image
        self.assertIn("GFLOP/s", done.stdout)


if __name__ == "__main__":
    main()
