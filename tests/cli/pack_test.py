"""svodc compile --emit pack: the plan as one file, which svod-run and svodc inspect take in place of the folder."""
import json
import os
import shutil
import struct

from svodc import ROOT, ToolTest, contents, main, run

DIGITS = ROOT / "examples/digits/digits.svod"
CPU = ("--cpu", "x86-64-v3")
PAGE = 4096


class Pack(ToolTest):
    def pack(self, *words, graph=DIGITS, folder=None):
        """The paths of a plan and of its pack."""
        plan = (folder or self.folder) / "d.plan"
        self.svodc("compile", graph, "-o", plan, "--emit", "pack", *CPU, *words)
        return plan, plan.with_name("d.plan.pack")

    def run_digits(self, plan, out, code=0):
        done = run("svod-run", plan, "--input", f"image={ROOT}/examples/digits/samples.npy", "--output-dir", out)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_holds_the_files_of_the_folder(self):
        plan, pack = self.pack()
        data, files = pack.read_bytes(), contents(plan)
        magic, order, version, manifest, size = struct.unpack_from("<8sIIQQ", data)
        self.assertEqual((magic, order, version, size), (b"svodpack", 0x01020304, 1, len(data)))
        self.assertEqual(data[32:32 + manifest], files["plan.json"])
        at = 32 + manifest
        for described in json.loads(files["plan.json"])["files"]:
            begin = -(-at // PAGE) * PAGE
            self.assertEqual(data[at:begin].strip(b"\0"), b"")
            at = begin + described["bytes"]
            self.assertEqual(data[begin:at], files[described["path"]])
        self.assertEqual(at, len(data))

    def test_runs_anywhere_as_the_folder_does(self):
        plan, pack = self.pack()
        self.run_digits(plan, self.folder / "a")
        shutil.copy(pack, self.folder / "elsewhere")
        shutil.rmtree(plan)
        pack.unlink()
        self.run_digits(self.folder / "elsewhere", self.folder / "b")
        self.assertEqual(contents(self.folder / "a"), contents(self.folder / "b"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["a", "b", "elsewhere"])

    def test_inspect_shows_what_the_folder_shows(self):
        for target, flags in (("cpu", ("--kernels", "--memory", "--steps")), ("c", ("--source",))):
            with self.subTest(target):
                plan, pack = self.pack("--target", target)
                for words in (flags, ("--json",)):
                    self.assertEqual(self.svodc("inspect", pack, *words).stdout, self.svodc("inspect", plan, *words).stdout)
                self.assertTrue(self.svodc("inspect", pack, *flags).stdout)

    def test_decisions_of_a_pack_are_taken_again(self):
        plan, pack = self.pack()
        made = []
        for name, given in (("a", plan), ("b", pack)):
            self.svodc("compile", DIGITS, "-o", self.folder / name, "--decide-from", given, "-MD", *CPU)
            made.append(contents(self.folder / name))
        self.assertEqual(made[0], made[1])
        self.assertIn(str(pack), (self.folder / "b.d").read_text())

    def test_equal_bytes_in_any_folder_and_untouched_where_equal(self):
        packs = []
        for name, jobs in (("one", 1), ("another place", 2)):
            (self.folder / name).mkdir()
            packs.append(self.pack("-j", jobs, folder=self.folder / name)[1])
        self.assertEqual(packs[0].read_bytes(), packs[1].read_bytes())
        os.utime(packs[0], ns=(10**18, 10**18))
        self.pack(folder=self.folder / "one")
        self.assertEqual(packs[0].stat().st_mtime_ns, 10**18)

    def test_kernels_of_the_cache_will_do(self):
        cache = {"SVOD_NO_CACHE": "0", "SVOD_CACHE_DIR": str(self.folder / "cache")}
        words = ("compile", DIGITS, "-o", self.folder / "p", "--emit", "pack", "--json", *CPU)
        self.svodc(*words, env=cache)
        self.assertGreater(json.loads(self.svodc(*words, env=cache).stdout)["reusedKernels"], 0)

    def test_damage_and_foreign_files(self):
        plan, pack = self.pack()
        data = pack.read_bytes()
        for name, changed, says in (("cut", data[:-1], "its head says"), ("empty", b"", "is not a plan"), ("text", b"svod 1\n", "is not a plan"),
                                    ("weights", data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], "checksum differs")):
            with self.subTest(name):
                pack.write_bytes(changed)
                done = self.run_digits(pack, self.folder / "out", code=5)
                self.assertIn(says, done.stderr)
                self.assertFalse((self.folder / "out").exists())
        pack.write_bytes(data[:-1])
        self.fails(5, "inspect", pack, says="damaged")

    def test_mistakes(self):
        graph = self.graph()
        self.fails(2, "compile", graph, "-o", self.folder / "p", "--emit", f"pack={graph}", says="--emit pack")
        self.fails(2, "compile", graph, "-o", self.folder / "p", "--emit", f"pack={self.folder}/p/p.pack", says="part of the plan")
        self.fails(74, "compile", graph, "-o", self.folder / "p", "--emit", f"pack={self.folder}", says="cannot write")
        self.assertFalse((self.folder / "p").exists())


if __name__ == "__main__":
    main()
