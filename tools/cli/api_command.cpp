#include <iostream>
#include <memory>
#include <string>

#include "serve/api/openapi.hpp"
#include "serve/api/reference.hpp"
#include "tools/cli/commands.hpp"
#include "tools/cli/json_option.hpp"
#include "tools/cli/output.hpp"

// The command that describes the HTTP API, from the table by which requests are checked.

namespace muster::cli {
namespace {

int describe_api(const std::string& json) {
  if (json != "-") std::cout << api::reference_text();
  if (json.empty()) return kDone;
  const auto write = [](std::ostream& out) { out << api::openapi_document() << "\n"; };
  return write_output(json, write) ? kDone : kFailed;
}

}  // namespace

void add_api(CLI::App& app, int& exit_code) {
  auto json = std::make_shared<std::string>();
  CLI::App* command =
      app.add_subcommand("api", "List the requests of the HTTP API and their documents");
  add_json_option(*command, *json, "the OpenAPI document");
  command->callback([json, &exit_code] { exit_code = describe_api(*json); });
}

}  // namespace muster::cli
