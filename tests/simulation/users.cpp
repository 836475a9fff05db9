#include "tests/simulation/users.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/live_ids.hpp"
#include "serve/node/gather.hpp"
#include "serve/node/service_looks.hpp"
#include "serve/node/service_orders.hpp"

namespace muster::ring {
namespace {

constexpr Duration kPatience = std::chrono::seconds{15};
constexpr Duration kRetry = std::chrono::seconds{12};
constexpr Duration kAskAgain = std::chrono::minutes{2};
/// Whose answer may be lost says the same again so much later.
constexpr Duration kRepeat = std::chrono::seconds{7};
/// From the end of one job of a stream to the next.
constexpr Duration kNextOfStream = std::chrono::seconds{1};

}  // namespace

Users::Users(Cluster& cluster, Cluster::Complain complain)
    : cluster_(cluster), complain_(std::move(complain)), pipelines_(cluster, pipelines_host()) {
  for (const Wish& wish : cluster.scenario().wishes) submissions_.emplace_back().wish = &wish;
}

void Users::begin() {
  cluster_.timeline().on_end([this](const JobEnd& end) { over(end); });
  // Watches are lost with the link and with the site.
  cluster_.on_site_reached([this](std::uint32_t site) {
    for (std::size_t i = 0; i < submissions_.size(); ++i) {
      if (submissions_[i].wish->site == site && submissions_[i].job) watch(i);
    }
  });
  for (std::size_t i = 0; i < submissions_.size(); ++i) {
    if (submitted_with(i).front() != i) continue;
    cluster_.timeline().at(submissions_[i].wish->at, [this, i] { say([this, i] { submit(i); }); });
  }
  if (cluster_.scenario().has_pipelines()) pipelines_.begin();
  for (std::uint32_t i = 0; i < cluster_.scenario().hard.stream; ++i) {
    cluster_.timeline().after(kNextOfStream * (i + 1), [this] { stream_on(); });
  }
}

/// Nobody waits any more whom the stream could keep waiting.
bool Users::wishes_are_over() const {
  const auto count = static_cast<std::ptrdiff_t>(cluster_.scenario().wishes.size());
  return std::all_of(submissions_.begin(), submissions_.begin() + count, [&](const auto& one) {
    return one.wish->hopeless || (one.job && one.told > 0);
  });
}

/// The next job of the stream.
void Users::stream_on() {
  if (wishes_are_over()) return;
  const Scenario& scenario = cluster_.scenario();
  const std::uint64_t number = stream_.size();
  Wish& wish = stream_.emplace_back();
  wish.job = stream_job(scenario, number);
  wish.at = cluster_.now();
  wish.site = static_cast<std::uint32_t>(number % scenario.sites);
  submissions_.emplace_back().wish = &wish;
  submit(submissions_.size() - 1);
}

void Users::say(const std::function<void()>& words) {
  words();
  if (cluster_.scenario().hard.users_repeat) cluster_.timeline().after(kRepeat, words);
}

/// As the API does it: a service may not have the name of another one of its user.
void Users::submit(std::size_t index) {
  const Submission& submission = submissions_[index];
  for (const std::size_t each : submitted_with(index)) ++submissions_[each].open;
  if (!submission.wish->is_service()) return hand(index);
  JobAsks asks{cluster_.timeline().system(), {}, {}, {}, kPatience, {}, {}};
  for (std::uint32_t i = 0; i < cluster_.scenario().masters; ++i) {
    asks.masters.push_back(cluster_.master_for_users(i));
  }
  check_service_names(
      asks, {submission.wish->job}, [this, index](const api::Answer&) { refuse(index); },
      [this, index, asked = cluster_.now()](const std::vector<Job>&, const api::Reply&) {
        check_name(index, asked);
        hand(index);
      });
}

/// Whose service cannot have its name tries no more.
void Users::refuse(std::size_t index) {
  Submission& submission = submissions_[index];
  --submission.open;
  submission.refused = !submission.job;
}

/// When all is well again every master says which names it knows.
void Users::check_name(std::size_t index, Instant asked) {
  constexpr Duration kKnown = std::chrono::minutes{2};
  if (asked < cluster_.scenario().healed) return;
  const Submission& mine = submissions_[index];
  for (const Submission& other : submissions_) {
    const Job& job = other.wish->job;
    const bool alike = other.wish->is_service() && job.name == mine.wish->job.name &&
                       job.user == mine.wish->job.user && other.job != mine.job;
    if (!alike || !other.job || other.cancelled || other.told > 0) continue;
    if (std::max(other.acknowledged_at, cluster_.scenario().healed) + kKnown > asked) continue;
    complain_(fmt::format("{} may have the name of job {}, which is not over", mine.wish->job.token,
                          other.job->value));
  }
}

/// The places of its submission: all of a pipeline are one, and stand together.
std::vector<std::size_t> Users::submitted_with(std::size_t index) const {
  const std::uint32_t pipeline = submissions_[index].wish->pipeline;
  const auto is_of = [&](std::size_t at) {
    return at < submissions_.size() && submissions_[at].wish->pipeline == pipeline;
  };
  if (pipeline == 0) return {index};
  while (index > 0 && is_of(index - 1)) --index;
  std::vector<std::size_t> together;
  for (; is_of(index); ++index) together.push_back(index);
  return together;
}

/// The job with what it waits for; nothing: one of these has no number yet.
std::optional<Job> Users::job_of(std::size_t index) const {
  const std::vector<std::size_t> together = submitted_with(index);
  Job job = submissions_[index].wish->job;
  if (late_.contains(submissions_[index].wish->pipeline)) job.deadline.reset();
  for (const auto& [before, end] : submissions_[index].wish->after) {
    const bool in_it = before >= together.front() && before <= together.back();
    if (in_it) {
      job.after.push_back({{}, end, static_cast<std::uint32_t>(before - together.front() + 1)});
    } else if (submissions_[before].job) {
      job.after.push_back({*submissions_[before].job, end});
    } else {
      return std::nullopt;
    }
  }
  return job;
}

void Users::hand(std::size_t index) {
  const std::vector<std::size_t> together = submitted_with(index);
  const std::uint32_t site = submissions_[index].wish->site;
  std::vector<Job> jobs;
  for (const std::size_t each : together) {
    auto job = job_of(each);
    if (!job) {
      cluster_.timeline().after(kRetry, [this, index] { hand(index); });
      return;
    }
    jobs.push_back(*std::move(job));
  }
  for (const std::size_t each : together) asked_.push_back({cluster_.now(), site, each});
  ask<std::vector<SubmitVerdict>>(
      cluster_.timeline().system(), cluster_.site_for_users(site), kPatience,
      [this, together](const caf::expected<std::vector<SubmitVerdict>>& answer) {
        heard(together, answer);
      },
      hand_atom_v, std::move(jobs));
}

/// The site has been asked to keep so many others since that it need not know the token any more.
bool Users::may_be_forgotten(std::size_t index) const {
  const Wish& wish = *submissions_[index].wish;
  const auto newer = std::count_if(asked_.begin(), asked_.end(), [&](const Asked& asked) {
    return asked.site == wish.site && asked.submission != index && asked.at >= wish.at;
  });
  return static_cast<std::size_t>(newer) >= cluster_.scenario().bounds.tokens;
}

/// A pipeline is taken whole or not at all.
void Users::heard(const std::vector<std::size_t>& together,
                  const caf::expected<std::vector<SubmitVerdict>>& answer) {
  const bool whole = answer && answer->size() == together.size();
  const auto taken = whole ? std::count_if(answer->begin(), answer->end(),
                                           [](const auto& each) { return each.accepted; })
                           : 0;
  if (taken > 0 && static_cast<std::size_t>(taken) < together.size()) {
    complain_(fmt::format("of the {} jobs that come with {} {} are taken", together.size(),
                          submissions_[together.front()].wish->job.token, taken));
  }
  // One that comes when a deadline of it has passed by the site's clock is refused: its user drops
  // them. Where it was taken before, with them, the next one says what that was.
  const std::uint32_t pipeline = submissions_[together.front()].wish->pipeline;
  if (whole && taken == 0 && pipeline > 0) {
    if (answer->front().job.valid()) {
      late_.erase(pipeline);
    } else {
      late_.insert(pipeline);
    }
  }
  for (std::size_t i = 0; i < together.size(); ++i) {
    hear(together[i], whole ? &(*answer)[i] : nullptr, answer.engaged());
  }
}

/// A submission that was not answered is made again, with the same token.
void Users::hear(std::size_t index, const SubmitVerdict* verdict, bool answered) {
  Submission& submission = submissions_[index];
  --submission.open;
  if (verdict == nullptr || !verdict->accepted) {
    const bool is_revision =
        submission.wish->is_service() && submission.wish->job.service()->replaces.valid();
    const bool is_first = submitted_with(index).front() == index;
    if (is_revision && answered && !submission.job) {
      submission.refused = true;
    } else if (!submission.job && submission.open == 0 && is_first) {
      cluster_.timeline().after(kRetry, [this, index, is_revision] {
        if (!is_revision) return submit(index);
        ++submissions_[index].open;  // its name is that of its service
        hand(index);
      });
    }
    return;
  }
  const JobId job = verdict->job;
  submission.refused = false;
  if (submission.job && *submission.job != job) {
    if (may_be_forgotten(index)) return;
    complain_(fmt::format("{} is job {} and job {}", submission.wish->job.token,
                          submission.job->value, job.value));
  }
  if (std::exchange(submission.job, job)) return;
  submission.acknowledged_at = cluster_.now();
  watch(index);
  pipelines_.taken(index);
  if (!submission.wish->is_service()) return;
  cluster_.timeline().at(submission.wish->ends_at, [this, index] { end_service(index); });
  change_service_of(index);
}

/// At the times that its user has in mind, as far as they are to come.
void Users::change_service_of(std::size_t index) {
  const Wish& wish = *submissions_[index].wish;
  for (const auto& [at, replicas] : wish.scales) {
    if (at < cluster_.now()) continue;
    cluster_.timeline().at(at, [this, index, number = replicas] { scale(index, number); });
  }
  for (const Instant at : wish.updates) {
    if (at >= cluster_.now()) cluster_.timeline().at(at, [this, index] { update(index); });
  }
}

/// As the API does it: all masters are asked, and one of them has the service.
void Users::scale(std::size_t index, std::uint32_t replicas) {
  for (std::uint32_t i = 0; i < cluster_.scenario().masters; ++i) {
    ask<JobId>(
        cluster_.timeline().system(), cluster_.master_for_users(i), kPatience,
        [](const caf::expected<JobId>&) {}, scale_atom_v, *submissions_[index].job, replicas);
  }
}

/// Another revision, of which all is as it was.
void Users::update(std::size_t index) {
  const Submission& submission = submissions_[index];
  if (submission.told > 0 || submission.cancelled) return;
  ServiceAsks asks{{cluster_.timeline().system(), {}, {}, {}, kPatience, {}, {}}, {}};
  for (std::uint32_t i = 0; i < cluster_.scenario().masters; ++i) {
    asks.of.masters.push_back(cluster_.master_for_users(i));
  }
  asks.submit = [this, index](const std::vector<Job>& jobs, const api::Reply&) {
    take_revision(index, jobs.front());
  };
  Job job = submission.wish->job;
  job.token += fmt::format(" at {}", to_seconds(cluster_.now()));
  JobId newest = *submission.job;
  for (const Submission& other : submissions_) {
    const bool is_revision = other.wish->job.name == job.name && other.wish->job.user == job.user;
    if (is_revision && other.job && other.told == 0) newest = *other.job;
  }
  change_service(asks, {.job = newest, .as = std::move(job), .keeps_replicas = true},
                 [](const api::Answer&) {});
}

PipelineUsers::Host Users::pipelines_host() {
  PipelineUsers::Host host;
  host.submissions = [this]() -> const std::vector<Submission>& { return submissions_; };
  host.cancel = [this](std::size_t index) { cancel_one(index); };
  host.say = [this](const std::function<void()>& words) { say(words); };
  host.submit = [this](Wish wish) {
    again_.push_back(std::move(wish));
    submissions_.emplace_back().wish = &again_.back();
    submit(submissions_.size() - 1);
    return submissions_.size() - 1;
  };
  return host;
}

/// Its user ends it when the service is to end.
void Users::take_revision(std::size_t before, Job job) {
  const Wish& first = *submissions_[before].wish;
  Wish& wish = revisions_.emplace_back();
  wish.job = std::move(job);
  wish.at = cluster_.now();
  wish.site = first.site;
  wish.ends_at = std::max(first.ends_at, cluster_.now() + kAskAgain);
  submissions_.emplace_back().wish = &wish;
  ++submissions_.back().open;
  hand(submissions_.size() - 1);
}

/// Asks for its end until that is told.
void Users::end_service(std::size_t index) {
  if (submissions_[index].told > 0) return;
  cancel_one(index);
  cluster_.timeline().after(kAskAgain, [this, index] { end_service(index); });
}

void Users::watch(std::size_t index) {
  Submission& submission = submissions_[index];
  if (submission.told > 0) return;
  ++submission.watches;
  ask<std::vector<JobEnd>>(
      cluster_.timeline().system(), cluster_.site_for_users(submission.wish->site), kPatience,
      [this, index](const caf::expected<std::vector<JobEnd>>& answer) {
        // What masters knew of the site may be lost with a link: who waits asks again.
        cluster_.timeline().after(answer ? kAskAgain : kRetry, [this, index] { watch(index); });
        if (!answer) return;
        for (const JobEnd& end : *answer) over(end);
      },
      watch_atom_v, caf::actor_cast<JobListener>(cluster_.timeline().stage()),
      std::vector<JobId>{*submission.job});
}

void Users::over(const JobEnd& end) {
  for (std::size_t i = 0; i < submissions_.size(); ++i) {
    Submission& submission = submissions_[i];
    if (submission.job != end.job) continue;
    submission.outcome = end.outcome;
    if (++submission.told > submission.watches) {
      complain_(fmt::format("the end of job {} is told {} times, and was asked for {} times",
                            end.job.value, submission.told, submission.watches));
    }
    const bool of_stream = submission.wish->job.user == kUserOfStream;
    if (of_stream && submission.told == 1) {
      cluster_.timeline().after(kNextOfStream, [this] { stream_on(); });
    }
    return;
  }
  complain_(fmt::format("the end of job {} is told, which nobody watches", end.job.value));
}

void Users::submit_again(std::uint64_t which) {
  const std::size_t index = which % submissions_.size();
  if (submissions_[index].wish->at <= cluster_.now()) submit(index);
}

std::optional<std::size_t> Users::acknowledged(std::uint64_t which) const {
  std::vector<std::size_t> known;
  for (std::size_t i = 0; i < submissions_.size(); ++i) {
    if (submissions_[i].job) known.push_back(i);
  }
  if (known.empty()) return std::nullopt;
  return known[which % known.size()];
}

/// As the API does it: by the site that took it.
void Users::cancel(std::uint64_t which) {
  const auto index = acknowledged(which);
  if (index) say([this, i = *index] { cancel_one(i); });
}

void Users::give_up_hopeless() {
  for (std::size_t i = 0; i < submissions_.size(); ++i) {
    if (submissions_[i].wish->hopeless && submissions_[i].job) cancel_one(i);
  }
}

void Users::cancel_one(std::size_t index) {
  Submission& submission = submissions_[index];
  submission.cancelled = true;
  ask<CancelReport>(
      cluster_.timeline().system(), cluster_.site_for_users(submission.wish->site), kPatience,
      [this, index](const caf::expected<CancelReport>& answer) {
        if (!answer) return;
        Submission& cancelled = submissions_[index];
        if (!cancelled.cancel_kept) cancelled.cancel_kept = cluster_.now();
        cancelled.cancelled_everywhere |= answer->unconfirmed.empty();
      },
      cancel_atom_v, *submission.job);
}

void Users::hold(std::uint64_t which, Duration length) {
  const auto index = acknowledged(which);
  if (!index) return;
  say([this, job = *submissions_[*index].job, length] { hold_job(job, length); });
}

void Users::hold_job(JobId job, Duration length) {
  for (std::uint32_t i = 0; i < cluster_.scenario().masters; ++i) {
    held_.insert(job);
    ask<JobId>(
        cluster_.timeline().system(), cluster_.master_for_users(i), kPatience,
        [this, job, i, before = releases_[{i, job}]](const caf::expected<JobId>& answer) {
          if (answer && releases_[{i, job}] == before) holds_.insert({i, job});
        },
        hold_atom_v, job, true);
    cluster_.timeline().after(length, [this, job, i] { release(job, i); });
  }
}

/// Until the master has answered, whatever the answer is.
void Users::release(JobId job, std::uint32_t master) {
  ++releases_[{master, job}];
  holds_.erase({master, job});
  ask<JobId>(
      cluster_.timeline().system(), cluster_.master_for_users(master), kPatience,
      [this, job, master](const caf::expected<JobId>& answer) {
        if (answer || answer.error() == ActorError::unknown) {
          held_.erase(held_.find(job));
        } else {
          cluster_.timeline().after(kRetry, [this, job, master] { release(job, master); });
        }
      },
      hold_atom_v, job, false);
}

std::optional<InstanceId> Users::rented(std::uint64_t which) const {
  std::vector<InstanceId> all;
  for (const auto& [id, record] : cluster_.cloud_disk().records) {
    if (!record.refused && !record.gone_at) all.push_back(id);
  }
  if (all.empty()) return std::nullopt;
  return all[which % all.size()];
}

void Users::drain(std::uint64_t which) {
  const auto instance = rented(which);
  if (!instance) return;
  say([this, id = *instance] {
    ask<InstanceId>(
        cluster_.timeline().system(), cluster_.master_for_users(master_of(id)), kPatience,
        [this](const caf::expected<InstanceId>& answer) {
          if (answer) drained_.insert(*answer);
        },
        drain_atom_v, id);
  });
}

void Users::interrupt(std::uint64_t which) {
  const auto instance = rented(which);
  if (!instance) return;
  say([this, id = *instance] {
    ask<InstanceId>(
        cluster_.timeline().system(), cluster_.cloud_for_users(), kPatience,
        [](const caf::expected<InstanceId>&) {}, interrupt_atom_v, id);
  });
}

bool Users::content() const {
  if (!held_.empty() || !pipelines_.content()) return false;
  for (const Submission& submission : submissions_) {
    if (submission.open > 0) return false;
    if (submission.refused) continue;
    if (!submission.job) return false;
    if (submission.told == 0 && !submission.wish->hopeless) return false;
  }
  return true;
}

std::string Users::trouble() const {
  std::string text;
  for (const Submission& submission : submissions_) {
    if (!submission.job && !submission.refused)
      text += fmt::format("{} is not answered; ", submission.wish->job.token);
    if (submission.job && submission.told == 0) {
      text += fmt::format("the end of job {} is not told; ", submission.job->value);
    }
  }
  if (!pipelines_.content()) text += "jobs that wait are held; ";
  for (const JobId job : held_) text += fmt::format("job {} is held; ", job.value);
  return text;
}

}  // namespace muster::ring
