"""What the page says of a cluster that is in use, and what can be done there."""

import os
import tempfile

from fixture import assert_golden
from page_cluster import FAILED, LONG_NAME, RTL_NAME, SILENT, SWEEP, TRACE, failed_task, life
from page_fixture import PageTest


class OverviewTest(PageTest):

    def test_shows_how_much_of_the_caps_is_used(self):
        self.open()
        for name in ("room-instances", "room-usd-h", "room-usd-day"):
            assert_golden(self, self.text(f"#{name}-text"))
        self.assertEqual(self.js("const bar = document.getElementById('room-usd-h');"
                                 "return [bar.max, bar.value];"), [5, 2.9325])

    def test_says_that_there_is_no_cap(self):
        self.cluster.caps[0]["max_usd_day"] = None
        self.open()
        self.assertEqual(self.text("#room-usd-day-text"), "$0.79, no cap")
        self.assertFalse(self.shown("#room-usd-day"))

    def test_says_which_master_is_full(self):
        self.cluster.caps.append({**self.cluster.caps[0], "master": "m1"})
        self.open()
        self.assertEqual(self.text("#room-instances-text"), "8 of 16")
        self.assertIn("m0 uses 8 of 8 instances.", self.text("#room-masters"))

    def test_counts_tasks_beside_jobs(self):
        self.open()
        self.assertEqual([self.text("#tasks-pending"), self.text("#jobs-waiting")], ["264", "1"])
        self.assertIn("264 waiting", self.js("return document.title"))

    def test_shows_what_each_user_has_cost_today(self):
        self.open()
        self.wait(lambda: self.texts("#users tr"), "users")
        self.assertEqual(self.texts("#users td.today"), ["$0.3127", "$0.2415", "$0.0000"])
        self.click("#users tr:nth-child(2) button")
        self.wait(lambda: "user=ann" in " ".join(self.cluster.asked), "only ann's jobs")
        self.assertEqual(self.js("return document.getElementById('job-user').value"), "ann")

    def test_leaves_the_costs_of_today_out_where_they_are_not_known(self):
        self.cluster.cost_today = lambda: None
        self.open()
        self.wait(lambda: self.texts("#users tr"), "users")
        self.assertFalse(self.shown("#users td.today"))

    def test_leads_past_what_comes_first_and_to_each_section(self):
        self.open()
        self.page.press("\ue004")  # tab
        self.assertTrue(self.js("return document.activeElement.matches('a.skip')"))
        self.page.press("\ue007")  # enter
        self.assertEqual(self.focus(), "board")
        self.js("document.querySelector('#sections a[data-go=decisions-section]').focus();")
        self.page.press("\ue007")
        self.assertEqual(self.focus(), "Decisions")
        self.assertEqual(self.js("return location.hash"), "")

    def test_keeps_what_is_folded(self):
        self.open()
        self.click("#decisions-title button")
        self.assertFalse(self.shown("#decisions"))
        self.assertTrue(self.shown("#decisions-title button[aria-expanded=false]"))
        self.open()
        self.cluster.asked.clear()
        self.assertFalse(self.shown("#decisions"))
        self.wait(lambda: len(self.cluster.asked) > 10, "further questions")
        self.assertEqual([path for path in self.cluster.asked if "decisions" in path], [])
        self.click("#sections a[data-go=decisions-section]")
        self.wait(lambda: self.texts("#decisions td"), "decisions")
        self.assertEqual(self.js("return localStorage.getItem('muster.folded')"), "[]")

    def test_isolates_names_that_go_from_right_to_left(self):
        self.open()
        self.assertIn(RTL_NAME, self.texts("#jobs bdi"))
        self.open("job", 38)
        self.assertEqual(self.text("#job-title bdi"), RTL_NAME)

    def test_asks_little_at_a_time(self):
        self.open("job", SWEEP)
        self.wait(lambda: self.texts("#users tr") and self.shown("#log"), "all of it")
        self.cluster.asked.clear()
        self.wait(lambda: self.cluster.asked.count("/v1/status") > 5, "some turns")
        turns = self.cluster.asked.count("/v1/status")
        # Status, jobs, services, the job, its tasks that failed, its output, and what is in sight.
        self.assertLessEqual(len(self.cluster.asked), 8 * turns + 6, self.cluster.asked)


