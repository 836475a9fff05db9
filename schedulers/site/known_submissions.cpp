#include "schedulers/site/known_submissions.hpp"

#include "model/live_ids.hpp"
#include "model/submission_key.hpp"

// Submissions are known from the moment they are taken in, with the write that is to make them
// durable: a repetition that comes before the write has ended waits for the same write.

namespace muster {

void KnownSubmissions::recall(KnownToken known) {
  // A site's own tokens stand for jobs that it has numbered, so no user's token is meant.
  const bool of_other_site = site_of(known.job) != own_site_;
  if (!known.user && of_other_site &&
      known.token == "forwarded " + std::to_string(known.job.value)) {
    known.forwarded = true;
  }
  if (known.forwarded) return forwarded_.add(known.job.value);
  insert(std::move(known), 0);
  shrink();
}

void KnownSubmissions::add(KnownToken known, Write write) {
  if (known.forwarded) {
    forwarded_by_write_[known.job] = write;
    writing_[write].forwarded.push_back(known.job);
    return;
  }
  insert(std::move(known), write);
  shrink();
}

void KnownSubmissions::insert(KnownToken known, Write write) {
  const Age age = next_++;
  if (known.user) {
    tokens_[{*known.user, known.token}] = age;
  } else {
    ownerless_[known.token] = age;
  }
  if (write != 0) writing_[write].submissions.push_back(age);
  by_age_[age] = {std::move(known), write};
}

void KnownSubmissions::written(Write write) {
  // The age is gone from by_age_ only by failed(): shrink() spares what is being written.
  const auto found = writing_.find(write);
  if (found == writing_.end()) return;
  for (const Age age : found->second.submissions) by_age_.at(age).write = 0;
  for (const JobId job : found->second.forwarded) {
    forwarded_.add(job.value);
    forwarded_by_write_.erase(job);
  }
  writing_.erase(found);
  shrink();
}

void KnownSubmissions::failed(Write write) {
  const auto found = writing_.find(write);
  if (found == writing_.end()) return;
  for (const Age age : found->second.submissions) erase(age);
  for (const JobId job : found->second.forwarded) forwarded_by_write_.erase(job);
  writing_.erase(found);
}

void KnownSubmissions::erase(Age age) {
  const auto found = by_age_.find(age);
  const KnownToken& known = found->second.known;
  // A later submission may have taken the token over; its entry stays.
  const auto erase_from = [age](auto& index, const auto& key) {
    const auto place = index.find(key);
    if (place != index.end() && place->second == age) index.erase(place);
  };
  if (known.user) {
    erase_from(tokens_, std::pair(*known.user, known.token));
  } else {
    erase_from(ownerless_, known.token);
  }
  by_age_.erase(found);
}

/// Drops the oldest beyond most_. Stops at one that is being written: its repetition has to find
/// it.
void KnownSubmissions::shrink() {
  while (by_age_.size() > most_ && by_age_.begin()->second.write == 0) {
    erase(by_age_.begin()->first);
  }
}

KnownSubmissions::Known KnownSubmissions::at(Age age) const {
  const Entry& entry = by_age_.at(age);
  return {entry.known.job, entry.write, entry.known.digest};
}

std::optional<KnownSubmissions::Known> KnownSubmissions::find(const Job& job) const {
  const SubmissionKey key = submission_key(job);
  const std::optional<Known> known = find(key.scope, key.token);
  return known || key.scope == job.user ? known : find(job.user, key.token);
}

std::optional<KnownSubmissions::Known> KnownSubmissions::find(const std::string& user,
                                                              const std::string& token) const {
  if (token.empty()) return std::nullopt;
  if (const auto own = tokens_.find({user, token}); own != tokens_.end()) return at(own->second);
  // Tokens without a user count for everybody, since the job must not run twice.
  const auto old = ownerless_.find(token);
  return old == ownerless_.end() ? std::nullopt : std::optional(at(old->second));
}

std::optional<KnownSubmissions::Known> KnownSubmissions::find_forwarded(JobId job) const {
  const auto written_by = forwarded_by_write_.find(job);
  if (written_by != forwarded_by_write_.end()) return Known{job, written_by->second};
  // None of its own jobs was ever left to it, whatever an old token in its store reads like.
  const bool known = site_of(job) != own_site_ && forwarded_.contains(job.value);
  return known ? std::optional(Known{job}) : std::nullopt;
}

std::vector<JobId> KnownSubmissions::newest_forwarded() const {
  NumberSet newest;
  // Those being written count too: their site has to hear of numbers that may be taken.
  for (const JobId job : newest_of_sites(forwarded_)) newest.add(job.value);
  for (const auto& [job, write] : forwarded_by_write_) newest.add(job.value);
  return newest_of_sites(newest);
}

}  // namespace muster
