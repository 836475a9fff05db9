#include "storage/files/kept_outputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "tests/storage/files/staged_folder.hpp"

namespace muster::files {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class KeptOutputsTest : public ::testing::Test {
 protected:
  static Outputs outputs(std::uint32_t index, std::uint32_t attempt, std::int64_t kept_s = 100) {
    return {{index, attempt}, ContentId::of(std::to_string(index)), 2, 30, kept_s, 1};
  }
  void put(std::uint64_t job, const Outputs& each) { EXPECT_FALSE(kept_.put(job, each)); }
  std::vector<OutputsPlace> places(std::uint64_t job, OutputsPlace from = {},
                                   std::size_t most = 100) const {
    std::vector<OutputsPlace> found;
    for (const Outputs& each : valid(kept_.list(job, from, most))) found.push_back(each.place);
    return found;
  }

  StagedFolder folder_;
  KeptOutputs kept_{folder_.open()};
};

TEST_F(KeptOutputsTest, gives_back_what_was_put) {
  put(7, outputs(3, 2));
  EXPECT_THAT(valid(kept_.list(7, {}, 10)), ElementsAre(outputs(3, 2)));
  EXPECT_THAT(valid(kept_.list(8, {}, 10)), IsEmpty());
}

TEST_F(KeptOutputsTest, lists_by_task_and_attempt_in_pages) {
  for (const std::uint32_t index : {12u, 2u, 2000u, 999u, 1000u}) put(7, outputs(index, 1));
  put(7, outputs(2, 10));
  put(7, outputs(2, 9));
  using P = OutputsPlace;
  EXPECT_THAT(places(7),
              ElementsAre(P{2, 1}, P{2, 9}, P{2, 10}, P{12, 1}, P{999, 1}, P{1000, 1}, P{2000, 1}));
  EXPECT_THAT(places(7, {2, 10}, 2), ElementsAre(P{2, 10}, P{12, 1}));
  EXPECT_THAT(places(7, {1000, 2}), ElementsAre(P{2000, 1}));
}

TEST_F(KeptOutputsTest, puts_a_record_in_the_place_of_an_earlier_one) {
  put(7, outputs(1, 1, 100));
  put(7, outputs(1, 1, 200));
  EXPECT_EQ(valid(kept_.list(7, {}, 10)).at(0).kept_s, 200);
}

TEST_F(KeptOutputsTest, passes_over_what_is_no_record) {
  put(7, outputs(1, 1));
  folder_.file("7/0/2.1", "muster-outputs 1 cut").file("7/0/3.1", "").file("7/0/02.1", "x");
  folder_.file("7/0/other").file("7/x/1.1").file("notes");
  EXPECT_THAT(places(7), ElementsAre(OutputsPlace{1, 1}));
  EXPECT_THAT(valid(kept_.jobs()), ElementsAre(7));
}

TEST_F(KeptOutputsTest, drops_what_is_old_and_folders_that_are_empty_then) {
  put(7, outputs(1, 1));
  put(7, outputs(1500, 1));
  put(8, outputs(1, 1));
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours{100};
  for (const char* name : {"7/0/1.1", "8/0/1.1"}) fs::last_write_time(folder_ / name, old);
  const std::int64_t before_s = time(nullptr) - 3600;  // NOLINT: of files
  std::vector<OutputsPlace> left;
  const auto keep = [&](const Outputs& each) { left.push_back(each.place); };
  for (const std::uint64_t job : valid(kept_.jobs())) EXPECT_FALSE(kept_.drop(job, before_s, keep));
  EXPECT_THAT(left, ElementsAre(OutputsPlace{1500, 1}));
  EXPECT_FALSE(fs::exists(folder_ / "8"));
  EXPECT_FALSE(fs::exists(folder_ / "7/0"));
  EXPECT_TRUE(fs::exists(folder_ / "7/1/1500.1"));
  put(8, outputs(1, 2));
  EXPECT_THAT(places(8), ElementsAre(OutputsPlace{1, 2}));
}

}  // namespace
}  // namespace muster::files
