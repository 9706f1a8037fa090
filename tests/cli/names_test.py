"""Every name that a user can type: a mistake in it is answered with the name that was meant."""
import json

from svodc import ToolTest, main, npy, run

GRAPH = "svod 1\nvar length in [1, 8]\ninput image: f32[length, 4]\noutput result = relu(image)\n"


class Names(ToolTest):
    def suggests(self, meant, *words, **options):
        done = run(*words, cwd=self.folder, **options)
        with self.subTest(words=words[1:], meant=meant):
            self.assertIn(done.returncode, (1, 2, 3), done.stderr)
            self.assertIn(f"did you mean '{meant}'?", done.stderr)

    def test_flags_and_their_values(self):
        graph = self.graph(GRAPH)
        rule = json.loads(self.svodc("--list-rules", "--json").stdout)[0]["name"]
        for meant, *words in (("compile", "compil", graph), ("check", "chekc", graph)):
            self.suggests(meant, "svodc", *words)
        for meant, *words in (
            ("--target", "--taget", "c"),
            ("cpu", "--target", "cppu"),
            ("haswell", "--triple", "x86_64-unknown-linux-gnu", "--cpu", "haswel"),
            ("strict", "--numerics", "strickt"),
            ("arena", "--memory", "areena"),
            ("json", "--diagnostics", "jason"),
            ("symbolic", "--print-before", "simbolic"),
            ("symbolic", "--print-after", "simbolic"),
            ("symbolic", "--stop-after", "simbolic"),
            (rule, "--disable-rule", rule + "x"),
            ("upcast", "--opts", "result=upcats(0,4)"),
            ("result", "--opts", "reslut=upcast(0,4)"),
            ("length", "--var", "lenght=3"),
            ("image", "--shape", "imgae=2x4"),
            ("image", "--const", f"imgae={npy(self.folder / 'a.npy', '<f4', (2, 4), bytes(32))}"),
        ):
            self.suggests(meant, "svodc", "compile", graph, "-o", "p", *words)
        self.suggests("--list-rules", "svodc", "--list-rulse")

    def test_graph_files(self):
        for meant, wrong, right in (
            ("relu", "relo(", "relu("),
            ("image", "(imagee)", "(image)"),
            ("length", "[lenght,", "[length,"),
            ("f32", "f323[", "f32["),
            ("input", "inptu ", "input "),
            ("axes", "sum(image, axxes=1)", "relu(image)"),
            ("nearest", "resize(image, scale=2, mode=neerest)", "relu(image)"),
        ):
            self.suggests(meant, "svodc", "check", self.graph(GRAPH.replace(right, wrong)))
        graph = self.folder / "graph.json"
        self.svodc("convert", self.graph(GRAPH), "-o", graph)
        graph.write_text(graph.read_text().replace('"shape"', '"shaep"'))
        self.suggests("shape", "svodc", "check", graph)

    def test_svod_run(self):
        plan = self.folder / "plan"
        self.svodc("compile", self.graph(GRAPH), "-o", plan)
        image = npy(self.folder / "image.npy", "<f4", (2, 4), bytes(32))
        for meant, *words in (
            ("--input", "--inptu", f"image={image}"),
            ("image", "--input", f"imgae={image}"),
            ("result", "--input", f"image={image}", "--output", f"reslut={self.folder / 'y.npy'}"),
            ("length", "--input", f"image={image}", "--var", "lenght=2"),
            ("json", "--input", f"image={image}", "--diagnostics", "jason"),
        ):
            self.suggests(meant, "svod-run", plan, *words)


if __name__ == "__main__":
    main()
