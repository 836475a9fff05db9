#pragma once

#include <caf/all.hpp>
#include <list>

#include "workers/worker_duties.hpp"

namespace muster {

/// Parts that the light workers of one actor system share. It outlives them.
class LightWorkers {
 public:
  LightWorkers(caf::actor_system& system, ClockOrigin origin);

  /// Starts the worker of an instance, as spawning a Worker would.
  WorkerActor start(const WorkerSetup& setup);

 private:
  friend class LightWorker;

  caf::actor_system& system_;
  ClockOrigin origin_;
  WorkerDuties* turn_ = nullptr;  ///< whose message is handled
  caf::behavior behavior_;        ///< behaviour of a Worker, run by the one whose turn it is
};

/// The worker of one instance as an actor that takes a quarter of a Worker's memory: replays have
/// as many as instances. It has the messages, the duties and the turns of a Worker, so that a run
/// is equal with either; only its mailbox and its table of handlers are not CAF's. For actor
/// systems in which one thread runs all (VirtualTime).
class LightWorker final : public caf::abstract_actor, public caf::resumable, private WorkerPort {
 public:
  LightWorker(caf::actor_config& config, LightWorkers& common, const WorkerSetup& setup);

  // Of an actor.
  void on_destroy() override;
  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* host) override;
  void attach(caf::attachable_ptr ptr) override;
  std::size_t detach(const caf::attachable::token& what) override;

  // Of what takes turns.
  subtype_t subtype() const override { return scheduled_actor; }
  resume_result resume(caf::execution_unit* host, std::size_t max_throughput) override;
  void intrusive_ptr_add_ref_impl() override;
  void intrusive_ptr_release_impl() override;

  /// Has its first turn come, in which it says hello.
  void launch();

 private:
  enum class Stage : std::uint8_t { begins, lives, over };

  // Links between actors are not for workers.
  void add_link(caf::abstract_actor*) override {}
  void remove_link(caf::abstract_actor*) override {}
  bool add_backlink(caf::abstract_actor*) override { return false; }
  bool remove_backlink(caf::abstract_actor*) override { return false; }

  // Calls of its duties.
  Instant now() const override;
  void at(Instant when, std::function<void()> step) override;
  std::function<void(std::function<void()>)> poster() override;
  void post(std::function<void()> step) override;
  void say(WorkerHello hello) override;
  void say(WorkerReport report) override;
  void say(SampleAnswer answer) override;
  void say(LogAnswer answer) override;
  void say(MetricsReport report) override;
  void say(FilledLogs filled) override;
  void say(ExecAnswer answer) override;
  void say(UsageAnswer answer) override;
  void end() override { master_ = nullptr; }

  WorkerActor handle() const;
  template <class... Content>
  void send(Content&&... content);
  void handle_next(caf::execution_unit* host);
  void finish(const caf::error& reason, caf::execution_unit* host);

  LightWorkers& common_;
  MasterForWorkers master_;
  Stage stage_ = Stage::begins;
  bool has_turn_ = false;  ///< it waits for one, or it is its turn
  std::list<caf::mailbox_element_ptr> mailbox_;
  caf::attachable_ptr attached_;  ///< the newest first
  WorkerDuties duties_;
};

}  // namespace muster
