#include "tools/cli/client_options.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <system_error>
#include <thread>

#include "config/cluster_folder.hpp"
#include "config/numbers.hpp"
#include "tools/cli/full_program.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/views.hpp"

// Parts that all commands that speak to a cluster share: where it is, how long they try, and how
// they print.

namespace muster::cli {
namespace {

/// The heading of these options in the help.
constexpr const char* kWhereGroup = "Where the cluster is";

std::string check_patience(const std::string& text) {
  constexpr Duration kLongest = std::chrono::hours{24};
  const auto time = parse_duration(text);
  if (time && *time >= Duration{} && *time <= kLongest) return "";
  return "has to be a time from 0 to 24h, like 30s";
}

std::string check_url(const std::string& text) {
  if (text.starts_with("http://") || text.starts_with("https://")) return "";
  return "has to be a URL like http://127.0.0.1:8800; it is '" + text + "'";
}

/// Name of the caller, "user-1001" of one without an account and USER, as in a container; empty
/// where a header could not hold it.
std::string user_name() {
  // The effective user and not USER, which anybody may set to another's name by mistake.
  const passwd* entry = getpwuid(geteuid());
  const std::string name = entry != nullptr && entry->pw_name != nullptr
                               ? entry->pw_name
                               : client::process_environment()("USER").value_or(std::string());
  if (name.empty()) return fmt::format("user-{}", geteuid());
  const auto visible = [](char letter) { return letter > ' ' && letter < 0x7f; };
  return std::all_of(name.begin(), name.end(), visible) ? name : std::string();
}

/// Whether the cluster of this folder runs, perhaps after a moment, or nothing can be told of it.
/// Another one may listen at the addresses that the folder names: that of which it is a copy. A
/// keeper that was killed is started again.
bool await_keeper(const std::filesystem::path& folder, client::ApiOptions& api) {
  using Steady = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds{50};
  const auto runs = [&] {
    const KeeperState state = folder.empty() ? KeeperState::unknown : keeper_state(folder);
    return state == KeeperState::unknown || state == KeeperState::runs;
  };
  if (runs()) return true;
  if (const auto original = original_of(folder)) {
    complain(folder.string() + ": this folder is " + copy_text(*original));
    return false;
  }
  if (keeper_state(folder) == KeeperState::killed) {
    std::error_code none;
    const std::string why =
        start_keeper(std::filesystem::absolute(folder), full_program(none), Surroundings::plain);
    if (!why.empty()) complain(why);
    api.refused_for = api.retry_for;
  }
  // As long as it is waited for somebody who listens.
  const auto until = Steady::now() + std::min(api.refused_for, api.retry_for);
  while (!runs() && Steady::now() < until) std::this_thread::sleep_for(kLook);
  if (runs()) return true;
  complain(fmt::format("{0}: the cluster does not run; `muster up --dir {0}` starts it",
                       folder.string()));
  return false;
}

/// "-1" would be taken for a very large number, as the C library reads it.
std::string check_id(const std::string& text) {
  if (parse_whole(text)) return "";
  return "has to be a whole number like 12; it is '" + text + "'";
}

}  // namespace

CLI::Validator is_id() {
  return CLI::Validator(check_id, "ID");
}

CLI::Validator is_filter() {
  const auto check = [](const std::string& text) -> std::string {
    return text.empty() ? "must not be empty; leave the option out to choose all" : "";
  };
  return CLI::Validator(check, "TEXT");
}

CLI::Validator is_since() {
  const auto check = [](const std::string& text) -> std::string {
    constexpr double kLongestS = 3650.0 * 86'400;
    const auto time = parse_duration(text);
    if (time && to_seconds(*time) >= 1 && to_seconds(*time) <= kLongestS) return "";
    return "has to be a time from 1s to 3650d, like 1h; it is '" + text + "'";
  };
  return CLI::Validator(check, "TIME");
}

std::string negative_number(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    // The library takes such a word for an unknown flag and says nothing helpful about it.
    if (word.size() > 1 && word[0] == '-' && parse_whole(word.substr(1))) return word;
  }
  return "";
}

void be_patient(client::ApiOptions& api) {
  api.refused_for = api.retry_for;
  api.on_retry = [](const std::string& reason) { complain(reason + "; trying again"); };
}

void add_where_options(CLI::App& command, client::ContextOptions& where) {
  command.add_option("--api", where.api, "URL of the API; else MUSTER_API")
      ->group(kWhereGroup)
      ->check(CLI::Validator(check_url, "URL"));
  command
      .add_option("--token-file", where.token_file,
                  "file with the API's token; else MUSTER_TOKEN or MUSTER_TOKEN_FILE")
      ->group(kWhereGroup);
  command
      .add_option(
          "--ca", where.ca,
          "PEM file of the authorities that an https API is trusted by; else MUSTER_CA, else "
          "the system's")
      ->group(kWhereGroup);
  command
      .add_option("--cluster", where.cluster,
                  "folder of a local cluster; else MUSTER_CLUSTER, else that of `muster up`")
      ->group(kWhereGroup);
}

void add_where_options(CLI::App& command, ClientOptions& options) {
  add_where_options(command, options.where);
  command
      .add_option("--retry-for", options.retry_for,
                  "how long a request is tried again while the cluster does not take it (30s; 2s "
                  "to look at something when nothing listens)")
      ->group(kWhereGroup)
      ->check(CLI::Validator(check_patience, "TIME"));
}

void add_client_options(CLI::App& command, ClientOptions& options) {
  add_where_options(command, options);
  command.add_flag("--json", options.json, "print the API's answer");
}

std::unique_ptr<client::ApiClient> connect(const ClientOptions& options,
                                           const std::function<void(client::ApiOptions&)>& tune) {
  auto context = client::find_cluster(options.where, client::process_environment());
  if (!context) {
    complain(context.error().message);
    return nullptr;
  }
  client::ApiOptions api;
  if (const auto patience = parse_duration(options.retry_for)) {
    api.retry_for = api.refused_for = *patience;
  }
  api.caller = user_name();
  if (tune) tune(api);
  if (!await_keeper(context->folder, api)) return nullptr;
  return std::make_unique<client::ApiClient>(std::move(context).value(), std::move(api));
}

ExitCode complain_of(const Failure<client::ClientError>& failure) {
  complain(failure.message);
  return kFailed;
}

void warn_of_silent(const client::Answer& answer) {
  // Some masters or sites may not answer in time: the answer is then right, but not all.
  const auto silent = client::silent_in(answer);
  if (!silent || silent->empty()) return;
  for (const SilentView& one : silent.value()) {
    complain("this is not all: " + client::silence_text(one));
  }
}

void print_text(const std::string& text) {
  std::cout << text << std::flush;
}

void print_json(const std::string& text) {
  std::cout << text;
  if (!text.ends_with('\n')) std::cout << '\n';
  std::cout << std::flush;
}

}  // namespace muster::cli
