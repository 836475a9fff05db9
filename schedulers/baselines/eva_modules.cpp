#include "schedulers/baselines/owl.hpp"
#include "schedulers/baselines/synergy.hpp"
#include "schedulers/describe.hpp"
#include "schedulers/market_split.hpp"

// The baselines of the Eva paper that pack. They have the parameters of pairs, rounds and markets
// in one wording.

namespace muster {
namespace {

template <class Params>
void describe_pairs(Description<Params>& description) {
  description.param("artifact", &Params::artifact, params::flag(),
                    "decide as the simulator does that the authors of Eva published");
  description.param("t", &Params::default_pair, params::number(params::above(0).up_to(1)),
                    "expected throughput of a task beside a neighbour never observed");
}

template <class Params>
Description<Params>& describe_rounds(Description<Params>& description) {
  return description.period(&Params::period)
      .eager(&Params::eager)
      .param("spot", &Params::spot,
             params::choice<SpotUse>({{"allowed", SpotUse::allowed}, {"asked", SpotUse::asked}}),
             "jobs on spot instances: those that take any market, while that is cheaper for them, "
             "or only those that ask for it");
}

/// A value that is not given is shown as its usual meaning.
params::Kind<std::optional<ProfileSource>> profile_kind() {
  const auto words = params::choice<ProfileSource>(
      {{"given", ProfileSource::given}, {"learnt", ProfileSource::learnt}});
  params::Kind<std::optional<ProfileSource>> kind{words.range};
  kind.parse = [words](const std::string& text) {
    std::optional<std::optional<ProfileSource>> parsed;
    if (const auto value = words.parse(text)) parsed.emplace(value);
    return parsed;
  };
  kind.print = [words](const std::optional<ProfileSource>& value) {
    return words.print(value.value_or(ProfileSource::learnt));
  };
  return kind;
}

}  // namespace

PolicyModule synergy_module() {
  auto description = describe<SynergyParams>(
      "synergy",
      "Synergy (OSDI'22), as Eva adapts it: a task joins the tasks that are worth most with it, or "
      "gets the cheapest type; no task is moved");
  describe_pairs(description);
  return describe_rounds(description)
      .uses({.throughput = true, .prices = true})
      .made_by([](const SynergyParams& params, const Catalog& catalog) {
        return std::make_unique<MarketSplit>(
            [&catalog, &params](Market market) {
              return std::make_unique<Synergy>(catalog, market, params);
            },
            params.spot);
      });
}

PolicyModule owl_module() {
  auto description = describe<OwlParams>(
      "owl",
      "Owl (SoCC'22), as Eva adapts it: at most two tasks share an instance, the pairs first that "
      "are worth most for their price");
  describe_pairs(description);
  description.param("profile", &OwlParams::profile, profile_kind(),
                    "how fast tasks run beside each other: learnt from what is measured, or given "
                    "in advance, which only replays can; with artifact it is given in replays "
                    "unless this says otherwise");
  return describe_rounds(description)
      .uses({.throughput = true, .prices = true})
      .asks_for_pairs([](const OwlParams& params) -> std::string {
        return params.profile == ProfileSource::given ? "profile=given" : "";
      })
      .made_by_services(
          [](const OwlParams& params, const Catalog& catalog, const PolicyServices& services) {
            return std::make_unique<MarketSplit>(
                [&catalog, &params, &services](Market market) {
                  return std::make_unique<Owl>(catalog, market, params, services.pairs);
                },
                params.spot);
          });
}

}  // namespace muster
