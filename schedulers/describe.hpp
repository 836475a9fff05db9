#pragma once

#include <any>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/check.hpp"
#include "schedulers/modules.hpp"
#include "schedulers/param_kinds.hpp"
#include "schedulers/policy_module.hpp"

// How a policy describes itself: parameters are bound to the members of its parameter struct, and
// what people are shown (default, range) and what is checked follow from the binding.

namespace muster {

/// A member of a member, for param(): in(&EagleParams::queue, &QueueRules::sticky).
template <class Outer, class Inner, class T>
auto in(Inner Outer::*outer, T Inner::*inner) {
  return [ outer, inner ](auto& params) -> auto& {
    return params.*outer.*inner;
  };
}

/// A description under way; `P` is the policy's parameter struct. made_by() or composed_as() ends
/// it.
template <class P>
class Description {
 public:
  Description(std::string name, std::string meaning, P defaults)
      : module_{std::move(name), std::move(meaning)}, defaults_(std::move(defaults)) {}

  /// A parameter that sets a member: a pointer to it, or a function from P& to it. The default is
  /// what the struct has.
  template <class Member, class T>
  Description& param(std::string name, Member member, params::Kind<T> kind, std::string meaning) {
    using Bound = std::remove_cvref_t<std::invoke_result_t<Member, P&>>;
    static_assert(std::is_same_v<Bound, T>, "a kind is bound to a member of its own type");
    // Shown as parse() takes it, so that a default that is copied from the help has its meaning.
    const T& value = std::invoke(member, defaults_);
    if constexpr (std::is_same_v<T, std::filesystem::path>) module_.paths.push_back(name);
    module_.params.push_back({std::move(name), kind.print(value), kind.range, std::move(meaning)});
    setters_.push_back([member, parse = std::move(kind.parse)](P& params, const std::string& text) {
      std::optional<T> parsed = parse(text);
      if (parsed) std::invoke(member, params) = std::move(*parsed);
      return parsed.has_value();
    });
    return *this;
  }

  /// The parameter of that name had the other one in earlier versions, which is an error that says
  /// so: a setting that silently changes nothing would be worse.
  Description& renamed(std::string from, std::string to) {
    module_.renamed.emplace_back(std::move(from), std::move(to));
    return *this;
  }

  /// The parameter of that name, a number, is for all masters of a cluster together.
  Description& divided(std::string name) {
    module_.divided.push_back(std::move(name));
    return *this;
  }

  /// The two that say when rounds are held; most policies have both.
  template <class Member>
  Description& period(Member member) {
    return param("period_s", member, params::in_seconds(params::above(0).up_to(kLongestPeriod_s)),
                 "seconds between two rounds");
  }
  template <class Member>
  Description& eager(Member member) {
    return param("eager", member, params::flag(),
                 "hold a round at once when a job comes or resources come free, too");
  }

  /// The contradiction between parameters, as text; empty without one.
  Description& check(std::function<std::string(const P&)> fault) {
    checks_.push_back(std::move(fault));
    return *this;
  }
  /// The parameters that may not be given together, as text; empty without such: defaults are not
  /// given.
  Description& check_given(std::function<std::string(const PolicySpec&)> fault) {
    given_checks_.push_back(std::move(fault));
    return *this;
  }
  Description& takes_in(const Intake& intake) {
    module_.intake = intake;
    return *this;
  }
  Description& uses(const Uses& uses) {
    module_.uses = uses;
    return *this;
  }

  /// The parameter that asks for the true rates of pairs, as text; empty without one.
  Description& asks_for_pairs(std::function<std::string(const P&)> which) {
    module_.asks_for_pairs = [which = std::move(which)](const std::any& params) {
      return which(std::any_cast<const P&>(params));
    };
    return *this;
  }

  /// Takes the files that parameters name into the struct, and answers their fault, or nothing.
  Description& reads_files(std::function<std::string(P&, const ReadPolicyFile&)> read) {
    module_.read_files = [read = std::move(read)](std::any& params, const ReadPolicyFile& file) {
      return read(std::any_cast<P&>(params), file);
    };
    return *this;
  }

  /// Masters decide by the policy that this makes.
  PolicyModule made_by(std::function<std::unique_ptr<Policy>(const P&, const Catalog&)> make_with) {
    return made_by_services([make_with = std::move(make_with)](
                                const P& params, const Catalog& catalog, const PolicyServices&) {
      return make_with(params, catalog);
    });
  }
  /// Likewise, for a policy that uses the services that it is handed.
  PolicyModule made_by_services(
      std::function<std::unique_ptr<Policy>(const P&, const Catalog&, const PolicyServices&)>
          make_with) {
    module_.make = [make_with = std::move(make_with)](const std::any& params,
                                                      const Catalog& catalog,
                                                      const PolicyServices& services) {
      return make_with(std::any_cast<const P&>(params), catalog, services);
    };
    return finish();
  }
  /// A group with actors of its own.
  PolicyModule composed_as(std::string composition) {
    module_.composition = std::move(composition);
    return finish();
  }

 private:
  using Setter = std::function<bool(P&, const std::string&)>;

  static constexpr double kLongestPeriod_s = 604800;

  PolicyModule finish() {
    // A copy: module_ is moved from below, while read() lives on with the module.
    PolicyModule shown = module_;  // subject of the errors
    module_.read = [shown, defaults = defaults_, setters = std::move(setters_),
                    checks = std::move(checks_), given_checks = std::move(given_checks_)](
                       const PolicySpec& spec) -> Expected<std::any, PolicyError> {
      const auto contradiction = [&](const std::string& fault) {
        return Failure<PolicyError>{PolicyError::contradiction,
                                    "policy \"" + shown.name + "\": " + fault};
      };
      P params = defaults;
      const auto set = [&](std::size_t index, const std::string& text) {
        return setters[index](params, text);
      };
      if (auto wrong = read_params(spec, shown, set)) return *wrong;
      for (const auto& fault_of : given_checks) {
        if (const std::string fault = fault_of(spec); !fault.empty()) return contradiction(fault);
      }
      for (const auto& fault_of : checks) {
        if (const std::string fault = fault_of(params); !fault.empty()) return contradiction(fault);
      }
      return std::any(std::move(params));
    };
    return std::move(module_);
  }

  PolicyModule module_;
  P defaults_;
  std::vector<Setter> setters_;  ///< one a parameter
  std::vector<std::function<std::string(const P&)>> checks_;
  std::vector<std::function<std::string(const PolicySpec&)>> given_checks_;
};

/// Begins the description of a policy. `defaults` is for one of several that share a struct.
template <class P>
Description<P> describe(std::string name, std::string meaning, P defaults = {}) {
  return {std::move(name), std::move(meaning), std::move(defaults)};
}

}  // namespace muster