class PlotTest(PageTest):

    def test_has_ticks_that_differ(self):
        self.open()
        for span in (30, 90, 600, 3600, 6 * 3600, 24 * 3600):
            labels = self.js("""
                const axis = { min: 1800000000, max: 1800000000 + arguments[0], width: 600 };
                setTicks(axis);
                return axis.ticks.map(tick => String(tick.label));""", span)
            self.assertEqual(len(set(labels)), len(labels), labels)
            self.assertTrue(3 <= len(labels) <= 7, labels)

    def test_breaks_its_lines_where_nothing_is_known(self):
        self.open()
        holes = ("return Chart.getChart('cost').data.datasets.map(set =>"
                 " set.data.filter(point => Number.isNaN(point.y)).length);")
        self.wait(lambda: self.js(holes) == [1, 1], "a gap in each line")
        assert_golden(self, self.text("#gaps-note"))

    def test_tells_its_lines_apart_without_colours(self):
        self.open()
        dashes = self.js("return Chart.getChart('work').data.datasets.map(set =>"
                         " String(set.borderDash));")
        self.assertEqual(len(set(dashes)), 4, dashes)
        # What lies above is thinner and has gaps, so that what lies below shows.
        drawn = self.js("return [...Chart.getChart('work').data.datasets]"
                        ".sort((a, b) => b.order - a.order).map(set => set.borderWidth);")
        self.assertEqual(drawn, sorted(drawn, reverse=True))
        self.assertRegex(self.js("return document.getElementById('work')"
                                 ".getAttribute('aria-label')"), "tasks waiting 264")

    def test_writes_no_name_over_another(self):
        self.open()
        heights = self.js("const names = [{ y: 50 }, { y: 51 }, { y: 199 }, { y: 200 }];"
                          "placeApart(names, 10, 200); return names.map(name => name.y);")
        steps = [a - b for a, b in zip(heights, heights[1:])]
        self.assertTrue(all(abs(step) >= 14 for step in steps), heights)
        self.assertLessEqual(max(heights), 200)


