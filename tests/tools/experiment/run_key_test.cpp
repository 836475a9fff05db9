#include "tools/experiment/run_key.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "replay/replay_parts.hpp"
#include "tests/support/places.hpp"
#include "tests/support/temp_file.hpp"
#include "tools/experiment/digest.hpp"
#include "tools/experiment/session.hpp"

namespace muster::experiment {
namespace {

using test::TempFile;
using testing::HasSubstr;

constexpr std::string_view kJobs = "id,submit_s,user,tasks,gpu,cpu,memory_gib,duration_s\n";

/// A config and its workload in a folder that goes with the object.
struct Replay {
  TempFile jobs{"jobs.csv", kJobs};
  std::filesystem::path config = jobs.folder() / "run.toml";

  explicit Replay(const std::string& above = "") {
    const auto catalog = test::source_dir() / "config/catalogs/ec2-eva.csv";
    std::ofstream(config) << above << "policies = [\"eva\"]\ncatalog = \"" << catalog.string()
                          << "\"\n[workload]\nformat = \"muster-csv\"\npath = \"jobs.csv\"\n";
  }
  PlannedRun planned() const {
    return {.point = 0, .seed = 1, .config = config, .policy = "eva", .overrides = {}};
  }
};

std::string key_of(const PlannedRun& planned, const std::string& program = "build 1") {
  RunKeys keys(replay::replay_parts(), program);
  const auto key = keys.key_of(planned);
  return key ? key.value() : key.error().message;
}

TEST(RunKey, is_that_of_all_that_determines_the_run) {
  const Replay replay;
  const PlannedRun planned = replay.planned();
  const std::string key = key_of(planned);
  EXPECT_EQ(key.size(), 64u) << key;
  EXPECT_EQ(key_of(planned), key);
  PlannedRun other = planned;
  other.seed = 2;
  EXPECT_NE(key_of(other), key);
  other = planned;
  other.policy = "eva,t=0.8";
  EXPECT_NE(key_of(other), key);
  other = planned;
  other.overrides = {"workload.max_jobs=3"};
  EXPECT_NE(key_of(other), key);
  EXPECT_NE(key_of(planned, "build 2"), key);
}

TEST(RunKey, does_not_depend_on_how_a_config_is_written_or_where_it_lies) {
  const Replay one;
  const Replay other("# The same, with a default spelt out.\nseed = 5\ntrials = 3\n");
  EXPECT_EQ(key_of(one.planned()), key_of(other.planned()));
  PlannedRun spelt = one.planned();
  spelt.overrides = {"workload.max_jobs=0"};
  EXPECT_EQ(key_of(one.planned()), key_of(spelt));
}

TEST(RunKey, changes_with_the_content_of_a_file_that_the_config_names) {
  const Replay replay;
  const std::string key = key_of(replay.planned());
  std::ofstream(replay.jobs.path(), std::ios::app) << "1,0,ada,1,1,4,24,7200\n";
  EXPECT_NE(key_of(replay.planned()), key);
}

TEST(RunKey, of_a_run_that_cannot_begin_is_an_error) {
  const Replay replay;
  PlannedRun planned = replay.planned();
  planned.overrides = {"workload.max_job=3"};
  EXPECT_THAT(key_of(planned), HasSubstr("did you mean 'max_jobs'?"));
  planned = replay.planned();
  planned.policy = "evo";
  EXPECT_THAT(key_of(planned), HasSubstr("evo"));
  planned = replay.planned();
  planned.overrides = {"workload.path=none.csv"};
  EXPECT_THAT(key_of(planned), HasSubstr("none.csv cannot be read"));
}

TEST(RunKey, faults_are_said_once_a_grid_and_with_its_place) {
  const Replay replay;
  Experiment experiment;
  Grid& grid = experiment.grids.emplace_back();
  grid.name = "spot";
  grid.place = {"study.toml", 4, 1};
  Plan plan;
  plan.points = {Point{}};
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    PlannedRun planned = replay.planned();
    planned.seed = seed;
    planned.policy = "evo";
    plan.runs.push_back(planned);
  }
  RunKeys keys(replay::replay_parts(), "build");
  const auto all = keys_of(experiment, plan, keys);
  ASSERT_FALSE(all);
  EXPECT_THAT(all.error().message, testing::StartsWith("study.toml:4:1: grid 'spot': "));
  EXPECT_EQ(std::count(all.error().message.begin(), all.error().message.end(), '\n'), 0);
}

TEST(Digest, of_a_file_is_sha_256_of_its_content) {
  const TempFile file("abc", "abc");
  EXPECT_EQ(digest_of_path(file.path()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(digest_of_path(file.folder() / "none"));
}

TEST(Digest, of_a_folder_changes_with_any_file_in_it) {
  const TempFile file("abc", "abc");
  const auto before = digest_of_path(file.folder());
  ASSERT_TRUE(before);
  std::ofstream(file.folder() / "more") << "";
  EXPECT_NE(digest_of_path(file.folder()), before);
}

}  // namespace
}  // namespace muster::experiment
