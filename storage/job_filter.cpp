#include "storage/job_filter.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

using nlohmann::json;

/// What the object says; `otherwise` when it says nothing, or no text.
std::string said(const json& object, const char* name, const char* otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

std::string dump(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

JobFilter::JobFilter(const std::string& text, std::uint32_t limit) {
  if (limit > 0) most = std::min(limit, kMost);
  const json wanted = json::parse(text, nullptr, false);
  if (!wanted.is_object()) return;
  const std::string state = said(wanted, "state", "all");
  active = state != "over";
  over = state != "active";
  user = said(wanted, "user", "");
  if (const auto after = job_cursor_from(said(wanted, "after", ""))) {
    (after->over ? over_below : active_below) = after->behind;
    if (after->over) active = false;
  }
  const auto listed = wanted.find("only");
  if (listed == wanted.end() || !listed->is_array()) return;
  only.emplace();
  for (const json& job : *listed) {
    if (job.is_number_unsigned() && only->size() < kMost) {
      only->push_back(JobId{job.get<std::uint64_t>()});
    }
  }
}

std::string JobFilter::page(const std::string& state, const std::string& user,
                            const std::optional<JobCursor>& after) {
  json wanted{{"state", state}, {"user", user}};
  if (after) wanted["after"] = to_text(*after);
  return dump(wanted);
}

std::string JobFilter::parts_of(const std::vector<JobId>& jobs) {
  json numbers = json::array();
  for (const JobId job : jobs) numbers.push_back(job.value);
  return dump({{"only", std::move(numbers)}});
}

}  // namespace muster
