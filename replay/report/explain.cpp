#include "replay/report/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <variant>

#include "replay/metrics/labels.hpp"
#include "replay/report/event_details.hpp"
#include "replay/report/event_text.hpp"

// Tells the story of one task or one instance from an event log. Each teller is shown every event
// before EventText follows it: its text about the neighbours on an instance is as of the time of
// the event.

namespace muster::report {
namespace {

using metrics::describe;
using metrics::length_text;

/// The reason why an instance is gone that no decision had ended.
const char* phrase_of(CloudReason reason) {
  return reason == CloudReason::reclaimed ? "taken back by the cloud" : "by the cloud's failure";
}

std::string amounts_text(const Resources& amounts) {
  std::string text;
  for (Resource kind : kAllResources) {
    if (amounts[kind] == 0) continue;
    text += fmt::format("{}{} {:.6g}", text.empty() ? "" : ", ", name_of(kind), amounts[kind]);
  }
  return text.empty() ? "nothing" : text;
}

std::string demands_text(const Demands& demands) {
  std::string text;
  for (const FamilyDemand& entry : demands.entries()) {
    if (!text.empty()) text += "; ";
    text += amounts_text(entry.amount);
    if (!entry.family.empty()) text += " on " + entry.family;
  }
  return text;
}

/// The common part of both tellers: lines at the present time, with the event text at hand.
class Teller {
 public:
  Teller(std::span<const Event> events, const Catalog& catalog) : event_text_(events, catalog) {}

  const EventText& event_text() const { return event_text_; }

 protected:
  void tell(std::string what, std::string text, Details details = {}) {
    story_.lines.push_back({now_, std::move(what), std::move(text), std::move(details)});
    refused_ = false;
  }

  /// The same refusal round after round is one line, and so is that the task waits for that reason.
  void explain_refused(const Refusal& refusal, const char* what, const std::string& text) {
    // A task may be refused thousands of times for one reason: the line is counted and not
    // repeated.
    if (refused_ && last_refusal_ == refusal) {
      ExplanationLine& line = story_.lines.back();
      if (line.what == what) {
        ++line.times;
        line.last = now_;
      }
      return;
    }
    tell(what, text + describe(refusal), details_of(refusal));
    refused_ = true;
    last_refusal_ = refusal;
  }

  /// Ids of the tasks that share the instance, as it was before the event that is being told.
  std::vector<std::uint64_t> others(InstanceId instance, TaskId except) const {
    std::vector<std::uint64_t> ids;
    for (TaskId task : event_text_.occupancy().on(instance)) {
      if (task != except) ids.push_back(task.value);
    }
    return ids;
  }

  void explain_cost(InstanceId instance, const std::string& more = "", Details details = {}) {
    details.insert(details.begin(),
                   {{"instance", instance.value}, {"cost_usd", event_text_.cost(instance).usd()}});
    story_.costs.push_back(
        {now_, "cost", event_text_.cost_text(instance) + more, std::move(details)});
  }

  EventText event_text_;
  Instant now_;
  Explanation story_;

 private:
  bool refused_ = false;  ///< the last line is of that refusal
  Refusal last_refusal_;
};

/// Tells what happened to one task.
class TaskTeller : public Teller {
 public:
  TaskTeller(std::span<const Event> events, const Catalog& catalog, TaskId task)
      : Teller(events, catalog), task_(task) {}

  Explanation explain_all(std::span<const Event> events) {
    const EventText::Task& mine = event_text_.tasks().at(task_);
    job_ = mine.job->id;
    story_.title = fmt::format("{} of job {}", event_text_.name(task_), job_.value);
    for (const Event& event : events) {
      now_ = event.at;
      std::visit(*this, event.body);
      // Followed after it is told: the line speaks of places and company as they were before.
      event_text_.follow(event);
    }
    // The log ends while the task holds its place: the time until then counts.
    if (here_) leave();
    for (const auto& [instance, held] : held_) {
      explain_cost(instance, fmt::format("; the task held it for {}", length_text(held)),
                   {{"held_s", to_seconds(held)}});
    }
    return std::move(story_);
  }

