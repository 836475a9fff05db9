#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "config/numbers.hpp"
#include "tools/cli/commands.hpp"

// The commands that speak to a cluster, in the order in which help lists them. The called command
// is known before any is added, so that `muster` describes no other to the library: the options of
// all would take most of its start.

namespace muster::cli {
namespace {

using Words = std::vector<std::string>;
using Adder = void (*)(CLI::App& app, int& exit_code, const Words& words);

/// One of the functions that add commands, and the names that it adds.
struct Group {
  std::initializer_list<std::string_view> names;
  Adder add;
};

template <void (*kAdd)(CLI::App&, int&)>
void without_words(CLI::App& app, int& exit_code, const Words& /*words*/) {
  kAdd(app, exit_code);
}

// tests/tools/client/client_commands_test.cpp holds the names to what the functions add.
const std::array<Group, 19> kGroups = {{
    {{"submit"}, add_submit},
    {{"plan"}, add_plan},
    {{"jobs", "history", "job"}, without_words<add_jobs>},
    {{"graph"}, without_words<add_graph>},
    {{"cancel", "hold", "release", "resubmit"}, without_words<add_job_orders>},
    {{"wait"}, without_words<add_wait>},
    {{"logs"}, without_words<add_logs>},
    {{"ls", "fetch"}, without_words<add_files>},
    {{"exec"}, add_exec},
    {{"top"}, without_words<add_top>},
    {{"status", "instances", "instance", "nodes", "decisions", "cost"},
     without_words<add_cluster_views>},
    {{"services", "service", "endpoints"}, without_words<add_services>},
    {{"scale", "update", "restart"}, without_words<add_service_orders>},
    {{"drain", "interrupt"}, without_words<add_instance_orders>},
    {{"open"}, without_words<add_open>},
    {{"token"}, without_words<add_tokens>},
    {{"hosts"}, without_words<add_hosts>},
    {{"join-token"}, without_words<add_join_tokens>},
    {{"audit"}, without_words<add_audit>},
}};

}  // namespace

void add_client_commands(CLI::App& app, int& exit_code, const Words& words) {
  for (const Group& group : kGroups) group.add(app, exit_code, words);
}

bool add_client_command(CLI::App& app, int& exit_code, const Words& words, std::string_view name) {
  for (const Group& group : kGroups) {
    if (std::find(group.names.begin(), group.names.end(), name) == group.names.end()) continue;
    group.add(app, exit_code, words);
    return true;
  }
  return false;
}

CLI::Validator number_from(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    const auto number = parse_number(text);
    const NumberRange range{least, most};
    if (number && range.contains(*number)) return "";
    return fmt::format("has to be {}; it is '{}'", describe(range), text);
  };
  return CLI::Validator(check, fmt::format("{} to {}", number_text(least), number_text(most)));
}

}  // namespace muster::cli
