#include "masters/actor/coming_log.hpp"

#include <algorithm>
#include <utility>

namespace muster {
namespace {

/// A worker may cut pieces shorter than it is asked to, but not each to nothing.
constexpr std::uint64_t kSparePieces = 100;
constexpr const char* kTooMuch = "its worker said more than it may keep";
constexpr const char* kForgotten = "its worker does not have it any more";

}  // namespace

std::uint64_t ComingLog::Bounds::pieces() const {
  return kSparePieces + 2 * bytes / kPieceBytes;
}

void ComingLog::fill(const LogEnds& ends) {
  for (std::size_t i = 0; i < kLogStreams; ++i) {
    filled_[i] = std::max(filled_[i], std::min(ends[i], kMaxOffset));
  }
}

void ComingLog::add_whole(const WorkerReport& report) {
  if (report.out_tail.size() == report.out_bytes) whole_[0] = report.out_tail;
  if (report.err_tail.size() == report.err_bytes) whole_[1] = report.err_tail;
}

bool ComingLog::wants() const {
  return over_ || at_.until > 0 || filled_[0] > kept_[0] || filled_[1] > kept_[1];
}

/// Begins the rest, or the next part, when nothing is under way.
void ComingLog::begin_next() {
  if (at_.until > 0 || at_.rest) return;
  at_.taken = at_.pieces = 0;
  at_.rest = over_;
  at_.stream = !over_ && filled_[0] <= kept_[0] ? 1 : 0;
  if (over_) return;
  const std::uint64_t kept = kept_[at_.stream];
  at_.until = std::min(filled_[at_.stream], kept + kPartBytes);
}

std::optional<std::size_t> ComingLog::unknown() const {
  if (at_.until > 0) return std::nullopt;
  for (std::size_t i = 0; i < kLogStreams; ++i) {
    const bool matters = over_ ? !whole_[i] : filled_[i] > kept_[i];
    if (matters && !known_[i]) return i;
  }
  return std::nullopt;
}

void ComingLog::know(std::size_t stream, std::uint64_t kept) {
  known_[stream] = true;
  kept_[stream] = std::max(kept_[stream], kept);
  at_.next[stream] = std::max(at_.next[stream], kept);
}

std::array<std::optional<std::uint64_t>, kLogStreams> ComingLog::kept() const {
  std::array<std::optional<std::uint64_t>, kLogStreams> kept;
  for (std::size_t i = 0; i < kLogStreams; ++i) {
    if (known_[i]) kept[i] = kept_[i];
  }
  return kept;
}

std::optional<LogRequest> ComingLog::question(const LogName& name) {
  begin_next();
  if (at_.stream == kLogStreams || (at_.rest && whole_[at_.stream])) return std::nullopt;
  LogRequest request;
  request.task = name.task;
  request.attempt = name.attempt;
  request.error_stream = at_.stream == 1;
  request.offset = at_.next[at_.stream];
  request.max_bytes = kPieceBytes;
  if (at_.until > 0) {
    const std::uint64_t left = at_.until - request.offset;
    request.max_bytes = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, kPieceBytes));
  }
  return request;
}

/// Adds the next streams as far as they came with the report.
void ComingLog::add_next_whole(LogDelivery& delivery) {
  for (; at_.stream < kLogStreams && whole_[at_.stream]; ++at_.stream) {
    const std::string& text = *whole_[at_.stream];
    const std::uint64_t from = std::min<std::uint64_t>(at_.next[at_.stream], text.size());
    if (from < text.size()) delivery.pieces.push_back({at_.stream == 1, from, text.substr(from)});
  }
  at_.taken = at_.pieces = 0;
  delivery.last = at_.stream == kLogStreams;
}

LogDelivery ComingLog::from_report(const LogName& name) {
  LogDelivery delivery{name};
  add_next_whole(delivery);
  return delivery;
}

LogDelivery ComingLog::hear(const LogName& name, const LogAnswer& answer, const Bounds& bounds) {
  LogDelivery delivery{name};
  std::uint64_t& next = at_.next[at_.stream];
  at_.taken += answer.text.size();
  const bool too_far =
      answer.offset > kMaxOffset || answer.text.size() > kMaxOffset - answer.offset;
  const Bounds most{at_.rest ? bounds.bytes : kPartBytes + kPieceBytes};
  const bool sound =
      answer.offset >= next && !too_far && at_.taken <= most.bytes && ++at_.pieces <= most.pieces();
  if (!at_.rest) {
    hear_part(answer, sound && !answer.unknown, delivery);
    return delivery;
  }
  if (answer.unknown) delivery.lost = kForgotten;
  if (!sound) delivery.lost = kTooMuch;
  delivery.last = !delivery.lost.empty();
  if (delivery.last) return delivery;
  next = answer.offset + answer.text.size();
  if (!answer.text.empty()) {
    delivery.pieces.push_back({at_.stream == 1, answer.offset, answer.text});
  }
  if (answer.text.empty() || !answer.more_may_come) {
    ++at_.stream;
    add_next_whole(delivery);
  }
  return delivery;
}

/// A part of which no more is to be had ends there: its place is a gap, and the worker has to say
/// anew that there is more.
void ComingLog::hear_part(const LogAnswer& answer, bool sound, LogDelivery& delivery) {
  std::uint64_t& next = at_.next[at_.stream];
  if (sound && !answer.text.empty()) {
    next = answer.offset + answer.text.size();
    delivery.pieces.push_back({at_.stream == 1, answer.offset, answer.text});
  } else {
    next = at_.until;
    filled_[at_.stream] = std::min(filled_[at_.stream], at_.until);
  }
  delivery.part = next >= at_.until;
}

LogDelivery ComingLog::lose(const LogName& name, const std::string& reason) const {
  LogDelivery delivery{name};
  bool all = true;
  for (std::size_t i = at_.rest ? at_.stream : 0; i < kLogStreams; ++i) {
    all = all && whole_[i];
    if (!whole_[i]) continue;
    const std::uint64_t from = std::min<std::uint64_t>(at_.next[i], whole_[i]->size());
    const std::string text = whole_[i]->substr(from);
    if (!text.empty()) delivery.pieces.push_back({i == 1, from, text});
  }
  if (!all) delivery.lost = reason;
  delivery.last = true;
  return delivery;
}

void ComingLog::part_kept() {
  kept_[at_.stream] = at_.next[at_.stream];
  known_[at_.stream] = true;
  at_.until = 0;
}

void ComingLog::begin_anew() {
  at_ = {};
  at_.next = kept_;
}

void KeptParts::take(const LogName& name, InstanceId on, ComingLog& log) {
  const auto here = by_instance_.find(on);
  if (here == by_instance_.end()) return;
  const auto known = here->second.find(name);
  if (known == here->second.end()) return;
  for (std::size_t i = 0; i < kLogStreams; ++i) {
    if (known->second[i]) log.know(i, *known->second[i]);
  }
  here->second.erase(known);
  if (here->second.empty()) by_instance_.erase(here);
}

}  // namespace muster
