#pragma once

#include <caf/all.hpp>
#include <functional>
#include <utility>

#include "actors/messages/messages.hpp"
#include "actors/time/virtual_time.hpp"
#include "tests/support/virtual_system.hpp"

namespace muster::ring {

/// Runs the steps that it is sent at once and outside of every actor: what happens in the world.
class Stage : public caf::monitorable_actor {
 public:
  explicit Stage(caf::actor_config& config) : caf::monitorable_actor(config) {}
  const char* name() const override { return "ring.stage"; }
  void enqueue(caf::mailbox_element_ptr element, caf::execution_unit*) override {
    const caf::message content = element->move_content_to_message();
    if (content.match_elements<Wakeup>()) content.get_as<Wakeup>(0).run();
    if (content.match_elements<over_atom, JobEnd>() && heard) heard(content.get_as<JobEnd>(1));
  }

  std::function<void(const JobEnd&)> heard;  ///< as who watches jobs
};

/// The true time of a simulation, and what happens in the world at given times of it. Steps that
/// are due at the same time happen in the order in which they were asked for.
class Timeline {
 public:
  explicit Timeline(caf::actor_system& system) : system_(system), time_(VirtualTime::of(system)) {
    caf::actor_config config;
    stage_ = caf::make_actor<Stage, caf::strong_actor_ptr>(system.next_actor_id(), system.node(),
                                                           &system, config);
  }

  caf::actor_system& system() { return system_; }
  /// Stands for a process that only asks.
  const caf::strong_actor_ptr& stage() const { return stage_; }
  /// Who is told of the ends of jobs that the stage watches.
  void on_end(std::function<void(const JobEnd&)> heard) {
    static_cast<Stage*>(caf::actor_cast<caf::abstract_actor*>(stage_))->heard = std::move(heard);
  }
  Instant now() const { return time_.now(); }

  void at(Instant when, std::function<void()> step) {
    time_.clock().schedule_message(
        time_.origin().start + std::max(when, now()).time_since_epoch(), stage_,
        caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, Wakeup{std::move(step)}));
  }
  void after(Duration wait, std::function<void()> step) { at(now() + wait, std::move(step)); }

 private:
  caf::actor_system& system_;
  VirtualTime& time_;
  caf::strong_actor_ptr stage_;
};

}  // namespace muster::ring
