#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "masters/master.hpp"
#include "schedulers/registry.hpp"
#include "tests/support/builders.hpp"

namespace muster::test {

/// How the world of a test of starvation is bounded.
struct StarvingBounds {
  MasterCaps caps{};
  std::size_t cloud_limit = 0;  ///< instances that the cloud gives; 0: any number
  std::uint32_t owned = 0;      ///< instances of the first type that stay, beyond which it rents
  Duration cloud_ahead{};       ///< of the master's clock
  /// Above 0: the cloud has that number of machines of the first type and none of the others, and
  /// says each second how many are free.
  std::uint32_t machines = 0;
  /// The machines cost nothing, and the cloud has any number of the other types.
  bool rents_beside = false;
};

/// A master under a policy that rents, before a cloud that may be full, and workers whose tasks
/// take as long as their job was said to. A second is a step; rounds come every so often, and at
/// once where the policy wants them.
class StarvingWorld {
 public:
  /// Types by their number of processors, each of which has two GiB and a price; those of sixteen
  /// and more have a GPU for every eight.
  StarvingWorld(const std::string& policy, StarvingBounds bounds, std::vector<double> sizes,
                std::function<void(MasterSettings&)> change = {})
      : policy_(policy), bounds_(bounds), catalog_(catalog_of(sizes, bounds.rents_beside)) {
    settings_.caps = bounds.caps;
    settings_.min_stay = std::chrono::minutes{5};
    settings_.rent_beyond_fleet = bounds.owned > 0;
    if (change) change(settings_);
    master_ = make();
    tell_free();
    master_->keep_fleet(now_);
    act();
  }

