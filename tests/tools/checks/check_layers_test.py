"""check_layers, run on small trees."""

import importlib.machinery
import importlib.util
import os
import re
import sys
import unittest

from fixture import CHECKS, assert_golden, check


def tables():
    """check_layers as a module of Python, for its tables."""
    sys.path.insert(0, CHECKS)
    loader = importlib.machinery.SourceFileLoader("check_layers",
                                                  os.path.join(CHECKS, "check_layers"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class CheckLayers(unittest.TestCase):
    def assert_breaks(self, path, text, line, words):
        status, output = check("check_layers", {path: text})
        self.assertEqual(status, 1, output)
        self.assertIn(f"{path}:{line}: ", output)
        self.assertIn(words, output)

    def assert_told(self, path, text, *names):
        """The include in the first line is reported there, and the report names these."""
        status, output = check("check_layers", {path: text})
        self.assertEqual(status, 1, output)
        for name in names:
            self.assertIn(name, output)
        assert_golden(self, output, at=f"{path}:1")

    def assert_fine(self, files):
        status, output = check("check_layers", files)
        self.assertEqual((status, output), (0, ""))

    def test_every_module_may_include_what_the_table_allows(self):
        self.assert_fine({
            "model/a.hpp": '#include <vector>\n#include "model/b.hpp"\n',
            "learning/a.hpp": '#include <svm.h>\n#include "model/a.hpp"\n',
            "schedulers/eva/a.cpp": '#include "learning/a.hpp"\n#include "schedulers/policy.hpp"\n',
            "storage/a.cpp": '#include "model/a.hpp"\n#include <nlohmann/json.hpp>\n',
            "config/a.cpp": '#include "model/a.hpp"\n#include <toml++/toml.h>\n',
            "actors/a.hpp": '#include <caf/all.hpp>\n#include "storage/a.hpp"\n',
            "schedulers/site/a.cpp": '#include "actors/a.hpp"\n#include "schedulers/policy.hpp"\n',
            "masters/a.cpp": '#include "actors/a.hpp"\n#include "config/a.hpp"\n',
            "workers/a.cpp": '#include "actors/a.hpp"\n#include "model/a.hpp"\n',
            "replay/a.cpp": '#include "masters/a.hpp"\n#include "schedulers/site/a.hpp"\n',
        })

    def test_a_lower_module_must_not_include_a_higher_one(self):
        for module, other in [("model", "learning"), ("learning", "schedulers"),
                            ("schedulers", "config"), ("actors", "masters"),
                            ("storage", "schedulers"), ("masters", "serve")]:
            with self.subTest(module=module, other=other):
                self.assert_breaks(f"{module}/a.cpp", f'\n#include "{other}/b.hpp"\n', 2,
                                   f"must not include {other} ")

    def test_live_code_does_not_include_the_config_of_replays(self):
        for path in ("actors/a.cpp", "masters/a.cpp", "serve/node/a.cpp"):
            with self.subTest(path=path):
                self.assert_breaks(path, '#include "config/replay_config.hpp"\n', 1,
                                   "replays")
        self.assert_fine({"replay/a.cpp": '#include "config/replay_config.hpp"\n'})

    def test_modules_on_one_layer_do_not_include_each_other(self):
        for module, other in [("storage", "config"), ("config", "storage"), ("masters", "workers"),
                            ("workers", "schedulers/site"), ("schedulers/site", "masters")]:
            with self.subTest(module=module, other=other):
                self.assert_breaks(f"{module}/a.cpp", f'#include "{other}/b.hpp"\n', 1,
                                   f"{module} (layer ")

    def test_the_policies_do_not_include_the_site_scheduler_among_them(self):
        self.assert_told("schedulers/registry.cpp", '#include "schedulers/site/a.hpp"\n',
                         "schedulers (layer 2)", "schedulers/site (layer 5)")

    def test_config_and_storage_include_no_policy(self):
        for module in ("config", "storage"):
            with self.subTest(module=module):
                self.assert_told(f"{module}/a.hpp", '#include "learning/a.hpp"\n', "include model")

    def test_layers_below_the_actors_include_no_caf_header(self):
        for module in ("model", "learning", "schedulers/eva", "storage", "config"):
            with self.subTest(module=module):
                self.assert_breaks(f"{module}/a.hpp", "#include <caf/actor.hpp>\n", 1,
                                   "include no CAF header")

    def test_the_model_includes_standard_headers_only(self):
        self.assert_breaks("model/a.hpp", "#include <fmt/core.h>\n", 1, "standard library only")
        self.assert_breaks("model/a.hpp", "#include <unistd.h>\n", 1, "standard library only")

    def test_an_include_is_a_path_from_the_root(self):
        self.assert_told("model/a.cpp", '#include "a.hpp"\n')
        self.assert_breaks("model/a.cpp", '#include "../tools/cli/a.hpp"\n', 1, "without '..'")
        self.assert_breaks("model/a.cpp", "#include <tools/cli/a.hpp>\n", 1, "with quotes")

    def test_an_include_in_a_comment_or_a_literal_does_not_count(self):
        include = '#include "tools/cli/a.hpp"\n'
        self.assert_fine({"model/a.cpp": f'// {include}/*\n{include}*/\n'
                                         f'auto text = R"(\n{include})";\n'})

    def test_a_spaced_out_include_counts(self):
        self.assert_breaks("model/a.cpp", '  #  include   "tools/cli/a.hpp"  // why\n', 1, "tools")

    def test_a_room_may_include_what_the_table_allows(self):
        self.assert_fine({
            f"{room}/a.cpp": "".join(f'#include "{name}/b.hpp"\n' for name in (room, *others))
            for room, (_, others) in tables().TABLE.items()})

    def test_a_room_includes_no_other_that_the_table_does_not_name(self):
        table = tables().TABLE
        forbidden = {room: sorted(table.keys() - allowed - {room})
                     for room, (_, allowed) in table.items()}
        status, output = check("check_layers", {
            f"{room}/a.cpp": "".join(f'#include "{other}/b.hpp"\n' for other in others)
            for room, others in forbidden.items()})
        self.assertEqual(status, 1, output)
        lines = output.splitlines()
        for room, others in forbidden.items():
            for line, other in enumerate(others, 1):
                wanted = (f"{room}/a.cpp:{line}: {other}/b.hpp: {room} (layer {table[room][0]}) "
                          f"must not include {other} (layer {table[other][0]})")
                self.assertTrue(any(found.startswith(wanted) for found in lines), wanted)
        self.assertEqual(len(lines), 1 + sum(map(len, forbidden.values())))

    def test_live_nodes_and_replays_never_include_each_other(self):
        for path, target in [("serve/node/a.cpp", "replay/world.hpp"),
                             ("serve/api/a.cpp", "replay/workload/workload.hpp"),
                             ("serve/node/a.cpp", "replay/report/table.hpp"),
                             ("serve/worker_node.cpp", "tools/cli/output.hpp"),
                             ("replay/a.cpp", "serve/node/node.hpp"),
                             ("replay/a.cpp", "replay/report/table.hpp"),
                             ("replay/workload/a.cpp", "replay/world.hpp"),
                             ("replay/metrics/a.cpp", "replay/replay.hpp"),
                             ("replay/report/a.cpp", "replay/replay.hpp"),
                             ("tools/client/a.cpp", "serve/api/api.hpp"),
                             ("serve/group/group.cpp", "replay/replay.hpp")]:
            with self.subTest(path=path, target=target):
                self.assert_breaks(path, f'#include "{target}"\n', 1, "must not include")

    def test_a_room_names_rooms_of_lower_floors_only(self):
        table = tables().TABLE
        for room, (floor, others) in table.items():
            for other in others:
                self.assertLess(table[other][0], floor, (room, other))

    def test_the_document_shows_the_upper_floors(self):
        path = os.path.join(CHECKS, "../../docs/architecture.md")
        with open(path, encoding="utf-8") as file:
            text = file.read().partition("\n| floor | room |")[2]
        text = text.partition("\n\n")[0]
        shown = {}
        row = r"^\| (\d+) \| `([\w/]+)(?:\.cpp)?` \|.*\| ([^|]*) \|$"
        for floor, room, others in re.findall(row, text, re.M):
            shown[room] = (int(floor), set(re.findall(r"`([\w/]+)`", others)))
        wanted = {room: (floor, allowed - tables().LIVE)
                  for room, (floor, allowed) in tables().TABLE.items() if floor > 5}
        self.assertEqual(shown, wanted)

    def test_a_file_has_to_be_of_a_room(self):
        self.assert_told("tools/new/a.cpp", "#include <vector>\n")
        self.assert_told("tools/cli/a.cpp", '#include "tools/other.hpp"\n', "tools/other.hpp")

    def test_tests_may_include_everything(self):
        self.assert_fine({"tests/a_test.cpp": '#include "tools/cli/a.hpp"\n'
                                              "#include <caf/all.hpp>\n"})

    def test_all_problems_are_reported_at_once(self):
        status, output = check("check_layers", {
            "model/a.hpp": '#include "tools/cli/a.hpp"\n',
            "config/b.hpp": '#include "tools/cli/a.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("check_layers: 2 problem(s)", output)


if __name__ == "__main__":
    unittest.main()
