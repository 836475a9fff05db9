"""check_layers, run on small trees."""

import unittest

from fixture import check


class CheckLayers(unittest.TestCase):
    def assert_breaks(self, path, text, line, words):
        status, output = check("check_layers", {path: text})
        self.assertEqual(status, 1, output)
        self.assertIn(f"{path}:{line}: ", output)
        self.assertIn(words, output)

    def assert_fine(self, files):
        status, output = check("check_layers", files)
        self.assertEqual((status, output), (0, ""))

    def test_every_room_may_include_what_the_table_allows(self):
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
            "tools/replay/a.cpp": '#include "masters/a.hpp"\n#include "schedulers/site/a.hpp"\n',
        })

    def test_a_lower_room_must_not_include_a_higher_one(self):
        for room, other in [("model", "learning"), ("learning", "schedulers"),
                            ("schedulers", "config"), ("actors", "masters"),
                            ("storage", "schedulers"), ("masters", "tools")]:
            with self.subTest(room=room, other=other):
                self.assert_breaks(f"{room}/a.cpp", f'\n#include "{other}/b.hpp"\n', 2,
                                   f"must not include {other} ")

    def test_rooms_on_one_floor_do_not_include_each_other(self):
        for room, other in [("storage", "config"), ("config", "storage"), ("masters", "workers"),
                            ("workers", "schedulers/site"), ("schedulers/site", "masters")]:
            with self.subTest(room=room, other=other):
                self.assert_breaks(f"{room}/a.cpp", f'#include "{other}/b.hpp"\n', 1,
                                   f"{room} (floor ")

    def test_the_policies_do_not_include_the_site_scheduler_among_them(self):
        self.assert_breaks("schedulers/registry.cpp", '#include "schedulers/site/a.hpp"\n', 1,
                           "schedulers (floor 2) must not include schedulers/site (floor 5)")

    def test_config_and_storage_include_no_policy(self):
        for room in ("config", "storage"):
            with self.subTest(room=room):
                self.assert_breaks(f"{room}/a.hpp", '#include "learning/a.hpp"\n', 1,
                                   "it may include model")

    def test_floors_below_the_actors_include_no_caf_header(self):
        for room in ("model", "learning", "schedulers/eva", "storage", "config"):
            with self.subTest(room=room):
                self.assert_breaks(f"{room}/a.hpp", "#include <caf/actor.hpp>\n", 1,
                                   "include no CAF header")

    def test_the_model_includes_standard_headers_only(self):
        self.assert_breaks("model/a.hpp", "#include <fmt/core.h>\n", 1, "standard library only")
        self.assert_breaks("model/a.hpp", "#include <unistd.h>\n", 1, "standard library only")

    def test_an_include_is_a_path_from_the_root(self):
        self.assert_breaks("model/a.cpp", '#include "a.hpp"\n', 1, "path from the project's root")
        self.assert_breaks("model/a.cpp", '#include "../tools/a.hpp"\n', 1, "without '..'")
        self.assert_breaks("model/a.cpp", "#include <tools/a.hpp>\n", 1, "with quotes")

    def test_an_include_in_a_comment_or_a_literal_does_not_count(self):
        include = '#include "tools/a.hpp"\n'
        self.assert_fine({"model/a.cpp": f'// {include}/*\n{include}*/\n'
                                         f'auto text = R"(\n{include})";\n'})

    def test_a_spaced_out_include_counts(self):
        self.assert_breaks("model/a.cpp", '  #  include   "tools/a.hpp"  // why\n', 1, "tools")

    def test_tests_may_include_everything(self):
        self.assert_fine({"tests/a_test.cpp": '#include "tools/a.hpp"\n#include <caf/all.hpp>\n'})

    def test_all_problems_are_reported_at_once(self):
        status, output = check("check_layers", {
            "model/a.hpp": '#include "tools/a.hpp"\n', "config/b.hpp": '#include "tools/a.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("check_layers: 2 problem(s)", output)


if __name__ == "__main__":
    unittest.main()
