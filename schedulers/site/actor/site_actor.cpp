#include "schedulers/site/actor/site_actor.hpp"

#include <utility>

#include "schedulers/site/actor/letters_host.hpp"

namespace muster {
namespace {

SitePeers peers_of(const SiteDependencies& dependencies) {
  std::vector<SitePeer> masters, sites;
  for (const MasterPlace& each : dependencies.masters) {
    masters.push_back({{false, each.number}, each.name});
  }
  for (const SitePlace& each : dependencies.sites) {
    sites.push_back({{true, each.number}, each.name, each.position});
  }
  return {std::move(masters), std::move(sites), dependencies.number};
}

caf::error error_of(const Failure<ActorError>& failure) {
  if (failure.message.empty()) return caf::make_error(failure.code);
  return caf::make_error(failure.code, failure.message);
}

template <class T>
auto answer_to(caf::typed_response_promise<T> promise) {
  return [promise = std::move(promise)](Expected<T, ActorError> outcome) mutable {
    if (outcome) {
      promise.deliver(std::move(outcome).value());
    } else {
      promise.deliver(error_of(outcome.error()));
    }
  };
}

}  // namespace

SiteScheduler::SiteScheduler(caf::actor_config& config, const SiteSettings& settings,
                             SiteDependencies dependencies)
    : OrdersFirst(config),
      settings_(settings),
      dependencies_(std::move(dependencies)),
      timer_(this, dependencies_.origin),
      ask_alarm_(timer_, [this] { rounds_.ask(); }),
      peers_(peers_of(dependencies_)),
      writer_(*dependencies_.store, poster()),
      numbers_(peers_, writer_, settings_.max_waiting + settings_.max_dependent, numbers_host()),
      // Sites of one seed draw masters differently.
      loads_(peers_, settings_, dependencies_.seed + dependencies_.number),
      rounds_(peers_, loads_, settings_, rounds_host()),
      classifier_(std::move(dependencies_.classifier), classifier_host()),
      handoffs_(peers_, *dependencies_.store, dependencies_.hand_batch, handoffs_host()),
      ends_({peers_, writer_, numbers_, handoffs_}, dependencies_.max_ended, ends_host()),
      cancels_({peers_, writer_, *dependencies_.store, numbers_, ends_.ended()},
               {dependencies_.cancel_wait, settings_.hand_retry, dependencies_.hand_batch,
                dependencies_.max_cancels, dependencies_.site_numbers},
               cancels_host()),
      broken_({peers_, writer_, loads_}, now(),
              {[this] { return now(); }, [this](JobId job) { cancels_.on_kept(job); }}),
      watches_({peers_, numbers_, ends_.ended()}, dependencies_.max_watches, watches_host()),
      waits_(*this),
      letters_({dependencies_.max_letters, settings_.load_stale_after},
               letters_host({watches_, *dependencies_.store, dependencies_.send_letter, poster(),
                             delayed_by(timer_), [this] { return now(); }})),
      intake_({peers_, writer_, numbers_, rounds_, handoffs_}, settings_, intake_host()),
      view_(peers_, handoffs_, ends_.ended(), waits_.room) {
  set_down_handler([this](const caf::down_msg& down) { watches_.drop(down.source); });
  recall(dependencies_.store->recall());
}

void SiteScheduler::recall(SiteMemory memory) {
  numbers_.recall(memory.next_job, memory.asks_numbers);
  intake_.recall(std::move(memory.tokens), std::move(memory.forwarded), std::move(memory.handoffs));
  letters_.recall(std::move(memory.letters));
  ends_.recall(std::move(memory.past), std::move(memory.ended));
  for (const JobId job : memory.cancels) cancels_.recall(job);
}

void SiteScheduler::on_exit() {
  // Actors that hold each other's handles would never be freed.
  watches_.clear();
  rounds_.clear();
  handoffs_.clear();
  dependencies_.masters.clear();
  dependencies_.sites.clear();
}

// Everything that the store remembers goes on from here: handoffs and cancels are repeated, and
// receivers drop what they have seen.
SiteActor::behavior_type SiteScheduler::make_behavior() {
  if (settings_.load_every > Duration::zero()) {
    rounds_.ask();
    // Tasks may wait at a master since before this site was started.
    waits_.counterparts.begin();
  }
  handoffs_.send_all();
  cancels_.ask_all();
  waits_.room.ask();
  letters_.begin();
  return {
      [this](hand_atom, std::vector<Job>& jobs) { return submit(std::move(jobs), false); },
      [this](forward_atom, std::vector<Job>& jobs) { return submit(std::move(jobs), true); },
      [this](watch_atom, const JobListener& listener, const std::vector<JobId>& jobs) {
        return watch(listener, jobs);
      },
      [this](cancel_atom, JobId id) { return cancel(id); },
      [this](cancel_atom, const std::vector<JobId>& jobs) { return cancel_for_site(jobs); },
      [this](hold_atom, JobId id, bool held) { return hold(id, held); },
      [this](over_atom, const JobEnd& end) { watches_.hear(end); },
      [this](const LoadQuestion&) { return load_report(); },
      [this](const JobsQuestion& wanted) { return view_.jobs(wanted); },
      [this](figures_atom) { return figures(); },
      [](const Wakeup& wakeup) { wakeup.run(); },
  };
}

caf::result<SiteScheduler::Verdicts> SiteScheduler::submit(std::vector<Job> jobs, bool forwarded) {
  const auto promise = make_response_promise<Verdicts>();
  intake_.submit(std::move(jobs), forwarded, answer_to(promise));
  return promise;
}

caf::result<std::vector<JobEnd>> SiteScheduler::watch(const JobListener& listener,
                                                      const std::vector<JobId>& jobs) {
  const auto promise = make_response_promise<std::vector<JobEnd>>();
  watches_.watch(listener, jobs, answer_to(promise));
  return promise;
}

caf::result<CancelReport> SiteScheduler::cancel(JobId id) {
  // Without a sender no answer is awaited.
  const bool asked = current_sender() != nullptr;
  const auto promise = make_response_promise<CancelReport>();
  cancels_.cancel(id, asked ? JobCancels::Answer(answer_to(promise)) : nullptr);
  return promise;
}

caf::result<JobId> SiteScheduler::hold(JobId id, bool held) {
  const auto promise = make_response_promise<JobId>();
  waits_.records.hold(id, held, answer_to(promise));
  return promise;
}

/// Another site asks for it, and goes on asking until it is done.
caf::result<std::vector<CancelVerdict>> SiteScheduler::cancel_for_site(
    const std::vector<JobId>& jobs) {
  auto promise = make_response_promise<std::vector<CancelVerdict>>();
  cancel_here(jobs, [promise](const std::vector<CancelVerdict>& verdicts) mutable {
    promise.deliver(verdicts);
  });
  return promise;
}

LoadReport SiteScheduler::load_report() const {
  LoadReport report;
  report.active_jobs = handoffs_.jobs_in_hand();
  report.load = own_load();
  report.newest = intake_.known().newest_forwarded();
  report.conflicts = numbers_.conflicts_of_others();
  return report;
}

SiteFigures SiteScheduler::figures() const {
  SiteFigures view{peers_.self().name, handoffs_.jobs_in_hand(), writer_.trouble(),
                   handoffs_.jobs_waiting(), ends_.ended().whole_jobs()};
  if (numbers_.learns()) {
    view.trouble += (view.trouble.empty() ? "" : "; ") + numbers_.who_is_learnt_from();
  }
  if (dependencies_.node_trouble) {
    const std::string trouble = dependencies_.node_trouble();
    if (!trouble.empty()) view.trouble += (view.trouble.empty() ? "" : "; ") + trouble;
  }
  return view;
}

}  // namespace muster
