"""check_docs, run on small trees."""

import unittest

from fixture import assert_golden, check

MODULES = """# The modules

| layer | folder |
|---|---|
| 0 | `model/` |
| 1 | `learning/` |
| 2 | `schedulers/` |
| 3 | `storage/` |
| 3 | `config/` |
| 4 | `actors/` |
| 5 | `schedulers/site/` |
| 5 | `masters/` |
| 5 | `workers/` |
| 7 | `serve/` |
| 7 | `replay/` |
| 8 | `tools/` |
"""
FOLDERS = {f"{module}/CMakeLists.txt": "" for module in
           ("model", "learning", "schedulers", "schedulers/site", "storage", "config", "actors",
            "masters", "workers", "serve", "replay", "tools")}


class CheckDocs(unittest.TestCase):
    def check(self, readme, modules=MODULES):
        return check("check_docs",
                     {**FOLDERS, "docs/architecture.md": modules, "README.md": readme})

    def assert_fine(self, readme):
        self.assertEqual(self.check(readme), (0, ""))

    def assert_says(self, readme, *words):
        status, output = self.check(readme)
        self.assertEqual(status, 1)
        for word in words:
            self.assertIn(word, output)

    def assert_told(self, readme, place):
        status, output = self.check(readme)
        self.assertEqual(status, 1)
        assert_golden(self, output, at=place)

    def test_a_link_to_a_file_or_a_heading_is_fine(self):
        self.assert_fine("# `A` page, first\n[a](docs/architecture.md) [b](#a-page-first)\n"
                         "[c](docs/architecture.md#the-modules) [d](https://example.org/x)\n")

    def test_a_link_to_nothing_is_reported_with_its_line(self):
        self.assert_told("\n[a](docs/other.md)\n", "README.md:2")

    def test_a_link_to_a_missing_heading_is_reported(self):
        self.assert_told("[a](docs/architecture.md#modules)\n", "README.md:1")
        self.assert_told("[a](#modules)\n", "README.md:1")

    def test_a_named_file_has_to_exist(self):
        self.assert_fine("`model/CMakeLists.txt` and `model/`\n")
        self.assert_says("see `model/other.hpp`\n", "`model/other.hpp` is named")

    def test_a_placeholder_names_no_file(self):
        self.assert_fine("`schedulers/NAME/NAME_policy.hpp`\n")

    def test_code_blocks_are_not_read(self):
        self.assert_fine("```\n[a](docs/other.md)\n```\n")

    def test_pages_that_are_read_first_stay_short(self):
        self.assert_says("line\n" * 151, "151", "150")
        self.assert_fine("line\n" * 150)

    def test_every_room_stands_in_the_table_with_its_floor(self):
        for wrong in (MODULES.replace("| 4 | `actors/` |\n", ""),
                      MODULES.replace("| 4 | `actors/` |", "| 5 | `actors/` |")):
            status, output = self.check("", wrong)
            self.assertEqual(status, 1)
            self.assertIn("`actors/`", output)


if __name__ == "__main__":
    unittest.main()
