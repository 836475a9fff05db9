#include "tools/serve/local/local_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "actors/link/pki.hpp"
#include "tests/support/temp_file.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Makes the files of a cluster that never runs.
class LocalClusterFiles : public testing::Test {
 protected:
  fs::path dir() const { return place_.folder() / "c"; }
  fs::path key() const { return authority_key(dir() / "pki", PkiRole::node); }

  Expected<Prepared, LocalError> prepare() const {
    LocalRequest request;
    request.sites = request.masters = request.nodes = 1;
    request.catalog = types_.path();
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

TEST_F(LocalClusterFiles, lose_such_a_key_that_was_left_at_the_next_start) {
  ASSERT_TRUE(prepare());
  std::ofstream(key()) << "of a cluster made before, or of an end in between";
  ASSERT_TRUE(prepare());
  EXPECT_FALSE(fs::exists(key()));
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
