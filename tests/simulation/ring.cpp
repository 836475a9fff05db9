#include "tests/simulation/ring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "model/live_ids.hpp"
#include "tests/simulation/cluster.hpp"
#include "tests/simulation/invariants.hpp"
#include "tests/simulation/users.hpp"

namespace muster::ring {
namespace {

constexpr Duration kDay = std::chrono::hours{24};

/// From the word that a job may begin to its start.
constexpr Duration kStart = std::chrono::minutes{10};

/// A write that begins while a disk is slow or refuses takes at most so much longer.
constexpr Duration kLastWrite = std::chrono::seconds{21};

/// How long the cluster may take for what is left when the faults are over. Of what is short each
/// job gets its share at most so much later: where instances are few a gang rests up to
/// `gang_longest` before it is asked for again, and then it runs; where a day's money is spent the
/// next job has to wait for midnight.
Duration drain_time(const Scenario& scenario) {
  const MasterSettings& master = scenario.master;
  Duration time = std::chrono::hours{2};
  Duration services{};
  for (const Wish& wish : scenario.wishes) {
    if (scenario.is_limited() && wish.job.gang)
      time += master.gangs.longest + scenario.longest_work;
    if (master.caps.max_usd_day > 0) time += kDay;
    // One begins after the other.
    if (wish.pipeline > 0) time += scenario.longest_work + kStart;
    if (wish.is_service()) services = std::max(services, wish.ends_at - scenario.faults_end);
  }
  // Times are by the clocks of sites and masters.
  for (const Fault& fault : scenario.faults) {
    if (scenario.has_pipelines() && fault.step < Duration{}) time -= fault.step;
  }
  return time + services;
}

/// What a fault that lasts a while is about.
struct Pair {
  NodeIndex a = 0, b = 0;
};

/// A whole run of one seed.
class Run {
 public:
  Run(const Scenario& scenario, const RingOptions& options)
      : scenario_(scenario),
        options_(options),
        complaints_([this](const std::string& text) { complain(text); }),
        cluster_(scenario, complaints_),
        users_(cluster_, complaints_),
        invariants_(cluster_, users_) {}

  RingResult run() {
    if (options_.trace) invariants_.trace();
    for (std::uint32_t i = 0; i < scenario_.sites; ++i) cluster_.start(NodeKind::site, i);
    for (std::uint32_t i = 0; i < scenario_.masters; ++i) cluster_.start(NodeKind::master, i);
    cluster_.start(NodeKind::cloud, 0);
    users_.begin();
    if (scenario_.has_services()) invariants_.services().begin();
    const std::size_t count = std::min(options_.faults, scenario_.faults.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Fault& fault = scenario_.faults[i];
      cluster_.timeline().at(
          fault.at, [this, &fault] { due_.emplace(cluster_.messages() + fault.messages, &fault); });
    }
    cluster_.timeline().at(scenario_.faults_end, [this] {
      while (!due_.empty()) bring_about_next();  // it may be long until so many messages have come
      look_in_a_minute();
    });
    loop();
    RingResult result;
    result.seed = scenario_.seed;
    result.policy = scenario_.policy_text;
    result.faults = count;
    result.messages = cluster_.messages();
    result.events = invariants_.events();
    result.drained_s = to_seconds(cluster_.now() - scenario_.faults_end);
    result.violations = invariants_.violations();
    return result;
  }

 private:
  void loop() {
    std::uint64_t checked = 0;
    const Instant latest = scenario_.faults_end + drain_time(scenario_);
    while (invariants_.violations().empty()) {
      if (!cluster_.step() && !goes_on()) return;
      while (!due_.empty() && due_.begin()->first <= cluster_.messages()) bring_about_next();
      const bool late = cluster_.now() > latest;
      if (looked_ || late || cluster_.messages() >= checked + options_.check_every) {
        checked = cluster_.messages();
        looked_ = false;
        invariants_.check();
      }
      if (over_ || (late && invariants_.done())) return invariants_.check_end();
      if (late) {
        return invariants_.broken("is not done in time: " + invariants_.rest(true));
      }
    }
  }

