#include <fmt/format.h>

#include <memory>
#include <string>

#include "config/numbers.hpp"
#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/token_views.hpp"

// The command that shows who has changed what.

namespace muster::cli {
namespace {

struct AuditOptions {
  ClientOptions client;
  std::uint64_t limit = 100;
  std::string user;
  std::string since;
};

int show_audit(const AuditOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  std::string path = fmt::format("/v1/audit?limit={}", options.limit);
  if (!options.user.empty()) path += "&user=" + client::url_escaped(options.user);
  // A length of time: the server's clock is the one that the log goes by.
  if (const auto since = parse_duration(options.since)) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(*since);
    path += fmt::format("&within_s={}", seconds.count());
  }
  const auto answer = api->get(path);
  const ExitCode code = print_answer(
      answer, options.client.json,
      shown_as(client::audit_list, [](const auto& entries) { return client::view(entries); }));
  // Apart from the table, which a script may read; other nodes' logs have what others asked.
  const std::string node = code == kDone ? client::audit_node(answer.value()) : "";
  if (!node.empty() && !options.client.json) {
    complain(fmt::format("this is the log of node {}; --api URL asks another node's", node));
  }
  return code;
}

}  // namespace

void add_audit(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AuditOptions>();
  CLI::App* command = app.add_subcommand(
      "audit",
      "Show the audit log: changes and refused requests of the API that is asked (admins only)");
  command->add_option("--limit", options->limit, "most entries, the newest first")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000}))
      ->capture_default_str();
  command->add_option("--user", options->user, "only requests for this user")->check(is_filter());
  command->add_option("--since", options->since, "only entries of this last time, like 1h")
      ->check(is_since());
  add_client_options(*command, options->client);
  command->callback([options, &exit_code] { exit_code = show_audit(*options); });
}

}  // namespace muster::cli
