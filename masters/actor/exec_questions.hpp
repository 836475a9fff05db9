#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>

#include "actors/messages/messages.hpp"
#include "masters/actor/attempt_places.hpp"
#include "masters/actor/open_questions.hpp"
#include "masters/actor/part_host.hpp"

namespace muster {

/// Passes questions about commands beside tasks on to the workers that run these, and their answers
/// back. The master knows of no command: their numbers say on which instance they are.
class ExecQuestions {
 public:
  /// Questions that wait at once, in all and for one instance.
  static constexpr std::size_t kMost = 1000;
  static constexpr std::uint32_t kMostOfInstance = 256;
  /// Then the asker of a question waits no more.
  static constexpr Duration kAge = kMostExecWait + std::chrono::seconds{10};

  struct Host {
    /// Whether the instance's worker can be spoken to.
    std::function<bool(InstanceId)> can_ask;
    std::function<void(InstanceId, const ExecRequest&)> ask;
    std::function<Instant()> now;
  };
  /// The places have to outlive it.
  ExecQuestions(const AttemptPlaces& places, Host host);

  void ask(ExecRequest request, const PartAnswer<ExecAnswer>& answer);
  void hear(ExecAnswer answer);
  /// The instance's worker will not answer the questions that are open.
  void cut(InstanceId on) { open_.cut(on); }
  /// Drops all questions: their askers are gone.
  void clear();

 private:
  struct Asker {
    PartAnswer<ExecAnswer> answer;
    std::uint64_t number = 0;  ///< of the question as it was asked here
    InstanceId on;
    Instant since{};
  };

  std::optional<InstanceId> place_for(ExecRequest& request) const;

  const AttemptPlaces& places_;
  Host host_;
  std::uint64_t next_ = 0;  ///< number of the last question to a worker
  OpenQuestions<Asker> open_;
};

}  // namespace muster
