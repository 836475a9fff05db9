#include "masters/event_replay.hpp"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <string_view>
#include <utility>

#include "masters/master.hpp"

// The child writes what it comes to into memory that it has in common with its parent, event by
// event, so that the parent knows how far one came that was ended. Its standard error is a pipe:
// there a failed check says which one it was.

namespace muster {
namespace {

/// Report of the child. A text that is longer is cut.
struct Told {
  std::atomic<std::uint64_t> events{0};
  std::atomic<bool> over{false};
  std::array<char, 400> problem{};
  std::array<char, 400> memory{};
};

template <std::size_t kSize>
void tell(std::array<char, kSize>& to, std::string_view text) {
  text.substr(0, kSize - 1).copy(to.data(), kSize - 1);
}

/// Counts the events that the policy is shown.
class Counted final : public Policy {
 public:
  Counted(std::unique_ptr<Policy> policy, Told& told) : policy_(std::move(policy)), told_(told) {}

  Cadence cadence() const override { return policy_->cadence(); }
  Cadence fleet_cadence() const override { return policy_->fleet_cadence(); }
  void observe(const Event& event, const ClusterView& view) override {
    try {
      policy_->observe(event, view);
    } catch (const std::exception& error) {
      fail(error);
      throw;
    }
    if (!has_failed()) ++told_.events;
  }
  Plan decide(const ClusterView& view, Rng& rng, Budget& budget) override {
    try {
      return policy_->decide(view, rng, budget);
    } catch (const std::exception& error) {
      fail(error);
      throw;
    }
  }
  std::string save_state(const ClusterState& state) const override {
    return policy_->save_state(state);
  }
  bool load_state(std::string_view text, const ClusterView& view) override {
    return policy_->load_state(text, view);
  }
  std::unique_ptr<Policy> clone() const override {
    return std::make_unique<Counted>(policy_->clone(), told_);
  }
  bool settled(const ClusterView& view) const override { return policy_->settled(view); }

 private:
  bool has_failed() const { return told_.problem.front() != '\0'; }
  /// Replays go on without a policy that throws: the first exception is a problem nevertheless.
  void fail(const std::exception& error) {
    if (!has_failed()) tell(told_.problem, error.what());
  }

  std::unique_ptr<Policy> policy_;
  Told& told_;
};

void start_master(const StoredMaster& stored, MasterDependencies parts, Told& told) {
  parts.policy = std::make_unique<Counted>(std::move(parts.policy), told);
  Master master(MasterSettings{}, std::move(parts));
  tell(told.memory, master.restore(stored.snapshot, stored.tail));
  const Instant now = master.facts().newest + std::chrono::seconds{1};
  if (master.busy()) (void)master.planner().decide(master.wish(now));
  // As the next snapshot would be made.
  (void)master.snapshot();
  const auto wrong = master.state().inconsistencies();
  if (!wrong.empty()) tell(told.problem, wrong.front());
  // Rounds that were decided are shown besides.
  if (told.problem.front() == '\0') told.events = stored.tail.size();
}

[[noreturn]] void run_child(const StoredMaster& stored, MasterDependencies parts, Told& told,
                            int err) {
  dup2(err, STDERR_FILENO);
  const rlimit none{};
  setrlimit(RLIMIT_CORE, &none);
  try {
    start_master(stored, std::move(parts), told);
  } catch (const std::exception& error) {
    if (told.problem.front() == '\0') tell(told.problem, error.what());
  }
  told.over = true;
  _exit(0);  // NOLINT: a forked child must not run what its parent has at exit
}

std::string all_of(int descriptor) {
  std::string text;
  std::array<char, 512> bytes{};
  for (;;) {
    const ssize_t got = ::read(descriptor, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

ReplayedEvents replay_in_child(const StoredMaster& stored, MasterDependencies parts) {
  ReplayedEvents replayed;
  void* common =
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  std::array<int, 2> ends{-1, -1};
  if (common == MAP_FAILED || pipe(ends.data()) != 0) {
    replayed.problem = std::string("the events cannot be replayed: ") + std::strerror(errno);
    return replayed;
  }
  Told& told = *std::construct_at(static_cast<Told*>(common));
  const pid_t child = fork();
  if (child == 0) run_child(stored, std::move(parts), told, ends[1]);
  close(ends[1]);
  std::string said = child < 0 ? std::strerror(errno) : all_of(ends[0]);
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  replayed.events = told.events;
  replayed.problem = told.problem.data();
  replayed.memory = told.memory.data();
  if (!told.over && replayed.problem.empty()) {
    said.erase(std::min(said.find_last_not_of("\n") + 1, said.size()));
    replayed.problem = said.empty() ? "the process was ended" : said;
  }
  munmap(common, sizeof(Told));
  return replayed;
}

}  // namespace muster
