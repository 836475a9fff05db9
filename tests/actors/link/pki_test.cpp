#include "actors/link/pki.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/actors/link/cluster_pki.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using test::ClusterPki;

mode_t mode_of(const fs::path& file) {
  struct stat about {};
  return stat(file.c_str(), &about) == 0 ? about.st_mode & 0777 : 0;
}

std::string content_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::size_t files_below(const fs::path& dir) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(dir)) count += entry.is_regular_file();
  return count;
}

/// What `openssl verify` says about a certificate and an authority, for one use of it.
bool openssl_verifies(const fs::path& certificate, const fs::path& authority,
                      const std::string& purpose) {
  const std::string command = "openssl verify -x509_strict -no-CApath -no-CAstore -purpose " +
                              purpose + " -CAfile '" + authority.string() + "' '" +
                              certificate.string() + "' >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

TEST(Pki, makes_certificates_that_the_openssl_command_verifies) {
  const ClusterPki pki;
  const fs::path node = pki.node("n1").certificate;
  const fs::path worker = pki.worker("instance-1").certificate;
  for (const std::string purpose : {"sslserver", "sslclient"}) {
    EXPECT_TRUE(openssl_verifies(node, pki.authority(PkiRole::node), purpose));
    EXPECT_TRUE(openssl_verifies(worker, pki.authority(PkiRole::worker), purpose));
    EXPECT_FALSE(openssl_verifies(worker, pki.authority(PkiRole::node), purpose));
    EXPECT_FALSE(openssl_verifies(node, pki.authority(PkiRole::worker), purpose));
  }
  EXPECT_FALSE(
      openssl_verifies(pki.node("n2", -30).certificate, pki.authority(PkiRole::node), "sslserver"));
}

TEST(Pki, keeps_keys_and_directories_to_their_owner) {
  const ClusterPki pki;
  const TlsFiles files = pki.node("n1");
  EXPECT_EQ(mode_of(files.key), 0600u);
  EXPECT_EQ(mode_of(authority_key(pki.dir(), PkiRole::node)), 0600u);
  EXPECT_EQ(mode_of(authority_key(pki.dir(), PkiRole::worker)), 0600u);
  EXPECT_EQ(mode_of(pki.dir() / "ca"), 0700u);
  EXPECT_EQ(mode_of(files.key.parent_path()), 0700u);
}

TEST(Pki, overwrites_nothing_unless_asked) {
  const ClusterPki pki;
  IssueRequest request;
  request.name = "n1";
  const auto first = issue(pki.dir(), request);
  ASSERT_TRUE(first);
  const std::string key = content_of(first->key);
  const std::string authority = content_of(pki.authority(PkiRole::node));

  const auto second = issue(pki.dir(), request);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, PkiError::exists);
  const auto again = create_authorities(pki.dir(), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, PkiError::exists);
  EXPECT_EQ(content_of(first->key), key);
  EXPECT_EQ(content_of(pki.authority(PkiRole::node)), authority);

  request.replace = true;
  ASSERT_TRUE(issue(pki.dir(), request));
  EXPECT_NE(content_of(first->key), key);
  EXPECT_EQ(files_below(pki.dir()), 6u);
}

TEST(Pki, leaves_no_file_when_one_of_them_cannot_be_put_in_place) {
  const ClusterPki pki;
  IssueRequest request;
  request.name = "n1";
  const auto made = issue(pki.dir(), request);
  ASSERT_TRUE(made);
  const std::string key = content_of(made->key);
  // The certificate's name is taken by a directory: the key, replaced first, has to come back.
  fs::remove(made->certificate);
  fs::create_directory(made->certificate);
  request.replace = true;
  const auto failed = issue(pki.dir(), request);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, PkiError::unwritable);
  EXPECT_EQ(content_of(made->key), key);

  fs::remove(made->key);
  request.replace = false;
  EXPECT_FALSE(issue(pki.dir(), request));
  EXPECT_FALSE(fs::exists(made->key));
  EXPECT_EQ(files_below(pki.dir()), 4u);
}

TEST(Pki, puts_the_authorities_beside_a_pair_that_goes_elsewhere) {
  const ClusterPki pki;
  IssueRequest request;
  request.role = PkiRole::worker;
  request.name = "instance-7";
  request.out = pki.dir() / "away" / "instance-7";
  const auto made = issue(pki.dir(), request);
  ASSERT_TRUE(made);
  EXPECT_EQ(made->trusted, request.out / "node-ca.pem");
  EXPECT_EQ(files_below(request.out), 4u);
  EXPECT_TRUE(client_context(made.value()));
  request.name = "instance-8";
  EXPECT_TRUE(issue(pki.dir(), request));
  EXPECT_EQ(files_below(request.out), 6u);
}

TEST(Pki, refuses_names_hosts_and_validities_that_no_certificate_can_have) {
  const ClusterPki pki;
  const auto refused = [&](const IssueRequest& request) {
    const auto made = issue(pki.dir(), request);
    return !made && made.error().code == PkiError::bad_request;
  };
  IssueRequest request;
  for (const std::string name : {"", "../n1", "a/b", "-n", ".n", "n 1", "n\n"}) {
    request.name = name;
    EXPECT_TRUE(refused(request)) << name;
  }
  request.name = std::string(65, 'n');
  EXPECT_TRUE(refused(request));
  request.name = "n1";
  request.hosts = {"good.example", "two words"};
  EXPECT_TRUE(refused(request));
  request.hosts.clear();
  request.validity = from_seconds(-3600);
  EXPECT_TRUE(refused(request));
  EXPECT_FALSE(create_authorities(pki.dir() / "x", {"no/name", from_seconds(60), false}));
}

TEST(Pki, issues_nothing_without_a_sound_authority) {
  const ClusterPki pki;
  IssueRequest request;
  request.name = "n1";
  EXPECT_FALSE(issue(pki.dir() / "nowhere", request));
  fs::copy_file(authority_key(pki.dir(), PkiRole::worker), authority_key(pki.dir(), PkiRole::node),
                fs::copy_options::overwrite_existing);
  const auto made = issue(pki.dir(), request);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, PkiError::bad_material);
  EXPECT_NE(made.error().message.find("is not the key of"), std::string::npos);
}

TEST(Pki, describes_a_certificate) {
  const ClusterPki pki;
  const auto node = describe_certificates(pki.node("n1").certificate);
  ASSERT_TRUE(node);
  ASSERT_EQ(node->size(), 1u);
  EXPECT_EQ(node->front().subject, "n1");
  EXPECT_EQ(node->front().issuer, "testing node authority");
  EXPECT_EQ(node->front().state, "valid");
  EXPECT_FALSE(node->front().authority);
  EXPECT_EQ(node->front().hosts, (std::vector<std::string>{"localhost", "127.0.0.1"}));
  EXPECT_EQ(node->front().fingerprint.size(), 64u);
  EXPECT_EQ(describe_certificates(pki.node("n2", -30).certificate)->front().state, "expired");
  EXPECT_TRUE(describe_certificates(pki.authority(PkiRole::worker))->front().authority);
  EXPECT_NE(node->front().serial,
            describe_certificates(pki.node("n1").certificate)->front().serial);
}

TEST(Pki, lets_no_certificate_outlive_its_authority) {
  const ClusterPki pki;
  const auto node = describe_certificates(pki.node("n1", 100000).certificate);
  const auto authority = describe_certificates(pki.authority(PkiRole::node));
  EXPECT_EQ(node->front().valid_to, authority->front().valid_to);
}

}  // namespace
}  // namespace muster
