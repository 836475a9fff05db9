#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/stores/site_store.hpp"

namespace muster::test {

/// A book that can be looked into, and that outlives its site.
class OpenSiteStore final : public SiteStore {
 public:
  SiteMemory recall() override { return memory; }
  void persist(SiteNews&& news, std::function<void(const std::string&)> durable) override {
    if (slow) return waiting.push_back({std::move(news), std::move(durable)});
    if (before_refused) memory = *std::exchange(before_refused, std::nullopt);
    if (!trouble.empty()) {
      if (keeps_refused) before_refused = memory, put(std::move(news));
      return durable(trouble);
    }
    if (takes_no_ends && !news.ended.empty()) return durable("the disk is full");
    put(std::move(news));
    durable({});
  }
  void put(SiteNews&& news) {
    for (const Handoff& waited : news.begun) handed_over(waited.job.id, waited.to);
    for (ChangedHandoff& each : news.changed) news.handoffs.push_back(std::move(each.handoff));
    for (Handoff& handoff : news.handoffs) {
      handed_over(handoff.job.id, handoff.to);
      memory.handoffs.push_back(std::move(handoff));
    }
    for (KnownToken& token : news.tokens) memory.tokens.push_back(std::move(token));
    memory.next_job = std::max(memory.next_job, news.next_job);
    if (news.numbers_known) memory.asks_numbers = false;
    if (news.asks_numbers) memory.asks_numbers = true;
    for (EndedHandoff& ended : news.ended) {
      handed_over(ended.job.id, ended.to);
      memory.ended.push_back(std::move(ended));
    }
    for (JobLetter& letter : news.letters) persist_letter(std::move(letter));
    memory.cancels.insert(memory.cancels.end(), news.cancels.begin(), news.cancels.end());
  }
  void handed_over(JobId job, const HandoffTarget& to) override {
    std::erase_if(memory.handoffs, [&](const Handoff& handoff) {
      return handoff.job.id == job && handoff.to == to;
    });
  }
  void cancelled(JobId job) override { std::erase(memory.cancels, job); }
  void persist_classifier(std::string text) override { memory.classifier = std::move(text); }
  void persist_letter(JobLetter letter) override {
    std::erase_if(memory.letters, [&](const JobLetter& kept) { return kept.job == letter.job; });
    if (!letter.to.empty()) memory.letters.push_back(std::move(letter));
  }

  SiteMemory memory;
  std::string trouble;
  bool takes_no_ends = false;
  /// What is refused is there all the same, until something else is to be kept.
  bool keeps_refused = false;
  std::optional<SiteMemory> before_refused;
  /// A slow one answers when it is asked to.
  bool slow = false;
  struct Waiting {
    SiteNews news;
    std::function<void(const std::string&)> durable;
  };
  std::vector<Waiting> waiting;
};

}  // namespace muster::test
