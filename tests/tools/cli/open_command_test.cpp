// `muster open`, with a browser that notes its address, and `muster audit`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "tests/support/golden.hpp"
#include "tests/tools/cli/run_command.hpp"

namespace muster::cli {
namespace {

using muster::test::FakeServer;
using muster::test::IsGolden;
using muster::test::reply_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// A system with a display and a browser that ends with a code.
class OpenCommandTest : public ::testing::Test {
 protected:
  OpenCommandTest() : path_(std::getenv("PATH")) {
    unsetenv("WAYLAND_DISPLAY");
    setenv("DISPLAY", ":0", 1);
    setenv("PATH", (files_.folder().string() + ":" + path_).c_str(), 1);
  }
  ~OpenCommandTest() override {
    unsetenv("DISPLAY");
    unsetenv("WAYLAND_DISPLAY");
    setenv("PATH", path_.c_str(), 1);
  }
  void browser(int exit_code) {
    const auto program = files_.folder() / "xdg-open";
    std::ofstream(program) << "#!/bin/sh\necho \"$1\" > " << (files_.folder() / "seen").string()
                           << "\nexit " << exit_code << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  std::string seen() {
    std::ifstream in(files_.folder() / "seen");
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string path_;
  test::TempFile files_{"kept", ""};
  FakeServer server_{std::vector<std::string>{reply_of(200, "{}")}};
};

TEST_F(OpenCommandTest, GivesTheBrowserTheAddressAndPrintsNothing) {
  browser(0);
  const Ran ran = run(server_, {"open", "7"});
  EXPECT_EQ(ran.exit_code, kDone);
  EXPECT_EQ(ran.out + ran.err, "");
  EXPECT_EQ(seen(), server_.api() + "/#token=secret&job=7\n");
  EXPECT_TRUE(server_.requests().empty()) << "the browser asks";
}

TEST_F(OpenCommandTest, PrintsTheAddressWithoutADisplayOrWhereThatIsWanted) {
  browser(0);
  const std::string address = server_.api() + "/#token=secret\n";
  EXPECT_EQ(run(server_, {"open", "--print"}).out, address);
  unsetenv("DISPLAY");
  EXPECT_EQ(run(server_, {"open"}).out, address);
  EXPECT_EQ(seen(), "");
  setenv("WAYLAND_DISPLAY", "w", 1);
  EXPECT_EQ(run(server_, {"open"}).out, "");
  EXPECT_EQ(seen(), address);
}

TEST_F(OpenCommandTest, PrintsTheAddressWhereNoBrowserOpensIt) {
  browser(3);
  const Ran ran = run(server_, {"open"});
  EXPECT_EQ(ran.exit_code, kFailed);
  EXPECT_EQ(ran.out, server_.api() + "/#token=secret\n");
  EXPECT_THAT(ran.err, IsGolden());
  setenv("PATH", "/no/such/folder", 1);
  EXPECT_EQ(run(server_, {"open"}).exit_code, kFailed);
}

TEST(AuditCommand, AsksForWhatWasChosen) {
  const FakeServer server({reply_of(200, R"({"entries": [], "node": "n1"})")});
  EXPECT_EQ(run(server, {"audit", "--json"}).err, "") << "scripts read the document";
  run(server, {"audit", "--limit", "5", "--user", "a&b", "--since", "1500ms"});
  EXPECT_THAT(asked(server), ElementsAre("GET /v1/audit?limit=100",
                                         "GET /v1/audit?limit=5&user=a%26b&within_s=2"));
  for (const Words& wrong :
       {Words{"audit", "--limit", "0"}, Words{"audit", "--limit", "10001"},
        Words{"audit", "--user", ""}, Words{"audit", "--since", "999ms"},
        Words{"audit", "--since", "3651d"}, Words{"audit", "--since", "soon"}}) {
    EXPECT_EQ(run(server, wrong).exit_code, kUsage) << testing::PrintToString(wrong);
  }
  EXPECT_EQ(run(server, {"audit", "--since", "3650d"}).exit_code, kDone);
  EXPECT_EQ(run(server, {"audit", "--since", "1s", "--limit", "10000"}).exit_code, kDone);
}

TEST(AuditCommand, SaysWhoseLogItIs) {
  const FakeServer server({reply_of(200, R"({"entries": [], "node": "n1"})")});
  EXPECT_THAT(run(server, {"audit"}).err, IsGolden());
}

}  // namespace
}  // namespace muster::cli
