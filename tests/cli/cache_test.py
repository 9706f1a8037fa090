"""The cache of compiled kernels: it never changes a plan, and no state of it is an error."""
import json
import os
import resource
import subprocess

from svodc import BIN, ROOT, SMALL, ToolTest, clean_environment, contents, main, skip_without_file_limit, winner

DIGITS = ROOT / "examples/digits/digits.svod"
NOBODY = 65534


class Cache(ToolTest):
    def setUp(self):
        super().setUp()
        self.cache = self.folder / "cache"
        self.plans = 0

    def environment(self, extra=None):
        return {"SVOD_NO_CACHE": "0", "SVOD_CACHE_DIR": str(self.cache)} | (extra or {})

    def compile(self, *words, graph=DIGITS, env=None, **options):
        """The files of the plan, how many kernels came from the cache, and what was said on stderr."""
        self.plans += 1
        plan = self.folder / f"plan{self.plans}"
        done = self.svodc("compile", graph, "-o", plan, "--json", *words, env=self.environment(env), **options)
        return contents(plan), json.loads(done.stdout)["reusedKernels"], done.stderr

    def tuning_hashes(self, graph, *words):
        """By the label of a kernel."""
        kernels = json.loads(self.svodc("inspect", graph, "--kernels", "--json", *words).stdout)["kernels"]["details"]
        return {k["name"].split("_")[0]: k["tuningHash"] for k in kernels}

    def entries(self):
        return sorted(self.cache.glob("*.svod"))

    def test_kernels_are_compiled_once(self):
        for words in (["--cpu", "x86-64-v3"], ["--target", "c"], ["--target", "c", "--cc", "none"], ["-O0"], ["--numerics", "strict"], ["--cpu", "x86-64-v2"],
                      ["--opts", "hidden="], ["--disable-rule", "fold-constants"]):
            with self.subTest(words=words):
                first, reused, said = self.compile(*words)
                kernels = len(json.loads(first["plan.json"])["kernels"])
                self.assertLess(reused, 2)  # kernels for which the flag makes no difference
                again, reused, said = self.compile(*words, "-j", 2)
                self.assertEqual((reused, said), (kernels, ""))
                without, reused, said = self.compile(*words, "--no-cache")
                self.assertEqual((reused, said), (0, ""))
                self.assertEqual(first, again)
                self.assertEqual(first, without)

    def test_every_flag_that_changes_plans_changes_keys(self):
        """After a compile without flags everything is in the cache that a key which forgets a flag would find."""
        graph = self.graph("svod 1\nvar n in [1, 64]\ninput x: f32[n, 8]\ninput w: f32[8, 8]\noutput y = sum(exp(matmul(x, w)), axes=1)\n"
                           "output t = x * sin(cast(iota(size=8), dtype=f32))\n")
        weights = self.folder / "w.npy"
        weights.write_bytes(b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + b"{'descr': '<f4', 'fortran_order': False, 'shape': (8, 8)}"
                            .ljust(117) + b"\n" + bytes(256))
        decided = self.folder / "decided"
        decided.write_text("# what is computed again\n\nkeep:y.exp=keep\n")
        cases = {"--target": ["c"], "--triple": ["aarch64-unknown-linux-gnu", "--cpu", "neoverse-n1"], "--cpu": ["x86-64-v2"],
                 "--opt-level": ["0"], "--opts": ["y=vector(0,2)"], "--var": ["n=3:9"], "--shape": ["x=5x8"], "--const": [f"w={weights}"],
                 "--numerics": ["strict"], "--fold-limit": ["0"], "--device": ["near"], "--memory": ["off"], "--cc": ["cc", "--target", "c"], "--disable-rule": ["fold-constants"],
                 "--disable-pass": ["apply-opts"], "--specialize": ["n=4"],
                 "--nvrtc": ["none", "--target", "cuda"], "--cuda-arch": ["sm_75", "--target", "cuda", "--nvrtc", "none"],
                 "--decide": ["keep:y.exp=keep"], "--decide-from": [str(decided)], "--bisect-limit": ["1"]}
        hashes = self.tuning_hashes(graph, "--cpu", "cascadelake")
        log = self.folder / "tuning.log"
        log.write_text(winner(hashes["y"], "cascadelake", "vector(n0,2)"))
        cases["--tuning-log"] = [str(log)]
        flags = json.loads(self.svodc("--list-flags", "--json").stdout)
        of_onnx = {"--state", "--host-op", "--input-default"}  # change the graph alone
        self.assertEqual(cases.keys() | of_onnx, {flag["name"] for flag in flags if flag["changesOutput"]})
        self.compile("--cpu", "cascadelake", graph=graph)
        self.compile("--cpu", "znver4", graph=graph)
        for flag, words in cases.items():
            with self.subTest(flag):
                cpu = [] if flag in ("--cpu", "--triple", "--nvrtc", "--cuda-arch") else ["--cpu", "cascadelake"]
                cached, _, _ = self.compile(*cpu, flag, *words, graph=graph)
                again, reused, _ = self.compile(*cpu, flag, *words, graph=graph)
                fresh, _, _ = self.compile(*cpu, flag, *words, "--no-cache", graph=graph)
                self.assertGreater(reused, 0)
                self.assertEqual(cached, fresh)
                self.assertEqual(again, fresh)

    def test_another_graph_with_the_same_kernel(self):
        text = "svod 1\ninput x: f32[4, 8]\ninput y: f32[8, 5]\noutput z = relu(matmul(x, y))\n"
        self.compile(graph=self.graph(text))
        plan, reused, _ = self.compile(graph=self.graph(text + "output w = exp(x)\n", "other.svod"))
        self.assertEqual((reused, len(json.loads(plan["plan.json"])["kernels"])), (1, 2))

    def test_the_flag_and_its_variable_turn_it_off(self):
        self.compile("--no-cache")
        self.compile(env={"SVOD_NO_CACHE": "1"})
        self.compile("--cache-limit", 0)
        self.assertFalse(self.cache.exists())
        self.compile(env={"SVOD_CACHE_DIR": str(self.folder / "elsewhere")}, graph=self.graph())
        self.compile("--cache-dir", self.cache, env={"SVOD_CACHE_DIR": "/nonexistent"}, graph=self.graph())
        self.assertEqual(contents(self.cache).keys(), contents(self.folder / "elsewhere").keys())

    def test_places_of_the_user(self):
        graph, home = self.graph(), self.folder / "home"
        self.compile(graph=graph, env={"SVOD_CACHE_DIR": "", "HOME": str(home), "XDG_CACHE_HOME": ""})
        self.assertFalse(home.exists())
        home.mkdir()
        for env, place in (({"XDG_CACHE_HOME": str(home / "xdg")}, home / "xdg/svod"), ({}, home / ".cache/svod"),
                           ({"XDG_CACHE_HOME": "relative"}, home / ".cache/svod")):
            self.compile(graph=graph, env={"SVOD_CACHE_DIR": "", "HOME": str(home), "XDG_CACHE_HOME": ""} | env)
            self.assertIn("CACHEDIR.TAG", contents(place))
            self.assertEqual(place.stat().st_mode & 0o777, 0o700)
        self.assertEqual(list(home.rglob("relative")), [])

    def test_what_must_be_seen_is_compiled(self):
        graph = self.graph()
        self.compile(graph=graph)
        for words in (["--print-after", "expand"], ["--print-changed"], ["--rule-stats"]):
            done = self.svodc("compile", graph, "-o", self.folder / "p", *words, env=self.environment())
            self.assertNotIn("from the cache", done.stdout)
            self.assertGreater(len(done.stdout.splitlines()), 3)
        done = self.svodc("compile", graph, "-o", self.folder / "p", "--time-passes", env=self.environment())
        self.assertIn("kernels from the cache  1", done.stdout)
        self.svodc("inspect", graph, "--source", env=self.environment({"SVOD_CACHE_DIR": str(self.folder / "unused")}))
        self.assertFalse((self.folder / "unused").exists())

    def test_damage_is_noticed(self):
        plan, _, _ = self.compile()
        whole = {path: path.read_bytes() for path in self.entries()}
        damages = {"cut": lambda b: b[: len(b) // 2], "empty": lambda b: b"", "one bit": lambda b: b[:-1] + bytes([b[-1] ^ 1]),
                   "of another kernel": lambda b: whole[self.entries()[0]], "longer": lambda b: b + b"x"}
        for name, damage in damages.items():
            with self.subTest(name):
                victims = self.entries()[1:3]
                for path in victims:
                    path.write_bytes(damage(whole[path]))
                again, reused, said = self.compile()
                self.assertEqual((again, reused, said), (plan, len(whole) - len(victims), ""))
                self.assertEqual({path: path.read_bytes() for path in self.entries()}, whole)  # mended

    def test_processes_share_it(self):
        graphs = [self.graph(SMALL.replace("relu", op), f"{op}.svod") for op in ("relu", "exp", "sin", "tanh")]
        words = [[BIN / "svodc", "compile", graph, "-o", self.folder / f"{graph.stem}{i}", "-j", "2", "--cache-limit", "1"]
                 for i in range(4) for graph in graphs + [DIGITS]]
        running = [subprocess.Popen(w, env=clean_environment(self.environment()), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                   for w in words]
        for process in running:
            self.assertEqual((process.communicate()[1], process.returncode), (b"", 0))
        for stem in [graph.stem for graph in graphs] + ["digits"]:
            plans = [contents(self.folder / f"{stem}{i}") for i in range(4)]
            self.assertEqual(plans, [plans[0]] * 4)
        self.assertEqual([p for p in self.cache.iterdir() if ".tmp-" in p.name], [])

    def test_it_is_bounded(self):
        self.cache.mkdir()
        for i in range(300):
            path = self.cache / f"{i:064x}.svod"
            path.write_bytes(b"x" * 4096)
            os.utime(path, (10**9 + i, 10**9 + i))
        _, reused, said = self.compile("--cache-limit", 1, graph=self.graph())
        self.assertEqual((reused, said), (0, ""))
        usage = json.loads(self.svodc("cache", "--json", "--cache-limit", 1, env=self.environment()).stdout)
        self.assertEqual(usage["limitBytes"], 1 << 20)
        self.assertTrue((1 << 20) - 12288 <= usage["bytes"] <= 1 << 20, usage)
        self.assertEqual(usage["kernels"], len(self.entries()))
        left = [int(path.stem, 16) for path in self.entries() if path.stat().st_mtime < 10**9 + 300]
        self.assertEqual(left, list(range(left[0], 300)))  # the oldest went
        self.assertEqual(self.compile("--cache-limit", 1, graph=self.graph())[1], 1)

    def test_a_folder_that_cannot_be_written(self):
        graph = self.graph()
        plan, _, _ = self.compile(graph=graph)
        full, _, said = self.compile("--cache-dir", "/dev/full/x", graph=graph)
        self.assertEqual(full, plan)
        self.assertEqual(said.count("warning: "), 1)
        self.assertIn("--no-cache", said)
        _, _, said = self.compile("--cache-dir", "/dev/full/x", "--diagnostics", "json", graph=graph)
        self.assertEqual(json.loads(said)["severity"], "warning")

    def test_read_only_for_this_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        graph = self.graph()
        plan, _, _ = self.compile(graph=graph)
        self.folder.chmod(0o777)
        for path in [self.cache, *self.entries()]:
            path.chmod(0o755)
        hit = self.compile(graph=graph, user=NOBODY)
        self.assertEqual(hit, (plan, 1, ""))
        _, reused, said = self.compile("-O0", graph=graph, user=NOBODY)
        self.assertEqual((reused, said.count("warning: ")), (0, 1))

    @skip_without_file_limit
    def test_a_full_disk_is_no_error(self):
        graph = self.graph()
        words = ["--target", "c", "--cc", "none"]
        plan, _, _ = self.compile(*words, graph=graph)
        most = self.entries()[0].stat().st_size - 1  # only what is kept is larger
        self.assertLess(max(map(len, plan.values())), most)
        self.svodc("cache", "--clear", env=self.environment())
        again, _, said = self.compile(*words, graph=graph, limits={resource.RLIMIT_FSIZE: most})
        self.assertEqual(again, plan)
        self.assertEqual(said.count("warning: "), 1)
        self.assertIn("File too large", said)
        self.assertEqual(sorted(contents(self.cache)), ["CACHEDIR.TAG"])

    def test_showing_and_clearing(self):
        self.assertEqual(json.loads(self.svodc("cache", "--json", env=self.environment()).stdout)["kernels"], 0)
        self.compile()
        mine = self.cache / "letter.txt"
        mine.write_text("keep me")
        kernels = len(self.entries())
        done = self.svodc("cache", env=self.environment())
        self.assertRegex(done.stdout, rf"kernels +{kernels}\n")
        self.assertIn(str(self.cache), done.stdout)
        cleared = json.loads(self.svodc("cache", "--clear", "--json", env=self.environment()).stdout)
        self.assertEqual((cleared["removed"], cleared["kernels"]), (kernels, 0))
        self.assertEqual(sorted(contents(self.cache)), ["CACHEDIR.TAG", "letter.txt"])
        self.fails(2, "cache", env=self.environment({"SVOD_CACHE_DIR": "", "HOME": "", "XDG_CACHE_HOME": ""}), says="--cache-dir")
        self.fails(2, "compile", DIGITS, "-o", self.folder / "q", "--cache-limit", -1, says="--cache-limit")


if __name__ == "__main__":
    main()
