#include "serve/node/job_looks.hpp"

#include <algorithm>
#include <iterator>
#include <memory>
#include <mutex>
#include <set>
#include <type_traits>
#include <utility>

#include "config/submission.hpp"
#include "model/job_documents.hpp"
#include "serve/node/backend_answers.hpp"
#include "serve/node/view_json.hpp"

// Views of jobs and their tasks, page by page. A long page is asked for in pieces, so that no site
// or master writes out much at once.

namespace muster {

using backend::ok;

namespace {

/// Jobs of a page that are asked for at once.
constexpr std::size_t kJobsAtOnce = 250;
/// Jobs that are sorted in another order than that of submission: they are all in memory then.
constexpr std::size_t kMostSorted = 10'000;

/// Puts the jobs into the order and keeps the first ones.
void sort_jobs(merge::Jobs& jobs, api::JobSort sort, std::size_t limit, Instant now) {
  const auto ran = [now](const JobView& job) {
    // The site's clock, which says when a job was submitted, may be ahead of the master's.
    const Instant end = job.over.value_or(now);
    return job.submitted ? std::max(Duration{}, end - *job.submitted) : Duration{};
  };
  // Jobs that are equal stay in the order of submission.
  std::stable_sort(jobs.begin(), jobs.end(), [&](const JobView& a, const JobView& b) {
    if (sort == api::JobSort::cost) return a.usd > b.usd;
    if (sort == api::JobSort::ran) return ran(a) > ran(b);
    return a.name < b.name;
  });
  if (jobs.size() > limit) jobs.resize(limit);
}

/// Calls `done` once: when the site says that the job is over, or ends, or when the time has
/// passed.
void await_end(caf::actor_system& system, const SiteForSubmitters& site, JobId job, Duration wait,
               std::function<void()> done) {
  system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    const auto end = [self, done] {
      self->quit();
      done();
    };
    // Without the site a node ends, which waits for those who ask.
    self->monitor(site);
    self->set_down_handler([end](const caf::down_msg&) { end(); });
    const auto listener = caf::actor_cast<JobListener>(caf::actor{self});
    self->request(site, wait, watch_atom_v, listener, std::vector<JobId>{job})
        .then(
            [end](const std::vector<JobEnd>& ends) {
              if (!ends.empty()) end();
            },
            [](const caf::error&) {});  // then the time has to pass
    // Bounds the wait also where the site never answers.
    self->delayed_send(self, wait, over_atom_v);
    return {[end](over_atom, const JobEnd&) { end(); }, [end](over_atom) { end(); }};
  });
}

/// The next question to a master or site that has cut its list; nothing when its list is complete.
std::optional<JobsQuestion> behind(JobsQuestion wanted, const JobsView& cut) {
  if (!cut.cut || (cut.jobs.empty() && !cut.looked)) return std::nullopt;
  if (wanted.only) {
    wanted.only = cut.rest;
    return wanted;
  }
  std::set<JobId> listed;
  for (const JobView& job : cut.jobs) listed.insert(job.job);
  if (listed.size() >= wanted.most) return std::nullopt;
  wanted.most -= static_cast<std::uint32_t>(listed.size());
  if (cut.looked) {
    wanted.begin_behind(*cut.looked);
  } else {
    const JobView& last = cut.jobs.back();
    wanted.begin_behind({last.over.has_value(), merge::place_of(last)});
  }
  return wanted;
}

/// Asks one for a list, message after message, until it is whole: `so_far` and what comes.
template <class Handle>
void ask_whole(caf::actor_system& system, const Handle& whom, Duration timeout,
               const JobsQuestion& wanted, std::shared_ptr<JobsView> so_far,
               std::function<void(caf::expected<JobsView>)> done) {
  ask<JobsView>(
      system, whom, timeout,
      [=, &system](caf::expected<JobsView> piece) {
        if (!piece) return done(std::move(piece));
        const auto next = behind(wanted, *piece);
        std::move(piece->jobs.begin(), piece->jobs.end(), std::back_inserter(so_far->jobs));
        if (!next) return done(std::move(*so_far));
        ask_whole(system, whom, timeout, *next, so_far, done);
      },
      wanted);
}