  struct Wish {
    double cpus = 1;
    double seconds = 4;
    int priority = 0;
    std::size_t tasks = 1;
    bool says_run_time = false;
    double memory_gib = 0;  ///< 0: twice the processors
    double gpus = 0;
    /// Above 0: its tasks are no gang, and an instance may have that number of them.
    std::uint32_t most_an_instance = 0;
  };
  /// Ids rise from 1 on.
  std::uint64_t submit(const Wish& wish) {
    const std::uint64_t id = next_++;
    const double gib = wish.memory_gib > 0 ? wish.memory_gib : 2 * wish.cpus;
    // Task numbers of a job of several are its hundreds: far from those of others.
    Job job = JobBuilder(id * 10'000)
                  .tasks(wish.tasks)
                  .gang(wish.tasks > 1 && wish.most_an_instance == 0)
                  .demand(Resources::of(wish.gpus, wish.cpus, gib))
                  .build();
    job.most_an_instance = wish.most_an_instance;
    job.id = JobId{id};
    job.priority = wish.priority;
    if (wish.says_run_time) job.runtime_hint = from_seconds(wish.seconds);
    seconds_[job.id] = wish.seconds;
    master_->submit(std::move(job), now_);
    wants_ |= master_->cadence().on_arrival;
    act();
    return id;
  }
  /// `each`: what else happens in a second.
  void run(double seconds, const std::function<void()>& each = {}) {
    const Instant end = now_ + from_seconds(seconds);
    while (now_ < end) {
      now_ += std::chrono::seconds{1};
      if (each) each();
      tell_free();
      end_what_is_due();
      const Duration period = master_->cadence().period;
      const bool regular =
          period > Duration::zero() && now_.time_since_epoch() % period == Duration::zero();
      if (regular || std::exchange(wants_, false)) master_->round({}, now_);
      act();
      day();
    }
  }
  /// As a crash does: a master that has what the last one's events and snapshot say.
  void start_again(std::size_t events_after_snapshot) {
    const std::size_t cut = events_.size() - std::min(events_.size(), events_after_snapshot);
    auto before = make();
    before->restore(std::nullopt, std::span(events_).first(cut));
    auto again = make();
    again->restore(before->snapshot(), std::span(events_).subspan(cut));
    master_ = std::move(again);
  }

  bool has_started(std::uint64_t id) const { return started_.contains(JobId{id}); }
  double started_s(std::uint64_t id) const { return started_.at(JobId{id}); }
  double now_s() const { return to_seconds(now_.time_since_epoch()); }
  std::size_t over() const { return over_; }
  std::size_t stops() const { return stops_; }
  std::size_t claims() const { return claims_; }
  /// Orders that the cloud had nothing for.
  std::size_t refused_orders() const { return refused_orders_; }
  std::size_t most_rented() const { return most_rented_; }
  /// How often one was taken into use.
  std::size_t machine_uses() const { return machine_uses_; }
  /// Machines that were in use at one time.
  std::size_t most_machines() const { return most_machines_; }
  const Master& master() const { return *master_; }
  const std::vector<Event>& events() const { return events_; }
  /// Tasks of it have been started.
  std::size_t starts(std::uint64_t id) const {
    return starts_.contains(JobId{id}) ? starts_.at(JobId{id}) : 0;
  }
  bool waits(std::uint64_t id) const {
    const JobRow* job = master_->state().find(JobId{id});
    return job != nullptr && job->pending > 0;
  }

 private:
  static Catalog catalog_of(const std::vector<double>& sizes, bool first_is_free) {
    std::vector<InstanceType> types;
    for (const double cpus : sizes) {
      InstanceType type;
      type.name = "c" + std::to_string(static_cast<int>(cpus));
      type.family = "c";
      const double gpus = cpus < 16 ? 0 : cpus / 8;
      type.capacity = Resources::of(gpus, cpus, 2 * cpus);
      const bool is_free = first_is_free && types.empty();
      type.on_demand = Price::from_usd_h(is_free ? 0 : 0.05 * cpus);
      type.acquire = std::chrono::seconds{1};
      type.setup = std::chrono::seconds{2};
      type.terminate = std::chrono::seconds{1};
      types.push_back(type);
    }
    return Catalog(std::move(types));
  }
  std::unique_ptr<Master> make() {
    MasterDependencies parts;
    parts.catalog = &catalog_;
    if (bounds_.owned > 0) parts.fleet = {{TypeId{0}, Market::on_demand, bounds_.owned}};
    parts.policy = make_policy(parse_policy(policy_).value(), catalog_).value();
    auto master = std::make_unique<Master>(settings_, std::move(parts));
    master->set_cloud_ahead(bounds_.cloud_ahead);
    return master;
  }
  void end_what_is_due() {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const auto [task, attempt] = due_.begin()->second;
      due_.erase(due_.begin());
      master_->task_finished({task, attempt, {}}, now_);
      wants_ |= master_->cadence().on_departure || master_->cadence().on_capacity;
    }
    for (auto& [id, at] : std::exchange(coming_, {})) {
      if (at > now_) {
        coming_.emplace_back(id, at);
        continue;
      }
      master_->instance_up(id, {}, now_);
      master_->instance_ready(id, now_);
    }
  }
  void tell_free() {
    if (bounds_.machines == 0) return;
    const auto free = static_cast<std::uint32_t>(bounds_.machines - used_machines());
    if (told_free_ == free) return;
    std::vector<OfferingChange> changes;
    for (const InstanceType& type : catalog_.types()) {
      const bool is_first = changes.empty();
      changes.push_back({++changes_, now_, {type.name, Market::on_demand, {}, type.on_demand}});
      changes.back().offering.free = is_first ? free : 0;
      if (told_free_ || bounds_.rents_beside) break;
    }
    told_free_ = free;
    wants_ |= master_->on_offerings(changes, now_) && master_->cadence().on_price;
  }
  std::size_t used_machines() const { return machines_.size(); }
  void day() {
    if (bounds_.caps.max_usd_day > 0) {
      master_->keep_caps(now_);
      act();
    }
  }
  /// Does what the master wants until it wants nothing more.
  void act() {
    while (true) {
      const Commit commit = master_->commit();
      events_.insert(events_.end(), commit.events.begin(), commit.events.end());
      for (const Event& event : commit.events) {
        claims_ += std::holds_alternative<RoomClaimed>(event.body);
      }
      if (commit.effects.empty()) return;
      for (const Effect& effect : commit.effects) {
        std::visit([this](const auto& e) { perform(e); }, effect);
      }
    }
  }
  void perform(const LaunchInstance& e) {
    const bool is_machine = bounds_.machines > 0 && (!bounds_.rents_beside || e.type == TypeId{0});
    const std::size_t most = is_machine             ? bounds_.machines
                             : bounds_.rents_beside ? 0
                                                    : bounds_.cloud_limit;
    if (most > 0 && (is_machine ? used_machines() : rented_.size()) >= most) {
      ++refused_orders_;
      return master_->instance_refused(e.instance, now_, CloudReason::capacity);
    }
    rented_.insert(e.instance);
    if (is_machine) machines_.insert(e.instance);
    machine_uses_ += is_machine;
    most_machines_ = std::max(most_machines_, machines_.size());
    most_rented_ = std::max(most_rented_, rented_.size());
    coming_.emplace_back(e.instance, now_ + std::chrono::seconds{3});
  }
  void perform(const EndInstance& e) {
    rented_.erase(e.instance);
    machines_.erase(e.instance);
    std::erase_if(coming_, [&](const auto& each) { return each.first == e.instance; });
    master_->instance_gone(e.instance, {}, now_);
    wants_ |= master_->cadence().on_capacity;
  }
  void perform(const StartTask& e) {
    master_->task_started({e.task, e.attempt, {}, {}}, now_);
    const TaskRow& row = *master_->state().find(e.task);
    const JobId job = master_->state().job(row.job).job.id;
    started_.emplace(job, now_s());
    ++starts_[job];
    due_.emplace(now_ + from_seconds(seconds_.at(job)), std::pair(e.task, e.attempt));
  }
  void perform(const StopTask& e) {
    ++stops_;
    std::erase_if(due_, [&](const auto& entry) { return entry.second.first == e.task; });
    master_->task_checkpointed({e.task, e.attempt, {}, {}}, now_);
  }
  void perform(const AcknowledgeAttempt&) {}
  void perform(const TellJobOver&) { ++over_; }

  std::string policy_;
  StarvingBounds bounds_;
  Catalog catalog_;
  MasterSettings settings_{};
  std::unique_ptr<Master> master_;
  std::map<JobId, double> seconds_;
  std::multimap<Instant, std::pair<TaskId, Attempt>> due_;
  std::vector<std::pair<InstanceId, Instant>> coming_;
  std::map<JobId, double> started_;
  std::map<JobId, std::size_t> starts_;
  std::vector<Event> events_;
  std::set<InstanceId> rented_;
  std::set<InstanceId> machines_;  ///< those of them that the cloud counts
  std::uint64_t next_ = 1;
  std::size_t over_ = 0, stops_ = 0, claims_ = 0, refused_orders_ = 0, most_rented_ = 0,
              most_machines_ = 0, machine_uses_ = 0;
  std::optional<std::uint32_t> told_free_{};
  std::uint64_t changes_ = 0;  ///< of offerings, that were told
  bool wants_ = false;
  Instant now_{};
};

}  // namespace muster::test
