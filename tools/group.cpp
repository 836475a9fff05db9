#include "tools/group.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "actors/peer_proxy.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

/// Of a master that nobody has named.
std::string master_name(std::uint32_t number) {
  return "master-" + std::to_string(number);
}

}  // namespace

MasterActor spawn_master(caf::actor_system& system, GroupSetup setup) {
  MasterSetup master;
  master.parts.catalog = setup.catalog;
  master.parts.policy = std::move(setup.policy);
  master.parts.caps.max_instances = setup.master.max_instances;
  master.parts.caps.max_usd_h = setup.master.max_usd_h;
  master.parts.caps.max_usd_day = setup.master.max_usd_day;
  master.parts.caps.spend_margin = setup.master.cap_margin;
  master.parts.caps.end_time = setup.master.end_time;
  master.parts.max_attempts = setup.master.max_attempts;
  master.parts.max_losses = setup.master.max_losses;
  master.parts.launch_backoff = setup.master.launch_backoff;
  master.parts.launch_backoff_longest = setup.master.launch_backoff_longest;
  master.parts.gangs = {setup.master.gang_patience, setup.master.gang_turn,
                        setup.master.gang_longest};
  master.parts.seed = setup.seed;
  master.parts.round_settle = setup.master.round_settle;
  master.parts.name = setup.live.name.empty() ? master_name(setup.master_index) : setup.live.name;
  // A single master of a replay numbers its instances from 0.
  const bool alone = setup.masters == 1 && setup.live.name.empty();
  master.parts.first_instance = alone ? 0 : first_instance_of(setup.master_index);
  master.parts.keep_history = setup.live.history != nullptr;
  master.parts.fleet = std::move(setup.fleet);
  master.parts.min_stay = setup.master.min_stay;
  master.journal = setup.journal;
  master.cloud = setup.cloud;
  master.origin = setup.origin;
  master.round_settle = setup.master.round_settle;
  master.sample_timeout = setup.master.sample_timeout;
  master.queue_capacity = setup.master.queue_capacity;
  master.stopwatch = std::move(setup.stopwatch);
  master.times = setup.times;
  master.watch = {setup.master.remind_every, setup.master.ask_pause, setup.master.worker_lost_after,
                  setup.master.snapshot_every};

  master.parts.decision_budget = setup.master.decision_budget;
  master.planning = setup.planning;
  master.planning.slice_parts = setup.master.slice_parts;
  master.live = std::move(setup.live);
  return system.spawn<MasterActorImpl>(std::move(master));
}

RoutingRules routing_rules(const SiteConfig& config, const Intake& intake) {
  RoutingRules rules;
  const bool stated = config.masters_per_job > 0;
  rules.masters_per_job = stated ? config.masters_per_job : intake.masters_per_job;
  rules.master_heavy = config.master_heavy;
  rules.site_heavy = config.site_heavy;
  rules.stale_after = config.load_stale_after;
  return rules;
}

LiveSiteOptions live_site_options(const SiteConfig& config) {
  LiveSiteOptions live;
  live.promise_wait = config.promise_wait;
  live.hand_retry = config.hand_retry;
  live.max_waiting = config.max_waiting;
  live.max_unrouted = config.max_unrouted;
  live.max_tokens = config.tokens;
  return live;
}

Expected<std::optional<JobClassifierService>, GroupError> make_classifier_service(
    const ClassifyConfig& config, const Intake& intake, std::string_view learnt) {
  const auto by = config.by.empty() ? intake.classify_by : parse_classifier_kind(config.by);
  if (!by) return std::optional<JobClassifierService>{};
  ClassifierParams params;
  params.by = *by;
  params.sors = {config.eps, config.p_threshold, config.min_samples};
  params.training.threshold = config.threshold;
  params.training.max_samples = config.max_samples;
  params.max_history = config.max_history;
  params.retrain_after = config.retrain_after;
  // What the site has kept may be of another version or threshold: then it begins anew.
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

Group spawn_group(caf::actor_system& system, std::vector<GroupSetup> masters,
                  const IntakeSetup& intake) {
  Group group;
  for (GroupSetup& master : masters)
    group.masters.push_back(spawn_master(system, std::move(master)));
  std::vector<Peer<SiteActor>> proxies;  // sites know each other before all of them are there
  for (std::size_t i = 0; i < intake.sites.size(); ++i) proxies.emplace_back(system);
  const bool exchange = group.masters.size() > 1 || intake.sites.size() > 1 || intake.classifier;
  for (std::uint32_t i = 0; i < intake.sites.size(); ++i) {
    SiteSetup site;
    for (std::uint32_t k = 0; k < group.masters.size(); ++k) {
      site.masters.push_back({group.masters[k], master_name(k), k});
    }
    site.sites = intake.sites;
    for (std::uint32_t k = 0; k < proxies.size(); ++k) {
      site.sites[k].number = k;
      if (k != i) site.sites[k].actor = proxies[k].handle();
    }
    site.number = i;
    site.rules = intake.rules;
    site.capacity = intake.config.capacity;
    if (exchange) site.load_every = intake.config.load_every;
    site.accept_timeout = intake.accept_timeout;
    site.seed = intake.seed;
    site.origin = intake.origin;
    site.store = intake.site_stores[i];
    site.live = live_site_options(intake.config);
    site.classifier = intake.classifier;
    group.sites.push_back(system.spawn<SiteScheduler>(std::move(site)));
    proxies[i].set(group.sites.back());
  }
  return group;
}

}  // namespace muster
