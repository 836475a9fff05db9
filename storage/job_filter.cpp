#include "storage/job_filter.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace muster {
namespace {

/// What the object says; `otherwise` when it says nothing, or no text.
std::string said(const nlohmann::json& object, const char* name, const char* otherwise) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : otherwise;
}

}  // namespace

JobFilter::JobFilter(const std::string& text, std::uint32_t limit) {
  if (limit > 0) most = std::min(limit, kMost);
  const nlohmann::json wanted = nlohmann::json::parse(text, nullptr, false);
  if (!wanted.is_object()) return;
  const std::string state = said(wanted, "state", "all");
  active = state != "over";
  over = state != "active";
  user = said(wanted, "user", "");
}

}  // namespace muster
