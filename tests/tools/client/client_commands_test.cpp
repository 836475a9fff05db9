#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/cli/commands.hpp"

namespace muster::cli {
namespace {

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

TEST(ClientCommands, EachIsFoundByItsName) {
  CLI::App all;
  int exit_code = kDone;
  add_client_commands(all, exit_code, {});
  const std::vector<std::string> names = names_of(all);
  EXPECT_GE(names.size(), 19U);
  for (const std::string& name : names) {
    CLI::App one;
    EXPECT_TRUE(add_client_command(one, exit_code, {}, name)) << name;
    const std::vector<std::string> found = names_of(one);
    ASSERT_NE(std::find(found.begin(), found.end(), name), found.end()) << name;
    // It brings its options along.
    EXPECT_EQ(one.get_subcommand(name)->get_options().size(),
              all.get_subcommand(name)->get_options().size());
  }
}

TEST(ClientCommands, NoneComesWithoutAName) {
  CLI::App app;
  int exit_code = kDone;
  for (const char* name : {"", "replay", "up", "--help", "Submit"}) {
    EXPECT_FALSE(add_client_command(app, exit_code, {}, name)) << name;
  }
  EXPECT_TRUE(names_of(app).empty());
}

}  // namespace
}  // namespace muster::cli