/// Likewise, of several; one that does not answer for all of its list counts as silent.
template <class Handle>
void ask_for_lists(caf::actor_system& system, const std::vector<Handle>& whom, Duration timeout,
                   const JobsQuestion& wanted, std::function<void(Answers<JobsView>)> done) {
  if (whom.empty()) return done({});
  struct Gathered {
    std::mutex mutex{};
    Answers<JobsView> answers{};
    std::size_t missing = 0;
  };
  const auto all = std::make_shared<Gathered>();
  all->answers.resize(whom.size());
  all->missing = whom.size();
  for (std::size_t i = 0; i < whom.size(); ++i) {
    const auto take = [all, i, done](caf::expected<JobsView> list) {
      {
        const std::lock_guard lock(all->mutex);
        all->answers.too_large |= !list && list.error() == ActorError::too_large;
        if (list) all->answers[i] = std::move(*list);
        if (--all->missing > 0) return;
      }
      done(std::move(all->answers));
    };
    ask_whole(system, whom[i], timeout, wanted, std::make_shared<JobsView>(), take);
  }
}

/// Asks those of the actors that answered before (`before`; empty: all of them), for who was silent
/// once would be waited for again with each piece.
template <class Answer, class Handle, class Question>
void ask_those(caf::actor_system& system, const std::vector<Handle>& all, const Answered& before,
               Duration timeout, const Question& question,
               std::function<void(Answers<Answer>)> done) {
  std::vector<Handle> whom;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!before.empty() && !before[i]) continue;
    whom.push_back(all[i]);
    places.push_back(i);
  }
  const auto put_back = [places, size = all.size(), done](Answers<Answer> few) {
    Answers<Answer> answers(size);
    answers.too_large = few.too_large;
    for (std::size_t i = 0; i < few.size(); ++i) answers[places[i]] = std::move(few[i]);
    done(std::move(answers));
  };
  if constexpr (std::is_same_v<Answer, JobsView>) {
    ask_for_lists(system, whom, timeout, question, put_back);
  } else {
    ask_all<Answer>(system, whom, timeout, put_back, question);
  }
}

/// The jobs that each of them lists.
std::vector<merge::Jobs> lists(Answers<JobsView> answers) {
  std::vector<merge::Jobs> all;
  for (JobsView& view : heard(std::move(answers))) all.push_back(std::move(view.jobs));
  return all;
}

void append(merge::Jobs& to, std::vector<merge::Jobs> lists) {
  for (merge::Jobs& list : lists) {
    std::move(list.begin(), list.end(), std::back_inserter(to));
  }
}

}  // namespace

/// A page of jobs that is being put together; the list of answers is empty before the first
/// question.
struct JobLooks::JobsLook {
  api::View what;
  api::Reply reply;
  std::optional<JobCursor> after{};  ///< where the next piece begins
  Answered sites{};
  Answered masters{};
  std::size_t pieces_left = 0;
  std::size_t most = 0;  ///< jobs that are gathered
  std::size_t shown = 0;
  bool too_large = false;  ///< somebody's answer
  JsonText list{};
  merge::Jobs to_sort{};  ///< in the list's stead, where there is another order
};

/// A job with a page of its tasks that is being put together; empty likewise.
struct JobLooks::JobLook {
  api::View what;
  api::Reply reply;
  Answered sites{};
  Answered masters{};
  std::optional<merge::WholeJob> whole{};  ///< nothing before the first piece; without its tasks
  std::size_t shown = 0;
  JsonText list{};
  Silent missing{};
};

void JobLooks::look_at_jobs(const api::View& what, api::Reply reply) {
  auto look = std::make_shared<JobsLook>(JobsLook{what, std::move(reply), what.after});
  // A piece may settle to fewer jobs than were asked for. The number of pieces is bounded, so that
  // a page of jobs that change all the time still ends.
  look->most = what.sort == api::JobSort::submitted ? what.limit : kMostSorted;
  look->pieces_left = (look->most + kJobsAtOnce - 1) / kJobsAtOnce;
  add_jobs(look);
}

