#include "workers/process/shim/shim_logs.hpp"

#include <charconv>

#include "workers/process/files/attempt_dir.hpp"

namespace muster::process {
namespace {

constexpr std::string_view kFilledVerb = "filled ";

}  // namespace

std::string filled_line(const FilledBytes& filled) {
  std::string line(kFilledVerb);
  return line + std::to_string(filled.out) + " " + std::to_string(filled.err) + "\n";
}

std::optional<FilledBytes> filled_from(std::string_view line) {
  if (!line.starts_with(kFilledVerb)) return std::nullopt;
  line.remove_prefix(kFilledVerb.size());
  FilledBytes filled;
  const char* end = line.data() + line.size();
  const auto out = std::from_chars(line.data(), end, filled.out);
  if (out.ec != std::errc{} || out.ptr == end || *out.ptr != ' ') return std::nullopt;
  const auto err = std::from_chars(out.ptr + 1, end, filled.err);
  return err.ec == std::errc{} && err.ptr == end ? std::optional(filled) : std::nullopt;
}

ShimLogs::ShimLogs(int folder, LogWriter::Bounds bounds)
    : out_(folder, kOutLog, bounds), err_(folder, kErrLog, bounds) {}

std::optional<std::string> ShimLogs::take_due(Duration now) {
  const auto due = next_due();
  if (!due || now < *due) return std::nullopt;
  told_ = filled();
  told_at_ = now;
  return filled_line(told_);
}

std::optional<Duration> ShimLogs::next_due() const {
  if (filled() == told_) return std::nullopt;
  return told_at_ ? *told_at_ + kInterval : Duration::zero();
}

}  // namespace muster::process