class JobTest(PageTest):

    def tasks(self):
        return [text.removeprefix("task ") for text in self.texts("#tasks td:first-child")]

    def test_opens_where_it_can_be_seen(self):
        self.open()
        self.js("document.getElementById('decisions-section').scrollIntoView();")
        self.js("location.hash = '#/job/41';")
        self.wait(lambda: LONG_NAME in self.text("#job-title"), "the job")
        self.assertEqual(self.focus(), "job-title")
        top = self.js("return document.getElementById('job-title').getBoundingClientRect().top")
        self.assertTrue(0 <= top < 400, top)

    def test_shows_those_that_failed_first(self):
        self.open("job", FAILED)
        self.wait(self.tasks, "tasks")
        self.assertEqual(self.tasks()[:4], ["4", "7", "9", "0"])

    def test_shows_those_that_failed_first_also_of_a_later_page(self):
        self.open("job", SWEEP)
        self.wait(lambda: self.tasks()[:2] == ["250", "0"], "task 250 before the others")
        self.click("#tasks-more")
        self.wait(lambda: self.tasks()[:3] == ["250", "200", "201"], "the next page")

    def test_filters_tasks_by_their_phase(self):
        self.open("job", SWEEP)
        self.wait(self.tasks, "tasks")
        counts = [text for text in self.texts("#job-phases button:not([hidden])")]
        self.assertEqual(counts, ["all 300", "failed 1", "running 26", "waiting 259",
                                  "finished 14"])
        self.click("[data-phase=running]")
        self.wait(lambda: len(self.tasks()) == 26, "those that run")
        self.assertTrue(self.shown("[data-phase=running][aria-pressed=true]"))
        self.click("[data-phase=failed]")
        self.wait(lambda: self.tasks() == ["250"], "those that failed")
        self.click("[data-phase=failed]")
        self.wait(lambda: len(self.tasks()) > 200, "all of them again")

    def test_says_an_exit_code_once_and_where_a_task_ran(self):
        self.open("job", FAILED)
        self.wait(self.tasks, "tasks")
        row = self.text("#tasks tr")
        self.assertEqual(row.count("exit code 5"), 1, row)
        self.assertIn("was on instance 5 (c7i.large)", row)
        self.assertEqual(self.js("return document.querySelector('#tasks tr a').hash"),
                         "#/instance/5")

    def test_says_how_long_a_task_ran_by_the_clock(self):
        self.open()
        wall = "return wallTime({ attempt: 1, ran_s: 0, started_s: 100, ended_s: 120 });"
        self.assertEqual(self.js(wall), "20s")
        self.assertEqual(self.js("return wallTime({ attempt: 3, ran_s: null, wall_s: 65 });"),
                         "1m05s")

    def test_shows_the_standard_error_of_what_failed(self):
        self.open("job", FAILED)
        self.wait(lambda: self.text("#log-text") == TRACE, "the last lines")
        self.assertEqual(self.text("#log-title"), "Task 4")
        assert_golden(self, self.text("#log-note"))
        # One that wrote to both is shown its output, and told of the other.
        self.click("#tasks tr:nth-child(3) button")
        self.wait(lambda: self.text("#log-text") == "epoch 1\n", "its output")
        assert_golden(self, self.text("#log-note"))

    def test_says_that_an_output_is_empty(self):
        self.open("job", SILENT)
        self.wait(lambda: "Nothing" in self.text("#log-note"), "that there is nothing")
        assert_golden(self, self.text("#log-note"))
        self.assertFalse(self.shown("#log-text"))
        self.open("job", SWEEP)
        self.click("[data-phase=running]")
        self.wait(lambda: len(self.tasks()) == 26, "those that run")
        self.click("#tasks tr button")
        self.wait(lambda: "Nothing" in self.text("#log-note"), "that there is nothing yet")
        assert_golden(self, self.text("#log-note"))

    def test_shows_the_attempts_of_a_task(self):
        self.open("job", FAILED)
        self.wait(lambda: len(self.texts("#attempts tr")) == 2, "both attempts")
        why = "#attempts td:last-child"
        self.assertEqual(self.texts(why), [each["why"] for each in failed_task(4)["attempts"]])
        self.click("#attempts tr button")
        self.wait(lambda: self.text("#log-of") == "Output of attempt 1", "its output")
        self.wait(lambda: any("attempt=1" in path for path in self.cluster.asked), "a question")

    def test_shows_attempts_also_to_who_may_not_read_the_output(self):
        self.cluster.role["role"] = "read_only"
        self.cluster.tells_outputs = False
        self.open("job", FAILED)
        self.wait(self.tasks, "tasks")
        self.click("#tasks tr button")
        self.wait(lambda: len(self.texts("#attempts tr")) == 2, "both attempts")
        self.wait(lambda: "it is a job of ann" in self.text("#job-said"), "why nothing else is")
        self.assertFalse(self.shown("#log-output"))

    def test_does_without_attempts(self):
        self.cluster.tells_lives = False
        self.open("job", FAILED)
        self.wait(lambda: self.text("#log-text"), "the task")
        self.assertFalse(self.shown("#attempts-part"))

    def test_saves_an_output_as_a_file(self):
        self.cluster.logs[FAILED, 0, "out"] = "line\n" * 300_000  # of more than one piece
        with tempfile.TemporaryDirectory() as folder:
            self.page.command("Browser.setDownloadBehavior",
                              {"behavior": "allow", "downloadPath": folder})
            self.open("job", FAILED)
            self.wait(lambda: self.text("#log-text"), "an output")
            self.click("#tasks tr:nth-child(4) button")
            self.wait(lambda: "line" in self.text("#log-text"), "the output of task 0")
            self.click("#log-download")
            file = os.path.join(folder, f"job-{FAILED}-task-0-stdout.txt")
            self.wait(lambda: os.path.exists(file), "that it is saved")
            self.wait(lambda: os.path.getsize(file) == 1_500_000, "all of it")

    def test_shows_the_pipeline_of_a_job(self):
        jobs = {each["job"]: each for each in self.cluster.jobs}
        jobs[SWEEP]["after"] = [{"job": 28, "when": "ok"}, {"job": 31, "when": "any"}]
        jobs[38]["user"] = "ben"
        jobs[38]["after"] = [{"job": SWEEP, "when": "fail"}]
        self.open("job", SWEEP)
        self.assertFalse(self.shown("#pipeline-svg"))
        self.js("document.getElementById('pipeline').open = true;")
        self.wait(lambda: self.shown("#pipeline-svg"), "the picture")
        self.assertEqual(self.texts("#pipeline-jobs td:first-child"), ["28", "31", "40", "38"])
        self.assertEqual(self.texts("#pipeline-jobs td:last-child"),
                         ["-", "-", "job 28, job 31:any", "job 40:fail"])
        links = self.js("return [...document.querySelectorAll('#pipeline-svg a')]"
                        ".map(link => link.getAttribute('href'));")
        self.assertEqual(links, ["#/job/28", "#/job/31", "#/job/40", "#/job/38"])
        lefts = self.js("return [...document.querySelectorAll('#pipeline-svg rect')]"
                        ".map(box => box.getBoundingClientRect().left);")
        self.assertEqual(lefts[0], lefts[1])
        self.assertTrue(lefts[1] < lefts[2] < lefts[3], lefts)
        lines = self.js("return document.querySelectorAll('#pipeline-svg path').length")
        self.assertEqual(lines, 3)

    def test_says_that_a_job_is_in_no_pipeline(self):
        self.open("job", FAILED)
        self.js("document.getElementById('pipeline').open = true;")
        self.wait(lambda: "no job" in self.text("#pipeline-note"), "the note")
        self.assertFalse(self.shown("#pipeline-table"))
        self.assertFalse(self.shown("#pipeline-picture"))

    def test_submits_again_what_failed(self):
        self.open("job", FAILED)
        self.wait(lambda: self.shown("#job-again-failed"), "a button")
        self.click("#job-again-failed")
        assert_golden(self, self.text("#job-again-failed"))
        self.assertEqual(self.cluster.orders, [])
        self.click("#job-again-failed")
        self.wait(lambda: self.text("#job-said") == "It is submitted again, as job 57.", "the job")
        [(path, body, headers)] = self.cluster.orders
        self.assertEqual((path, body), (f"/v1/jobs/{FAILED}/resubmit", {"failed": True}))
        self.assertRegex(headers["Idempotency-Key"], "^[0-9a-f]{32}$")
        self.assertEqual(self.js("return document.querySelector('#job-said a').hash"), "#/job/57")

    def test_has_no_button_to_submit_again_for_who_may_only_look(self):
        self.cluster.role["role"] = "read_only"
        self.open("job", FAILED)
        self.wait(self.tasks, "tasks")
        for name in ("job-again", "job-again-failed", "job-cancel"):
            self.assertFalse(self.shown("#" + name), name)


