#include "serve/group/group.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "actors/messages/peer_proxy.hpp"
#include "model/check.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

/// Name of a master that has no name of its own.
std::string master_name(std::uint32_t number) {
  return "master-" + std::to_string(number);
}

}  // namespace

MasterActor spawn_master(caf::actor_system& system, MasterSetup setup, const MasterNumber& which) {
  // A single master of a replay numbers its instances from 0.
  const bool alone = which.masters == 1 && setup.parts.name.empty();
  setup.parts.first_instance = alone ? 0 : first_instance_of(which.number);
  if (setup.parts.name.empty()) setup.parts.name = master_name(which.number);
  setup.parts.keep_history = setup.history != nullptr;
  return system.spawn<MasterActorImpl>(std::move(setup));
}

SiteSettings site_settings(const SiteSettings& configured, const Intake& intake) {
  SiteSettings settings = configured;
  if (settings.masters_per_job == 0) settings.masters_per_job = intake.masters_per_job;
  return settings;
}

Expected<std::optional<JobClassifierService>, GroupError> make_classifier_service(
    const ClassifyConfig& config, const Intake& intake, std::string_view learnt) {
  const auto by = config.by.empty() ? intake.classify_by : named<ClassifierKind>(config.by);
  if (!by) return std::optional<JobClassifierService>{};
  const auto predict_by = named<PredictBy>(config.predict.by);
  MUSTER_CHECK(predict_by.has_value(), "the config has checked who predicts");
  ClassifierParams params;
  params.by = *by;
  params.predict = {*predict_by, config.predict.limits, config.predict.values,
                    config.predict.history};
  params.sors = {config.eps, config.p_threshold, config.min_samples};
  params.training.threshold = config.threshold;
  params.training.max_samples = config.max_samples;
  params.max_history = config.max_history;
  params.retrain_after = config.retrain_after;
  // The site's own model may be of another version or threshold: then it begins anew.
  if (auto own = JobClassifier::parse(learnt, params); own && !learnt.empty()) {
    return std::optional<JobClassifierService>(std::move(own).value());
  }
  if (config.model.empty()) return std::optional<JobClassifierService>(JobClassifier(params));
  std::ifstream in(config.model, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) {
    return Failure<GroupError>{GroupError::bad_model,
                               "classify.model: " + config.model.string() + " cannot be read"};
  }
  auto classifier = JobClassifier::parse(text, params);
  if (!classifier) {
    return Failure<GroupError>{GroupError::bad_model, "classify.model: " + config.model.string() +
                                                          ": " + classifier.error().message};
  }
  return std::optional<JobClassifierService>(std::move(classifier).value());
}

Group spawn_group(caf::actor_system& system, std::vector<MasterSetup> masters,
                  const IntakeSetup& intake) {
  Group group;
  const auto count = static_cast<std::uint32_t>(masters.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    group.masters.push_back(spawn_master(system, std::move(masters[i]), {i, count}));
  }
  std::vector<Peer<SiteForSites>> proxies;  // sites know each other before all of them are there
  for (std::size_t i = 0; i < intake.sites.size(); ++i) proxies.emplace_back(system);
  const bool exchange = group.masters.size() > 1 || intake.sites.size() > 1 || intake.classifier;
  SiteSettings settings = intake.settings;
  if (!exchange)
    settings.load_every = {};  // a single master and site have no others to choose among
  for (std::uint32_t i = 0; i < intake.sites.size(); ++i) {
    SiteDependencies site;
    for (std::uint32_t k = 0; k < group.masters.size(); ++k) {
      site.masters.push_back({group.masters[k], master_name(k), k});
    }
    site.sites = intake.sites;
    for (std::uint32_t k = 0; k < proxies.size(); ++k) {
      site.sites[k].number = k;
      if (k != i) site.sites[k].actor = proxies[k].handle();
    }
    site.number = i;
    site.accept_timeout = intake.accept_timeout;
    site.seed = intake.seed;
    site.origin = intake.origin;
    site.store = intake.site_stores[i];
    site.classifier = intake.classifier;
    group.sites.push_back(system.spawn<SiteScheduler>(settings, std::move(site)));
    proxies[i].set(group.sites.back());
  }
  return group;
}

}  // namespace muster
