#include "actors/link/tls.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/actors/link/cluster_pki.hpp"

namespace muster {
namespace {

namespace fs = std::filesystem;
using test::ClusterPki;

/// Whether both kinds of context refuse the files for that reason and name the file.
void expect_refused(const TlsFiles& files, LinkError code, const fs::path& named,
                    const std::string& cause) {
  for (const auto& made : {server_context(files), client_context(files)}) {
    ASSERT_FALSE(made.has_value());
    EXPECT_EQ(made.error().code, code) << made.error().message;
    EXPECT_NE(made.error().message.find(named.string()), std::string::npos) << made.error().message;
    EXPECT_NE(made.error().message.find(cause), std::string::npos) << made.error().message;
  }
}

void overwrite(const fs::path& file, const std::string& content) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << content;
}

TEST(TlsContext, is_made_of_a_certificate_its_key_and_an_authority) {
  const ClusterPki pki;
  EXPECT_TRUE(server_context(pki.node("n1")));
  EXPECT_TRUE(client_context(pki.worker("instance-1")));
}

TEST(TlsContext, speaks_nothing_older_than_tls_1_2) {
  const ClusterPki pki;
  const auto context = server_context(pki.node("n1"));
  ASSERT_TRUE(context);
  EXPECT_EQ(SSL_CTX_get_min_proto_version(context.value()->native_handle()), TLS1_2_VERSION);
}

TEST(TlsContext, refuses_files_that_are_not_there_or_not_named) {
  const ClusterPki pki;
  TlsFiles files = pki.node("n1");
  const TlsFiles good = files;
  files.certificate = pki.dir() / "none.pem";
  expect_refused(files, LinkError::unreadable, files.certificate, "No such file");
  files = good;
  files.key = pki.dir() / "none.key";
  expect_refused(files, LinkError::unreadable, files.key, "No such file");
  files = good;
  files.trusted = pki.dir();
  expect_refused(files, LinkError::unreadable, files.trusted, "regular file");
  files.trusted.clear();
  expect_refused(files, LinkError::unreadable, "", "not set");
}

TEST(TlsContext, refuses_files_that_are_not_what_they_should_be) {
  const ClusterPki pki;
  TlsFiles files = pki.node("n1");
  const TlsFiles good = files;
  files.certificate = good.key;
  expect_refused(files, LinkError::bad_material, good.key, "no certificate");
  files = good;
  files.trusted = good.certificate;
  expect_refused(files, LinkError::bad_material, good.certificate, "not an authority");
  files = good;
  files.key = pki.node("n2").key;
  expect_refused(files, LinkError::bad_material, files.key, "is not the key of");
  overwrite(files.key, "nothing of the kind");
  expect_refused(files, LinkError::bad_material, files.key, "private key");
  overwrite(good.certificate, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
  expect_refused(good, LinkError::bad_material, good.certificate, "not a valid PEM certificate");
}

TEST(TlsContext, refuses_a_key_that_others_can_read) {
  const ClusterPki pki;
  const TlsFiles files = pki.node("n1");
  for (const auto right : {fs::perms::group_read, fs::perms::others_read, fs::perms::group_write}) {
    fs::permissions(files.key, fs::perms::owner_read | right);
    expect_refused(files, LinkError::bad_material, files.key, "0600");
  }
  fs::permissions(files.key, fs::perms::owner_read);
  EXPECT_TRUE(server_context(files));
}

TEST(TlsContext, refuses_a_key_that_belongs_to_somebody_else) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  const ClusterPki pki;
  const TlsFiles files = pki.node("n1");
  ASSERT_EQ(chown(files.key.c_str(), 12345, 12345), 0);
  expect_refused(files, LinkError::bad_material, files.key, "belongs to the user 12345");
  ASSERT_EQ(chown(files.key.c_str(), 0, 0), 0);
  EXPECT_TRUE(server_context(files));
}

TEST(TlsContext, refuses_an_expired_certificate_and_says_since_when) {
  const ClusterPki pki;
  const TlsFiles files = pki.node("n1", -30);
  expect_refused(files, LinkError::expired, files.certificate, "expired on 2");
}

TEST(TlsContext, passes_over_an_expired_authority_beside_a_valid_one) {
  const ClusterPki pki;
  const fs::path old = pki.dir() / "old";
  ASSERT_TRUE(create_authorities(old, {"testing", from_seconds(-30), false}));
  TlsFiles files = pki.node("n1");
  files.trusted = authority_certificate(old, PkiRole::node);
  expect_refused(files, LinkError::expired, files.trusted, "expired on 2");

  std::ifstream present(pki.authority(PkiRole::node), std::ios::binary);
  std::ofstream(files.trusted, std::ios::binary | std::ios::app) << present.rdbuf();
  EXPECT_TRUE(server_context(files));
}

}  // namespace
}  // namespace muster
