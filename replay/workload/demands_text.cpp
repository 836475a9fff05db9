#include "replay/workload/demands_text.hpp"

#include <algorithm>

#include "config/numbers.hpp"
#include "replay/workload/readers.hpp"

// Demands by family as one text: FAMILY:GPU/CPU/MEMORY[/...][@SPEED], with semicolons between
// entries and "any" for all other families.

namespace muster::replay {
namespace {

constexpr std::string_view kAny = "any";
constexpr std::size_t kStatedKinds = 3;  ///< gpu, cpu and memory are always written

std::optional<Resources> parse_amounts(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() < kStatedKinds || parts.size() > kResourceKinds) return std::nullopt;
  Resources amounts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::optional<double> amount = parse_number(parts[i]);
    if (!amount || !kAmount.contains(*amount)) return std::nullopt;
    amounts[kAllResources[i]] = *amount;
  }
  return amounts;
}

std::optional<FamilyDemand> parse_entry(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view family = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  FamilyDemand entry;
  const std::size_t at = text.find('@');
  if (at != std::string_view::npos) {
    const std::optional<double> speed = parse_number(text.substr(at + 1));
    if (!speed || !kPositive.contains(*speed)) return std::nullopt;
    entry.speed = *speed;
  }
  const std::optional<Resources> amounts = parse_amounts(text.substr(0, at));
  if (!amounts || !is_family_name(family)) return std::nullopt;
  entry.amount = *amounts;
  if (family != kAny) entry.family = family;
  return entry;
}

std::string entry_text(const FamilyDemand& entry) {
  std::size_t kinds = kResourceKinds;
  // Trailing zeros say nothing: the reader takes missing kinds for zero.
  while (kinds > kStatedKinds && entry.amount.amounts()[kinds - 1] == 0) --kinds;
  std::string text = entry.family.empty() ? std::string(kAny) : entry.family;
  for (std::size_t i = 0; i < kinds; ++i) {
    text += i == 0 ? ':' : '/';
    text += number_text(entry.amount.amounts()[i]);
  }
  if (entry.speed != 1) text += "@" + number_text(entry.speed);
  return text;
}

}  // namespace

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_family_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  });
}

std::string demands_text(const std::vector<FamilyDemand>& entries) {
  std::string text;
  for (const FamilyDemand& entry : entries) {
    if (!text.empty()) text += ';';
    text += entry_text(entry);
  }
  return text;
}

std::optional<std::vector<FamilyDemand>> parse_demands(std::string_view text) {
  std::vector<FamilyDemand> entries;
  for (const std::string_view part : split(text, ';')) {
    const std::optional<FamilyDemand> entry = parse_entry(part);
    if (!entry) return std::nullopt;
    const bool twice = std::any_of(entries.begin(), entries.end(), [&](const FamilyDemand& e) {
      return e.family == entry->family;
    });
    // Two entries of one family leave open which counts.
    if (twice) return std::nullopt;
    entries.push_back(*entry);
  }
  return entries;
}

}  // namespace muster::replay
