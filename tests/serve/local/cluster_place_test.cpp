#include "serve/local/cluster_place.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "config/cluster_folder.hpp"
#include "serve/local/local_cluster.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;
using muster::test::IsGolden;
using testing::HasSubstr;
using testing::Not;

/// Clusters that never run.
class ClusterPlaces : public testing::Test {
 protected:
  fs::path dir(const std::string& name) const { return place_.folder() / name; }

  Expected<Prepared, LocalError> prepare(const std::string& name,
                                         const std::string& catalog = "") const {
    fs::create_directories(dir(name));
    LocalRequest request;
    request.sites = request.masters = request.nodes = 1;
    request.policy = "no-packing";
    if (!catalog.empty()) request.catalog = place_.folder() / catalog;
    return LocalCluster(dir(name)).prepare(request);
  }
  void copy(const std::string& from, const std::string& to) const {
    fs::copy(dir(from), dir(to), fs::copy_options::recursive);
  }
  std::string text(const std::string& file) const {
    std::stringstream text;
    text << std::ifstream(place_.folder() / file).rdbuf();
    return text.str();
  }
  /// Makes the folder look as an earlier version has made it.
  void make_older(const std::string& name) const {
    std::string now = text(name + "/cluster.toml");
    for (const std::string key : {"state", "pki", "token", "local-types.csv"}) {
      const auto at = now.find(" = '" + key + "'");
      now.replace(at, key.size() + 5, " = '" + (dir(name) / key).string() + "'");
    }
    std::ofstream(dir(name) / "cluster.toml") << "# mine\n" << now;
    fs::remove(dir(name) / kPlaceFile);
  }

  test::TempFile place_{"place", ""};
};

TEST_F(ClusterPlaces, are_not_in_the_settings) {
  ASSERT_TRUE(prepare("a"));
  EXPECT_THAT(text("a/cluster.toml"), Not(HasSubstr(place_.folder().string())));
  EXPECT_THAT(text("a/client.json"), Not(HasSubstr(place_.folder().string())));
  EXPECT_TRUE(fs::exists(dir("a") / "local-types.csv"));
}

TEST_F(ClusterPlaces, are_not_taken_by_a_copy_while_the_original_is_there) {
  ASSERT_TRUE(prepare("a"));
  copy("a", "b");
  const auto refused = prepare("b");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, LocalError::failed);
  EXPECT_THAT(refused.error().message, IsGolden());
  EXPECT_TRUE(prepare("a"));
  fs::remove_all(dir("a"));
  EXPECT_TRUE(prepare("b"));
  EXPECT_EQ(place_of(dir("b"))->folder, dir("b"));
}

TEST_F(ClusterPlaces, go_with_a_folder_that_is_moved) {
  ASSERT_TRUE(prepare("a"));
  const std::string before = place_of(dir("a"))->id;
  fs::rename(dir("a"), dir("b"));
  EXPECT_TRUE(is_moved(dir("b")));
  const auto moved = prepare("b");
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->config.state, dir("b") / "state");
  EXPECT_EQ(place_of(dir("b"))->id, before);
  EXPECT_FALSE(is_moved(dir("b")));
  EXPECT_FALSE(fs::exists(dir("a")));
}

TEST_F(ClusterPlaces, are_known_of_earlier_versions_by_the_paths_in_their_settings) {
  ASSERT_TRUE(prepare("a"));
  make_older("a");
  ASSERT_TRUE(prepare("a")) << "where it was";
  fs::remove(dir("a") / kPlaceFile);
  copy("a", "b");
  EXPECT_FALSE(prepare("b")) << "a copy";
  fs::remove_all(dir("b"));
  fs::rename(dir("a"), dir("c"));
  const auto moved = prepare("c");
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->config.state, dir("c") / "state");
  EXPECT_EQ(moved->config.catalog, dir("c") / "local-types.csv");
  EXPECT_THAT(text("c/cluster.toml"), HasSubstr("# mine\n"));
  EXPECT_FALSE(fs::exists(dir("a")));
}

TEST_F(ClusterPlaces, get_a_catalog_whose_file_is_gone_by_its_name) {
  ASSERT_TRUE(prepare("a"));
  std::string settings = text("a/cluster.toml");
  const std::string name = "'local-types.csv'";
  settings.replace(settings.find(name), name.size(), "'/no/checkout/local-types.csv'");
  std::ofstream(dir("a") / "cluster.toml") << settings;
  fs::remove(dir("a") / "local-types.csv");
  const auto prepared = prepare("a");
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(prepared->config.catalog, dir("a") / "local-types.csv");
  EXPECT_TRUE(fs::exists(dir("a") / "local-types.csv"));
}

TEST_F(ClusterPlaces, have_a_copy_of_a_shipped_catalog_that_is_named) {
  ASSERT_TRUE(prepare("a", "ec2-eva"));
  EXPECT_THAT(text("a/cluster.toml"), HasSubstr("catalog = 'ec2-eva.csv'"));
  const auto again = prepare("a", "ec2-eva");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->changes.empty());
  EXPECT_THAT(prepare("a", "ec2-evva").error().message, HasSubstr("'ec2-eva'?"));
}

TEST_F(ClusterPlaces, keep_twins_from_running_at_once) {
  ASSERT_TRUE(prepare("a"));
  const std::string id = place_of(dir("a"))->id;
  EXPECT_EQ(twin_of(id), "");
  const TwinLock keeper(id, dir("a"));
  EXPECT_EQ(keeper.holder(), "");
  for (int looks = 0; looks < 5; ++looks) EXPECT_NE(twin_of(id), "");
  EXPECT_NE(TwinLock(id, dir("b")).holder(), "");
  // Restored from a copy elsewhere while the first one runs where it was moved to.
  EXPECT_THAT(copy_fault(dir("a")), HasSubstr("(process " + std::to_string(getpid())));
  EXPECT_FALSE(prepare("a"));
}

}  // namespace
}  // namespace muster::local
