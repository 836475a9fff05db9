#include "serve/hosts/join_protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::hosts {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

TEST(JoinToken, is_read_as_it_is_written) {
  const JoinToken made{"0123abcd", std::string(32, '1'), std::string(64, 'f')};
  const JoinToken read = token_from(to_text(made)).value();
  EXPECT_EQ(read.id, made.id);
  EXPECT_EQ(read.secret, made.secret);
  EXPECT_EQ(read.authority, made.authority);
  EXPECT_THAT(token_from("muster-join-x").error().message, HasSubstr("muster join-token create"));
  EXPECT_FALSE(token_from(to_text(made) + "0"));
}

TEST(Answers, are_read_as_they_are_written) {
  const ReportAnswer made{seconds{5}, seconds{1}, {{InstanceId{3}, "a = 1\n"}}};
  const ReportAnswer read = report_answer_from(to_json(made)).value();
  EXPECT_EQ(read.lease, made.lease);
  EXPECT_EQ(read.report, made.report);
  ASSERT_EQ(read.instances.size(), 1u);
  EXPECT_EQ(read.instances[0].settings, "a = 1\n");
}

TEST(Reports, say_whether_the_machine_shares_the_folder_of_checkpoints) {
  for (const std::optional<bool> own :
       {std::optional<bool>(), std::optional(true), std::optional(false)}) {
    Report made{"run", "boot", {}, {InstanceId{3}}, ""};
    made.own_checkpoints = own;
    const auto read = report_from(to_json(made));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->own_checkpoints, own);
    EXPECT_EQ(read->instances, made.instances);
  }
  std::string odd = to_json(Report{"run", "boot", {}, {}, "", true});
  odd.replace(odd.find("true"), 4, "\"no\"");
  EXPECT_THAT(report_from(odd).error().message, HasSubstr("own_checkpoints"));
}

}  // namespace
}  // namespace muster::hosts
