#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "actors/messages/messages.hpp"
#include "model/expected.hpp"

namespace muster {

/// Takes the verdicts on the jobs that came together, or the reason why there are no verdicts.
using SubmitAnswer = std::function<void(Expected<std::vector<SubmitVerdict>, ActorError>)>;

/// The answer to a submission. It is given once, and not before the writes of the store on which it
/// rests are durable; where one of them fails, that is the answer.
class SubmissionReply {
 public:
  /// `writes`: that have not ended.
  SubmissionReply(SubmitAnswer answer, std::vector<SubmitVerdict> verdicts, std::size_t writes);

  /// That number of further jobs or parts are on their way, for which it waits.
  void add_open(std::size_t jobs) { open_ += jobs; }
  /// One of them is on its way no longer.
  void arrived();
  /// One of the writes has ended. True: all are durable, and it waits for those that are on their
  /// way.
  bool written(const std::string& trouble);
  /// Gives the verdicts, unless the answer is given.
  void give();

 private:
  SubmitAnswer answer_;
  std::vector<SubmitVerdict> verdicts_;
  std::size_t writes_;
  std::string trouble_;   ///< why one of them has failed
  std::size_t open_ = 0;  ///< jobs or parts on their way
  bool given_ = false;
};

}  // namespace muster
