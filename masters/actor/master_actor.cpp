#include "masters/actor/master_actor.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "masters/view/cell_services.hpp"
#include "model/live_ids.hpp"

namespace muster {
namespace {

using JobIds = std::vector<JobId>;
using EndsOfJobs = std::vector<JobEnd>;
using SubmitVerdicts = std::vector<SubmitVerdict>;
using CancelVerdicts = std::vector<CancelVerdict>;

std::optional<ActorError> error_of(ServiceResult result) {
  if (result == ServiceResult::unknown) return ActorError::unknown;
  if (result == ServiceResult::too_many) return ActorError::too_many;
  if (result == ServiceResult::out_of_range) return ActorError::out_of_range;
  return std::nullopt;
}

}  // namespace

MasterActorImpl::MasterActorImpl(caf::actor_config& config, MasterSetup setup)
    : OrdersFirst(config),
      setup_(std::move(setup)),
      master_(setup_.settings, std::move(setup_.parts)),
      timer_(this, setup_.origin),
      reads_(setup_.history, *this),
      places_(master_, reads_),
      logs_(setup_.logs, master_, places_, *this, log_host()),
      execs_(places_, exec_host()),
      usages_(master_, *this,
              [this](InstanceId on, const UsageRequest& asked) {
                const WorkerActor* worker = links_.on(on);
                if (worker != nullptr) send(*worker, asked);
                return worker != nullptr;
              }),
      link_(setup_.settings.watch, link_host()),
      workers_({master_, links_, logs_, execs_, *this}, worker_host()),
      cloud_({master_, link_, links_, workers_, logs_, *this}, cloud_host()),
      seat_(master_, *this, seat_setup()),
      rounds_({master_, seat_, *this}, round_host()),
      metrics_(master_, *this, metrics_host()),
      answers_({master_, reads_, *this}, answers_setup(), answers_host()),
      sites_({master_, reads_, *this}, setup_.max_watches, site_host()),
      commits_(setup_.journal, setup_.history, *this, commit_host()) {
  set_down_handler([this](const caf::down_msg& down) {
    if (!sites_.drop(down.source)) workers_.lose(down.source);
  });
  restore();
}

/// Takes back what the master was before it was started again.
void MasterActorImpl::restore() {
  const std::vector<Event> tail = std::exchange(setup_.tail, {});
  if (setup_.snapshot || !tail.empty()) {
    const std::string trouble = master_.restore(std::exchange(setup_.snapshot, std::nullopt), tail);
    if (!trouble.empty() && setup_.note) setup_.note("master " + master_.name() + ": " + trouble);
    seat_.recall(tail.size());
    for (const InstanceRow& row : master_.state().instances()) links_.expect(row.id);
    // A job that was recorded before it was over would count twice: here, and in the history.
    for (const JobRow& row : master_.state().jobs()) {
      if (setup_.history != nullptr) setup_.history->drop(row.job.id);
    }
    answers_.recall();
    sites_.recall();
  }
  if (setup_.asks_numbers) master_.ask_numbers();
  clock_ = StampClock(now(), master_.facts().newest);
  answers_.recall(std::exchange(setup_.past, {}), clock_.started());
}

void MasterActorImpl::on_exit() {
  links_.clear();
  sites_.clear();
  seat_.close();
  logs_.close();
  execs_.clear();
  usages_.clear();
  commits_.clear();
  setup_.cloud = nullptr;
}

void MasterActorImpl::begin() {
  if (setup_.batch_events > 0) {
    master_.hand_over(setup_.batch_events, [this](std::vector<Event>&& events) {
      commits_.take_part(std::move(events));
    });
  }
  logs_.begin();
  seat_.begin(system());
  // First: no fleet is rented before the cloud's clock is known, where it has to be.
  cloud_.start();
  rounds_.order_fleet();
  commit();
  rounds_.begin();
  workers_.begin();
}

/// An answer may take its time, and comes when the part has it.
template <class Value, class Ask>
caf::result<Value> MasterActorImpl::answered(Ask&& ask) {
  auto promise = make_response_promise<Value>();
  ask(PartAnswer<Value>{[promise](caf::expected<Value> answer) mutable {
    if (answer) {
      promise.deliver(std::move(*answer));
    } else {
      promise.deliver(std::move(answer.error()));
    }
  }});
  return promise;
}

MasterActor::behavior_type MasterActorImpl::make_behavior() {
  begin();
  const auto run = static_cast<std::uint64_t>(clock_.started().time_since_epoch().count());
  const auto shown = [this]<class View>(CellAnswer<View> made) {
    return answered<View>([&](const auto& answer) { answers_.show(std::move(made), answer); });
  };
  return {
      [this](hand_atom, std::vector<Job>& jobs) {
        return answered<SubmitVerdicts>(
            [&](const auto& to) { sites_.submit(std::move(jobs), to); });
      },
      [this](watch_atom, const JobListener& by, const JobIds& jobs) {
        return answered<EndsOfJobs>([&](const auto& to) { sites_.watch(by, jobs, to); });
      },
      [this](unwatch_atom, const JobListener& by, const JobIds& jobs) { sites_.unwatch(by, jobs); },
      [this](cancel_atom, const JobIds& jobs) {
        return answered<CancelVerdicts>([&](const auto& to) { sites_.cancel(jobs, to); });
      },
      [this](hold_atom, JobId id, bool held) { return hold(id, held); },
      [this](scale_atom, JobId id, std::uint32_t replicas) -> caf::result<JobId> {
        const ServiceResult result = master_.services().scale(id, replicas, stamp());
        if (const auto error = error_of(result)) return *error;
        return answered<JobId>([&](const auto& answer) { commit([answer, id] { answer(id); }); });
      },
      [this](drain_atom, InstanceId id) { return drain(id); },
      [this](hello_atom, const WorkerHello& it, const WorkerActor& by) { workers_.greet(it, by); },
      [this](const WorkerReport& report) { workers_.hear(report); },
      [this](const SampleAnswer& answer) { rounds_.hear(answer); },
      [this](const LogAnswer& answer) { logs_.hear(answer); },
      [this](const MetricsReport& report) { metrics_.hear(report); },
      [this](const FilledLogs& said) { logs_.hear(said); },
      [this](ExecAnswer& answer) { execs_.hear(std::move(answer)); },
      [this](const UsageAnswer& answer) { usages_.hear(answer); },
      [this](const CloudReport& report) { cloud_.hear(report); },
      [this](greet_atom) { cloud_.start(); },
      [this, run](const LoadQuestion& asked) { return sites_.load(asked, run); },
      [this](const CounterpartQuestion& asked) {
        return answered<CounterpartReport>([&](const auto& to) { sites_.counterparts(asked, to); });
      },
      [this, shown](const JobsQuestion& wanted) { return shown(answers_.view().jobs(wanted)); },
      [this, shown](const JobQuestion& wanted) { return shown(answers_.view().job(wanted)); },
      [this, shown](const FindQuestion& wanted) { return shown(answers_.view().find(wanted)); },
      [this, shown](const RequestQuestion& asked) { return shown(answers_.view().request(asked)); },
      [this, shown](const CostQuestion& wanted) { return shown(answers_.view().cost(wanted)); },
      [this](instances_atom, InstanceId after) { return answers_.instances(after); },
      [this](const InstanceQuestion& wanted) { return answers_.view().life(wanted); },
      [this](decisions_atom, const DecisionsQuestion& q) { return answers_.view().decided(q); },
      [this](const ServicesQuestion& wanted) { return services_of(master_, wanted); },
      [this](figures_atom) { return answers_.figures(); },
      [this](series_atom) { return answers_.figures_with_series(); },
      [this](history_atom, std::uint32_t hours) { return answers_.history(hours); },
      [this](plan_atom, Job& job) {
        return answered<PlanView>([&](const auto& answer) {
          const auto in_place = [this](Job its) { return answers_.view().plan(std::move(its)); };
          seat_.dry_run(std::move(job), in_place, answer);
        });
      },
      [this](const LogRequest& request) {
        return answered<LogAnswer>([&](const auto& answer) { logs_.read(request, answer); });
      },
      [this](const UsageQuestion& wanted) {
        return answered<UsageView>([&](const auto& answer) { usages_.ask(wanted, answer); });
      },
      [this](ExecRequest& request) {
        return answered<ExecAnswer>(
            [&](const auto& answer) { execs_.ask(std::move(request), answer); });
      },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

/// The cloud's clock is told from the stamps, which may be ahead of the clock here.
Instant MasterActorImpl::stamp() {
  const Instant clock = now();
  const Instant stamp = clock_.stamp(clock);
  if (const auto ahead = link_.ahead()) master_.set_cloud_ahead(*ahead - (stamp - clock));
  return stamp;
}

/// Steps reach the actor as messages, and nothing once it has ended.
PartHost::Post MasterActorImpl::poster(caf::message_priority priority) {
  return [priority, address = caf::actor_cast<caf::weak_actor_ptr>(this)](Step step) {
    const auto self = caf::actor_cast<MasterActor>(address.lock());
    if (!self) return;
    if (priority == caf::message_priority::high) {
      caf::anon_send<caf::message_priority::high>(self, Wakeup{std::move(step)});
    } else {
      caf::anon_send(self, Wakeup{std::move(step)});
    }
  };
}

caf::result<JobId> MasterActorImpl::hold(JobId id, bool held) {
  const HoldResult result = master_.hold(id, held, stamp());
  if (result == HoldResult::unknown) return ActorError::unknown;
  if (result == HoldResult::stopping) return ActorError::stopping;
  if (!held && master_.cadence().on_arrival) want_round();
  return answered<JobId>([&](const auto& answer) { commit([answer, id] { answer(id); }); });
}

caf::result<InstanceId> MasterActorImpl::drain(InstanceId id) {
  if (!master_.evict(id, CauseCode::drained, stamp())) return ActorError::unknown;
  return answered<InstanceId>([&](const auto& answer) { commit([answer, id] { answer(id); }); });
}

/// With all that is on its way from there.
void MasterActorImpl::end_now(InstanceId id) {
  logs_.let_go(id);
  send(setup_.cloud, end_atom_v, id, MasterForCloud{this});
}

void MasterActorImpl::perform(const StartTask& effect) {
  const WorkerActor* worker = links_.on(effect.on);
  const TaskRow* task = master_.state().find(effect.task);
  if (worker == nullptr || task == nullptr || task->attempt != effect.attempt) return;
  const JobRow& row = master_.state().job(task->job);
  auto order = order_of(row.job, master_.state().spec(*task), effect.attempt, task->held.amount);
  order.task_count = row.running_together();
  send(*worker, start_atom_v, std::move(order));
}

void MasterActorImpl::perform(const StopTask& effect) {
  if (const WorkerActor* worker = links_.on(effect.on)) {
    send(*worker, stop_atom_v, effect.task, effect.attempt);
  }
}

void MasterActorImpl::perform(const LaunchInstance& effect) {
  send(setup_.cloud, launch_atom_v,
       LaunchOrder{effect.instance, master_.state().catalog()[effect.type].name,
                   static_cast<std::uint8_t>(effect.market), effect.zone, effect.max_price},
       MasterForCloud{this});
}

void MasterActorImpl::perform(const EndInstance& effect) {
  if (!logs_.holds(effect.instance)) end_now(effect.instance);
}

void MasterActorImpl::perform(const AcknowledgeAttempt& effect) {
  if (logs_.take({effect.task, effect.attempt}, effect.on)) return;
  if (const WorkerActor* worker = links_.on(effect.on)) {
    send(*worker, ack_atom_v, effect.task, effect.attempt);
  }
}

void MasterActorImpl::perform(const TellJobOver& effect) {
  sites_.tell({effect.job, effect.outcome, position_of(effect.first), effect.tasks, effect.whole,
               effect.broken});
}

}  // namespace muster
