// Asks masters, sites and the cloud for the API. A question goes to all masters, or all sites, at
// once; one that has not answered within `timeout_` is left out, and named as silent.

#include "serve/node/actor_backend.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "actors/messages/byte_cut.hpp"
#include "model/live_ids.hpp"
#include "serve/api/exec_request.hpp"
#include "serve/node/backend_answers.hpp"
#include "serve/node/json_text.hpp"
#include "serve/node/log_piece_of.hpp"

namespace muster {
namespace {

using api::Answer;
using api::refusal;
using backend::from_error;
using backend::ok;

/// Bytes of UTF-8.
constexpr std::uint32_t kLongestCharacter = 4;
/// Bytes of output in one answer.
constexpr std::uint32_t kLongestPiece = kListBytes;

std::vector<std::string> names_of(const std::vector<const NodeConfig*>& nodes,
                                  std::optional<std::string> NodeConfig::*role) {
  std::vector<std::string> names;
  for (const NodeConfig* node : nodes) names.push_back(*(node->*role));
  return names;
}

/// The question in words.
std::string name_of(const api::LogQuery& query) {
  const std::string attempt =
      query.attempt == 0 ? "" : "attempt " + std::to_string(query.attempt) + " of ";
  return attempt + "task " + std::to_string(query.index) + " of job " +
         std::to_string(query.job.value);
}

}  // namespace

ActorBackend::ActorBackend(caf::actor_system& system, const ClusterConfig& config,
                           ClusterHandles handles, ClockOrigin origin)
    : system_(system),
      config_(config),
      handles_(std::move(handles)),
      origin_(origin),
      timeout_(config.link.request_timeout / 2),
      last_(std::make_shared<LastAnswers>(names_of(config.masters(), &NodeConfig::master),
                                          names_of(config.sites(), &NodeConfig::site), now())),
      asked_{system_,
             handles_.masters,
             handles_.sites,
             timeout_,
             origin_,
             last_,
             std::make_shared<DayCosts>(names_of(config.masters(), &NodeConfig::master),
                                        handles_.day_costs),
             handles_.caps},
      looks_(job_asks()) {}

ActorBackend::~ActorBackend() {
  end_asking();
}

JobAsks ActorBackend::job_asks() {
  return {system_,
          handles_.own_site,
          handles_.sites,
          handles_.masters,
          timeout_,
          [this](const Answered& masters, const Answered& sites) { return silent(masters, sites); },
          [this](JobId job, const Answered& masters, bool all_answered) {
            FoundJob nothing;
            nothing.all_answered = all_answered;
            for (std::size_t i = 0; i < masters.size(); ++i)
              if (!masters[i]) nothing.silent.push_back(i);
            return not_found(nothing, job, config_);
          },
          [this] { return now(); }};
}

void ActorBackend::end_asking() {
  if (asker_) caf::anon_send_exit(asker_, caf::exit_reason::user_shutdown);
}

JobPlaces ActorBackend::places() const {
  return {system_, config_, handles_.masters, handles_.sites, timeout_};
}

Instant ActorBackend::now() const {
  return origin_.instant(system_.clock().now());
}

void ActorBackend::keep_asking() {
  asker_ = spawn_asker(asked_);
}

/// Any part of a job names its owner: the first answer that has one counts, so that a master that
/// hangs keeps no user from the jobs of others. For jobs that came in here no master is asked.
void ActorBackend::owner(JobId job, std::function<void(api::JobOwner)> reply) {
  if (auto user = owners_.find(job)) return reply({*std::move(user)});
  struct Look {
    std::mutex mutex{};
    std::size_t left = 0;
    bool said = false;
  };
  const auto look = std::make_shared<Look>();
  look->left = handles_.masters.size() + handles_.sites.size();
  const auto hear = [this, look, job, reply](const caf::expected<JobsView>& answer) {
    const bool has_it = answer && !answer->jobs.empty();
    bool last = false;
    {
      const std::lock_guard lock(look->mutex);
      last = --look->left == 0;
      if (look->said) return;
      look->said = has_it;
    }
    if (has_it) return reply({answer->jobs.front().user});
    if (!last) return;
    find_job(places(), job, 0, [this, job, reply](const FoundJob& found) {
      reply({{}, not_found(found, job, config_)});
    });
  };
  const auto ask_of = [&](const auto& whom) {
    for (const auto& each : whom) {
      ask<JobsView>(system_, each, timeout_, hear, JobsQuestion::parts_of({job}));
    }
  };
  ask_of(handles_.masters);
  ask_of(handles_.sites);
}

/// The site of this API takes the cancel and sees to it that everybody hears of it.
void ActorBackend::cancel_job(JobId job, const api::Reply& reply) {
  ask<CancelReport>(
      system_, handles_.own_site, timeout_,
      [this, job, reply](const caf::expected<CancelReport>& report) {
        const std::string name = "job " + std::to_string(job.value);
        if (!report) return reply(from_error(report.error(), system_, name));
        if (!report->unconfirmed.empty()) {
          JsonText under_way;
          under_way.begin_object().field("job", job).field("unconfirmed", report->unconfirmed);
          return reply({202, under_way.end_object().take()});
        }
        switch (report->standing) {
          case CancelStanding::ended:
            return reply(ok("job", job.value));
          case CancelStanding::over:
            return reply(refusal(409, "over", name + " is over"));
          default:
            return reply(refusal(404, "not found", "there is no " + name));
        }
      },
      cancel_atom_v, job);
}

void ActorBackend::change_job(JobId job, api::JobChange change, api::Reply reply) {
  if (change == api::JobChange::cancel) return cancel_job(job, reply);
  const bool held = change == api::JobChange::hold;
  find_job(places(), job, 0, [this, job, held, reply](const FoundJob& found) {
    hold_found(places(), found, {job, held}, reply);
  });
}

void ActorBackend::change_instance(InstanceId instance, api::InstanceChange change,
                                   api::Reply reply) {
  const std::string name = "instance " + std::to_string(instance.value);
  const auto done = [this, reply, instance, name](const caf::expected<InstanceId>& answer) {
    reply(answer ? ok("instance", instance.value) : from_error(answer.error(), system_, name));
  };
  if (change == api::InstanceChange::interrupt) {
    return ask<InstanceId>(system_, handles_.cloud, timeout_, done, interrupt_atom_v, instance);
  }
  const auto number =
      std::find(handles_.numbers.begin(), handles_.numbers.end(), master_of(instance));
  if (number == handles_.numbers.end()) {
    return reply(refusal(404, "not found", "there is no " + name));
  }
  const MasterOrders master =
      handles_.masters[static_cast<std::size_t>(number - handles_.numbers.begin())];
  ask<InstanceId>(system_, master, timeout_, done, drain_atom_v, instance);
}

void ActorBackend::find_task(JobId job, std::uint32_t index, const api::Reply& reply,
                             std::function<void(const TaskPlace&)> use) {
  find_job(places(), job, index,
           [this, job, index, reply, use = std::move(use)](const FoundJob& found) {
             if (found.masters.empty()) return reply(not_found(found, job, config_));
             if (!found.of_task) {
               return reply(refusal(
                   404, "not found",
                   "job " + std::to_string(job.value) + " has no task " + std::to_string(index)));
             }
             use({handles_.masters[*found.of_task], task_id_of(job, found.position)});
           });
}

void ActorBackend::exec(const api::ExecQuery& query, api::Reply reply) {
  find_task(query.job, query.index, reply, [this, query, reply](const TaskPlace& place) {
    ExecRequest request = query.request;
    request.task = place.task;
    ask<ExecAnswer>(
        system_, place.master, timeout_ + request.wait,
        [this, query, reply](const caf::expected<ExecAnswer>& answer) {
          if (answer) return reply(api::exec_document(query, *answer));
          reply(from_error(answer.error(), system_,
                           "task " + std::to_string(query.index) + " of job " +
                               std::to_string(query.job.value)));
        },
        request);
  });
}

void ActorBackend::read_log(const api::LogQuery& query, api::Reply reply) {
  find_task(query.job, query.index, reply, [this, query, reply](const TaskPlace& place) {
    LogRequest request;
    request.task = place.task;
    request.attempt = query.attempt;
    request.error_stream = query.error_stream;
    request.offset = query.offset;
    // Not fewer, or a piece could stay empty; not more than go into one message.
    request.max_bytes = std::clamp(query.max, kLongestCharacter, kLongestPiece);
    ask<LogAnswer>(
        system_, place.master, timeout_,
        [this, reply, query](const caf::expected<LogAnswer>& part) {
          if (!part) return reply(from_error(part.error(), system_, name_of(query)));
          const api::LogPiece piece = piece_of(*part);
          reply(query.raw ? api::log_bytes(piece) : api::log_document(query, piece));
        },
        request);
  });
}

}  // namespace muster
