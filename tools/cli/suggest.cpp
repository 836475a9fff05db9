#include "tools/cli/suggest.hpp"

#include <fmt/format.h>

#include <vector>

#include "model/closest_word.hpp"

// Better words for what the command line library complains of: names of options and commands that
// are near to a misspelt one, and what a value has to be.

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

/// The innermost command that the words came to.
const CLI::App& command_of(const CLI::App& app) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

/// The form of an option's value, by the type that it is read into.
std::string wanted_by(const CLI::App& command, const std::string& option) {
  const CLI::Option* found = command.get_option_no_throw(option);
  const std::string type = found == nullptr ? "" : found->get_type_name();
  if (type.starts_with("UINT")) return "a whole number from 0 on";
  if (type.starts_with("INT")) return "a whole number";
  return "a number";
}

}  // namespace

std::string conversion_fault(const CLI::App& app, const std::string& said) {
  // The library says "Could not convert: --option = value".
  constexpr std::string_view kBegin = "Could not convert: ", kEquals = " = ";
  const std::size_t equals = said.find(kEquals);
  // A later version of the library may word it otherwise: then its own text stays.
  if (!said.starts_with(kBegin) || equals == std::string::npos) return said;
  const std::string option = said.substr(kBegin.size(), equals - kBegin.size());
  return fmt::format("{}: has to be {}; it is '{}'", option, wanted_by(command_of(app), option),
                     said.substr(equals + kEquals.size()));
}

Suggestion suggestion(const CLI::App& app) {
  const CLI::App& command = command_of(app);
  // Of words that name no command the library says that one is required.
  const bool has_no_command = &command == &app;
  for (const std::string& word : app.remaining(true)) {
    if (word == "--") continue;
    const bool is_option = word.starts_with("--");
    const std::string name = is_option ? word.substr(0, word.find('=')) : word;
    const std::string nearest =
        closest_word(name, is_option ? options_of(command) : commands_of(command));
    if (nearest == name && is_option) {
      return {fmt::format("'{0}' stands behind the command: muster {1} {0} ...", name,
                          command.get_name()),
              true};
    }
    if (!nearest.empty()) {
      return {fmt::format("'{}': did you mean '{}'?", name, nearest), has_no_command};
    }
    if (!is_option && !commands_of(command).empty()) {
      return {fmt::format("there is no command '{}'; `muster help` lists them", name),
              has_no_command};
    }
  }
  return {};
}

}  // namespace muster::cli