/// The sites first: jobs that leave them meanwhile are with the masters then. `use` gets all that
/// was listed, and whether any master has answered.
void JobLooks::ask_for_jobs(const std::shared_ptr<JobsLook>& look, const JobsQuestion& wanted,
                            std::function<void(bool any_master, merge::Jobs)> use) {
  const auto both = [look, use](Answers<JobsView> sites, Answers<JobsView> masters) {
    look->too_large = sites.too_large || masters.too_large;
    look->sites = answered(sites);
    look->masters = answered(masters);
    std::vector<merge::Jobs> of_masters = lists(std::move(masters));
    std::vector<merge::Jobs> of_sites = lists(std::move(sites));
    const bool any = !of_masters.empty();
    merge::Jobs all;
    append(all, std::move(of_masters));
    merge::drop_arrived(of_sites, all);
    append(all, std::move(of_sites));
    use(any, std::move(all));
  };
  ask_those<JobsView>(
      asks_.system, asks_.sites, look->sites, asks_.timeout, wanted,
      [this, look, wanted, both](Answers<JobsView> sites) {
        ask_those<JobsView>(
            asks_.system, asks_.masters, look->masters, asks_.timeout, wanted,
            [sites, both](Answers<JobsView> masters) { both(sites, std::move(masters)); });
      });
}

void JobLooks::find_users(const std::vector<JobId>& jobs,
                          std::function<void(const Users& users, bool all_answered)> done) {
  const auto look = std::make_shared<JobsLook>();
  ask_for_jobs(look, JobsQuestion::parts_of(jobs),
               [this, look, done = std::move(done)](bool, const merge::Jobs& parts) {
                 Users users;
                 for (const JobView& part : parts) {
                   users.emplace(part.job, KnownJob{part.user, part.recurs && !part.over});
                 }
                 done(users, asks_.silent(look->masters, look->sites).empty());
               });
}

/// Asks for the next piece of the page.
void JobLooks::add_jobs(const std::shared_ptr<JobsLook>& look) {
  const std::size_t piece = std::min(look->most - look->shown, kJobsAtOnce);
  JobsQuestion wanted;
  wanted.active = look->what.state != api::JobState::over;
  wanted.over = look->what.state != api::JobState::active;
  wanted.filter = look->what.filter;
  wanted.most = static_cast<std::uint32_t>(piece + 1);  // one more says whether there are more
  if (look->after) wanted.begin_behind(*look->after);
  --look->pieces_left;
  ask_for_jobs(look, wanted, [this, look, piece](bool any_master, merge::Jobs parts) {
    if (!any_master && look->shown == 0) {
      return look->reply(backend::none_answers(look->too_large));
    }
    // The masters fell silent between two pieces: the pieces before are the answer.
    if (!any_master) return take_jobs(look, {{}, look->after});
    const merge::ListedPage page = merge::page(std::move(parts), look->after, piece);
    // A job of which not all tasks are listed may have other parts, in the state that was not asked
    // for.
    std::vector<JobId> doubtful = merge::in_doubt(page);
    if (doubtful.empty()) return take_jobs(look, page);
    ask_for_jobs(look, JobsQuestion::parts_of(std::move(doubtful)),
                 [this, look, page](bool, merge::Jobs answers) {
                   merge::ListedPage settled = page;
                   merge::settle(settled, std::move(answers));
                   take_jobs(look, settled);
                 });
  });
}

/// Goes on until there are enough; where jobs had to go the page stays shorter.
void JobLooks::take_jobs(const std::shared_ptr<JobsLook>& look, const merge::ListedPage& page) {
  const Silent missing = asks_.silent(look->masters, look->sites);
  const bool over_only = look->what.state == api::JobState::over;
  const bool in_order = look->what.sort == api::JobSort::submitted;
  merge::Jobs jobs = merge::jobs(page, over_only, missing.empty());
  merge::sift(jobs, look->what.filter);
  if (in_order) view_json::add_jobs(look->list, jobs);
  look->shown += jobs.size();
  if (!in_order) append(look->to_sort, {std::move(jobs)});
  const bool on = page.next && !page.jobs.empty() && look->pieces_left > 0;
  look->after = page.next;
  if (on && look->shown < look->most) return add_jobs(look);
  if (in_order) return look->reply(ok(view_json::jobs(look->list, page.next, missing)));
  sort_jobs(look->to_sort, look->what.sort, look->what.limit, asks_.now());
  view_json::add_jobs(look->list, look->to_sort);
  // The number alone does not say it: jobs that fell out of a piece leave it below the bound.
  const view_json::Sorted sorted{look->shown, !page.next};
  look->reply(ok(view_json::sorted_jobs(look->list, sorted, missing)));
}

void JobLooks::look_at_job(const api::View& what, api::Reply reply) {
  add_tasks(std::make_shared<JobLook>(JobLook{what, std::move(reply)}));
}

