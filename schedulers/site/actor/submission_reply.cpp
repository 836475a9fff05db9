#include "schedulers/site/actor/submission_reply.hpp"

#include <utility>

namespace muster {

SubmissionReply::SubmissionReply(SubmitAnswer answer, std::vector<SubmitVerdict> verdicts,
                                 std::size_t writes)
    : answer_(std::move(answer)), verdicts_(std::move(verdicts)), writes_(writes) {}

void SubmissionReply::arrived() {
  if (--open_ == 0 && writes_ == 0) give();
}

bool SubmissionReply::written(const std::string& trouble) {
  if (!trouble.empty()) trouble_ = trouble;
  if (--writes_ > 0) return false;
  if (!trouble_.empty()) {
    given_ = true;
    answer_(Failure<ActorError>{ActorError::store_failed, trouble_});
    return false;
  }
  if (open_ > 0) return true;
  give();
  return false;
}

void SubmissionReply::give() {
  if (given_) return;
  given_ = true;
  answer_(std::move(verdicts_));
}

}  // namespace muster
