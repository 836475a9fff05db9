"""What `cmake --install` and `cpack` make of the build, tried as users get it."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = os.environ["MUSTER_BUILD"]
FILES = ["bin/muster", "bin/muster-full", "bin/muster-shim", "share/muster/cluster/local-types.csv",
         "share/muster/cluster/local.toml", "share/muster/catalogs/ec2-us-east-1-2026-07.csv",
         "share/muster/replay/eva-200.toml", "share/muster/workloads/pai-200.csv",
         "share/muster/experiments/muster/small.toml",
         "share/muster/interference/eva-contention-matrix.csv", "share/doc/muster/README.md",
         "share/muster/grafana/muster.json", "share/man/man1/muster.1",
         "share/man/man1/muster-submit.1", "share/man/man1/muster-replay.1",
         "share/doc/muster/docs/install.md", "share/doc/muster/docs/examples/train.toml",
         "share/bash-completion/completions/muster", "share/zsh/vendor-completions/_muster",
         "lib/systemd/system/muster-node@.service", "lib/systemd/system/muster-worker@.service",
         "lib/systemd/system/muster-host.service"]
LIMIT_S = 600


def run(*words, **options):
    return subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, text=True,
                          capture_output=True, check=False, timeout=LIMIT_S, **options)


class PackageTest(unittest.TestCase):
    def setUp(self):
        # Short, for the sockets of tasks have their paths in it.
        folder = tempfile.TemporaryDirectory(prefix="mu", dir="/tmp")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        os.chmod(self.folder, 0o711)

    def succeed(self, *words, **options):
        done = run(*words, **options)
        self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}\n{done.stderr}")
        return done.stdout


class InstalledTree(PackageTest):
    def setUp(self):
        super().setUp()
        self.prefix = os.path.join(self.folder, "usr")
        self.succeed("cmake", "--install", BUILD, "--prefix", self.prefix)
        self.program = self.path("bin/muster")

    def path(self, name):
        return os.path.join(self.prefix, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def end_cluster(self, cluster):
        run(self.program, "down", "--dir", cluster, "--erase")

    def test_everything_is_there_and_nothing_else_at_the_top(self):
        self.assertEqual([name for name in FILES if not os.path.isfile(self.path(name))], [])
        self.assertEqual(sorted(os.listdir(self.prefix)), ["bin", "lib", "share"])
        self.assertEqual(sorted(os.listdir(self.path("bin"))),
                         ["muster", "muster-files", "muster-full", "muster-shim"])

    def test_the_command_says_its_version(self):
        self.assertEqual(self.succeed(self.program, "--version").strip(),
                         os.environ["MUSTER_PROJECT_VERSION"])

    def test_the_completions_are_those_of_the_command(self):
        for shell, name in (("bash", "share/bash-completion/completions/muster"),
                            ("zsh", "share/zsh/vendor-completions/_muster")):
            script = self.succeed(self.program, "completion", shell)
            self.assertIn("muster pki issue", script)
            self.assertEqual(self.read(name), script)
            if shutil.which(shell):
                self.succeed(shell, "-n", self.path(name))

    def test_each_command_has_a_manual_page_that_says_what_help_says(self):
        # Commands of two words stand on the page of the first; help leaves out those that are
        # Muster's own.
        listed = self.succeed(self.program, "--help").partition("Subcommands:")[2]
        commands = set(re.findall(r"(?m)^  ([a-z-]+) ", listed))
        self.assertGreater(len(commands), 30)
        folder = self.path("share/man/man1")
        self.assertEqual(sorted(os.listdir(folder)),
                         sorted(["muster.1"] + [f"muster-{name}.1" for name in commands]))
        for name in sorted(commands):
            page = self.read(f"share/man/man1/muster-{name}.1").replace("\\-", "-")
            first = self.succeed(self.program, name, "--help").splitlines()[0]
            self.assertIn(first.strip(), page)
            self.assertIn(f".B muster {name}\n", page)
        for page, options in (("up", ["--dir DIR", "--quiet"]), ("pki", ["--node TEXT"]),
                              ("token", ["--role {admin,user,read_only}", "--expires TIME"])):
            text = self.read(f"share/man/man1/muster-{page}.1").replace("\\-", "-")
            for option in options:
                self.assertRegex(text, rf"(?m)^\.B (-., *)?{re.escape(option)}$")
        if shutil.which("groff"):
            done = run("groff", "-man", "-Tutf8", "-ww", "-z",
                       *[os.path.join(folder, name) for name in os.listdir(folder)])
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_shipped_config_finds_what_it_names(self):
        output = self.succeed(self.program, "replay", self.path("share/muster/replay/eva-200.toml"),
                              "--set", "workload.max_jobs=5", "--json", "-", cwd=self.folder)
        self.assertEqual(len(json.loads(output)["runs"]), 3)

    def test_a_local_cluster_uses_what_is_installed(self):
        cluster = os.path.join(self.folder, "c")
        self.addCleanup(self.end_cluster, cluster)
        self.succeed(self.program, "up", "--dir", cluster, "--nodes", "1", "--policy",
                     "eva,period_s=0.5", "--delay-scale", "0.001", "--json")
        with open(os.path.join(cluster, "cluster.toml"), encoding="utf-8") as file:
            self.assertIn("catalog = 'local-types.csv'", file.read())
        self.assertEqual(self.read(os.path.join(cluster, "local-types.csv")),
                         self.read("share/muster/cluster/local-types.csv"))
        # What started the task is its supervisor: the installed one.
        shim = self.path("bin/muster-shim")
        self.succeed(self.program, "submit", "--cluster", cluster, "--wait", "--quiet", "--",
                     "/bin/sh", "-c", f'test "$(readlink /proc/$PPID/exe)" = {shim}')

    def test_the_units_start_the_installed_command(self):
        units = [self.path(f"lib/systemd/system/muster-{kind}@.service")
                 for kind in ("node", "worker")]
        for unit, role in zip(units, ("node", "worker")):
            text = self.read(unit)
            self.assertIn(f"\nExecStart={self.program} {role} --config /etc/muster/", text)
            self.assertNotIn("@MUSTER", text)
        if shutil.which("systemd-analyze"):
            done = run("systemd-analyze", "verify", "--man=no", *units)
            # It reads the units of this machine too; what it says of those is not ours.
            self.assertNotIn("muster", done.stdout + done.stderr)
            self.assertEqual(done.returncode, 0, done.stderr)


class DebianPackage(PackageTest):
    @unittest.skipUnless(shutil.which("dpkg-shlibdeps") and shutil.which("file"),
                         "no dpkg-shlibdeps and file to make a package with")
    def test_the_package_holds_what_is_installed(self):
        self.succeed("cpack", "--config", os.path.join(BUILD, "CPackConfig.cmake"), "-B",
                     self.folder)
        packages = [name for name in os.listdir(self.folder) if name.endswith(".deb")]
        self.assertEqual(len(packages), 1, packages)
        version = os.environ["MUSTER_PROJECT_VERSION"]
        self.assertTrue(packages[0].startswith(f"muster_{version}_"), packages)
        package = os.path.join(self.folder, packages[0])
        listed = {line.split()[-1]: line for line in
                  self.succeed("dpkg-deb", "-c", package).splitlines()}
        for name in FILES:
            self.assertIn(f"./usr/{name}", listed)
        self.assertEqual([name for name in listed if not name.startswith("./usr/")], [])
        self.assertTrue(all(line.split()[1] == "root/root" for line in listed.values()))
        depends = self.succeed("dpkg-deb", "-f", package, "Depends")
        self.assertIn("libcaf-core", depends)
        self.assertIn("libcurl4", depends)
        self.succeed("dpkg-deb", "-x", package, os.path.join(self.folder, "x"))
        unit = os.path.join(self.folder, "x/usr", "lib/systemd/system/muster-node@.service")
        with open(unit, encoding="utf-8") as file:
            self.assertIn("\nExecStart=/usr/bin/muster node ", file.read())
        unit = os.path.join(self.folder, "x/usr", "lib/systemd/system/muster-host.service")
        with open(unit, encoding="utf-8") as file:
            self.assertIn("\nExecStart=/usr/bin/muster join --state /var/lib/muster-host\n",
                          file.read())


if __name__ == "__main__":
    unittest.main()