  void operator()(const JobAccepted& e) {
    if (e.job.id != job_) return;
    const EventText::Task& mine = event_text_.tasks().at(task_);
    tell("accepted",
         fmt::format("accepted with job {} of {} task(s), class \"{}\", user \"{}\"; asks for {}",
                     job_.value, e.job.tasks.size(), e.job.workload_class, e.job.user,
                     demands_text(mine.spec->demands)),
         {{"job", job_.value}});
  }
  void operator()(const TaskRefused& e) {
    if (e.task != task_) return;
    explain_refused(e.refusal, "waits", "waits, ");
  }
  void operator()(const PlanPartRefused& e) {
    if (e.task != task_) return;
    explain_refused(e.refusal, "plan refused", "its part of the plan was not carried out, ");
  }
  void operator()(const GangTurn& e) {
    if (e.job != job_) return;
    tell("turn", "its gang has waited long and has its turn: no other job starts a task before it",
         {{"until_s", to_seconds(e.until)}});
  }
  void operator()(const RoomClaimed& e) {
    if (e.job != job_) return;
    Details details = details_of(e.short_of);
    details.emplace_back("closed", std::uint64_t{e.closed.size()});
    if (e.instances == 0 && e.closed.empty()) {
      return tell(
          "room not kept",
          "its job has waited long, and nothing could be kept for it: " + describe(e.short_of),
          std::move(details));
    }
    std::string closed;
    for (const ClosedInstance& one : e.closed) {
      closed += fmt::format("{}{}", closed.empty() ? "" : ", ", event_text_.name(one.instance));
    }
    tell("room kept",
         closed.empty() ? "its job goes before others: nothing behind it is rented before it"
                        : fmt::format("its job goes before others: {} no more of what is behind it "
                                      "until emptied for it",
                                      closed + (e.closed.size() == 1 ? " takes" : " take")),
         std::move(details));
  }
  void operator()(const Measured& e) {
    const TaskId first = event_text_.tasks().at(task_).job->tasks.front().id;
    for (const JobProgress& each : e.progress) {
      // The job's first worker speaks for all of it.
      if (each.task == first) done_ = each.done;
    }
  }
  void operator()(const ReplicaChanged& e) {
    if (e.task != task_) return;
    const auto& state = e.state;
    tell(state.ready ? "ready" : "unready", describe(state),
         {{"restarts", std::uint64_t{state.restarts}},
          {"exit_code", double(state.exit_code)},
          {"pause_s", to_seconds(state.pause)}});
  }
  void operator()(const ReplicaWanted& e) {
    if (e.task == task_) tell(e.wanted ? "wanted" : "leaves", describe(e), details_of(e.cause));
  }
  void operator()(const ServiceScaled& e) {
    if (e.job == job_) tell(e.replicas == 0 ? "given up" : "scaled", describe(e), details_of(e));
  }
  void operator()(const ServiceSettled& e) {
    if (e.job == job_) tell("settled", "all replicas of its service have been healthy at once");
  }
  void operator()(const JobResized& e) {
    if (e.job != job_) return;
    Details details = details_of(e.cause);
    details.insert(details.begin(), {"width", e.width});
    if (done_) details.insert(details.begin() + 1, {"done", *done_});
    const std::string done = done_ ? fmt::format(", with {:.6g} of its work done", *done_) : "";
    tell("resized",
         fmt::format("its job is to run as {} worker(s){} ({}){}", e.width, done, describe(e.cause),
                     event_text_.round_text(now_)),
         std::move(details));
  }
  void operator()(const TaskAssigned& e) {
    if (e.task != task_) return;
    Details details = details_of(e.cause);
    details.insert(details.begin(), {"to", e.to.value});
    // A task that has not started yet moves from where it was meant to be.
    const auto from = here_ ? here_ : meant_;
    const bool moves = from && *from != e.to;
    if (moves) details.insert(details.begin(), {"from", from->value});
    details.emplace_back("others", others(e.to, task_));
    const std::string place =
        fmt::format("{}{} ({}; there: {})", event_text_.name(e.to), status_of(e.to),
                    describe(e.cause), event_text_.company(e.to, task_));
    if (here_ == e.to && e.cause.code == CauseCode::evicted) {
      tell("stays", "stays on " + place, std::move(details));
      meant_ = e.to;
      return;
    }
    tell(moves ? "moved" : "placed",
         (moves ? "is moved from " + event_text_.name(*from) + " to " : "is placed on ") + place +
             event_text_.round_text(now_),
         std::move(details));
    meant_ = e.to;
  }
  void operator()(const TaskUnassigned& e) {
    if (e.task != task_) return;
    tell("unplaced", "loses its place, " + describe(e.cause) + event_text_.round_text(now_),
         details_of(e.cause));
    meant_.reset();
  }
  void operator()(const LaunchRefused& e) {
    // A refusal names the instance alone: the task is touched when it was meant for it.
    if (meant_ != e.instance) return;
    tell("launch refused", event_text_.name(e.instance) + " was refused, " + describe(e.refusal),
         details_of(e.refusal, e.reason));
    meant_.reset();
  }
  void operator()(const InstanceReady& e) {
    if (meant_ != e.instance) return;
    tell("instance ready", event_text_.name(e.instance) + " is ready",
         {{"instance", e.instance.value}});
  }
  void operator()(const InstanceGone& e) {
    // The task may be meant for another instance while this one, where it still runs, goes.
    if (meant_ == e.instance) meant_.reset();
    if (here_ != e.instance) return;
    tell("lost", event_text_.name(e.instance) + " is gone, and the task's place with it",
         {{"instance", e.instance.value}});
    leave();
  }
  void operator()(const StartIssued& e) {
    if (e.task != task_) return;
    tell("starts",
         fmt::format("attempt {} starts on {}, {}", e.attempt, event_text_.name(e.instance),
                     event_text_.company(e.instance, task_)),
         {{"instance", e.instance.value},
          {"attempt", std::uint64_t{e.attempt}},
          {"others", others(e.instance, task_)}});
    here_ = e.instance;
    since_ = now_;
  }
  void operator()(const TaskStarted& e) {
    if (e.task != task_) return;
    tell("runs",
         fmt::format("runs (fetch {}, build {}){}", length_text(e.fetch), length_text(e.build),
                     company_here()),
         {{"fetch_s", to_seconds(e.fetch)}, {"build_s", to_seconds(e.build)}});
  }
  void operator()(const StopIssued& e) {
    if (e.task == task_) tell("stopped", "is told to stop" + company_here());
  }
  void operator()(const TaskCheckpointed& e) {
    if (e.task != task_) return;
    tell("left", "has left " + place_text() + " (upload " + length_text(e.upload) + ")",
         {{"upload_s", to_seconds(e.upload)}});
    leave();
  }
  void operator()(const TaskFinished& e) {
    if (e.task != task_) return;
    tell("finished", "is finished on " + place_text() + company_here());
    leave();
  }
  void operator()(const TaskFailed& e) {
    if (e.task != task_) return;
    tell(e.blameless ? "lost" : "failed",
         fmt::format("attempt {} {}: {}", e.attempt, e.blameless ? "is lost" : "fails", e.reason),
         {{"attempt", std::uint64_t{e.attempt}}, {"reason", e.reason}});
    leave();
    meant_.reset();
  }
  void operator()(const JobFinished& e) {
    if (e.job != job_) return;
    std::string text = fmt::format("its job is over: {}", name_of(e.outcome));
    if (e.throughput_samples > 0) {
      text += fmt::format(", at {:.3f} of its own speed on average", e.mean_throughput);
    }
    tell("job over", std::move(text), {{"outcome", std::string(name_of(e.outcome))}});
  }
  /// All other events do not touch one task.
  template <class Other>
  void operator()(const Other&) {}