class InstanceTest(PageTest):

    def test_has_a_panel_of_its_own(self):
        self.open()
        self.wait(lambda: self.texts("#instances tr"), "instances")
        self.click("#instances tr:nth-child(3) a")
        self.wait(lambda: self.text("#instance-title") == "Instance 3: ready", "the instance")
        self.assertEqual(self.js("return location.hash"), "#/instance/3")
        self.assertEqual(self.focus(), "instance-title")
        facts = dict(zip(self.texts("#instance-facts dt"), self.texts("#instance-facts dd")))
        for name, value in {"Type": "c7i.large", "Price": "$0.0357/h", "CPUs used": "1.5/2",
                            "Bill so far": "$0.0102", "Ready, UTC": "2027-01-15 07:45:30",
                            "Why it was rented": "an instance of its own costs least"}.items():
            self.assertEqual(facts[name], value)
        visits = self.texts("#visits tr")
        self.assertIn("job 40, task 14", visits[0])
        self.assertIn("is there", visits[0])
        self.assertIn("lost", visits[1])

    def test_shows_one_that_is_gone(self):
        self.open("instance", 10)
        self.assertEqual(self.text("#instance-title"), "Instance 10: ended")
        self.assertIn(life(10)["why_ended"], self.text("#instance-facts"))
        self.assertFalse(self.shown("#instance-drain"))
        self.js("location.hash = '#/instance/99'")
        self.wait(lambda: self.text("#instance-title") ==
                  "There is no instance 99, or it is gone", "that there is none")

    def test_does_without_its_life(self):
        self.cluster.tells_lives = False
        self.open("instance", 3)
        self.assertIn("Up since, UTC", self.texts("#instance-facts dt"))
        self.assertIn("job 40, task 18", self.text("#visits"))

    def test_is_drained_at_the_second_click(self):
        self.open("instance", 3)
        self.wait(lambda: self.shown("#instance-drain"), "a button")
        self.click("#instance-drain")
        self.click("#instance-drain")
        self.wait(lambda: "takes no more tasks" in self.text("#instance-said"), "the order")
        self.assertEqual([path for path, _, _ in self.cluster.orders], ["/v1/instances/3/drain"])


