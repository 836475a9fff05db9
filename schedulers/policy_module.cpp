#include "schedulers/policy_module.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "model/closest_word.hpp"

namespace muster {
namespace {

std::vector<std::string> words_of(const std::vector<ParamInfo>& params) {
  std::vector<std::string> words;
  words.reserve(params.size());
  for (const ParamInfo& param : params) words.push_back(param.name);
  return words;
}

std::string names_of(const std::vector<ParamInfo>& params) {
  std::string text;
  for (const ParamInfo& param : params) text += (text.empty() ? "" : ", ") + param.name;
  return text.empty() ? "none" : text;
}

std::optional<double> parsed_number(const std::string& text) {
  double number = 0;
  const char* end = text.data() + text.size();
  return std::from_chars(text.data(), end, number).ptr == end ? std::optional(number)
                                                              : std::nullopt;
}

/// The shortest text that is read as the same number.
std::string number_text(double number) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

}  // namespace

Expected<std::unique_ptr<Policy>, PolicyError> PolicyModule::make_policy(
    const PolicySpec& spec, const Catalog& catalog, const PolicyServices& services) const {
  auto read_values = read(spec);
  if (!read_values) return read_values.error();
  if (uses.solver && !services.solver && !services.no_solver.empty()) {
    return Failure<PolicyError>{PolicyError::no_solver,
                                "policy \"" + name + "\" " + services.no_solver};
  }
  if (read_files && services.read_file) {
    const std::string fault = read_files(read_values.value(), services.read_file);
    if (!fault.empty()) {
      return Failure<PolicyError>{PolicyError::bad_file, "policy \"" + name + "\": " + fault};
    }
  }
  const std::string asks = asks_for_pairs ? asks_for_pairs(read_values.value()) : std::string{};
  if (!asks.empty() && !services.pairs) {
    return Failure<PolicyError>{PolicyError::replay_only,
                                "policy \"" + name + "\": " + asks +
                                    " needs the true rates of all pairs of tasks, which only the "
                                    "world of a replay knows"};
  }
  return make(read_values.value(), catalog, services);
}

PolicySpec share_of(const PolicyModule& module, PolicySpec spec, std::uint32_t masters) {
  if (masters < 2) return spec;
  const auto find = [&](const std::string& name) {
    return std::ranges::find(spec.params, name, &std::pair<std::string, std::string>::first);
  };
  // Where one of them is given the defaults of the others do not count and are not to look given.
  const bool any_given = std::ranges::any_of(module.divided, [&](const std::string& name) {
    const auto given = find(name);
    return given != spec.params.end() && parsed_number(given->second).value_or(0) > 0;
  });
  for (const std::string& name : module.divided) {
    auto given = find(name);
    if (given == spec.params.end()) {
      if (any_given) continue;
      const auto param = std::ranges::find(module.params, name, &ParamInfo::name);
      given = spec.params.insert(given, {name, param->default_value});
    }
    std::string& text = given->second;
    const auto number = parsed_number(text);
    // A text that is not a number stays as it is, for the error that names it.
    if (number) text = number_text(*number / masters);
  }
  return spec;
}

std::optional<Failure<PolicyError>> read_params(
    const PolicySpec& spec, const PolicyModule& module,
    const std::function<bool(std::size_t, const std::string&)>& set) {
  const std::string who = "policy \"" + module.name + "\"";
  std::vector<bool> given(module.params.size());
  for (const auto& [name, text] : spec.params) {
    const auto param =
        std::find_if(module.params.begin(), module.params.end(),
                     [&wanted = name](const ParamInfo& info) { return info.name == wanted; });
    const auto renamed =
        std::find_if(module.renamed.begin(), module.renamed.end(),
                     [&wanted = name](const auto& names) { return names.first == wanted; });
    if (renamed != module.renamed.end()) {
      return Failure<PolicyError>{
          PolicyError::unknown_parameter,
          who + ": parameter \"" + name + "\" is called " + renamed->second + " now"};
    }
    if (param == module.params.end()) {
      return Failure<PolicyError>{PolicyError::unknown_parameter,
                                  who + " has no parameter \"" + name + "\"; " +
                                      meant_word(name, words_of(module.params)) +
                                      "it has: " + names_of(module.params)};
    }
    // Positions, since the setters are kept in the order of the parameters.
    const auto index = static_cast<std::size_t>(param - module.params.begin());
    if (given[index]) {
      return Failure<PolicyError>{PolicyError::contradiction,
                                  who + ": parameter \"" + name + "\" is given twice"};
    }
    given[index] = true;
    if (!set(index, text)) {
      return Failure<PolicyError>{PolicyError::bad_value, who + ": parameter \"" + name +
                                                              "\" has to be " + param->range +
                                                              ", not \"" + text + "\""};
    }
  }
  return std::nullopt;
}

}  // namespace muster
