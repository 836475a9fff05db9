#include "serve/local/folder_lock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;
using muster::test::IsGolden;
using testing::ElementsAre;
using testing::HasSubstr;

class FolderLocks : public testing::Test {
 protected:
  fs::path dir() const { return place_.folder() / "a" / "b"; }

  test::TempFile place_{"place", ""};
};

TEST_F(FolderLocks, make_the_folder_and_take_it_away_when_it_is_still_empty) {
  {
    const FolderLock lock(dir(), {}, [] {});
    EXPECT_EQ(lock.trouble(), "");
    EXPECT_THAT(lock.made(), ElementsAre(dir().parent_path(), dir()));
    EXPECT_TRUE(fs::is_directory(dir()));
  }
  EXPECT_FALSE(fs::exists(dir().parent_path()));
  {
    const FolderLock lock(dir(), {}, [] {});
    std::ofstream(dir() / "file") << "kept";
  }
  EXPECT_TRUE(fs::exists(dir() / "file"));
}

TEST_F(FolderLocks, let_one_in_at_a_time_and_say_who_waits_in_vain) {
  int waited = 0;
  auto first = std::make_unique<FolderLock>(dir(), Duration{}, [] {});
  const FolderLock vain(dir(), Duration{}, [&] { ++waited; });
  EXPECT_THAT(vain.trouble(), IsGolden());
  EXPECT_EQ(waited, 1);
  std::promise<void> waits;
  auto second = std::async(std::launch::async, [&] {
    // The first one takes its empty folder away: the second has one of its own then.
    const FolderLock lock(dir(), std::chrono::minutes{1}, [&] { waits.set_value(); });
    return lock.trouble().empty() && fs::is_directory(dir());
  });
  waits.get_future().wait();
  first.reset();
  EXPECT_TRUE(second.get());
}

TEST_F(FolderLocks, say_why_there_can_be_no_folder) {
  std::ofstream(place_.folder() / "a") << "a file";
  const FolderLock lock(dir(), {}, [] {});
  EXPECT_THAT(lock.trouble(), HasSubstr("Not a directory"));
}

}  // namespace
}  // namespace muster::local
