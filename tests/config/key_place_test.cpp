// Where a complaint about a value that is found to be wrong late says that the value stands.
#include "config/key_place.hpp"

#include <gtest/gtest.h>

#include "tests/support/temp_file.hpp"

namespace muster {
namespace {

class KeyPlace : public testing::Test {
 protected:
  const test::TempFile file_{
      "run.toml", "seed = 1\npolicies = [\"eva\",\n  \"muster\"]\n[workload]\npath = \"a\"\n"};
  std::string in_file(const std::string& place) const { return file_.path().string() + place; }
};

TEST_F(KeyPlace, IsTheLineOfTheFile) {
  EXPECT_EQ(key_place(file_.path(), {}, "workload.path"), in_file(":5:8: workload.path"));
  EXPECT_EQ(key_place(file_.path(), {}, "policies[1]"), in_file(":3:3: policies[1]"));
}

TEST_F(KeyPlace, IsTheOverrideWhereThereIsOne) {
  EXPECT_EQ(key_place(file_.path(), {"seed=2", "workload.path=b"}, "workload.path"),
            "--set workload.path");
  EXPECT_EQ(key_place(file_.path(), {"policies=[\"boa\"]"}, "policies[0]"), "--set policies");
  EXPECT_EQ(key_place(file_.path(), {"workload.path_of=b"}, "workload.path"),
            in_file(":5:8: workload.path"));
}

TEST_F(KeyPlace, IsTheKeyWhereNoFileSaysIt) {
  EXPECT_EQ(key_place(file_.path(), {}, "catalog"), "catalog");
  EXPECT_EQ(key_place(file_.folder() / "absent.toml", {}, "catalog"), "catalog");
}

TEST(TextPlaces, AreTheLinesOfKeysInListsToo) {
  const std::string jobs = "[[jobs]]\nname = \"a\"\n[[jobs]]\nafter = [\"b\"]\n";
  const auto place_of = text_places("a.toml", jobs);
  EXPECT_EQ(place_of("jobs[1].after"), "a.toml:4:9");
  EXPECT_EQ(place_of("jobs[0].after"), "");
  EXPECT_EQ(text_places("a.toml", "jobs = [")("jobs[0].after"), "");
}

}  // namespace
}  // namespace muster
