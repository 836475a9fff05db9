"""A full disk, documents that are none, and strangers at the doors of a running cluster."""

import json
import os
import re
import socket
import subprocess
import unittest
import urllib.error
import urllib.request

from cluster import Cluster, Witness, MUSTER


class FullDisk(unittest.TestCase):
    """The whole state on a small disk that something else fills up."""

    def setUp(self):
        self.cluster = Cluster("worker.stop_grace=1s", nodes=1)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m,mode=0711", "none",
                                  str(self.cluster.dir)], capture_output=True, text=True)
        if mounted.returncode != 0:
            self.skipTest(f"SKIPPED: cannot mount a small disk here: {mounted.stderr.strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(self.cluster.dir)])

    def test_new_work_is_refused_with_the_reason_and_nothing_accepted_is_lost(self):
        with self.cluster as cluster:
            accepted = [cluster.shell("sleep 1", "--memory", "0.2", "--cpus", "0.1")
                        for _ in range(5)]
            filler = cluster.fill_disk()
            words = ["submit", "--quiet", "--retry-for", "3s", "--name", "x" * 200, "--", "true"]
            refused = None
            for _ in range(400):  # what is preallocated takes a few more
                done = cluster.run(*words, check=False)
                if done.returncode != 0:
                    refused = done
                    break
                accepted.append(done.stdout.strip())
            self.assertIsNotNone(refused, "a full disk takes no new work for ever")
            self.assertRegex(refused.stderr.lower(), "space|store|full")
            filler.unlink()
            again = cluster.shell("true", "--memory", "0.2")
            over = cluster.wait_over(accepted + [again], timeout=120)
            self.assertEqual({job["state"] for job in over.values()}, {"completed"})


class BadInput(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(nodes=1).__enter__()
        cls.api = json.loads((cls.cluster.dir / "client.json").read_text())["api"]
        cls.token = (cls.cluster.dir / "token").read_text().strip()

    @classmethod
    def tearDownClass(cls):
        cls.cluster.__exit__(None, None, None)

    def post(self, body, path="/v1/jobs"):
        asked = urllib.request.Request(self.api + path, data=body, headers={
            "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"})
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(asked, timeout=30)
        error = json.loads(refused.exception.read())["error"]
        return refused.exception.code, error["message"]

    def test_documents_that_are_none(self):
        self.assertEqual(self.post(b"{")[0], 400)
        self.assertEqual(self.post(b"[" * 10000)[0], 400)
        code, message = self.post(b'{"command": ["true"], "cpus": -1, "wild": 2}')
        self.assertEqual(code, 422)
        self.assertIn("cpus", message)
        self.assertIn("wild", message)
        self.assertEqual(self.post(b'"' + b"x" * (9 << 20) + b'"')[0], 413)

    def test_a_job_file_with_every_error_at_once(self):
        file = self.cluster.dir / "job.toml"
        file.write_text('command = ["true"]\ncpus = "many"\ntimeout_s = 3\n')
        done = self.cluster.run("submit", file, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("job.toml:2", done.stderr)
        self.assertIn("job.toml:3", done.stderr)

    def test_a_cluster_file_that_makes_no_sense_starts_nothing(self):
        file = self.cluster.dir / "other.toml"
        file.write_text('name = "x"\n[[node]]\nname = "a"\naddress = "nowhere"\n')
        done = subprocess.run([MUSTER, "node", "--config", str(file), "--name", "a"],
                              capture_output=True, text=True, timeout=30)
        self.assertEqual(done.returncode, 2)
        self.assertIn("other.toml:4", done.stderr)

    def test_garbage_at_the_nodes_doors_harms_nobody(self):
        text = (self.cluster.dir / "cluster.toml").read_text()
        ports = [int(port) for port in
                 re.findall(r"^(?:address|workers|api) = .*:([0-9]+)", text, re.MULTILINE)]
        self.assertEqual(len(ports), 3)
        for port in ports:
            for garbage in (b"\0" * 4096, b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096),
                            b"\x16\x03\x01"):
                with socket.create_connection(("127.0.0.1", port), timeout=10) as link:
                    try:
                        link.sendall(garbage)
                    except OSError:
                        pass
        job = self.cluster.shell("true", "--memory", "0.2")
        self.assertEqual(self.cluster.wait_over([job])[int(job)]["state"], "completed")

    def test_stored_records_can_be_read_beside_the_running_node(self):
        job = self.cluster.shell("true", "--memory", "0.2")
        self.cluster.wait_over([job])
        store = self.cluster.dir / "state/n0/master"
        checked = json.loads(self.cluster.run("store", "check", store, "--json", "-").stdout)
        self.assertTrue(checked)
        dumped = self.cluster.run("store", "dump", store).stdout.splitlines()
        events = [json.loads(line).get("event") for line in dumped]
        self.assertIn("job_accepted", events)
        self.assertIn("job_finished", events)


if __name__ == "__main__":
    unittest.main()
