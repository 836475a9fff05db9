#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/registry.hpp"

namespace muster {

/// Where a parameter's value goes, and which values it may have.
struct ParamTarget {
  bool* flag = nullptr;
  double* number = nullptr;
  std::uint32_t* count = nullptr;
  double least = 0;
  double most = 0;
  bool may_be_least = true;
  std::string* word = nullptr;
  std::vector<std::string> words{};  ///< what it may be

  /// A number > 0 and <= `most`.
  static ParamTarget positive(double* number, double most) {
    return {nullptr, number, nullptr, 0, most, false, nullptr, {}};
  }
  static ParamTarget between(double* number, double least, double most) {
    return {nullptr, number, nullptr, least, most, true, nullptr, {}};
  }
  static ParamTarget whole(std::uint32_t* count, double least, double most) {
    return {nullptr, nullptr, count, least, most, true, nullptr, {}};
  }
  static ParamTarget one_of(std::string* word, std::vector<std::string> words) {
    return {nullptr, nullptr, nullptr, 0, 0, true, word, std::move(words)};
  }
};

/// The entry of that name; null when there is none.
const PolicyInfo* find_info(const std::vector<PolicyInfo>& infos, const std::string& name);

/// All names, for an error that lists them.
std::string names_of(const std::vector<PolicyInfo>& infos);

/// Reads the parameters that the policy has to where `target` says; the failure if there is one.
std::optional<Failure<PolicyError>> read_params(
    const PolicySpec& spec, const PolicyInfo& info,
    const std::function<ParamTarget(const std::string&)>& target);

}  // namespace muster
