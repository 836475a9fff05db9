#include <fmt/format.h>

#include <memory>
#include <ostream>
#include <string>

#include "tools/cli/client_options.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/output.hpp"
#include "tools/client/service_views.hpp"

// Commands that show services: all of them, the replicas of one, and where its clients find it.

namespace muster::cli {
namespace {

/// As long as the API keeps such a question open.
constexpr int kWaitS = 25;

struct ServiceOptions {
  ClientOptions client;
  std::string name;
  std::string user;
  std::string follow;  ///< file that is to have the endpoints from now on; empty: print them once
};

/// "?user=ann", or the first of what follows.
std::string query_of(const ServiceOptions& options) {
  return options.user.empty() ? "" : "?user=" + client::url_escaped(options.user);
}

void add_service_options(CLI::App& command, ServiceOptions& options, bool named) {
  if (named) command.add_option("name", options.name, "name of a service")->required();
  command.add_option("--user", options.user, "only the services of this user")->check(is_filter());
  add_client_options(command, options.client);
}

int show_services(const ServiceOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(api->get("/v1/services" + query_of(options)), options.client.json,
                      shown_as(client::view_of<ServicesView>, [](const ServicesView& services) {
                        return client::view(services);
                      }));
}

int show_service(const ServiceOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  return print_answer(
      api->get("/v1/services/" + client::url_escaped(options.name) + query_of(options)),
      options.client.json, shown_as(client::view_of<ServicesView>, client::replicas_text));
}

/// Writes the file anew whenever the list is another one, until the command is interrupted.
int follow_endpoints(const ServiceOptions& options, client::ApiClient& api) {
  std::string revision;
  while (true) {
    const std::string more = options.user.empty() ? "?" : query_of(options) + "&";
    const auto answer = api.get(fmt::format("/v1/services/{}/endpoints{}wait_s={}&revision={}",
                                            client::url_escaped(options.name), more,
                                            revision.empty() ? 0 : kWaitS, revision),
                                std::chrono::seconds{kWaitS});
    if (!answer) return complain_of(answer.error());
    const auto endpoints = client::view_of<EndpointsView>(answer.value());
    if (!endpoints) return complain_of(endpoints.error());
    if (endpoints->revision == revision) continue;
    revision = endpoints->revision;
    const std::string text =
        options.client.json ? answer->text + "\n" : client::view(endpoints.value());
    if (!write_output(options.follow, [&](std::ostream& out) { out << text; })) return kFailed;
  }
}

int show_endpoints(const ServiceOptions& options) {
  const auto api = connect(options.client);
  if (!api) return kFailed;
  if (!options.follow.empty()) return follow_endpoints(options, *api);
  return print_answer(api->get("/v1/services/" + client::url_escaped(options.name) + "/endpoints" +
                               query_of(options)),
                      options.client.json,
                      shown_as(client::view_of<EndpointsView>, [](const EndpointsView& endpoints) {
                        return client::view(endpoints);
                      }));
}

using Show = int (*)(const ServiceOptions&);

void add_command(CLI::App& app, int& exit_code, const char* name, const char* meaning, Show show) {
  auto options = std::make_shared<ServiceOptions>();
  CLI::App* command = app.add_subcommand(name, meaning);
  add_service_options(*command, *options, show != show_services);
  if (show == show_endpoints) {
    command->add_option("--follow", options->follow,
                        "write FILE anew whenever the list changes, for a proxy that watches it");
  }
  command->callback([options, show, &exit_code] { exit_code = show(*options); });
}

}  // namespace

void add_services(CLI::App& app, int& exit_code) {
  add_command(app, exit_code, "services", "List the services and how they are doing",
              show_services);
  add_command(app, exit_code, "service", "Show the replicas of a service", show_service);
  add_command(app, exit_code, "endpoints", "Print where a service's ready replicas are",
              show_endpoints);
}

}  // namespace muster::cli