  /// When the faults are over, users and the run itself look each minute what is left, whoever
  /// looks at the invariants, and when: that must not change what happens.
  void look_in_a_minute() {
    cluster_.timeline().after(std::chrono::minutes{1}, [this] {
      looked_ = true;
      look();
      look_in_a_minute();
    });
  }

  void bring_about_next() {
    const Fault* fault = due_.begin()->second;
    due_.erase(due_.begin());
    bring_about(*fault);
  }

  /// Nothing is under way, and no alarm is set. A fault that was to come some messages later comes
  /// now; when there is none, what is left waits for ever.
  bool goes_on() {
    if (!due_.empty()) {
      bring_about_next();
      return true;
    }
    invariants_.broken("nothing will happen any more: " + invariants_.rest(true));
    return false;
  }

  /// The run is over when nothing is left to do, at two looks: who has just been started again has
  /// to read its book first. What can never run is given up when that alone is left.
  void look() {
    if (invariants_.done()) {
      over_ = std::exchange(done_before_, true);
      return;
    }
    done_before_ = false;
    if (invariants_.rest(false).empty()) users_.give_up_hopeless();
  }

  void complain(const std::string& text) { invariants_.broken(text); }

  NodeKind kind_of(std::uint64_t which, std::uint32_t& index) const {
    const std::uint64_t i = which % (scenario_.sites + scenario_.masters + 1);
    index = static_cast<std::uint32_t>(i);
    if (i < scenario_.sites) return NodeKind::site;
    index -= scenario_.sites;
    if (index < scenario_.masters) return NodeKind::master;
    index = 0;
    return NodeKind::cloud;
  }
  NodeIndex node(std::uint64_t which, bool users) const {
    const std::uint64_t all = scenario_.sites + scenario_.masters + 1;
    if (users && which % (all + 1) == all) return cluster_.users();
    std::uint32_t index = 0;
    const NodeKind kind = kind_of(which, index);
    return cluster_.node_of(kind, index);
  }
  Machine* machine(std::uint64_t which) {
    const std::vector<Machine*> all = cluster_.machines().running();
    return all.empty() ? nullptr : all[which % all.size()];
  }
  Pair two_nodes(const Fault& fault) const { return {node(fault.a, true), node(fault.b, false)}; }
  void disturb_machines_of(std::uint32_t master) {
    for (Machine* of : cluster_.machines().running()) {
      of->disturbed |= master_of(of->instance) == master;
    }
  }
  Pair worker_and_master(const Fault& fault) {
    Machine* of = machine(fault.a);
    if (of == nullptr) return {};
    of->disturbed = true;
    return {of->node, cluster_.node_of(NodeKind::master, master_of(of->instance))};
  }

  void kill(NodeKind kind, std::uint32_t index, const Fault& fault) {
    if (!cluster_.runs(kind, index)) return;
    cluster_.kill(kind, index);
    if (kind == NodeKind::master) {
      invariants_.check_fold(index);
      disturb_machines_of(index);
    }
    const Duration down = fault.length / 4;
    excuse(kind, index, cluster_.now() + down);
    for (std::uint32_t i = 0; i < scenario_.masters; ++i) {
      if (kind == NodeKind::cloud || (kind == NodeKind::master && i == index)) {
        invariants_.deafen(i);
      }
    }
    cluster_.timeline().after(down, [this, kind, index, step = fault.step] {
      cluster_.step_clock(kind, index, step);
      cluster_.start(kind, index);
      done_before_ = false;
    });
  }
  /// Until then the node does not run or cannot write.
  void excuse(NodeKind kind, std::uint32_t index, Instant until) {
    if (kind == NodeKind::master) invariants_.excuse(index, cluster_.now(), until);
    if (kind == NodeKind::cloud) invariants_.excuse_cloud(until);
  }
  void cut(Pair pair, const Fault& fault) {
    if (pair.a == pair.b) return;
    cluster_.network().cut(pair.a, pair.b, fault.told_a, fault.told_b);
    cluster_.timeline().after(fault.length,
                              [this, pair] { cluster_.network().mend(pair.a, pair.b); });
  }
  void slow(Pair pair, const Fault& fault) {
    if (pair.a == pair.b) return;
    cluster_.network().slow(pair.a, pair.b,
                            from_seconds(static_cast<double>(fault.b % 8000) / 1e3));
    cluster_.timeline().after(fault.length,
                              [this, pair] { cluster_.network().slow(pair.a, pair.b, {}); });
  }
  void repeat(Pair pair, const Fault& fault) {
    if (pair.a != pair.b) {
      cluster_.network().repeat(pair.a, pair.b, static_cast<std::uint32_t>(1 + fault.b % 20));
    }
  }

