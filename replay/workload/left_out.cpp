#include "replay/workload/left_out.hpp"

#include <fmt/format.h>

namespace muster::replay {
namespace {

/// A file has few fields and formats few reasons; names that a file makes up are not listed without
/// end.
constexpr std::size_t kMostFields = 100;

}  // namespace

void LeftOut::add(std::string_view reason, std::uint64_t count) {
  const auto found = by_reason.find(reason);
  (found == by_reason.end() ? by_reason[std::string(reason)] : found->second) += count;
}

void LeftOut::add_bad(std::string_view field, std::string_view complaint) {
  if (bad.empty()) first_bad = complaint;
  if (field.empty()) field = "number of fields";
  const auto found = bad.find(field);
  const bool full = found == bad.end() && bad.size() >= kMostFields;
  ++(found != bad.end() ? found->second : bad[full ? "other fields" : std::string(field)]);
}

void LeftOut::add_change(std::string_view what) {
  const auto found = changed.find(what);
  ++(found == changed.end() ? changed[std::string(what)] : found->second);
}

std::string LeftOut::text() const {
  std::string text;
  for (const auto& [reason, rows] : by_reason) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rows, reason);
  }
  if (!text.empty()) text += " left out";
  for (const auto& [what, rows] : changed) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", rows, what);
  }
  if (bad.empty()) return text;
  std::uint64_t skipped = 0;
  std::string fields;
  for (const auto& [field, rows] : bad) {
    skipped += rows;
    fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", field, rows);
  }
  text += fmt::format("{}{} bad {} skipped ({})", text.empty() ? "" : ", ", skipped,
                      skipped == 1 ? "row" : "rows", fields);
  return text;
}

std::map<std::string, std::uint64_t> LeftOut::by_text() const {
  std::map<std::string, std::uint64_t> all(by_reason.begin(), by_reason.end());
  all.insert(changed.begin(), changed.end());
  for (const auto& [field, rows] : bad) all["bad: " + field] = rows;
  return all;
}

}  // namespace muster::replay
