#include "tools/cli/suggest.hpp"

#include <fmt/format.h>

#include <vector>

#include "config/error_list.hpp"

namespace muster::cli {
namespace {

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // not for users
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* one : command.get_subcommands({})) {
    if (!one->get_group().empty()) names.push_back(one->get_name());
  }
  return names;
}

}  // namespace

std::string suggestion(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  for (const std::string& word : app.remaining(true)) {
    const bool is_option = word.starts_with("--");
    const std::string name = is_option ? word.substr(0, word.find('=')) : word;
    const std::string nearest =
        nearest_word(name, is_option ? options_of(*command) : commands_of(*command));
    if (!nearest.empty()) return fmt::format("'{}': did you mean '{}'?", name, nearest);
  }
  return {};
}

}  // namespace muster::cli
