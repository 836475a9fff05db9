#include "storage/events/event_log.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>

#include "model/check.hpp"
#include "model/hexadecimal.hpp"

// Event logs as lines of JSON, and their digest. The digest is over the bytes of the log, header
// included, so that two runs are compared without keeping either.

namespace muster {
namespace {

// Lines are gathered: one digest call and one write each 64 KiB instead of one each event.
constexpr std::size_t kBufferSize = std::size_t{1} << 16;

Failure<EventLogError> at_line(const std::string& name, std::size_t line,
                               const std::string& message) {
  return {EventLogError::malformed, fmt::format("{}:{}: {}", name, line, message)};
}

}  // namespace

/// OpenSSL's digest; it fails only when the library itself is broken.
struct EventLogWriter::Digest {
  struct Free {
    void operator()(EVP_MD_CTX* c) const { EVP_MD_CTX_free(c); }
  };
  std::unique_ptr<EVP_MD_CTX, Free> context{EVP_MD_CTX_new()};

  Digest() {
    MUSTER_CHECK(context && EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1,
                 "OpenSSL has SHA-256");
  }
  void add(const std::string& bytes) {
    MUSTER_CHECK(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1,
                 "a digest takes any bytes");
  }
  std::string hex() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
    unsigned int size = 0;
    MUSTER_CHECK(EVP_DigestFinal_ex(context.get(), bytes.data(), &size) == 1,
                 "a digest is finished once");
    return hexadecimal({bytes.data(), size});
  }
};

EventLogWriter::EventLogWriter(std::ostream* out, const LogHeader& header)
    : out_(out), catalog_(&header.catalog), digest_(std::make_unique<Digest>()) {
  append_json(header, buffer_);
}

EventLogWriter::~EventLogWriter() = default;

void EventLogWriter::write(const Event& event) {
  append_json(event, *catalog_, buffer_);
  ++count_;
  if (buffer_.size() >= kBufferSize) drain();
}

void EventLogWriter::drain() {
  // Also without a stream: replays want the digest only.
  digest_->add(buffer_);
  if (out_ != nullptr) out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

Expected<std::string, EventLogError> EventLogWriter::finish() {
  drain();
  if (out_ != nullptr && !out_->flush()) {
    return Failure<EventLogError>{EventLogError::unwritable,
                                  "the event log could not be written in full"};
  }
  return digest_->hex();
}

Expected<EventLog, EventLogError> read_event_log(std::istream& in, const std::string& name) {
  std::string line;
  if (!std::getline(in, line)) return at_line(name, 1, "empty; expected the header of a log");
  auto header = header_from_json(line);
  if (!header) return at_line(name, 1, header.error().message);
  EventLog log{std::move(header).value(), {}};
  for (std::size_t number = 2; std::getline(in, line); ++number) {
    auto event = event_from_json(line, log.header.catalog);
    if (!event) return at_line(name, number, event.error().message);
    log.events.push_back(std::move(event).value());
  }
  if (in.bad()) return Failure<EventLogError>{EventLogError::unreadable, name + ": cannot be read"};
  return log;
}

Expected<EventLog, EventLogError> read_event_log(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  // Opening a folder for reading succeeds on Linux; the first read would fail with no reason.
  if (!in || std::filesystem::is_directory(file)) {
    // Taken before anything that allocates, which may change it.
    const int error = errno;
    return Failure<EventLogError>{
        EventLogError::unreadable,
        fmt::format("{}: {}", file.string(), in ? "is a directory" : std::strerror(error))};
  }
  // A device such as /dev/zero may never end a line.
  if (std::filesystem::is_character_file(file)) {
    return Failure<EventLogError>{EventLogError::unreadable,
                                  file.string() + ": is a device, and no event log"};
  }
  return read_event_log(in, file.string());
}

}  // namespace muster
