#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "storage/stores/site_store.hpp"

namespace muster {

/// A site store that lives as long as the process: its records count as durable at once. It keeps
/// what the one on disk would.
class MemorySiteStore final : public SiteStore {
 public:
  /// The latest tokens are kept, up to this number; from 1.
  explicit MemorySiteStore(std::size_t max_tokens = 100'000) : max_tokens_(max_tokens) {}

  SiteMemory recall() override {
    SiteMemory memory;
    for (const auto& [key, job] : handoffs_) memory.handoffs.push_back({job, key.second});
    memory.tokens.assign(tokens_.begin(), tokens_.end());
    memory.next_job = next_job_;
    memory.classifier = classifier_;
    memory.ended.assign(ended_.begin(), ended_.end());
    memory.past = past_;
    memory.cancels.assign(cancels_.begin(), cancels_.end());
    memory.forwarded = forwarded_;
    memory.asks_numbers = asks_numbers_;
    for (const auto& [job, letter] : letters_) memory.letters.push_back(letter);
    return memory;
  }
  void persist(SiteNews&& news, std::function<void(const std::string& trouble)> durable) override {
    for (const Handoff& waited : news.begun) handoffs_.erase({waited.job.id, waited.to});
    for (ChangedHandoff& each : news.changed) news.handoffs.push_back(std::move(each.handoff));
    for (Handoff& handoff : news.handoffs) {
      const std::pair key{handoff.job.id, handoff.to};
      handoffs_.insert_or_assign(key, std::move(handoff.job));
    }
    for (KnownToken& token : news.tokens) {
      if (token.forwarded) {
        forwarded_.add(token.job.value);
      } else {
        tokens_.push_back(std::move(token));
      }
    }
    while (tokens_.size() > max_tokens_) tokens_.pop_front();
    next_job_ = std::max(next_job_, news.next_job);
    for (EndedHandoff& ended : news.ended) {
      handoffs_.erase({ended.job.id, ended.to});
      if (!ended.conflict) past_[ended.outcome].add(ended.job.id.value);
      ended_.push_back(std::move(ended));
    }
    while (ended_.size() > kMaxEnded) ended_.pop_front();
    cancels_.insert(news.cancels.begin(), news.cancels.end());
    for (JobLetter& letter : news.letters) persist_letter(std::move(letter));
    asks_numbers_ = (asks_numbers_ || news.asks_numbers) && !news.numbers_known;
    durable({});
  }
  void handed_over(JobId job, const HandoffTarget& to) override { handoffs_.erase({job, to}); }
  void cancelled(JobId job) override { cancels_.erase(job); }
  void persist_classifier(std::string text) override { classifier_ = std::move(text); }
  void persist_letter(JobLetter letter) override {
    const JobId job = letter.job;
    if (letter.to.empty()) {
      letters_.erase(job);
    } else {
      letters_.insert_or_assign(job, std::move(letter));
    }
  }

 private:
  static constexpr std::size_t kMaxEnded = 10'000;  ///< the newest of those that no master had

  const std::size_t max_tokens_;
  std::map<std::pair<JobId, HandoffTarget>, Job> handoffs_;  ///< that no master or site has taken
  std::deque<KnownToken> tokens_;                            ///< oldest first
  NumberSet forwarded_;                                      ///< jobs that other sites left here
  std::deque<EndedHandoff> ended_;                           ///< oldest first
  PastEnds past_;
  std::set<JobId> cancels_;  ///< that have not reached everybody
  std::map<JobId, JobLetter> letters_;
  std::uint64_t next_job_ = 0;
  std::string classifier_;
  bool asks_numbers_ = false;
};

}  // namespace muster
