#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "storage/site_book.hpp"

namespace muster {

/// A site's book that lives as long as the process: what is kept is durable at once. It keeps what
/// the one in a store would.
class MemorySiteBook final : public SiteBook {
 public:
  /// The latest so many tokens are kept; from 1.
  explicit MemorySiteBook(std::size_t max_tokens = 100'000) : max_tokens_(max_tokens) {}

  SiteMemory recall() override {
    SiteMemory memory;
    for (const auto& [key, job] : handoffs_) memory.handoffs.push_back({job, key.second});
    memory.tokens.assign(tokens_.begin(), tokens_.end());
    memory.next_job = next_job_;
    memory.sorter = sorter_;
    return memory;
  }
  void keep(SiteNews&& news, std::function<void(const std::string& trouble)> durable) override {
    for (Handoff& handoff : news.handoffs) {
      const std::pair key{handoff.job.id, handoff.to};
      handoffs_.insert_or_assign(key, std::move(handoff.job));
    }
    for (KnownToken& token : news.tokens) tokens_.push_back(std::move(token));
    while (tokens_.size() > max_tokens_) tokens_.pop_front();
    next_job_ = std::max(next_job_, news.next_job);
    durable({});
  }
  void handed_over(JobId job, const HandTarget& to) override { handoffs_.erase({job, to}); }
  void keep_sorter(std::string text) override { sorter_ = std::move(text); }

 private:
  const std::size_t max_tokens_;
  std::map<std::pair<JobId, HandTarget>, Job> handoffs_;  ///< that nobody has taken
  std::deque<KnownToken> tokens_;                         ///< oldest first
  std::uint64_t next_job_ = 0;
  std::string sorter_;
};

}  // namespace muster
