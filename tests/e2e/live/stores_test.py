"""Stores that are damaged or gone: nothing goes on as if all were well."""

import json
import os
import shutil
import subprocess
import unittest

from cluster import Cluster


class Stores(unittest.TestCase):
    def test_a_damaged_log_is_refused_by_the_node_and_by_store_check_with_its_name(self):
        with Cluster(nodes=1) as cluster:
            cluster.wait_over([cluster.shell("true") for _ in range(3)])
            cluster.run("down", "--dir", cluster.dir)
            store = cluster.dir / "state/n0/master"
            self.assertIn("all is well", cluster.run("store", "check", store).stdout)
            log = max(store.glob("*.log"))
            whole = log.read_bytes()
            half = len(whole) // 2
            for damaged in (whole[:half] + bytes([whole[half] ^ 1]) + whole[half + 1:],
                            whole[:half], None):
                log.unlink()
                if damaged is not None:
                    log.write_bytes(damaged)
                checked = cluster.run("store", "check", store, check=False)
                self.assertEqual(checked.returncode, 1)
                self.assertNotIn("all is well", checked.stdout)
                self.assertIn(log.name, checked.stderr)
                log.write_bytes(whole)
            log.unlink()
            # It gives up by itself when the node has ended some times.
            told = cluster.run("up", "--dir", cluster.dir, "--wait", "60", check=False)
            self.assertEqual(told.returncode, 1)
            self.assertIn(str(log), told.stderr)
            log.write_bytes(whole)
            cluster.up()
            cluster.wait_until("its jobs", lambda: len(
                cluster.ask("jobs", "--state", "over")["jobs"]) == 3)

    def test_a_salvaged_master_runs_no_task_twice_and_gives_no_number_out_again(self):
        with Cluster(nodes=1) as cluster:
            lines = cluster.dir / "lines"
            before = [int(cluster.shell(f"echo once >> {lines}")) for _ in range(3)]
            cluster.wait_over(before)
            cluster.run("down", "--dir", cluster.dir)
            store = cluster.dir / "state/n0/master"
            log = max(store.glob("*.log"))
            whole = log.read_bytes()
            # Behind the events with which the jobs were taken, before those with which they ended.
            at = len(whole.rstrip(b"\0")) * 2 // 3
            log.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
            told = cluster.run("up", "--dir", cluster.dir, "--wait", "60", check=False)
            self.assertIn("muster store salvage", told.stderr)
            made = cluster.dir / "made"
            salvaged = cluster.run("store", "salvage", store, "--to", made, check=False)
            self.assertEqual(salvaged.returncode, 3, salvaged.stderr)
            self.assertIn("lost: journal: ", salvaged.stdout)
            self.salvage_from_a_disk_that_is_mounted_read_only(cluster, store)
            shutil.rmtree(store)
            made.rename(store)
            cluster.up()
            after = int(cluster.shell("true"))
            self.assertGreater(after, max(before))
            self.assertEqual(cluster.wait_over([after])[after]["state"], "completed")
            self.assertEqual(lines.read_text().count("once"), 3)

    def salvage_from_a_disk_that_is_mounted_read_only(self, cluster, store):
        bind = f"mount --bind '{store}' '{store}' && mount -o remount,bind,ro '{store}'"
        apart = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
        if subprocess.run([*apart, bind], check=False, capture_output=True).returncode != 0:
            print("not tried: this machine lets nobody mount in a namespace of their own")
            return
        made = cluster.dir / "of-read-only"
        salvage = f"'{os.environ['MUSTER']}' store salvage '{store}' --to '{made}'"
        done = subprocess.run([*apart, f"{bind} && {salvage}"], check=False, capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_a_site_that_has_lost_its_store_gives_no_number_out_twice(self):
        with Cluster(nodes=2) as cluster:
            jobs = [int(cluster.shell("true")) for _ in range(3)]
            cluster.wait_over(jobs)
            for how in ("new", "restored"):
                backup = cluster.dir / "backup"
                site = cluster.dir / "state/n0/site"
                cluster.run("store", "backup", site, backup)
                jobs.append(int(cluster.shell("true")))
                cluster.wait_over(jobs[-1:])
                cluster.run("down", "--dir", cluster.dir)
                shutil.rmtree(site)
                told = cluster.run("up", "--dir", cluster.dir, "--wait", "60", check=False)
                self.assertEqual(told.returncode, 1)
                self.assertIn(str(site), told.stderr)
                self.assertIn("--new-store", told.stderr)
                if how == "restored":
                    cluster.run("store", "restore", backup, site)
                    cluster.up()
                else:
                    cluster.up("--new-store")
                shutil.rmtree(backup)
                after = int(cluster.shell("true"))
                self.assertGreater(after % 10**9, max(job % 10**9 for job in jobs), how)
                self.assertEqual(cluster.wait_over([after])[after]["state"], "completed")
                jobs.append(after)

    def test_a_store_that_is_backed_up_while_it_is_written_is_well(self):
        with Cluster(nodes=1) as cluster:
            jobs = [cluster.shell("true") for _ in range(2)]
            for role in ("site", "master", "cloud"):
                cluster.run("store", "backup", cluster.dir / "state/n0" / role, cluster.dir / role)
                self.assertIn("all is well",
                              cluster.run("store", "check", cluster.dir / role).stdout)
            # It is too young for a snapshot: all of its events are folded.
            folded = cluster.run("store", "check", cluster.dir / "master", "--fold").stdout
            self.assertIn("all is well", folded)
            again = cluster.run("store", "backup", cluster.dir / "state/n0/site",
                                cluster.dir / "site", check=False)
            self.assertEqual(again.returncode, 1)
            self.assertIn("is not empty", again.stderr)
            cluster.wait_over(jobs)

    def test_a_killed_cluster_is_restored_from_its_own_backup_and_has_its_jobs(self):
        with Cluster(nodes=1) as cluster:
            jobs = [int(cluster.shell("true")) for _ in range(3)]
            cluster.wait_over(jobs)
            cluster.run("down", "--dir", cluster.dir)
            to = cluster.dir / "backups"
            refused = cluster.run("up", "--dir", cluster.dir, "--set", "backup.every=1min",
                                  "--set", f"backup.to={to}", check=False)
            self.assertEqual(refused.returncode, 2)
            self.assertIn(f"--set backup.to={to}: backup.to: ", refused.stderr)
            to.mkdir()
            cluster.up("--set", "backup.every=1min", "--set", f"backup.to={to}")
            backups = to / "local/n0"
            cluster.wait_until("a backup", lambda: list(backups.glob("*Z")))
            cluster.kill(cluster.keeper())
            for pid in cluster.nodes():
                cluster.kill(pid)
            cluster.wait_until("the end", lambda: not cluster.nodes())
            [backup] = backups.glob("*Z")
            for role in ("site", "master", "cloud"):
                self.assertIn("all is well", cluster.run("store", "check", backup / role).stdout)
                shutil.rmtree(cluster.dir / "state/n0" / role)
                cluster.run("store", "restore", backup / role, cluster.dir / "state/n0" / role)
            # Its disk is gone: the cluster comes up, and says so.
            shutil.rmtree(to)
            cluster.up()
            # Its first backup is tried beside all else, once it is ready.
            cluster.wait_until("the trouble", lambda: "backup.to" in json.dumps(
                cluster.ask("status")))
            cluster.wait_until("its jobs", lambda: sorted(
                job["job"] for job in cluster.ask("jobs", "--state", "over")["jobs"]) == jobs)
            after = int(cluster.shell("true"))
            self.assertGreater(after, max(jobs))
            cluster.wait_over([after])


if __name__ == "__main__":
    unittest.main()
