#include <algorithm>
#include <memory>
#include <utility>

#include "storage/job_filter.hpp"
#include "storage/task_filter.hpp"
#include "tools/serve/node/actor_backend.hpp"
#include "tools/serve/node/backend_answers.hpp"
#include "tools/serve/node/gather.hpp"
#include "tools/serve/node/merge_jobs.hpp"

// What the API shows of jobs and their tasks, page by page. A long page is asked for in pieces, so
// that no site or master writes out much at once.

namespace muster {

using api::Answer;
using api::refusal;
using backend::ok_but_for;
using nlohmann::json;
using Texts = std::vector<std::optional<std::string>>;

namespace {

/// Jobs of a page that are asked for at once.
constexpr std::size_t kJobsAtOnce = 250;

/// Whether a job's document says that it is over.
bool says_over(const Answer& answer) {
  const json document = json::parse(answer.json, nullptr, false);
  return document.is_object() && document.contains("over_s") && !document["over_s"].is_null();
}

/// Calls `done` once: when the site says that the job is over, or when the time has passed.
void await_end(caf::actor_system& system, const SiteActor& site, JobId job, Duration wait,
               std::function<void()> done) {
  system.spawn<caf::hidden>([=](caf::event_based_actor* self) -> caf::behavior {
    const auto end = [self, done] {
      self->quit();
      done();
    };
    const auto listener = caf::actor_cast<JobListener>(caf::actor{self});
    self->request(site, wait, watch_atom_v, listener, std::vector<JobId>{job})
        .then(
            [end](const std::vector<JobEnd>& ends) {
              if (!ends.empty()) end();
            },
            [](const caf::error&) {});  // then the time has to pass
    self->delayed_send(self, wait, over_atom_v);
    return {[end](over_atom, const JobEnd&) { end(); }, [end](over_atom) { end(); }};
  });
}

/// Asks those of the actors that answered before (`heard`; empty: all of them), for who was silent
/// once would be waited for again with each piece.
template <class Handle>
void ask_those(caf::actor_system& system, const std::vector<Handle>& all, const Texts& heard,
               Duration timeout, const Query& query, std::function<void(Texts)> done) {
  std::vector<Handle> whom;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!heard.empty() && !heard[i]) continue;
    whom.push_back(all[i]);
    places.push_back(i);
  }
  ask_all<std::string>(
      system, whom, timeout,
      [places, size = all.size(), done](const Answers<std::string>& few) {
        Texts texts(size);
        for (std::size_t i = 0; i < few.size(); ++i) texts[places[i]] = few[i];
        done(std::move(texts));
      },
      query);
}

}  // namespace

/// A page of jobs that is being put together.
struct ActorBackend::JobsLook {
  api::View what;
  api::Reply reply;
  std::optional<JobCursor> after{};  ///< where the next piece begins
  Heard heard{};
  std::size_t pieces_left = 0;
  json jobs = json::array();
};

/// A job with a page of its tasks that is being put together.
struct ActorBackend::JobLook {
  api::View what;
  api::Reply reply;
  Heard heard{};
  json whole{};  ///< null before the first piece
  json missing = json::array();
};

/// The sites first: what leaves them meanwhile is with the masters then.
void ActorBackend::ask_sites_then_masters(const Query& query, const Heard& before,
                                          std::function<void(const Heard&)> use) {
  ask_those(system_, handles_.sites, before.sites, timeout_, query,
            [this, query, before, use](const Texts& sites) {
              ask_those(system_, handles_.masters, before.masters, timeout_, query,
                        [use, sites](const Texts& masters) {
                          use({sites, masters});
                        });
            });
}

void ActorBackend::view_jobs(const api::View& what, api::Reply reply) {
  auto look = std::make_shared<JobsLook>(JobsLook{what, std::move(reply), what.after});
  look->pieces_left = (what.limit + kJobsAtOnce - 1) / kJobsAtOnce;
  add_jobs(look);
}

