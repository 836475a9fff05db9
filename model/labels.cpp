#include "model/labels.hpp"

#include <algorithm>

namespace muster {
namespace {

bool consists_of(std::string_view text, std::string_view others, bool capitals) {
  return !text.empty() && text.size() <= kMaxLabelBytes &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                  (capitals && c >= 'A' && c <= 'Z') || others.find(c) != std::string_view::npos;
         });
}

}  // namespace

bool is_label_key(std::string_view key) {
  return consists_of(key, "_-.", false) && key.front() >= 'a' && key.front() <= 'z';
}

bool is_label_value(std::string_view value) {
  return consists_of(value, "_-.:/+", true);
}

std::optional<Labels> parse_labels(std::string_view text, LabelFault& fault) {
  Labels labels;
  std::size_t at = 0;
  const auto fails = [&](std::string message) {
    fault = {at, std::move(message)};
    return std::nullopt;
  };
  while (at < text.size()) {
    const std::string_view part = text.substr(at, text.find(';', at) - at);
    const std::size_t equals = part.find('=');
    const std::string shown = "'" + std::string(part.substr(0, 2 * kMaxLabelBytes)) + "'";
    if (equals == std::string_view::npos) {
      return fails("has to be labels like zone=eu-1a;disk=nvme; " + shown + " has no '='");
    }
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(equals + 1);
    if (!is_label_key(key)) {
      return fails("the key of a label has to be " + std::string(kLabelKeyRule) + "; it is " +
                   shown);
    }
    if (!is_label_value(value)) {
      return fails("the value of a label has to be " + std::string(kLabelValueRule) + "; it is " +
                   shown);
    }
    const auto place = std::lower_bound(
        labels.begin(), labels.end(), key,
        [](const auto& label, std::string_view wanted) { return label.first < wanted; });
    if (place != labels.end() && place->first == key) {
      return fails("'" + std::string(key) + "' is there twice");
    }
    labels.emplace(place, key, value);
    if (labels.size() > kMaxLabels) {
      return fails("can have at most " + std::to_string(kMaxLabels) + " labels");
    }
    at += part.size() + 1;
  }
  if (text.ends_with(';')) {
    at = text.size();
    return fails("ends with ';', behind which a label has to stand");
  }
  return labels;
}

std::string label_text(const Labels& labels) {
  std::string text;
  for (const auto& [key, value] : labels) {
    if (!text.empty()) text += ' ';
    text += key + "=" + value;
  }
  return text;
}

}  // namespace muster