 private:
  void leave() {
    if (here_) held_[*here_] += now_ - since_;
    here_.reset();
  }
  std::string place_text() const { return here_ ? event_text_.name(*here_) : "its instance"; }
  std::string company_here() const {
    // Empty when the log begins in the middle and the start is not in it.
    return here_ ? ", " + event_text_.company(*here_, task_) : std::string{};
  }
  /// Whether the instance is there already.
  std::string status_of(InstanceId id) const {
    const auto found = event_text_.instances().find(id);
    if (found == event_text_.instances().end()) return "";
    return found->second.up && *found->second.up <= now_ ? "" : ", not up yet";
  }

  TaskId task_;
  JobId job_;
  std::optional<double> done_;       ///< of its elastic job, as measured last
  std::optional<InstanceId> meant_;  ///< where it is assigned
  std::optional<InstanceId> here_;   ///< where it holds resources
  Instant since_;
  std::map<InstanceId, Duration> held_;
};

/// Tells what happened to one instance.
class InstanceTeller : public Teller {
 public:
  InstanceTeller(std::span<const Event> events, const Catalog& catalog, InstanceId instance)
      : Teller(events, catalog), instance_(instance), catalog_(catalog) {}

  Explanation explain_all(std::span<const Event> events) {
    story_.title = event_text_.name(instance_);
    for (const Event& event : events) {
      now_ = event.at;
      std::visit(*this, event.body);
      event_text_.follow(event);
    }
    explain_cost(instance_);
    return std::move(story_);
  }

