#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "actors/clock.hpp"
#include "workers/executor.hpp"

namespace muster {

/// What a worker is told when it starts on its instance.
struct WorkerSetup {
  InstanceId instance;
  TypeId type;
  Resources capacity;
  MasterActor master;
  ClockOrigin origin;
  ExecutorFactory make_executor;
  std::size_t remembered = 10'000;  ///< settled attempts whose repeated start is known; >= 1
};

/// How a worker's duties reach the world: by way of the actor that they are a part of.
struct WorkerPort {
  std::function<Instant()> now{};
  std::function<void(Instant, std::function<void()>)> at{};  ///< runs the step in the actor then
  std::function<void(std::function<void()>)> post{};         ///< the same soon, from any thread

  // What is said to the master.
  std::function<void(WorkerHello)> hello{};
  std::function<void(WorkerReport)> report{};
  std::function<void(SampleAnswer)> samples{};
  std::function<void(LogAnswer)> log{};
};

/// The port of an actor whose interface holds that of a WorkerActor. The timer is the actor's own.
template <class Self, class Timer>
WorkerPort port_of(Self* self, const Timer& timer, const MasterActor& master) {
  WorkerPort port;
  port.now = [&timer] { return timer.now(); };
  port.at = [&timer](Instant when, std::function<void()> step) { timer.at(when, std::move(step)); };
  // A weak address: what comes after the worker's end is dropped.
  port.post = [address = caf::actor_cast<caf::weak_actor_ptr>(self)](std::function<void()> step) {
    if (auto worker = caf::actor_cast<WorkerActor>(address.lock())) {
      caf::anon_send(worker, Wakeup{std::move(step)});
    }
  };
  port.hello = [self, master](WorkerHello hello) {
    self->send(master, hello_atom_v, std::move(hello), WorkerActor{self});
  };
  port.report = [self, master](WorkerReport report) { self->send(master, std::move(report)); };
  port.samples = [self, master](SampleAnswer answer) { self->send(master, std::move(answer)); };
  port.log = [self, master](LogAnswer answer) { self->send(master, std::move(answer)); };
  return port;
}

/// What the worker of one instance does, whatever actor it is: says hello to its master, runs what
/// it is told by way of its executor and reports what becomes of it, again with every hello until
/// the master has settled it. It never takes on more than its capacity.
class WorkerDuties {
 public:
  WorkerDuties(WorkerSetup setup, WorkerPort port);
  WorkerDuties(const WorkerDuties&) = delete;
  WorkerDuties& operator=(const WorkerDuties&) = delete;

  /// Lets go of the executor and the master; the last thing to be called.
  void end();

  void greet();
  void start(const StartOrder& order);
  void stop(TaskId task, Attempt attempt) { executor_->stop(task, attempt); }
  void acknowledge(TaskId task, Attempt attempt);
  void answer_sample(std::uint64_t sample_round);
  void answer_log(const LogRequest& request);

  /// Called right after the report that an attempt of the task is over.
  void when_over(std::function<void(TaskId)> step) { when_over_ = std::move(step); }
  const WorkerSetup& setup() const { return setup_; }

 private:
  /// An attempt whose outcome the master has not settled.
  struct Open {
    Resources granted;    ///< zero once it is over
    WorkerReport newest;  ///< `accepted` until there is something to report
  };
  using AttemptKey = std::pair<TaskId, Attempt>;

  ExecutorHost make_host();
  void adopt();
  void forget_oldest();
  void over(TaskId task, Attempt attempt, WorkerReport report, ExecutionEnd end);
  void report(TaskId task, Attempt attempt, WorkerReport details);
  void hold(const Resources& granted);
  void release(Open& open);

  WorkerSetup setup_;
  WorkerPort port_;
  std::function<void(TaskId)> when_over_;
  std::unique_ptr<Executor> executor_;
  std::map<TaskId, Attempt> newest_;     ///< the last attempt seen of each task, while remembered
  std::deque<AttemptKey> acknowledged_;  ///< the oldest first
  std::map<AttemptKey, Open> open_;
  Resources used_;
  std::size_t holding_ = 0;  ///< open attempts to which something is granted
  std::uint64_t hellos_ = 0;
};

}  // namespace muster
