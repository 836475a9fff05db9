#include "workers/light_worker.hpp"

#include <algorithm>
#include <caf/detail/sync_request_bouncer.hpp>
#include <utility>

#include "workers/worker_actor.hpp"

// Each turn does what one turn of CAF's event-based actors does: the first message that is urgent,
// else the first, and then the end of the line of ready actors if there are more.

namespace muster {

LightWorkers::LightWorkers(caf::actor_system& system, ClockOrigin origin)
    : system_(system),
      origin_(origin),
      behavior_(worker_behavior([this]() -> WorkerDuties& { return *turn_; }).unbox()) {}

WorkerActor LightWorkers::start(const WorkerSetup& setup) {
  caf::actor_config config;
  const auto worker = caf::make_actor<LightWorker, caf::strong_actor_ptr>(
      system_.next_actor_id(), system_.node(), &system_, config, *this, setup);
  static_cast<LightWorker*>(worker->get())->launch();
  return caf::actor_cast<WorkerActor>(worker);
}

LightWorker::LightWorker(caf::actor_config& config, LightWorkers& common, const WorkerSetup& setup)
    : caf::abstract_actor(config), common_(common), master_(setup.master), duties_(setup, *this) {}

void LightWorker::launch() {
  has_turn_ = true;
  intrusive_ptr_add_ref_impl();
  home_system().scheduler().enqueue(this);
}

/// No actor can send to it any more.
void LightWorker::on_destroy() {
  finish(caf::exit_reason::unreachable, nullptr);
  caf::abstract_actor::on_destroy();
}

void LightWorker::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* host) {
  if (stage_ == Stage::over) {
    const caf::detail::sync_request_bouncer bounce{caf::exit_reason::user_shutdown};
    return bounce(*what);
  }
  if (what->is_high_priority()) {
    auto first = mailbox_.begin();
    while (first != mailbox_.end() && (*first)->is_high_priority()) ++first;
    mailbox_.insert(first, std::move(what));
  } else {
    mailbox_.push_back(std::move(what));
  }
  if (std::exchange(has_turn_, true)) return;
  intrusive_ptr_add_ref_impl();
  host != nullptr ? host->exec_later(this) : home_system().scheduler().enqueue(this);
}

caf::resumable::resume_result LightWorker::resume(caf::execution_unit* host,
                                                  std::size_t max_throughput) {
  if (stage_ == Stage::begins) {
    stage_ = Stage::lives;
    duties_.greet();
  }
  for (std::size_t i = 0; i < max_throughput && !mailbox_.empty(); ++i) {
    handle_next(host);
    if (stage_ == Stage::over) return done;
  }
  if (!mailbox_.empty()) return resume_later;
  has_turn_ = false;
  return awaiting_message;
}

void LightWorker::handle_next(caf::execution_unit* host) {
  const caf::mailbox_element_ptr message = std::move(mailbox_.front());
  mailbox_.pop_front();
  caf::type_erased_tuple& content = message->content();
  if (content.match_elements<caf::exit_msg>()) {
    const caf::error& reason = content.get_as<caf::exit_msg>(0).reason;
    if (reason) finish(reason, host);
    return;
  }
  common_.turn_ = &duties_;
  common_.behavior_(content);
  common_.turn_ = nullptr;
}

void LightWorker::finish(const caf::error& reason, caf::execution_unit* host) {
  if (std::exchange(stage_, Stage::over) == Stage::over) return;
  duties_.end();
  const caf::attachable_ptr attached = std::move(attached_);
  for (caf::attachable* each = attached.get(); each != nullptr; each = each->next.get()) {
    each->actor_exited(reason, host);
  }
  const caf::detail::sync_request_bouncer bounce{reason};
  for (const caf::mailbox_element_ptr& unread : mailbox_) bounce(*unread);
  mailbox_.clear();
}

void LightWorker::attach(caf::attachable_ptr ptr) {
  if (stage_ == Stage::over) return ptr->actor_exited(caf::exit_reason::user_shutdown, nullptr);
  ptr->next = std::move(attached_);
  attached_ = std::move(ptr);
}

std::size_t LightWorker::detach(const caf::attachable::token& what) {
  std::size_t detached = 0;
  for (caf::attachable_ptr* each = &attached_; *each;) {
    if ((*each)->matches(what)) {
      *each = std::move((*each)->next);
      ++detached;
    } else {
      each = &(*each)->next;
    }
  }
  return detached;
}

void LightWorker::intrusive_ptr_add_ref_impl() {
  caf::intrusive_ptr_add_ref(ctrl());
}

void LightWorker::intrusive_ptr_release_impl() {
  caf::intrusive_ptr_release(ctrl());
}

WorkerActor LightWorker::handle() const {
  return caf::actor_cast<WorkerActor>(caf::strong_actor_ptr{ctrl()});
}

template <class... Content>
void LightWorker::send(Content&&... content) {
  if (!master_) return;
  caf::actor_cast<caf::abstract_actor*>(master_)->eq_impl(caf::make_message_id(),
                                                          caf::strong_actor_ptr{ctrl()}, nullptr,
                                                          std::forward<Content>(content)...);
}

Instant LightWorker::now() const {
  return common_.origin_.instant(home_system().clock().now());
}

void LightWorker::at(Instant when, std::function<void()> step) {
  caf::actor_clock& clock = home_system().clock();
  const Duration wait = std::max(Duration::zero(), when - now());
  clock.schedule_message(
      clock.now() + wait, caf::strong_actor_ptr{ctrl()},
      caf::make_mailbox_element(caf::strong_actor_ptr{ctrl()}, caf::make_message_id(), {},
                                Wakeup{std::move(step)}));
}

std::function<void(std::function<void()>)> LightWorker::poster() {
  return [address = caf::weak_actor_ptr{ctrl()}](std::function<void()> step) {
    if (const auto worker = caf::actor_cast<WorkerActor>(address.lock())) {
      caf::anon_send(worker, Wakeup{std::move(step)});
    }
  };
}

void LightWorker::post(std::function<void()> step) {
  caf::anon_send(handle(), Wakeup{std::move(step)});
}

void LightWorker::say(WorkerHello hello) {
  send(hello_atom_v, std::move(hello), handle());
}

void LightWorker::say(WorkerReport report) {
  send(std::move(report));
}

void LightWorker::say(SampleAnswer answer) {
  send(std::move(answer));
}

void LightWorker::say(LogAnswer answer) {
  send(std::move(answer));
}

void LightWorker::say(MetricsReport report) {
  send(std::move(report));
}

void LightWorker::say(FilledLogs filled) {
  send(std::move(filled));
}

void LightWorker::say(ExecAnswer answer) {
  send(std::move(answer));
}

void LightWorker::say(UsageAnswer answer) {
  send(std::move(answer));
}

}  // namespace muster
