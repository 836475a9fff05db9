#include "replay/workload/training_profiles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_file.hpp"
#include "tests/support/training_tables.hpp"

namespace muster::replay {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

/// A copy of the small data, to damage.
class Copy {
 public:
  Copy() : place_("unused", "") {
    fs::copy(muster::test::small_training_data(), folder(), fs::copy_options::recursive);
  }
  fs::path folder() const { return place_.folder() / "dl"; }
  void write(const std::string& name, const std::string& text) const {
    fs::remove(folder() / name);
    std::ofstream(folder() / name) << text;
  }
  std::string error() const {
    const auto profiles = load_training_profiles(folder(), TrainingCalibration::osdi21);
    return profiles ? "" : profiles.error().message;
  }

 private:
  muster::test::TempFile place_;
};

TEST(TrainingProfiles, HoldWhatTheFilesSay) {
  const TrainingProfiles profiles =
      muster::test::profiles_of(muster::test::small_training_data(), TrainingCalibration::osdi21);
  ASSERT_EQ(profiles.size(), 2U);
  const TrainingProfile& bert = *profiles.at("bert");
  EXPECT_EQ(bert.limits, (BatchLimits{12, 384, 4, 12}));
  EXPECT_EQ(bert.max_width, 64U);
  EXPECT_EQ(bert.epochs(), 2U);
  EXPECT_EQ(bert.placed.size(), 108U);
  EXPECT_EQ(bert.slowdown, 1);
  EXPECT_EQ(bert.rescale_delay, std::chrono::seconds{30});
  EXPECT_EQ(bert.ends[1], 14774);
}

TEST(TrainingProfiles, OfTheOtherCalibrationAreSlowerAndRestartInTheirOwnTime) {
  const TrainingProfiles profiles =
      muster::test::profiles_of(muster::test::small_training_data(), TrainingCalibration::sia23);
  EXPECT_EQ(profiles.at("bert")->slowdown, 1.2);
  EXPECT_EQ(profiles.at("bert")->rescale_delay, std::chrono::seconds{120});
  EXPECT_TRUE(profiles.at("bert")->agent_within_profiled);
  EXPECT_FALSE(profiles.at("bert")->oracle_within_profiled);
  EXPECT_EQ(profiles.at("ncf")->slowdown, 1.5);
  for (const auto calibration : {TrainingCalibration::osdi21, TrainingCalibration::sia23}) {
    EXPECT_EQ(named<TrainingCalibration>(name_of(calibration)), calibration);
  }
  EXPECT_FALSE(named<TrainingCalibration>("osdi").has_value());
}

TEST(TrainingProfiles, HoldNcfAtOneWorkerAndOneBatch) {
  const TrainingProfiles profiles =
      muster::test::profiles_of(muster::test::small_training_data(), TrainingCalibration::osdi21);
  const TrainingProfile& ncf = *profiles.at("ncf");
  EXPECT_EQ(ncf.max_width, 1U);
  EXPECT_EQ(best_by_truth(ncf, {curve_of(ncf, WorkerCounts{1}), 1}, 0).batch,
            (BatchChoice{16384, 1}));
}

TEST(TrainingProfiles, AreNoWiderThanWhatWasMeasured) {
  const Copy copy;
  copy.write("throughput_grid.csv", "class,num_nodes,num_replicas,local_bsz,step_time,sync_time\n");
  const TrainingProfiles profiles =
      muster::test::profiles_of(copy.folder(), TrainingCalibration::osdi21);
  EXPECT_EQ(profiles.at("bert")->max_width, 16U);
}

TEST(TrainingProfiles, NameFileLineAndFieldOfWhatCannotBe) {
  struct Case {
    std::string file;
    std::string text;
    std::string error;
  };
  const std::string placements = "placement,local_bsz,step_time,sync_time\n";
  const std::string validation = "progress,iteration,metric,grad_sqr,grad_var\n";
  const std::string grid = "class,num_nodes,num_replicas,local_bsz,step_time,sync_time\n";
  const std::string calibration =
      "class,osdi21_slowdown,osdi21_rescale_s,osdi21_max_local_bsz_override,sia23_slowdown,"
      "sia23_rescale_s,sia23_max_local_bsz\n";
  const Case cases[] = {
      {"profiles/bert/placements.csv", placements + "1,4,0.2,0.1\n15,4,0.3,0.1\n",
       "placements.csv:3: placement: has to be 1 to 4 digits from 1 to 4"},
      {"profiles/bert/placements.csv", placements + "1,4,0.2,0.1\n1,6,0.3,0.3\n",
       "placements.csv:3: sync_time: has to be less than step_time"},
      {"profiles/bert/placements.csv", placements + "1,6,0.2,0.1\n1,4,0.3,0.1\n",
       "placements.csv:3: local_bsz: rows of one placement come by rising local_bsz"},
      {"profiles/bert/placements.csv", placements + "11,4,0.2,0.1\n",
       "placements.csv: placement: has no row of one worker"},
      {"profiles/bert/placements.csv", placements + "1,300,0.2,0.1\n1,400,0.3,0.1\n",
       "placements.csv: local_bsz: of one worker has no batch between 12 and 384"},
      {"profiles/bert/validation-12.csv", validation + "10,10,1,-1,1\n",
       "validation-12.csv:2: grad_sqr: "},
      {"profiles/bert/validation-12.csv", validation + "10,10,1,1,1\n10,10,1,1,1\n",
       "validation-12.csv:3: progress: has to rise"},
      {"profiles/bert/validation-24.csv", validation + "10,10,1,1,1\n",
       "validation-24.csv: has 1 epochs, the class's other files have 2"},
      {"profiles/bert/scalability.csv", "num_nodes,num_replicas\n1,1\n", "local_bsz"},
      {"throughput_grid.csv", grid + "bert,5,40,4,0.2,0.1\n",
       "throughput_grid.csv:2: num_replicas: "},
      {"throughput_grid.csv", grid + "bert,3,5,4,0.2,0.1\n", "throughput_grid.csv:2: num_nodes: "},
      {"calibration.csv", calibration + "bert,1,30,,1,30,\n",
       "calibration.csv: class: has no row for the class 'ncf'"},
      {"calibration.csv", calibration + "bert,1,30,3,1,30,\nncf,1,30,,1,30,\n",
       "calibration.csv:2: osdi21_max_local_bsz_override: is below the least local_bsz"},
      {"calibration.csv", calibration + "bert,0,30,,1,30,\nncf,1,30,,1,30,\n",
       "calibration.csv:2: osdi21_slowdown: "},
  };
  for (const Case& of : cases) {
    const Copy copy;
    copy.write(of.file, of.text);
    EXPECT_THAT(copy.error(), HasSubstr(of.error)) << of.file << "\n" << of.text;
  }
}

TEST(TrainingProfiles, SayWhichFileIsMissing) {
  for (const char* file : {"throughput_grid.csv", "calibration.csv", "profiles/ncf/placements.csv",
                           "profiles/ncf/scalability.csv"}) {
    const Copy copy;
    fs::remove(copy.folder() / file);
    EXPECT_THAT(copy.error(), HasSubstr(file));
  }
  const auto nowhere = load_training_profiles("/nowhere", TrainingCalibration::osdi21);
  EXPECT_EQ(nowhere.error().code, ConfigError::unreadable);
}

}  // namespace
}  // namespace muster::replay
