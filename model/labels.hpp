#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster {

/// The words of an instance type besides its capacity: a zone, a kind of disk, a network.
/// Key and value, by rising keys, each key once.
using Labels = std::vector<std::pair<std::string, std::string>>;

/// The key of the zone that a type is rented in.
inline constexpr std::string_view kZoneLabel = "zone";
/// How many labels a type may have, and how long their keys and values may be.
inline constexpr std::size_t kMaxLabels = 16;
inline constexpr std::size_t kMaxLabelBytes = 64;

inline constexpr std::string_view kLabelKeyRule =
    "1 to 64 of a-z, 0-9, '_', '-' and '.', beginning with a letter";
inline constexpr std::string_view kLabelValueRule =
    "1 to 64 of A-Z, a-z, 0-9, '_', '-', '.', ':', '/' and '+'";

/// By the rule of keys.
bool is_label_key(std::string_view key);
/// By the rule of values.
bool is_label_value(std::string_view value);

/// A part of a text of labels that cannot be one.
struct LabelFault {
  std::size_t at = 0;  ///< bytes before it in the text
  std::string message;
};

/// Reads "zone=eu-1a;disk=nvme"; an empty text has no labels. Nothing: `fault` says what is wrong.
std::optional<Labels> parse_labels(std::string_view text, LabelFault& fault);
/// "disk=nvme zone=eu-1a"
std::string label_text(const Labels& labels);

}  // namespace muster