/// Asks for the job, or for more of its tasks when it is known already. The sites first, as above.
void JobLooks::add_tasks(const std::shared_ptr<JobLook>& look) {
  const bool first = !look->whole;
  JobQuestion wanted;
  wanted.job = look->what.job;
  wanted.explained = look->what.of == api::Operation::explain;
  wanted.after = first ? look->what.after_task : look->whole->next;
  wanted.phase = look->what.phase;
  wanted.tasks_only = !first;
  wanted.attempts = look->what.attempts;
  wanted.most = static_cast<std::uint32_t>(look->what.limit - look->shown);
  ask_those<JobsView>(
      asks_.system, asks_.sites, look->sites, asks_.timeout, JobsQuestion::parts_of({wanted.job}),
      [this, look, wanted](Answers<JobsView> sites) {
        ask_those<JobDetails>(asks_.system, asks_.masters, look->masters, asks_.timeout, wanted,
                              [this, look, sites](Answers<JobDetails> masters) {
                                put_together(look, sites, std::move(masters));
                              });
      });
}

void JobLooks::put_together(const std::shared_ptr<JobLook>& look, Answers<JobsView> sites,
                            Answers<JobDetails> masters) {
  look->sites = answered(sites);
  look->masters = answered(masters);
  const bool too_large = masters.too_large || sites.too_large;
  if (too_large && heard(masters).empty()) return look->reply(backend::none_answers(true));
  Silent missing = asks_.silent(look->masters, look->sites);
  const bool all_answered = missing.empty();
  std::vector<JobDetails> parts = heard(std::move(masters));
  std::erase_if(parts, [](const JobDetails& part) { return !part.known; });
  merge::Jobs at_masters;
  for (const JobDetails& part : parts) at_masters.push_back(part.job);
  std::vector<merge::Jobs> of_sites = lists(std::move(sites));
  merge::drop_arrived(of_sites, at_masters);
  for (merge::Jobs& site : of_sites) {
    for (JobView& part : site) parts.push_back({true, std::move(part)});
  }
  // Silent masters do not matter when the parts that came are all of the job.
  if (merge::is_whole(parts)) missing.clear();
  if (!missing.empty()) look->missing = missing;
  const std::size_t piece = look->what.limit - look->shown;
  std::optional<merge::WholeJob> found = merge::job(std::move(parts), missing.empty(), piece);
  if (found || look->whole) return take_tasks(look, std::move(found));
  look->reply(asks_.unknown(look->what.job, look->masters, all_answered));
}

/// Goes on until there are enough. When no master has the job any more, the pieces so far are the
/// answer.
void JobLooks::take_tasks(const std::shared_ptr<JobLook>& look,
                          std::optional<merge::WholeJob> piece) {
  if (piece) {
    const bool explained = look->what.of == api::Operation::explain;
    view_json::add_tasks(look->list, piece->tasks, explained);
    look->shown += piece->tasks.size();
    piece->tasks.clear();
    // The head is that of the first piece: later ones are asked for their tasks alone.
    if (look->whole) piece->job = std::move(look->whole->job);
    look->whole = std::move(piece);
    if (look->whole->next && look->shown < look->what.limit) return add_tasks(look);
  }
  finish_job(look);
}

/// Answers, or waits for the job's end first and then looks again.
void JobLooks::finish_job(const std::shared_ptr<JobLook>& look) {
  const merge::WholeJob& whole = *look->whole;
  if (look->what.wait > Duration::zero() && !whole.job.over) {
    api::View again = look->what;
    // The second look answers at once, with the job as it is when the wait has ended.
    again.wait = {};
    return await_end(asks_.system, asks_.own_site, again.job, look->what.wait,
                     [this, again, reply = look->reply] { look_at_job(again, reply); });
  }
  if (look->what.of == api::Operation::explain) {
    const ExplainedDocument document{whole.job, {}, whole.next, whole.behind};
    return look->reply(ok(view_json::job(document, look->list, look->missing)));
  }
  JobDocument document{whole.job, {}, {}, whole.next, whole.behind};
  if (const auto& submission = whole.job.submission) {
    document.submission = config::submitted_as(*submission, whole.job.tasks);
  }
  look->reply(ok(view_json::job(document, look->list, look->missing)));
}

}  // namespace muster