  void bring_about(const Fault& fault) {
    if (options_.trace) std::printf("%s\n", to_text(fault).c_str());
    const auto site = static_cast<std::uint32_t>(fault.a % scenario_.sites);
    const auto master = static_cast<std::uint32_t>(fault.a % scenario_.masters);
    std::uint32_t index = 0;
    const NodeKind kind = kind_of(fault.a, index);
    const Instant until = cluster_.now() + fault.length;
    switch (fault.kind) {
      case FaultKind::kill_site:
        return kill(NodeKind::site, site, fault);
      case FaultKind::kill_master:
        return kill(NodeKind::master, master, fault);
      case FaultKind::kill_cloud:
        return kill(NodeKind::cloud, 0, fault);
      case FaultKind::kill_worker:
        if (Machine* of = machine(fault.a)) cluster_.machines().kill_worker(*of, fault.length / 4);
        return;
      case FaultKind::lose_machine:
        // The connector notices when it is started anew.
        if (Machine* of = machine(fault.b)) cluster_.machines().lose(*of);
        return kill(NodeKind::cloud, 0, fault);
      case FaultKind::cut_nodes:
        return cut(two_nodes(fault), fault);
      case FaultKind::cut_worker:
        return cut(worker_and_master(fault), fault);
      case FaultKind::slow_nodes:
        return slow(two_nodes(fault), fault);
      case FaultKind::slow_worker:
        return slow(worker_and_master(fault), fault);
      case FaultKind::repeat_nodes:
        return repeat(two_nodes(fault), fault);
      case FaultKind::repeat_worker:
        return repeat(worker_and_master(fault), fault);
      case FaultKind::disk_refuses:
        cluster_.disk_of(kind, index).refuse_until(until);
        return excuse(kind, index, until + kLastWrite);
      case FaultKind::disk_slow:
        cluster_.disk_of(kind, index).slow_until(until);
        return excuse(kind, index, until + kLastWrite);
      case FaultKind::cloud_silent:
        return cluster_.network().lose(cluster_.node_of(NodeKind::cloud, 0),
                                       cluster_.node_of(NodeKind::master, master),
                                       static_cast<std::uint32_t>(1 + fault.b % 10));
      default:
        return change_minds(fault);
    }
  }

  void change_minds(const Fault& fault) {
    switch (fault.kind) {
      case FaultKind::interrupt:
        return users_.interrupt(fault.a);
      case FaultKind::submit_twice:
        return users_.submit_again(fault.a);
      case FaultKind::cancel:
        return users_.cancel(fault.a);
      case FaultKind::hold:
        return users_.hold(fault.a, fault.length);
      case FaultKind::drain:
        return users_.drain(fault.a);
      default:
        return;
    }
  }

  const Scenario& scenario_;
  const RingOptions& options_;
  Cluster::Complain complaints_;
  Cluster cluster_;
  Users users_;
  Invariants invariants_;
  std::multimap<std::uint64_t, const Fault*> due_;  ///< by the message after which they come
  bool looked_ = false;                             ///< just so, what is left to do
  bool done_before_ = false;                        ///< nothing was, at the last look
  bool over_ = false;
};

}  // namespace

RingResult run_seed(std::uint64_t seed, const RingOptions& options) {
  const Scenario scenario = make_scenario(seed, options.limits);
  return Run(scenario, options).run();
}

}  // namespace muster::ring
