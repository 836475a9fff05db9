#include "tools/client/context.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/temp_file.hpp"
#include "tools/client/api_client.hpp"

namespace muster::client {
namespace {

using test::TempFile;
using testing::HasSubstr;

Environment variables(std::map<std::string, std::string> set) {
  return [set = std::move(set)](const std::string& name) -> std::optional<std::string> {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  };
}

std::string message_of(const Expected<ClusterContext, ContextError>& context) {
  return context ? "no error" : context.error().message;
}

TEST(FindCluster, TakesOptionsBeforeVariablesBeforeTheFolder) {
  const TempFile token("token", "from-file\n");
  const auto all = variables({{"MUSTER_API", "http://variable:1/"},
                              {"MUSTER_TOKEN", "from-variable"},
                              {"MUSTER_CLUSTER", "/nowhere"}});
  const auto by_option =
      find_cluster({"https://option:2//", token.path().string(), "/nowhere"}, all);
  EXPECT_EQ(by_option->api, "https://option:2");
  EXPECT_EQ(by_option->token, "from-file");
  EXPECT_EQ(by_option->token_source, token.path().string());
  const auto by_variable = find_cluster({}, all);
  EXPECT_EQ(by_variable->api, "http://variable:1");
  EXPECT_EQ(by_variable->token, "from-variable");
  EXPECT_EQ(by_variable->token_source, "MUSTER_TOKEN");
  const auto by_folder = find_cluster({"", "", "/nowhere/else"}, all);
  EXPECT_EQ(by_folder.error().code, ContextError::no_cluster);
  EXPECT_THAT(by_folder.error().message, HasSubstr("/nowhere/else/client.json"));
}

TEST(FindCluster, ReadsClientJsonWithATokenFileBesideIt) {
  const TempFile file("client.json", R"({"api": "http://127.0.0.1:8800", "token_file": "t"})");
  std::ofstream(file.folder() / "t") << "secret \r\nmore\n";
  const auto context = find_cluster({}, variables({{"MUSTER_CLUSTER", file.folder().string()}}));
  ASSERT_TRUE(context.has_value()) << message_of(context);
  EXPECT_EQ(context->api, "http://127.0.0.1:8800");
  EXPECT_EQ(context->token, "secret");
}

TEST(FindCluster, TakesTheVariablesTokenBeforeTheAdminsInTheFolderUnlessTheFolderIsNamed) {
  const TempFile file("client.json", R"({"api": "http://127.0.0.1:8800", "token_file": "t"})");
  const std::string folder = file.folder().string();
  const auto mine = variables({{"MUSTER_CLUSTER", folder}, {"MUSTER_TOKEN", "anns"}});
  // The admin's file need not be there, or be readable, for that.
  EXPECT_EQ(find_cluster({}, mine)->token, "anns");
  std::ofstream(file.folder() / "t") << "admins\n";
  EXPECT_EQ(find_cluster({}, mine)->token, "anns");
  EXPECT_EQ(find_cluster({"", "", folder}, mine)->token, "admins");
  std::ofstream(file.folder() / "hers") << "filed\n";
  const auto filed = variables(
      {{"MUSTER_CLUSTER", folder}, {"MUSTER_TOKEN_FILE", (file.folder() / "hers").string()}});
  EXPECT_EQ(find_cluster({}, filed)->token, "filed");
}

TEST(FindCluster, TakesTheAuthorityOfTheOptionBeforeTheVariableBeforeTheFile) {
  const TempFile file("client.json",
                      R"({"api": "https://10.0.0.1:1", "token_file": "t", "ca": "ca.pem"})");
  std::ofstream(file.folder() / "t") << "secret\n";
  std::ofstream(file.folder() / "ca.pem") << "own";
  const TempFile other("other.pem", "other");
  const TempFile third("third.pem", "third");
  const std::string folder = file.folder().string();
  EXPECT_EQ(find_cluster({"", "", folder}, variables({}))->ca, folder + "/ca.pem");
  const auto set = variables({{"MUSTER_CA", other.path().string()}});
  EXPECT_EQ(find_cluster({"", "", folder}, set)->ca, other.path().string());
  EXPECT_EQ(find_cluster({"", "", folder, third.path().string()}, set)->ca, third.path().string());
  std::filesystem::remove(file.folder() / "ca.pem");
  EXPECT_THAT(message_of(find_cluster({"", "", folder}, variables({}))),
              HasSubstr("client.json: ca: cannot read"));
}

TEST(FindCluster, TakesNoTokenThatWouldBreakTheHeader) {
  for (const char* text : {"", "two words", "a\tb", "caf\xc3\xa9", "\x01"}) {
    const TempFile file("token", text);
    EXPECT_THAT(message_of(find_cluster({"http://a", file.path().string(), ""}, variables({}))),
                HasSubstr("holds no token"))
        << text;
  }
  const TempFile file("token", std::string(5000, 'x'));
  EXPECT_FALSE(find_cluster({"http://a", file.path().string(), ""}, variables({})).has_value());
}

TEST(LocalClusterFolder, FollowsTheXdgRules) {
  EXPECT_EQ(local_cluster_folder(variables({{"HOME", "/h"}})), "/h/.local/state/muster/local");
  EXPECT_EQ(local_cluster_folder(variables({{"HOME", "/h"}, {"XDG_STATE_HOME", "/s"}})),
            "/s/muster/local");
}

TEST(UrlEscaped, LeavesOnlyPlainCharacters) {
  EXPECT_EQ(url_escaped("aZ9-._~"), "aZ9-._~");
  EXPECT_EQ(url_escaped("a b/&\xc3\xa9"), "a%20b%2F%26%C3%A9");
}

TEST(RandomToken, IsNeverTheSame) {
  EXPECT_EQ(random_token().size(), 32U);
  EXPECT_NE(random_token(), random_token());
}

}  // namespace
}  // namespace muster::client
