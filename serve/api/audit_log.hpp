#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "model/expected.hpp"
#include "serve/api/tokens.hpp"

namespace muster::api {

/// One request that was to change something, or that was refused. Empty members are not known.
struct AuditEntry {
  std::int64_t at_s = 0;  ///< since 1970
  std::string token{};    ///< its name
  std::string user{};     ///< for whom the token acts
  std::string address{};  ///< of the client
  std::string method{};
  std::string path{};          ///< without the query
  int status = 0;              ///< 0: there was no answer
  std::string about{};         ///< "job 12", "instance 3", "token ann"
  std::uint64_t unlisted = 0;  ///< refused requests before this one that are not in the log
  /// Entries before this one that were lost, as nothing took them: the entry says that and nothing
  /// else. 0: it is one of a request.
  std::uint64_t lost = 0;
};

/// Which entries somebody asks for.
struct AuditQuestion {
  std::size_t most = 100;
  std::string user{};        ///< empty: anybody's
  std::int64_t since_s = 0;  ///< only later ones
};

/// Where the log is and how much of it is kept.
struct AuditOptions {
  std::filesystem::path file;                      ///< the others are FILE.1, the newest, and so on
  std::string node{};                              ///< whose log it is
  std::uint64_t max_bytes = 16ULL << 20;           ///< of a file
  std::uint32_t max_files = 8;                     ///< from 2
  std::function<void(const std::string&)> note{};  ///< hears what could not be written
};

/// The log of who has changed what: a JSON object a line, in files that only their owner can read.
/// A thread of its own writes and reads them, so that no request waits for the disk. Entries that
/// were lost are an entry of their own, which every question is answered with that asks for its
/// time; how many they are outlives the process in FILE.lost.
class AuditLog {
 public:
  /// Entries that may wait for the disk; further ones are lost, and counted.
  static constexpr std::size_t kMaxWaiting = 10'000;
  /// Refused requests in kRefusalWindowS seconds that are written down; further ones are counted.
  static constexpr std::uint64_t kMaxRefusals = 50;
  static constexpr std::int64_t kRefusalWindowS = 10;

  static Expected<std::unique_ptr<AuditLog>, ServerError> open(AuditOptions options);
  /// Writes what waits.
  ~AuditLog();
  AuditLog(const AuditLog&) = delete;
  AuditLog& operator=(const AuditLog&) = delete;

  void add(AuditEntry entry);
  /// Adds a request that was refused, or has changed nothing; anybody may send many of these.
  void add_refused(AuditEntry entry);

  /// The lines of the entries, newest first, those included that were added before. Called by the
  /// log's own thread.
  using Lines = std::function<void(std::vector<std::string>)>;
  void read(AuditQuestion question, Lines use);
  const std::string& node() const { return options_.node; }

 private:
  struct Look {
    AuditQuestion question;
    Lines use;
  };

  explicit AuditLog(AuditOptions options) : options_(std::move(options)) {}
  std::optional<std::string> open_file();
  static void sync_folder_of(const std::filesystem::path& file);
  void run();
  void write(const std::deque<AuditEntry>& entries);
  void put(const std::string& lines);
  std::string::size_type put_bytes(std::string_view bytes);
  void open_losses();
  void note_losses(std::uint64_t lost);
  void write_hole(std::int64_t at_s);
  void rotate();
  std::vector<std::string> find(const AuditQuestion& question) const;
  std::filesystem::path file(std::uint32_t age) const;

  const AuditOptions options_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<AuditEntry> waiting_;
  std::deque<Look> looks_;
  std::uint64_t dropped_ = 0;  ///< refusals since the last entry
  std::uint64_t crowded_ = 0;  ///< entries that found too many waiting
  std::int64_t window_s_ = 0;
  std::array<std::uint64_t, 2> refusals_{};  ///< in the window: without a token, with one
  bool stops_ = false;
  // Of the thread alone.
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  bool failed_ = false;
  bool torn_ = false;        ///< the file ends within a line
  int losses_ = -1;          ///< the file that keeps `lost_`
  std::uint64_t lost_ = 0;   ///< entries that no entry tells of yet
  std::int64_t last_s_ = 0;  ///< of the newest entry
  std::thread thread_;
};

}  // namespace muster::api
