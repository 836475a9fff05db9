#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "model/time.hpp"
#include "model/views.hpp"

namespace muster {

/// Masters know the cost of a user in all. This keeps the sum that they told last before the day
/// began: a day's costs are as exact as masters are asked often. It has as many users as the
/// masters name. May be called from any thread.
class DayCosts {
 public:
  /// By the masters' names. Goes on with what an earlier process has kept in the file; no file:
  /// nothing is kept.
  explicit DayCosts(std::vector<std::string> masters, std::filesystem::path file = {});
  /// Writes what waits.
  ~DayCosts();
  DayCosts(const DayCosts&) = delete;
  DayCosts& operator=(const DayCosts&) = delete;

  /// Notes what the users have cost in all by `now`, as the masters say in their order; nothing of
  /// those that do not answer. The file is written by a thread of its own.
  void note(const std::vector<std::optional<CostView>>& said, Instant now);

  DayCostsView today(Instant now) const;
  /// Whether each master has been heard at least once, so that further costs of it are today's.
  bool has_heard_all() const;

 private:
  struct Spent {
    double before = 0;  ///< when the day began
    double in_all = 0;
  };
  using Users = std::map<std::string, Spent>;

  void begin_day(double now_s);
  void note(const std::string& master, const std::vector<CostPart>& parts, double now_s);
  void read();
  std::string text() const;
  void write();

  const std::vector<std::string> names_;
  const std::filesystem::path file_;
  mutable std::mutex mutex_;
  std::int64_t day_ = -1;  ///< since 1970; -1: nothing has been noted
  double since_s_ = 0;
  double noted_s_ = 0;  ///< when it was noted last
  std::map<std::string, Users> masters_;
  std::condition_variable news_;
  std::optional<std::string> waiting_;  ///< for the disk; only the newest
  bool stops_ = false;
  std::thread writer_;
};

}  // namespace muster
