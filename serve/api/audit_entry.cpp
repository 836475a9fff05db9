#include "serve/api/audit_entry.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "serve/api/exec_request.hpp"
#include "serve/api/query.hpp"

namespace muster::api {
namespace {

/// Of a path; longer ones are cut off.
constexpr std::size_t kShownPath = 200;

std::string about_path(const Pass& pass) {
  if (pass.route == nullptr) return {};
  const bool joins = pass.route->pattern.starts_with("/v1/join-tokens");
  if (!pass.found.name.empty()) return (joins ? "join token " : "token ") + pass.found.name;
  if (pass.found.numbers.empty()) return {};
  const bool of_job = pass.route->pattern.starts_with("/v1/jobs");
  const bool of_host = pass.route->pattern.starts_with("/v1/hosts");
  return fmt::format("{} {}", of_job ? "job" : (of_host ? "host" : "instance"),
                     pass.found.numbers.front());
}

}  // namespace

AuditEntry entry_of(const RequestHead& head, const Pass& pass, const std::string& from) {
  AuditEntry entry;
  entry.token = pass.who.token;
  entry.user = pass.who.user;
  entry.address = from;
  entry.method = head.method;
  // Without the query, which may hold private values.
  entry.path = split_target(head.target).path.substr(0, kShownPath);
  entry.about = about_path(pass);
  return entry;
}

void add_command(AuditEntry& entry, const Pass& pass, const std::string& body) {
  if (pass.route == nullptr || pass.route->operation != Operation::exec) return;
  const std::string command = shown_command(body);
  entry.about = fmt::format("task {} of {}{}", pass.found.numbers.at(1), entry.about,
                            command.empty() ? "" : ": " + command);
}

void add_answer(AuditEntry& entry, const Response& response) {
  entry.status = response.status;
  constexpr int kCreated = 201;
  if (response.status != kCreated) return;
  const auto document = nlohmann::json::parse(response.body, nullptr, false);
  if (!document.is_object()) return;
  if (document.contains("name") && document["name"].is_string()) {
    entry.about = "token " + document["name"].get<std::string>();
  }
  const auto jobs = document.value("jobs", nlohmann::json::array());
  if (!jobs.is_array() || jobs.empty()) return;
  const std::string made = fmt::format("job {}", jobs.front().value("job", std::uint64_t{0}));
  const std::string more =
      jobs.size() > 1 ? fmt::format(" and {} more", jobs.size() - 1) : std::string();
  entry.about = entry.about.empty() ? made + more : made + more + " of " + entry.about;
}

}  // namespace muster::api
