// A request's query, checked against the parameters that its route declares. Unknown and repeated
// names are faults, so that a misspelt parameter is not passed over in silence; not of /metrics, as
// exporters have it.

#include "serve/api/query.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>
#include <vector>

#include "config/request_text.hpp"
#include "model/check.hpp"

namespace muster::api {
namespace {

/// Of an unknown name in a message.
constexpr std::size_t kMaxShownBytes = 60;

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      // A plus is a space in queries, as forms encode it.
      plain += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    unsigned byte = 0;
    const char* first = text.data() + i + 1;
    // Two digits have to follow; from_chars() alone would take one.
    if (text.size() - i <= 2 || std::from_chars(first, first + 2, byte, 16).ptr != first + 2) {
      return std::nullopt;
    }
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

std::optional<std::uint64_t> number_of(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// The fault of a parameter's value; empty: no fault.
std::string fault_of(const Parameter& parameter, const std::string& value) {
  switch (parameter.kind) {
    case Parameter::Kind::number: {
      const std::optional<std::uint64_t> number = number_of(value);
      if (number && *number >= parameter.least && *number <= parameter.most) {
        return {};
      }
      return fmt::format("{}: has to be a whole number from {} to {}", parameter.name,
                         parameter.least, parameter.most);
    }
    case Parameter::Kind::choice:
      if (std::ranges::find(parameter.choices, value) != parameter.choices.end()) {
        return {};
      }
      return fmt::format("{}: has to be one of {}", parameter.name,
                         fmt::join(parameter.choices, ", "));
    case Parameter::Kind::text:
      if (!config::is_utf8(value)) return fmt::format("{}: has to be UTF-8 text", parameter.name);
      return value.size() <= parameter.most
                 ? std::string()
                 : fmt::format("{}: has at most {} bytes", parameter.name, parameter.most);
  }
  return {};
}

std::string known_names(const Route& route) {
  if (route.query.empty()) {
    return "this request has no parameters";
  }
  std::vector<std::string_view> names;
  for (const Parameter& parameter : route.query) {
    names.push_back(parameter.name);
  }
  return fmt::format("known are {}", fmt::join(names, ", "));
}

const Parameter* find_parameter(const Route& route, std::string_view name) {
  const auto place = std::ranges::find(route.query, name, &Parameter::name);
  return place == route.query.end() ? nullptr : &*place;
}

struct NamedValue {
  std::string name;
  std::string value;
};

std::optional<std::vector<NamedValue>> named_values(std::string_view text) {
  std::vector<NamedValue> values;
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (piece.empty()) {
      // "a=1&&b=2" and a trailing '&' are harmless.
      continue;
    }
    const std::size_t equals = piece.find('=');
    const bool valued = equals != std::string_view::npos;
    const auto name = percent_decoded(piece.substr(0, equals));
    const auto value = percent_decoded(valued ? piece.substr(equals + 1) : std::string_view());
    // Decoded before the names are compared: "%6c" is an l.
    if (!name || !value) {
      return std::nullopt;
    }
    values.push_back({*name, *value});
  }
  return values;
}

}  // namespace

Expected<Query, int> Query::parse(std::string_view text, const Route& route) {
  const auto given = named_values(text);
  if (!given) {
    return Failure<int>{400, "the query has a % that is not followed by two hexadecimal digits"};
  }
  Query query;
  for (const Parameter& parameter : route.query) {
    // Defaults first: text() and number() find every parameter that the route declares.
    query.values_.emplace(parameter.name, parameter.fallback);
  }
  // All faults in one answer, so that one correction is enough.
  std::vector<std::string> faults;
  std::set<std::string> given_names;
  for (const NamedValue& entry : *given) {
    // O(parameters): a route has a handful.
    const Parameter* parameter = find_parameter(route, entry.name);
    if (parameter == nullptr) {
      // A collector of figures sends the parameters of its other sources along.
      if (route.operation == Operation::metrics) continue;
      faults.push_back(fmt::format("{}: is not known; {}", entry.name.substr(0, kMaxShownBytes),
                                   known_names(route)));
      continue;
    }
    if (!given_names.insert(entry.name).second) {
      faults.push_back(fmt::format("{}: is given more than once", entry.name));
    } else if (std::string fault = fault_of(*parameter, entry.value); !fault.empty()) {
      faults.push_back(std::move(fault));
    }
    // Also of a fault: the query is thrown away below then.
    query.values_.insert_or_assign(entry.name, entry.value);
  }
  if (!faults.empty()) {
    return Failure<int>{422, fmt::format("{}", fmt::join(faults, "; "))};
  }
  return query;
}

const std::string& Query::text(std::string_view name) const {
  const auto place = values_.find(name);
  MUSTER_CHECK(place != values_.end(), "the route declares every parameter that it reads");
  return place->second;
}

std::uint64_t Query::number(std::string_view name) const {
  const std::optional<std::uint64_t> number = number_of(text(name));
  MUSTER_CHECK(number.has_value(), "a number's default is one, and what was given is checked");
  return *number;
}

Target split_target(std::string_view target) {
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? Target{target, {}}
                                        : Target{target.substr(0, mark), target.substr(mark + 1)};
}

}  // namespace muster::api
