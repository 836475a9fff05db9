#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/cli/request_options.hpp"
#include "tools/cli/suggest.hpp"

// The program of all commands. `muster` runs the commands that speak to a cluster itself and hands
// the others over to this one, and also any that it does not understand: errors of usage are
// printed here.

namespace {

/// Whether the words ask for help. `muster help --help` is about itself.
bool asks_for_help(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]) == "help" && (argc == 2 || argv[2][0] != '-');
}

/// `muster help COMMAND` as `muster COMMAND --help`.
std::vector<char*> asked_for(int argc, char** argv) {
  static char help[] = "--help";
  std::vector<char*> words(argv, argv + argc);
  if (!asks_for_help(argc, argv)) return words;
  words.erase(words.begin() + 1);
  words.push_back(help);
  return words;
}

/// The first word behind `help` that names no command; empty: all of them do. Nothing is parsed
/// then: the other words could be a command that is carried out.
std::string unknown_command(CLI::App& app, const std::vector<std::string>& words) {
  CLI::App* at = &app;
  for (const std::string& word : words) {
    const auto named = at->get_subcommands([&](CLI::App* one) { return one->check_name(word); });
    if (named.empty()) return word;
    at = named.front();
  }
  return {};
}

/// Of a call that was not understood; `said` is the library's complaint.
void say_what_is_wrong(const CLI::App& app, const std::string& said) {
  const muster::cli::Suggestion meant = muster::cli::suggestion(app);
  if (!meant.is_all) muster::cli::print_error(said);
  if (!meant.text.empty()) muster::cli::complain(meant.text);
}

void add_help(CLI::App& app) {
  CLI::App* command = app.add_subcommand("help", "Print what a command takes, as its --help does");
  // Listed for people; asked_for() has put its words in another order before they are read.
  command->add_option("COMMAND", "the command; default: a list of all")->expected(0, -1);
}

}  // namespace

int main(int given, char** arguments) {
  using namespace muster::cli;
  if (const auto ended = run_as_keeper(given, arguments)) return *ended;
  open_standard_streams();
  std::vector<char*> asked = asked_for(given, arguments);
  const int argc = static_cast<int>(asked.size());
  char** argv = asked.data();
  CLI::App app{"muster: hosts batch work on rented cloud instances at the lowest cost"};
  app.require_subcommand(1);
  app.set_version_flag("--version", MUSTER_VERSION);
  int exit_code = kDone;
  // Behind a "--", submit, plan and exec have the words of a command, which are not Muster's.
  const auto [own, rest] = own_words(argc, argv);
  const std::vector<std::string> words(argv + rest, argv + argc);
  add_client_commands(app, exit_code, words);
  add_completion(app, exit_code, {{"--policy", policy_names()}});
  add_replay(app, exit_code);
  add_experiment(app, exit_code);
  add_bound(app, exit_code);
  add_pareto(app, exit_code);
  add_policies(app, exit_code);
  add_explain(app, exit_code);
  add_convert(app, exit_code);
  add_market(app, exit_code);
  add_train(app, exit_code);
  add_predict(app, exit_code);
  add_config_keys(app, exit_code);
  add_api(app, exit_code);
  add_store(app, exit_code);
  add_pki(app, exit_code);
  add_node(app, exit_code);
  add_local_cluster(app, exit_code);
  add_worker(app, exit_code);
  add_join(app, exit_code, asked);
  add_shim(app, exit_code);
  add_progress(app, exit_code);
  add_manual(app, exit_code);
  add_help(app);
  if (asks_for_help(given, arguments)) {
    const std::string unknown = unknown_command(app, {arguments + 2, arguments + given});
    if (!unknown.empty()) {
      complain("help: there is no command '" + unknown + "'");
      return kUsage;
    }
  }
  try {
    app.parse(own, argv);
  } catch (const CLI::ParseError& error) {
    // In the place of an id it was taken for an option that there is not.
    const std::string word = negative_number(own, argv);
    if (!word.empty() && dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      complain("'" + word + "': ids are whole numbers from 0 on");
      return kUsage;
    }
    if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) {
      complain(conversion_fault(app, error.what()));
      return kUsage;
    }
    // The library's complaint repeats words of the call.
    std::ostringstream complaint;
    const int code = app.exit(error, std::cout, complaint);
    if (code == 0) return flush_standard_output() ? exit_code : kFailed;
    say_what_is_wrong(app, complaint.str());
    return kUsage;
  } catch (const std::exception& error) {
    complain(sentence_of(error));
    return kFailed;
  }
  return flush_standard_output() ? exit_code : kFailed;
}
