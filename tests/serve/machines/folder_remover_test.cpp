#include "serve/machines/folder_remover.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <optional>
#include <thread>

#include "serve/machines/machine_folder.hpp"
#include "tests/support/temp_file.hpp"
#include "workers/process/progress.hpp"

namespace muster::machines {
namespace {

namespace fs = std::filesystem;

class FolderRemoverTest : public ::testing::Test {
 protected:
  static void fill(const fs::path& folder) {
    fs::create_directories(folder / "state" / "attempts" / "1-1");
    std::ofstream(folder / "state" / "attempts" / "1-1" / "out") << "text";
  }
  fs::path machine(std::uint64_t id) const {
    return MachineFolder::of(dir(), InstanceId{id}).path();
  }
  fs::path dir() const { return place_.folder() / "machines"; }
  fs::path leaving() const { return dir() / "leaving"; }
  fs::path outside(std::uint64_t id) const {
    return place_.folder() / "outside" / std::to_string(id);
  }
  FolderRemover::Host host() {
    return {[this](InstanceId id) { return outside(id.value); },
            [this](InstanceId, const std::string& text) { told_ = text; }};
  }
  static bool goes(const fs::path& folder) {
    const Duration late = process::boot_time() + std::chrono::seconds{20};
    while (fs::exists(folder) && process::boot_time() < late) {
      std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return !fs::exists(folder);
  }

  test::TempFile place_{"beside", ""};
  std::string told_;
};

TEST_F(FolderRemoverTest, MovesAFolderAwayAtOnceAndRemovesItWithWhatTheMachineHasOutside) {
  for (const std::uint64_t id : {3, 4}) {
    fill(machine(id));
    fill(outside(id));
  }
  FolderRemover remover(dir(), host());
  remover.take(InstanceId{3});
  EXPECT_FALSE(fs::exists(machine(3)));
  EXPECT_TRUE(goes(leaving() / machine(3).filename()));
  EXPECT_FALSE(fs::exists(outside(3))) << "before the folder, which stands for it";
  EXPECT_TRUE(fs::exists(outside(4) / "state"));
  remover.take(InstanceId{4});
  EXPECT_TRUE(goes(outside(4).parent_path())) << "it goes with the last one";
  EXPECT_EQ(told_, "");
}

TEST_F(FolderRemoverTest, RemovesWhatAnEarlierOneHasLeft) {
  fill(leaving() / machine(3).filename());
  fill(outside(3));
  const FolderRemover remover(dir(), host());
  EXPECT_TRUE(goes(leaving() / machine(3).filename()));
  EXPECT_FALSE(fs::exists(outside(3)));
}

TEST_F(FolderRemoverTest, EndsInTheMiddleOfARemoval) {
  fs::path deep = machine(3);
  for (int i = 0; i < 30; ++i) {
    deep /= "folder";
    fs::create_directories(deep);
    for (int file = 0; file < 100; ++file) std::ofstream(deep / std::to_string(file));
  }
  std::optional<FolderRemover> remover;
  remover.emplace(dir(), host());
  remover->take(InstanceId{3});
  remover.reset();
  remover.emplace(dir(), host());
  EXPECT_TRUE(goes(leaving() / machine(3).filename()));
  EXPECT_EQ(told_, "");
}

TEST_F(FolderRemoverTest, TakesAMachineWithoutAFolder) {
  FolderRemover remover(dir(), host());
  remover.take(InstanceId{3});
  fill(machine(4));
  remover.take(InstanceId{4});
  EXPECT_TRUE(goes(leaving() / machine(4).filename()));
}

}  // namespace
}  // namespace muster::machines