class MachinesTest(PageTest):

    def cells(self, place):
        return self.texts(f"#machines tr:nth-child({place}) td")

    def test_are_listed_with_their_lease_load_and_labels(self):
        self.open()
        self.wait(lambda: len(self.texts("#machines tr")) == 4, "machines")
        self.wait(lambda: self.cells(2)[5] == "1.5/2 CPUs, 3/4 GiB", "the load of its instance")
        self.assertEqual(self.cells(1), ["1", "rack1.example.org", "ready", "own-c4m16", "free",
                                         "0/4 CPUs, 0/16 GiB", "-", "rack=1", "", "DrainResume"])
        self.assertEqual(self.cells(2)[4], "6")
        self.assertEqual(self.cells(2)[6:8], ["2027-01-15 08:09:58", "rack=2"])
        self.assertEqual([self.cells(3)[2], self.cells(3)[8]],
                         ["silent", "its lease ended"])
        self.assertEqual(self.cells(4)[2], "drained")
        self.assertEqual(self.js("return [...document.querySelectorAll('#machines button')]"
                                 ".filter(node => node.checkVisibility())"
                                 ".map(node => node.textContent);"), ["Drain"] * 3 + ["Resume"])
        self.click("#machines tr:nth-child(2) a")
        self.wait(lambda: self.text("#instance-title") == "Instance 6: ready", "its instance")

    def test_have_no_section_on_a_node_without_a_join_port(self):
        self.cluster.role["join_port"] = False
        self.open()
        self.wait(lambda: self.texts("#instances tr"), "the page")
        self.assertFalse(self.shown("#machines-section"))
        self.assertFalse(self.shown("#machines-link"))
        self.assertEqual([path for path in self.cluster.asked if path.startswith("/v1/hosts")], [])

    def test_are_drained_and_taken_into_use_again(self):
        self.open()
        self.wait(lambda: self.texts("#machines tr"), "machines")
        for place in (1, 2):
            self.click(f"#machines tr:nth-child({place}) button")
            self.click(f"#machines tr:nth-child({place}) button")
            self.wait(lambda: f"Machine {place} " in self.text("#machines-said"), "the order")
        self.wait(lambda: len(self.cluster.orders) == 3, "its instance, too")
        self.click("#machines tr:nth-child(4) button:last-child")
        self.wait(lambda: "again" in self.text("#machines-said"), "the other order")
        self.assertEqual([path for path, _, _ in self.cluster.orders],
                         ["/v1/hosts/1/drain", "/v1/hosts/2/drain", "/v1/instances/6/drain",
                          "/v1/hosts/4/resume"])

    def test_keep_their_instance_where_the_drain_is_refused(self):
        self.cluster.refused.add("/v1/hosts/2/drain")
        self.open()
        self.wait(lambda: self.texts("#machines tr"), "machines")
        self.click("#machines tr:nth-child(2) button")
        self.click("#machines tr:nth-child(2) button")
        self.wait(lambda: "no." in self.text("#machines-said"), "the refusal")
        self.assertEqual([path for path, _, _ in self.cluster.orders], ["/v1/hosts/2/drain"])

    def test_have_no_button_for_who_may_only_look(self):
        self.cluster.role["role"] = "read_only"
        self.open()
        self.wait(lambda: self.texts("#machines tr"), "machines")
        self.assertFalse(self.shown("#machines button"))

    def test_are_told_how_to_join_before_the_first_has(self):
        self.cluster.machines["hosts"] = []
        self.open()
        self.wait(lambda: self.shown("#machines-section"), "the section")
        self.assertIn("muster join-token create", self.text("#machines-note"))


class DecisionTest(PageTest):

    def test_links_jobs_and_instances(self):
        self.open()
        self.wait(lambda: self.texts("#decisions tr"), "decisions")
        links = self.js("return [...document.querySelectorAll('#decisions tr:first-child a')]"
                        ".map(link => link.hash);")
        self.assertEqual(links, ["#/instance/8", "#/job/40", "#/instance/8"])

    def test_filters_them(self):
        self.open()
        self.wait(lambda: len(self.texts("#decisions tr")) == 14, "all decisions")
        self.click("#sections a[data-go=decisions-section]")
        self.type_in("decision-job", str(FAILED))
        self.wait(lambda: len(self.texts("#decisions tr")) == 7, "those about the job")
        self.type_in("decision-instance", "8")
        self.wait(lambda: self.texts("#decisions tr") == [], "that none is about both")
        assert_golden(self, self.text("#decisions-note"))

    def test_shows_those_about_a_job(self):
        self.open("job", SWEEP)
        self.click("#job-decisions")
        self.wait(lambda: len(self.texts("#decisions tr")) == 7, "those about the job")
        self.assertEqual(self.focus(), "Decisions")