  void operator()(const LaunchRequested& e) {
    if (e.instance != instance_) return;
    of_ = {e.type, e.market, e.zone};
    price_ = e.price;
    // The price is that of the request, at which the instance is billed until the offering changes.
    Details details = details_of(e.cause);
    details.emplace_back("price_usd_h", e.price.usd_h());
    if (e.max_price != Price{}) details.emplace_back("max_price_usd_h", e.max_price.usd_h());
    tell("launched",
         fmt::format("is asked for: {}, {}, ${:.6g}/h, {} ({}){}", catalog_[e.type].name,
                     name_of(e.market), e.price.usd_h(), amounts_text(catalog_[e.type].capacity),
                     describe(e.cause), event_text_.round_text(now_)),
         std::move(details));
  }
  void operator()(const LaunchRefused& e) {
    if (e.instance != instance_) return;
    tell("launch refused", "the cloud refuses it, " + describe(e.refusal),
         details_of(e.refusal, e.reason));
  }
  void operator()(const PlanPartRefused& e) {
    if (e.instance != instance_) return;
    explain_refused(e.refusal, "plan refused", "its part of the plan was not carried out, ");
  }
  void operator()(const InstanceUp& e) {
    if (e.instance == instance_) tell("up", "is up: billing begins");
  }
  void operator()(const InstanceReady& e) {
    if (e.instance == instance_) tell("ready", "is ready for tasks");
  }
  void operator()(const TaskAssigned& e) {
    if (e.to != instance_) return;
    const auto from = event_text_.occupancy().place_of(e.task);
    Details details = details_of(e.cause);
    details.insert(details.begin(), {"task", e.task.value});
    const bool moves = from && *from != instance_;
    if (moves) details.emplace_back("from", from->value);
    tell("meant for it",
         event_text_.name(e.task) + " is to come" +
             (moves ? " from " + event_text_.name(*from) : std::string{}) + " (" +
             describe(e.cause) + ")" + event_text_.round_text(now_),
         std::move(details));
  }
  void operator()(const StartIssued& e) {
    if (e.instance != instance_) return;
    tell("task starts",
         fmt::format("{} starts (attempt {}), {}", event_text_.name(e.task), e.attempt,
                     event_text_.company(instance_, e.task)),
         {{"task", e.task.value}, {"others", others(instance_, e.task)}});
  }
  void operator()(const StopIssued& e) { explain_end(e.task, "task stopped", "is told to stop"); }
  void operator()(const TaskCheckpointed& e) {
    explain_end(e.task, "task checkpointed", "has left");
  }
  void operator()(const TaskFinished& e) { explain_end(e.task, "task finished", "is finished"); }
  void operator()(const TaskFailed& e) {
    if (e.blameless) return explain_end(e.task, "task lost", "is lost (" + e.reason + ")");
    explain_end(e.task, "task failed", "fails (" + e.reason + ")");
  }
  void operator()(const ReleaseDecided& e) {
    if (e.instance != instance_) return;
    tell("released", "is no longer wanted, " + describe(e.cause) + event_text_.round_text(now_),
         details_of(e.cause));
  }
  void operator()(const TerminateIssued& e) {
    if (e.instance == instance_) tell("ended", "the cloud is asked to end it");
  }
  void operator()(const InstanceGone& e) {
    if (e.instance != instance_) return;
    price_.reset();
    // A log that says no reason is of an instance that was ended as wanted.
    const bool ended = e.reason == CloudReason::ended || e.reason == CloudReason::not_said;
    const std::string why = ended ? "" : std::string(", ") + phrase_of(e.reason);
    tell("gone", "is gone" + why + ": billing ends", details_of(e.reason));
  }
  void operator()(const OfferingChanged& e) {
    const Offering& now = e.change.offering;
    const bool mine = price_ && now.type == catalog_[of_.type].name && now.market == of_.market &&
                      now.zone == of_.zone;
    // A change of availability alone leaves the price, and is no line.
    if (!mine || *price_ == now.price) return;
    price_ = now.price;
    tell("price changed",
         fmt::format("costs ${:.6g}/h from {} on", now.price.usd_h(),
                     metrics::clock_text(e.change.at)),
         {{"price_usd_h", now.price.usd_h()}});
  }
  template <class Other>
  void operator()(const Other&) {}

