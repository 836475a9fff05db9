#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "config/cluster_config.hpp"
#include "serve/notify/notify_key.hpp"
#include "serve/notify/postman.hpp"
#include "serve/notify/told_rules.hpp"

namespace muster::notify {

/// The messages that a node sends, to webhooks and by mail, as its cluster file says.
class NodePost {
 public:
  /// `now`: the cluster's time, which is since 1970. `warn` is told of each message that was given
  /// up. The config has to outlive it.
  NodePost(const ClusterConfig& config, std::function<Instant()> now,
           std::function<void(const std::string&)> warn);

  ~NodePost() { stops_ = true; }
  NodePost(const NodePost&) = delete;
  NodePost& operator=(const NodePost&) = delete;

  void send(Letter letter, std::function<void()> settled) {
    postman_.send(std::move(letter), std::move(settled));
  }
  const ToldRules& rules() const { return rules_; }
  PostFigures figures() const { return postman_.figures(); }
  std::string trouble() const { return postman_.trouble(); }

 private:
  /// Lines of lost letters that the log takes in a minute; others are counted.
  static constexpr std::uint32_t kMostLines = 20;

  void note_lost(const std::string& text);
  Delivery deliver(const Letter& letter);

  const ClusterConfig& config_;
  const ToldRules rules_;
  std::function<Instant()> now_;
  NotifyKey key_;
  std::atomic<bool> stops_{false};
  const std::function<void(const std::string&)> warn_;
  std::mutex lines_mutex_;
  Instant minute_{};            ///< begin of the one whose lines are counted
  std::uint32_t lines_ = 0;     ///< in it
  std::uint64_t left_out_ = 0;  ///< since the last line
  Postman postman_;             ///< last: its threads use all others
};

}  // namespace muster::notify
