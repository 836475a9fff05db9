#include "schedulers/policy_spec.hpp"

namespace muster {

Expected<PolicySpec, PolicyError> parse_policy(std::string_view text) {
  PolicySpec spec;
  for (bool first = true; first || !text.empty(); first = false) {
    const std::size_t comma = text.find(',');
    const std::string part(text.substr(0, comma));
    const bool more = comma != std::string_view::npos;
    text = more ? text.substr(comma + 1) : std::string_view{};
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (name.empty() || (first && equals != std::string::npos) || (more && text.empty())) {
      return Failure<PolicyError>{
          PolicyError::malformed,
          "a policy is written NAME[,key=value|,flag]..., without empty parts"};
    }
    if (first) {
      spec.name = name;
    } else {
      spec.params.emplace_back(
          name, equals == std::string::npos ? std::string("true") : part.substr(equals + 1));
    }
  }
  return spec;
}

}  // namespace muster
