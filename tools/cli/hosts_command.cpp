#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "config/numbers.hpp"
#include "config/token_request.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/api_client.hpp"
#include "tools/client/host_views.hpp"
#include "tools/client/views.hpp"

// The commands about machines of one's own. `muster join`, which runs on such a machine, is
// join_command.cpp.

namespace muster::cli {
namespace {

struct HostOptions {
  ClientOptions client;
  std::uint64_t host = 0;
  bool force = false;
  std::vector<std::string> labels;
  std::string token;
  std::uint32_t hosts = 1;
  std::string expires = "1h";
  bool quiet = false;
};
using SharedHostOptions = std::shared_ptr<HostOptions>;

int list_hosts(const HostOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(
      api->get("/v1/hosts"), options.client.json,
      shown_as(client::host_list, [](const auto& hosts) { return client::view(hosts); }));
}

/// One of the changes of a machine, by the last part of its path.
struct HostOrder {
  const char* change;
  std::string body{};
  const char* said;
};

int change_host(const HostOptions& options, const HostOrder& order) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(api->post(fmt::format("/v1/hosts/{}/{}", options.host, order.change),
                                order.body, client::Elsewhere::unsent),
                      options.client.json,
                      shown_as(client::host_of, [&order](const client::HostAnswer& host) {
                        return fmt::format("host {}: {}\n", host.host, order.said);
                      }));
}

/// Of the orders that --force goes with.
std::string force_body(const HostOptions& options) {
  return options.force ? R"({"force": true})" : "";
}

/// The machine first, so that nothing begins on it between the two orders.
int drain_host(const HostOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto answer =
      api->post(fmt::format("/v1/hosts/{}/drain", options.host), "", client::Elsewhere::unsent);
  const ExitCode code = print_answer(
      answer, options.client.json, shown_as(client::host_of, [](const client::HostAnswer& host) {
        return fmt::format("host {}: drained{}\n", host.host,
                           host.instance ? ", as soon as its tasks have moved" : "");
      }));
  if (code != kDone) return code;
  const auto host = client::host_of(answer.value());
  if (!host || !host->instance) return code;
  const auto moved = api->post(fmt::format("/v1/instances/{}/drain", *host->instance), "",
                               client::Elsewhere::always);
  // It may have ended meanwhile.
  if (moved || moved.error().code == client::ClientError::not_found) return kDone;
  return complain_of(moved.error());
}

int label_host(const HostOptions& options) {
  using Json = nlohmann::ordered_json;
  Json labels = Json::object();
  for (const std::string& word : options.labels) {
    const std::size_t equals = word.find('=');
    labels[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return change_host(
      options, {"labels", labels.dump(-1, ' ', false, Json::error_handler_t::replace), "labelled"});
}

std::string check_label(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos && equals > 0) return "";
  return fmt::format("has to be KEY=TEXT, like rack=3, or KEY= to take it away; it is '{}'", word);
}

int create_token(const HostOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  const auto lifetime = parse_duration(options.expires).value_or(Duration{});
  const nlohmann::ordered_json body{
      {"hosts", options.hosts},
      {"lifetime_s", std::chrono::duration_cast<std::chrono::seconds>(lifetime).count()}};
  return print_answer(
      api->post("/v1/join-tokens", body.dump(), client::Elsewhere::unsent), options.client.json,
      shown_as(client::issued_join_token, [&](const client::JoinTokenAnswer& token) {
        if (options.quiet) return token.secret + "\n";
        return fmt::format(
            "Join token {}: for {} machine{}, until {}. It is shown this once:\n{}\n", token.id,
            token.hosts, token.hosts == 1 ? "" : "s", client::time_text(token.expires_s),
            token.secret);
      }));
}

int list_tokens(const HostOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(
      api->get("/v1/join-tokens"), options.client.json,
      shown_as(client::join_token_list, [](const auto& tokens) { return client::view(tokens); }));
}

int revoke_token(const HostOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(api->post("/v1/join-tokens/" + client::url_escaped(options.token) + "/revoke",
                                "", client::Elsewhere::unsent),
                      options.client.json, shown_as(client::join_token_of, [](const auto& token) {
                        return fmt::format("join token {}: {}\n", token.id, token.state);
                      }));
}

/// A time in whole seconds up to 30 days.
std::string check_join_time(const std::string& text) {
  const auto time = parse_duration(text);
  const bool whole = time && *time % std::chrono::seconds{1} == Duration{};
  if (whole && to_seconds(*time) >= 1 && to_seconds(*time) <= double{kLongestJoinS}) return "";
  return fmt::format("has to be a time from 1s to 30d in whole seconds, like 1h; it is '{}'", text);
}

CLI::App* add_host_order(CLI::App& hosts, const char* verb, const char* meaning,
                         const SharedHostOptions& options) {
  CLI::App* command = hosts.add_subcommand(verb, meaning);
  command->add_option("HOST", options->host, "number of the machine")->required()->check(is_id());
  add_client_options(*command, options->client);
  return command;
}

void add_host_hands(CLI::App& hosts, int& exit_code) {
  auto drained = std::make_shared<HostOptions>();
  add_host_order(hosts, "drain",
                 "Move the tasks off a machine, and take it into use no more until `resume`",
                 drained)
      ->callback([drained, &exit_code] { exit_code = drain_host(*drained); });
  auto resumed = std::make_shared<HostOptions>();
  add_host_order(hosts, "resume", "Let a drained machine be taken into use again", resumed)
      ->callback([resumed, &exit_code] {
        exit_code = change_host(*resumed, {"resume", "", "resumed"});
      });
  auto labelled = std::make_shared<HostOptions>();
  CLI::App* label =
      add_host_order(hosts, "label", "Change labels of a machine; KEY= takes one away", labelled);
  label->add_option("LABEL", labelled->labels, "KEY=TEXT, like rack=3")
      ->required()
      ->check(CLI::Validator(check_label, "LABEL"));
  label->callback([labelled, &exit_code] { exit_code = label_host(*labelled); });
}

}  // namespace

void add_hosts(CLI::App& app, int& exit_code) {
  auto listed = std::make_shared<HostOptions>();
  CLI::App* hosts =
      app.add_subcommand("hosts", "List the machines of your own that have joined, or change one");
  add_client_options(*hosts, listed->client);
  hosts->require_subcommand(0, 1);
  auto lost = std::make_shared<HostOptions>();
  add_host_order(
      *hosts, "lost",
      "Say that nothing runs on a machine any more, which does not report: its tasks run "
      "again elsewhere",
      lost)
      ->callback([lost, &exit_code] {
        exit_code = change_host(*lost, {"lost", force_body(*lost), "lost"});
      });
  auto removed = std::make_shared<HostOptions>();
  add_host_order(*hosts, "remove", "Take the right to report from a machine that is not in use",
                 removed)
      ->callback([removed, &exit_code] {
        exit_code = change_host(*removed, {"remove", force_body(*removed), "removed"});
      });
  hosts->get_subcommand("lost")->add_flag(
      "--force", lost->force,
      "also while it reports or its lease holds: tasks that run there after all run twice");
  hosts->get_subcommand("remove")->add_flag(
      "--force", removed->force,
      "also while it is in use: its tasks run again elsewhere, also where it does not hear of it");
  add_host_hands(*hosts, exit_code);
  hosts->callback([hosts, listed, &exit_code] {
    if (hosts->get_subcommands().empty()) exit_code = list_hosts(*listed);
  });
}

void add_join_tokens(CLI::App& app, int& exit_code) {
  CLI::App* token =
      app.add_subcommand("join-token", "Tokens by which machines of your own join, for an admin");
  token->require_subcommand(1);
  auto made = std::make_shared<HostOptions>();
  CLI::App* command = token->add_subcommand("create", "Make a token and print it, this once");
  command->add_option("--hosts", made->hosts, "machines that may join by it")
      ->check(CLI::Range(std::int64_t{1}, kMostJoiningHosts))
      ->capture_default_str();
  command->add_option("--expires", made->expires, "how long it is valid")
      ->check(CLI::Validator(check_join_time, "TIME"))
      ->capture_default_str();
  command->add_flag("--quiet", made->quiet, "print the token alone");
  add_client_options(*command, made->client);
  command->callback([made, &exit_code] { exit_code = create_token(*made); });

  auto listed = std::make_shared<HostOptions>();
  command = token->add_subcommand("list", "List the tokens, without what is secret");
  add_client_options(*command, listed->client);
  command->callback([listed, &exit_code] { exit_code = list_tokens(*listed); });

  auto revoked = std::make_shared<HostOptions>();
  command = token->add_subcommand("revoke", "Revoke a token; machines that have joined stay");
  command->add_option("TOKEN", revoked->token, "as `muster join-token list` names it")->required();
  add_client_options(*command, revoked->client);
  command->callback([revoked, &exit_code] { exit_code = revoke_token(*revoked); });
}

}  // namespace muster::cli
