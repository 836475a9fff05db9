#pragma once

#include <any>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "learning/job_classifier.hpp"
#include "model/catalog.hpp"
#include "schedulers/policy.hpp"
#include "schedulers/policy_services.hpp"
#include "schedulers/policy_spec.hpp"

namespace muster {

/// A parameter as it is shown to people; all texts.
struct ParamInfo {
  std::string name;
  std::string default_value;
  std::string range;
  std::string meaning;
};

/// How a group that decides by the policy takes jobs in and routes them, where its config does not
/// say.
struct Intake {
  std::optional<ClassifierKind>
      classify_by{};  ///< classifier of short and long jobs; unset: jobs are not classified
  std::uint32_t masters_per_job = 1;  ///< masters that share the tasks of a job
};

/// Inputs of the policy besides demands, room and the queue.
struct Uses {
  bool throughput = false;   ///< workers' measurements of their tasks
  bool prices = false;       ///< prices of instances
  bool predictions = false;  ///< how long a job is expected to run, and how sure that is
  bool solver = false;       ///< PolicyServices::solver
};

/// All that the rest of the system knows of a policy, or of a group with actors of its own. Each is
/// described in its folder, by describe() (schedulers/describe.hpp).
struct PolicyModule {
  std::string name;
  std::string meaning;  ///< one line
  std::vector<ParamInfo> params{};
  /// Parameters that had another name in earlier versions: that name and the present one.
  std::vector<std::pair<std::string, std::string>> renamed{};
  /// Parameters that are numbers for all masters of a cluster together: each gets the same share.
  std::vector<std::string> divided{};
  Intake intake{};
  Uses uses{};

  /// The parameters, as the struct that they are bound to. Errors list what is known or allowed.
  std::function<Expected<std::any, PolicyError>(const PolicySpec&)> read{};
  /// Makes the policy from what read() gave; the catalog has to outlive it. Empty for a group with
  /// actors of its own.
  std::function<std::unique_ptr<Policy>(const std::any&, const Catalog&, const PolicyServices&)>
      make{};
  /// Takes the files that the parameters name into the result of read(); answers their fault, or
  /// nothing. Empty: no parameter names a file.
  std::function<std::string(std::any&, const ReadPolicyFile&)> read_files{};
  /// Parameters that are paths of files.
  std::vector<std::string> paths{};
  /// The parameter that asks for the true rates of pairs ("profile=given"); empty: no parameter
  /// does.
  std::function<std::string(const std::any&)> asks_for_pairs{};
  /// Of a group with actors of its own: its entry in replay/sampling/compositions.cpp.
  std::string composition{};

  Expected<std::unique_ptr<Policy>, PolicyError> make_policy(
      const PolicySpec& spec, const Catalog& catalog, const PolicyServices& services = {}) const;
};

/// The spec for one of `masters` masters: its share of the parameters that they divide.
PolicySpec share_of(const PolicyModule& module, PolicySpec spec, std::uint32_t masters);

/// Hands each parameter of the spec to `set`, with its position among the module's; `set` says
/// whether the value suits. The failure if there is one.
std::optional<Failure<PolicyError>> read_params(
    const PolicySpec& spec, const PolicyModule& module,
    const std::function<bool(std::size_t, const std::string&)>& set);

}  // namespace muster
