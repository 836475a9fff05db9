#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "actors/messages/interfaces.hpp"
#include "actors/time/clock.hpp"
#include "workers/executor.hpp"

namespace muster {

/// Settings of a worker when it starts on its instance.
struct WorkerSetup {
  InstanceId instance;
  TypeId type;
  Resources capacity;
  MasterForWorkers master;
  ClockOrigin origin;
  ExecutorFactory make_executor;
  std::size_t remembered = 10'000;  ///< settled attempts whose repeated start is known; >= 1
};

/// How a worker's duties reach the world: by way of the actor that they are a part of.
class WorkerPort {
 public:
  virtual ~WorkerPort() = default;

  virtual Instant now() const = 0;
  /// Runs the step in the actor then.
  virtual void at(Instant when, std::function<void()> step) = 0;
  /// Runs a step in the actor soon, called from any thread; steps after its end are dropped.
  virtual std::function<void(std::function<void()>)> poster() = 0;
  /// Likewise, from the actor's own thread of control.
  virtual void post(std::function<void()> step) = 0;

  // Messages to the master.
  virtual void say(WorkerHello hello) = 0;
  virtual void say(WorkerReport report) = 0;
  virtual void say(SampleAnswer answer) = 0;
  virtual void say(LogAnswer answer) = 0;
  virtual void say(MetricsReport report) = 0;
  virtual void say(FilledLogs filled) = 0;
  virtual void say(ExecAnswer answer) = 0;
  virtual void say(UsageAnswer answer) = 0;

  /// An attempt of the task is over, which the master has just been told.
  virtual void over(TaskId /*task*/) {}
  /// Lets go of the master.
  virtual void end() = 0;
};

/// The port of an actor whose interface holds that of a WorkerActor. The timer is the actor's own.
template <class Self, class Timer>
class ActorPort : public WorkerPort {
 public:
  ActorPort(Self* self, const Timer& timer, MasterForWorkers master)
      : self_(self), timer_(timer), master_(std::move(master)) {}

  Instant now() const override { return timer_.now(); }
  void at(Instant when, std::function<void()> step) override { timer_.at(when, std::move(step)); }
  std::function<void(std::function<void()>)> poster() override {
    return [address = caf::actor_cast<caf::weak_actor_ptr>(self_)](std::function<void()> step) {
      if (auto worker = caf::actor_cast<WorkerActor>(address.lock())) {
        caf::anon_send(worker, Wakeup{std::move(step)});
      }
    };
  }
  void post(std::function<void()> step) override {
    caf::anon_send(WorkerActor{self_}, Wakeup{std::move(step)});
  }
  void say(WorkerHello hello) override {
    self_->send(master_, hello_atom_v, std::move(hello), WorkerActor{self_});
  }
  void say(WorkerReport report) override { self_->send(master_, std::move(report)); }
  void say(SampleAnswer answer) override { self_->send(master_, std::move(answer)); }
  void say(LogAnswer answer) override { self_->send(master_, std::move(answer)); }
  void say(MetricsReport report) override { self_->send(master_, std::move(report)); }
  void say(FilledLogs filled) override { self_->send(master_, std::move(filled)); }
  void say(ExecAnswer answer) override { self_->send(master_, std::move(answer)); }
  void say(UsageAnswer answer) override { self_->send(master_, std::move(answer)); }
  void end() override { master_ = nullptr; }

 protected:
  Self* self() const { return self_; }

 private:
  Self* self_;
  const Timer& timer_;
  MasterForWorkers master_;
};

/// Work of the worker of one instance, whatever actor it is: says hello to its master, runs its
/// orders by way of its executor and reports their outcome, again with every hello until the master
/// has acknowledged it. It never takes on more than its capacity. A replay may have a million of
/// them at once, so that each keeps little.
class WorkerDuties final : private WorkerCalls {
 public:
  /// The port has to outlive it.
  WorkerDuties(const WorkerSetup& setup, WorkerPort& port);
  WorkerDuties(const WorkerDuties&) = delete;
  WorkerDuties& operator=(const WorkerDuties&) = delete;

  /// Lets go of the executor and the master; the last thing to be called.
  void end();

  void greet();
  void start(const TaskOrder& order);
  void stop(TaskId task, Attempt attempt) { executor_->stop(task, attempt); }
  void acknowledge(TaskId task, Attempt attempt);
  void answer_sample(std::uint64_t sample_round);
  void answer_log(const LogRequest& request);
  void answer_exec(const ExecRequest& request);
  void answer_usage(const UsageRequest& request);

  TypeId type() const { return type_; }
  const Resources& capacity() const { return capacity_; }

 private:
  using AttemptKey = std::pair<TaskId, Attempt>;
  /// An attempt whose outcome the master has not settled.
  struct Open {
    Resources granted;  ///< zero once it is over
    bool started = false;
    Duration fetch{};  ///< as was reported of its start; this and the next
    Duration build{};
    std::unique_ptr<WorkerReport> end{};  ///< report of its end; null: it is not over

    WorkerReport before_end() const;
    WorkerReport newest() const;  ///< the last report
  };
  /// The attempts that were settled last.
  struct Settled {
    std::map<TaskId, Attempt> last{};  ///< of each task
    std::list<AttemptKey> in_order{};  ///< the oldest first

    /// Keeps no more than `most`.
    void remember(TaskId task, Attempt attempt, std::size_t most);
  };

  // Calls of the executor.
  Instant now() const override { return port_.now(); }
  void at(Instant when, std::function<void()> step) override { port_.at(when, std::move(step)); }
  void post(std::function<void()> step) override { port_.post(std::move(step)); }
  std::function<void(std::function<void()>)> poster() override { return port_.poster(); }
  void started(TaskId task, Attempt attempt, Duration fetch, Duration build) override;
  void checkpointed(TaskId task, Attempt attempt, Duration upload, ExecutionEnd end) override;
  void finished(TaskId task, Attempt attempt, ExecutionEnd end) override;
  void failed(TaskId task, Attempt attempt, std::string reason, ExecutionEnd end) override;
  void rejected(TaskId task, Attempt attempt, std::string reason) override;
  void progressed(TaskId task, Attempt attempt) override;
  void reported(std::vector<AttemptMetrics> said) override;
  void filled(std::vector<FilledLog> logs) override;

  void adopt();
  Attempt newest_of(TaskId task) const;
  void over(TaskId task, Attempt attempt, WorkerReport report, ExecutionEnd end);
  void report(TaskId task, Attempt attempt, WorkerReport details);
  void hold(const Resources& granted);
  void release(Open& open);

  WorkerPort& port_;
  InstanceId instance_;
  TypeId type_;
  std::uint32_t holding_ = 0;  ///< open attempts to which something is granted
  Resources capacity_;
  Resources used_;
  std::unique_ptr<Executor> executor_;
  std::map<AttemptKey, Open> open_;
  std::unique_ptr<Settled> settled_;  ///< null: no attempt is settled yet
  std::size_t remembered_;
  std::uint64_t hellos_ = 0;
};

}  // namespace muster
