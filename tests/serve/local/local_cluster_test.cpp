#include "serve/local/local_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>
#include <sstream>

#include "actors/link/pki.hpp"
#include "config/catalog_file.hpp"
#include "storage/stores/store_journal.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

/// Makes the files of a cluster that never runs.
class LocalClusterFiles : public testing::Test {
 protected:
  fs::path dir() const { return place_.folder() / "c"; }
  fs::path key() const { return authority_key(dir() / "pki", PkiRole::node); }

  Expected<Prepared, LocalError> prepare(const fs::path& catalog = {}) const {
    fs::create_directories(dir());
    LocalRequest request;
    request.sites = request.masters = request.nodes = 1;
    request.catalog = catalog.empty() ? types_.path() : catalog;
    request.policy = "no-packing";
    return LocalCluster(dir()).prepare(request);
  }

  /// The node's certificate has run out, as have those of the authorities that gave it.
  void let_certificates_run_out() const {
    AuthorityOptions authorities;
    authorities.replace = true;
    ASSERT_TRUE(create_authorities(dir() / "pki", authorities));
    IssueRequest request;
    request.name = "n0";
    request.validity = -std::chrono::minutes{1};
    request.replace = true;
    const auto issued = issue(dir() / "pki", request);
    ASSERT_TRUE(issued) << issued.error().message;
    ASSERT_EQ(state(), "expired");
  }
  std::string state() const {
    const auto said = describe_certificates(dir() / "pki/nodes/n0.pem");
    return said ? said.value().front().state : said.error().message;
  }

  /// The master's store has a record of an instance of the first type.
  void rent_one() const {
    const auto catalog = load_catalog(types_.path());
    ASSERT_TRUE(catalog) << catalog.error().message;
    StoreOptions options;
    options.meta = {"master m0", "local", catalog.value()};
    options.may_make = true;
    const auto store = Store::open(dir() / "state/n0/master", options);
    ASSERT_TRUE(store) << store.error().message;
    const auto recovered = recover_master(*store.value(), catalog.value());
    ASSERT_TRUE(recovered) << recovered.error().message;
    StoreJournal journal(*store.value(), catalog.value(), recovered.value());
    std::promise<void> durable;
    journal.append({{Instant{}, LaunchRequested{InstanceId{1},
                                                TypeId{0},
                                                Market::on_demand,
                                                catalog->price(TypeId{0}, Market::on_demand),
                                                {}}}},
                   [&] { durable.set_value(); });
    durable.get_future().wait();
  }

  test::TempFile place_{"unused", ""};
  test::TempFile types_{"types.csv",
                        "name,family,gpu,cpu,memory_gib,usd_per_hour,spot_usd_per_hour\n"
                        "small,a,0,2,4,0.5,0.1\n"};
};

TEST_F(LocalClusterFiles, hold_no_key_that_makes_members) {
  ASSERT_TRUE(prepare());
  EXPECT_EQ(state(), "valid");
  EXPECT_FALSE(fs::exists(key()));
}

TEST_F(LocalClusterFiles, have_the_join_port_where_an_api_makes_tokens) {
  fs::create_directories(dir());
  LocalRequest request;
  request.sites = 1;
  request.masters = 2;
  request.nodes = 3;
  request.policy = "no-packing";
  request.join = Endpoint{"127.0.0.1", 7443};
  const auto prepared = LocalCluster(dir()).prepare(request);
  ASSERT_TRUE(prepared) << prepared.error().message;
  const ClusterConfig& config = prepared->config;
  EXPECT_EQ(config.cloud_node().join, request.join);
  EXPECT_TRUE(config.cloud_node().api);
  EXPECT_EQ(config.nodes.size(), 3u);
  EXPECT_EQ(config.master.launch_backoff, std::chrono::seconds{5}) << "as with a file of its own";
  request.nodes = 4;
  EXPECT_FALSE(LocalCluster(place_.folder() / "d").prepare(request)) << "the last had no role";
}

TEST_F(LocalClusterFiles, lose_such_a_key_that_was_left_at_the_next_start) {
  ASSERT_TRUE(prepare());
  std::ofstream(key()) << "of a cluster made before, or of an end in between";
  ASSERT_TRUE(prepare());
  EXPECT_FALSE(fs::exists(key()));
}

TEST_F(LocalClusterFiles, stay_as_they_are_when_a_catalog_lacks_types_that_records_name) {
  ASSERT_TRUE(prepare());
  rent_one();
  std::stringstream before;
  before << std::ifstream(dir() / "cluster.toml").rdbuf();
  const std::string header = "name,family,gpu,cpu,memory_gib,usd_per_hour,spot_usd_per_hour\n";
  const test::TempFile other("other.csv", header + "large,a,0,4,8,1,0.2\n");
  const auto refused = prepare(other.path());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, LocalError::bad_request);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("--catalog: "), HasSubstr("(master m0): small. Add these"),
                    HasSubstr("`muster down --erase`")));
  std::stringstream after;
  after << std::ifstream(dir() / "cluster.toml").rdbuf();
  EXPECT_EQ(after.str(), before.str());
  const test::TempFile more("more.csv", header + "large,a,0,4,8,1,0.2\nsmall,a,0,2,4,0.5,0.1\n");
  EXPECT_TRUE(prepare(more.path())) << "all that records name is there";
}

TEST_F(LocalClusterFiles, get_new_certificates_when_those_have_run_out) {
  ASSERT_TRUE(prepare());
  let_certificates_run_out();
  const auto prepared = prepare();
  ASSERT_TRUE(prepared) << prepared.error().message;
  EXPECT_EQ(state(), "valid");
  EXPECT_FALSE(fs::exists(key()));
}

TEST_F(LocalClusterFiles, keep_certificates_that_have_run_out_while_kept_instances_know_them) {
  ASSERT_TRUE(prepare());
  let_certificates_run_out();
  const fs::path machines = dir() / "state/n0/machines";
  fs::create_directories(machines / "gone");
  fs::create_directories(machines / "instance-3");
  const auto refused = prepare();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, LocalError::failed);
  EXPECT_THAT(refused.error().message, HasSubstr("`muster down` ends it, then `muster up`"));
  EXPECT_EQ(state(), "expired");
  fs::remove_all(machines / "instance-3");
  ASSERT_TRUE(prepare());
  EXPECT_EQ(state(), "valid");
}

}  // namespace
}  // namespace muster::local