 private:
  void explain_end(TaskId task, std::string what, const std::string& does) {
    // The place is where the task is before the event is followed: ends elsewhere are not of this
    // instance.
    if (event_text_.occupancy().place_of(task) != instance_) return;
    const std::vector<std::uint64_t> rest = others(instance_, task);
    tell(std::move(what),
         fmt::format("{} {}; {} other task(s) here", event_text_.name(task), does, rest.size()),
         {{"task", task.value}, {"others", rest}});
  }

  InstanceId instance_;
  const Catalog& catalog_;
  OfferingKey of_;
  std::optional<Price> price_;  ///< while it is asked for or there
};

/// Says which ids there are: the one that asks may have mistyped a digit.
template <class Map>
Failure<ExplainError> unknown(std::string_view kind, std::uint64_t id, const Map& known) {
  if (known.empty()) {
    return {ExplainError::unknown_id, fmt::format("no {} {}: the log has no {}s", kind, id, kind)};
  }
  return {ExplainError::unknown_id,
          fmt::format("no {} {} in the log: it knows {} {}s, with ids from {} to {}", kind, id,
                      known.size(), kind, known.begin()->first.value, known.rbegin()->first.value)};
}

}  // namespace

Expected<Explanation, ExplainError> explain_task(std::span<const Event> events,
                                                 const Catalog& catalog, TaskId task) {
  TaskTeller teller(events, catalog, task);
  const auto& known = teller.event_text().tasks();
  if (!known.contains(task)) return unknown("task", task.value, known);
  return teller.explain_all(events);
}

Expected<Explanation, ExplainError> explain_instance(std::span<const Event> events,
                                                     const Catalog& catalog, InstanceId instance) {
  InstanceTeller teller(events, catalog, instance);
  const auto& known = teller.event_text().instances();
  if (!known.contains(instance)) return unknown("instance", instance.value, known);
  return teller.explain_all(events);
}

}  // namespace muster::report
