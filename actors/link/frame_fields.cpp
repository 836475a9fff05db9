#include "actors/link/frame_fields.hpp"

#include <array>
#include <cctype>
#include <string_view>

namespace muster::frame_fields {
namespace {

/// Of members whose key alone would not say to a reader what is wrong.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kNouns = {
    {{"amount", "a demand"},
     {"baseline_rate_per_s", "a pace"},
     {"build_s", "a build delay"},
     {"fetch_s", "a fetch delay"},
     {"granted", "a grant"},
     {"init_s", "an init delay"},
     {"stop_s", "a stop delay"},
     {"upload_s", "an upload delay"},
     {"warn_before_s", "a warning before the time limit"}}};

std::string_view without_seconds(std::string_view name) {
  if (name.ends_with("_s")) name.remove_suffix(2);
  return name;
}

}  // namespace

std::string frame_name(Key key, bool is_time) {
  std::string_view name = key.record.empty() ? key.name : key.record;
  // A rate "per_s" is a number, and keeps its unit.
  if (!name.ends_with("_per_s")) name = without_seconds(name);
  std::string spelled;
  bool begins = false;
  for (const char c : name) {
    if (c != '_') spelled += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return is_time ? spelled + "Ns" : spelled;
}

std::string noun_of(Key key) {
  for (const auto& [name, noun] : kNouns) {
    if (name == key.name) return std::string(noun);
  }
  std::string words = "a ";
  for (const char c : without_seconds(key.name)) words += c == '_' ? ' ' : c;
  return words;
}

void FrameMembers::add(const std::string& name) {
  KJ_IF_MAYBE (member, schema_.findFieldByName(name)) {
    members_.push_back(*member);
    return;
  }
  // At the first order of a process: a member that does not travel would be lost in silence.
  const std::string lack =
      std::string(schema_.getShortDisplayName().cStr()) + " has no member " + name;
  check_failed("`fields` and frame.capnp agree", __FILE__, __LINE__, lack.c_str());
}

void FrameReader::get(Key key, const Value& from, double& value) {
  value = from.as<double>();
  // Prices an iteration are divided by a speed.
  const bool positive = key.name == "speed";
  // Written so that a NaN fails too.
  const bool fits = std::isfinite(value) && value >= 0 && !(positive && value == 0);
  if (fits || !problem_.empty()) return;
  problem_ =
      noun_of(key) + (positive ? " that is not a positive number" : " that is not a number from 0");
}

}  // namespace muster::frame_fields
