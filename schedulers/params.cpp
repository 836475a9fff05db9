#include "schedulers/params.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace muster {
namespace {

template <class Named>
std::string join_names(const std::vector<Named>& all) {
  std::string text;
  for (const Named& one : all) text += (text.empty() ? "" : ", ") + one.name;
  return text;
}

std::optional<bool> parse_flag(const std::string& text) {
  if (text == "true") return true;
  if (text == "false") return false;
  return std::nullopt;
}

std::optional<double> parse_number(const std::string& text, const ParamTarget& target) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) return std::nullopt;
  const bool enough = target.may_be_least ? value >= target.least : value > target.least;
  if (!enough || !(value <= target.most)) return std::nullopt;
  if (target.count != nullptr && value != std::floor(value)) return std::nullopt;
  return value;
}

bool assign(const ParamTarget& target, const std::string& text) {
  if (target.flag != nullptr) {
    const std::optional<bool> value = parse_flag(text);
    if (value) *target.flag = *value;
    return value.has_value();
  }
  if (target.word != nullptr) {
    *target.word = text;
    return std::find(target.words.begin(), target.words.end(), text) != target.words.end();
  }
  const std::optional<double> value = parse_number(text, target);
  if (!value) return false;
  if (target.count != nullptr) {
    *target.count = static_cast<std::uint32_t>(*value);
  } else {
    *target.number = *value;
  }
  return true;
}

}  // namespace

const PolicyInfo* find_info(const std::vector<PolicyInfo>& infos, const std::string& name) {
  for (const PolicyInfo& info : infos) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::string names_of(const std::vector<PolicyInfo>& infos) {
  return join_names(infos);
}

std::optional<Failure<PolicyError>> read_params(
    const PolicySpec& spec, const PolicyInfo& info,
    const std::function<ParamTarget(const std::string&)>& target) {
  const std::string who = "policy \"" + info.name + "\"";
  std::vector<std::string> seen;
  for (const auto& [name, text] : spec.params) {
    const ParamInfo* known = nullptr;
    for (const ParamInfo& param : info.params) {
      if (param.name == name) known = &param;
    }
    if (known == nullptr) {
      return Failure<PolicyError>{
          PolicyError::unknown_parameter,
          who + " has no parameter \"" + name + "\"; it has: " + join_names(info.params)};
    }
    for (const std::string& before : seen) {
      if (before != name) continue;
      return Failure<PolicyError>{PolicyError::contradiction,
                                  who + ": parameter \"" + name + "\" is given twice"};
    }
    seen.push_back(name);
    if (!assign(target(name), text)) {
      return Failure<PolicyError>{PolicyError::bad_value, who + ": parameter \"" + name +
                                                              "\" has to be " + known->range +
                                                              ", not \"" + text + "\""};
    }
  }
  return std::nullopt;
}

}  // namespace muster
