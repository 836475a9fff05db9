"""Replays of workloads in which nothing happens for years take next to no time."""

import resource
import unittest

from fixture import COLUMNS, MusterTest

FAR_APART = (COLUMNS + "1,0,ada,train,1,1,4,24,7200,resnet18\n"
             "2,100000000,ada,train,1,1,4,24,7200,resnet18\n")
LONG = COLUMNS + "1,0,ada,train,1,1,4,24,1000000000,resnet18\n"
POLICIES = ("no-packing", "eva", "eva,artifact", "eva,full-only", "eva,partial-only", "eva,rp")
MOST_CPU_S = 2


def cpu_of_children_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Quiet(MusterTest):
    def replay(self, workload, jobs):
        self.write("quiet.csv", workload)
        self.config("quiet.toml", "quiet.csv")
        for policy in POLICIES:
            with self.subTest(policy=policy):
                before = cpu_of_children_s()
                run, = self.runs("quiet.toml", "--policy", policy)
                self.assertLess(cpu_of_children_s() - before, MOST_CPU_S)
                self.assertEqual(run["jobs_completed"], jobs)
                self.assertLess(run["rounds"], 100)

    def test_two_jobs_three_years_apart(self):
        self.replay(FAR_APART, 2)

    def test_a_job_of_thirty_years(self):
        self.replay(LONG, 1)


if __name__ == "__main__":
    unittest.main()