/// Asks for the next piece of the page.
void ActorBackend::add_jobs(const std::shared_ptr<JobsLook>& look) {
  static constexpr const char* kStates[] = {"active", "over", "all"};
  const char* state = kStates[static_cast<std::size_t>(look->what.state)];
  const std::size_t piece = std::min(look->what.limit - look->jobs.size(), kJobsAtOnce);
  // One more than is shown says whether there are more.
  const Query query{"jobs", 0, JobFilter::page(state, look->what.user, look->after),
                    static_cast<std::uint32_t>(piece + 1)};
  --look->pieces_left;
  ask_sites_then_masters(query, look->heard, [this, look, piece](const Heard& heard) {
    merge::Documents parts = merge::parse(heard.masters);
    if (parts.empty() && look->jobs.empty()) {
      return look->reply(refusal(503, "unreachable", "no master can be reached at present"));
    }
    const bool gone = parts.empty();
    merge::Documents sites = merge::parse(heard.sites);
    merge::drop_arrived(sites, parts);
    for (json& site : sites) parts.push_back(std::move(site));
    look->heard = heard;
    if (gone) return take_jobs(look, {{}, look->after});
    const merge::ListedPage page = merge::page(parts, look->after, piece);
    const std::vector<JobId> doubtful = merge::in_doubt(page);
    if (doubtful.empty()) return take_jobs(look, page);
    const Query about{"jobs", 0, JobFilter::parts_of(doubtful),
                      static_cast<std::uint32_t>(doubtful.size())};
    ask_sites_then_masters(about, heard, [this, look, page](const Heard& said) {
      merge::Documents answers = merge::parse(said.masters);
      merge::Documents of_sites = merge::parse(said.sites);
      merge::drop_arrived(of_sites, answers);
      for (json& site : of_sites) answers.push_back(std::move(site));
      look->heard = said;
      merge::ListedPage settled = page;
      merge::settle(settled, answers);
      take_jobs(look, settled);
    });
  });
}

/// Goes on until there are enough; where jobs had to go the page stays shorter.
void ActorBackend::take_jobs(const std::shared_ptr<JobsLook>& look, const merge::ListedPage& page) {
  json missing = silent(look->heard.masters, look->heard.sites);
  const bool over_only = look->what.state == api::JobState::over;
  for (json& job : merge::jobs(page, over_only, missing.empty())) {
    look->jobs.push_back(std::move(job));
  }
  const bool on = page.next && !page.jobs.empty() && look->pieces_left > 0;
  look->after = page.next;
  if (on && look->jobs.size() < look->what.limit) return add_jobs(look);
  const json next = page.next ? json(to_text(*page.next)) : json(nullptr);
  look->reply(ok_but_for({{"jobs", std::move(look->jobs)}, {"next", next}}, std::move(missing)));
}

void ActorBackend::view_job(const api::View& what, api::Reply reply) {
  add_tasks(std::make_shared<JobLook>(JobLook{what, std::move(reply)}));
}

/// Asks for the job, or for more of its tasks when it is known already.
void ActorBackend::add_tasks(const std::shared_ptr<JobLook>& look) {
  const bool explained = look->what.kind == api::View::Kind::explain;
  const bool first = look->whole.is_null();
  TaskFilter filter;
  filter.after = first ? look->what.after_task : look->whole["next"].get<std::uint32_t>();
  filter.phase = look->what.phase;
  filter.tasks_only = !first;
  const std::size_t shown = first ? 0 : look->whole["tasks"].size();
  const auto piece = static_cast<std::uint32_t>(look->what.limit - shown);
  const Query query{explained ? "explain" : "job", look->what.job.value, filter.text(), piece};
  ask_sites_then_masters(query, look->heard, [this, look, explained, piece](const Heard& heard) {
    merge::Documents parts = merge::parse(heard.masters);
    merge::Documents sites = merge::parse(heard.sites);
    json missing = silent(heard.masters, heard.sites);
    const bool all_answered = missing.empty();
    std::erase_if(parts, [](const json& part) { return part.contains("missing"); });
    merge::drop_arrived(sites, parts);
    for (json& part : merge::as_details(sites, explained)) parts.push_back(std::move(part));
    if (merge::is_whole(parts)) missing.clear();
    look->heard = heard;
    if (!missing.empty()) look->missing = missing;
    std::optional<json> found = merge::job(parts, missing.empty(), piece);
    if (!found && look->whole.is_null()) {
      Found nothing;
      nothing.all_answered = all_answered;
      for (std::size_t i = 0; i < heard.masters.size(); ++i) {
        if (!heard.masters[i]) nothing.silent.push_back(i);
      }
      return look->reply(not_found(nothing, look->what.job));
    }
    take_tasks(look, std::move(found));
  });
}

/// Goes on until there are enough. When nobody has the job any more, what is there is the answer.
void ActorBackend::take_tasks(const std::shared_ptr<JobLook>& look, std::optional<json> piece) {
  json& whole = look->whole;
  if (whole.is_null()) {
    whole = std::move(*piece);
  } else if (piece) {
    for (json& task : (*piece)["tasks"]) whole["tasks"].push_back(std::move(task));
    for (const char* key : {"next", "tasks_behind"}) whole[key] = (*piece)[key];
  }
  const bool more = piece && !whole["next"].is_null();
  if (more && whole["tasks"].size() < look->what.limit) return add_tasks(look);
  look->reply(ok_but_for(std::move(whole), std::move(look->missing)));
}

void ActorBackend::view_job_when_over(const api::View& what, api::Reply reply) {
  view_job(what, [this, what, reply](Answer first) {
    if (first.status != 200 || says_over(first)) return reply(std::move(first));
    await_end(system_, handles_.own_site, what.job, what.wait,
              [this, what, reply] { view_job(what, reply); });
  });
}

}  // namespace muster
