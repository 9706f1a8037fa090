"""The job files of the examples of tuning."""
import subprocess
import unittest

try:
    import yaml
except ImportError:
    yaml = None

import kubernetes
from svodc import ROOT, main, run


class Examples(unittest.TestCase):
    @unittest.skipUnless(yaml, "there is no PyYAML here: apt-get install python3-yaml")
    def test_kubernetes(self):
        job = yaml.safe_load((ROOT / "examples/tuning-kubernetes/job.yaml").read_text())
        spec, container = job["spec"], job["spec"]["template"]["spec"]["containers"][0]
        for completions in (1, 3, 12, 500):  # what its README says to change
            changed = job | {"spec": spec | {"completions": completions}}
            self.assertEqual(kubernetes.against_schema(changed) + kubernetes.against_server(changed), [], completions)
        self.assertEqual(container["command"][:3], ["svodc", "tune", "run"])
        self.assertEqual(container["resources"]["requests"], container["resources"]["limits"])

    @unittest.skipUnless(yaml, "there is no PyYAML here: apt-get install python3-yaml")
    def test_what_kubernetes_refuses(self):
        text = (ROOT / "examples/tuning-kubernetes/job.yaml").read_text()
        for check, was, becomes, says in (
                (kubernetes.against_schema, "kind: Job", "kind: Jbo", "'Jbo'"),
                (kubernetes.against_schema, "completions: 12", "completions: '12'", "'12' is no int"),
                (kubernetes.against_schema, "completions: 12", "completoins: 12", "completoins is not known"),
                (kubernetes.against_schema, "claimName: svod-tuning", "readOnly: true", "claimName is missing"),
                (kubernetes.against_schema, "mountPath", "mountpath", "mountPath is missing"),
                (kubernetes.against_schema, 'cpu: "2"', "cpu: 2", "requests.cpu: 2 is no str"),
                (kubernetes.against_schema, "operator: In", "operator: Is", "'Is' is none of In|NotIn"),
                (kubernetes.against_server, "completions: 12", "completions: 3\n  maxFailedIndexes: 12", "more than completions"),
                (kubernetes.against_server, "completionMode: Indexed", "suspend: true", "needs Indexed"),
                (kubernetes.against_server, "restartPolicy: Never", "restartPolicy: OnFailure", "needs restartPolicy Never"),
                (kubernetes.against_server, "containerName: tune", "containerName: tuner", "names no container"),
                (kubernetes.against_server, "[2, 3, 4]", "[0, 2]", "In has no 0"),
                (kubernetes.against_server, "- name: data\n          persistent", "- name: date\n          persistent", "no volume")):
            with self.subTest(says=says):
                self.assertIn(was, text)
                self.assertIn(says, "; ".join(check(yaml.safe_load(text.replace(was, becomes, 1)))))

    def test_the_commands_of_the_examples_parse(self):
        """What they call svodc with ends with a word about the folder, not about the command line."""
        for text in (ROOT / "examples/tuning-slurm/tune.sbatch", ROOT / "examples/tuning-kubernetes/job.yaml"):
            self.assertIn("--unit", text.read_text())
        done = run("svodc", "tune", "run", "/nonexistent", "--unit", "auto", "--progress", "json", env={"SLURM_ARRAY_TASK_ID": "0"})
        self.assertEqual(done.returncode, 74, done.stderr)
        self.assertEqual(subprocess.run(["bash", "-n", ROOT / "examples/tuning-slurm/tune.sbatch"]).returncode, 0)


if __name__ == "__main__":
    main()
