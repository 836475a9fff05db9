#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "serve/api/private_file.hpp"
#include "serve/api/token_record.hpp"

namespace muster::api {

/// How an order was answered.
struct OrderAnswer {
  int status = 0;
  std::string json;
};

/// A request that comes with its number.
struct NumberedRequest {
  std::string number;
  TokenDigest asks{};  ///< digest of the request, and of its caller
  std::string of{};    ///< the name of its token
};

/// How a request stands that comes with its number.
struct OrderStanding {
  bool other = false;                   ///< the number is that of a request for something else
  bool begun = false;                   ///< it was here before
  std::optional<OrderAnswer> answer{};  ///< how it was answered then, if it was
};

/// The numbers of the orders that were carried out, with their answers, so that one that is sent
/// again gets the answer that was lost. They are kept in a file that the APIs of a machine share: a
/// JSON object a line, and the file before it as FILE.1. It outlives the process; a loss of power
/// takes the entries of some seconds, which a client repeats no more after a restart. Every
/// function may be called from any thread, and writes to a file.
class RequestBook {
 public:
  using Note = std::function<void(const std::string&)>;
  /// Requests that it remembers. Of more it forgets the oldest of the token that has the most of
  /// them, so that no token takes what others have less of than their share.
  static constexpr std::size_t kMaxRequests = 10'000;
  static constexpr std::uint64_t kMaxFileBytes = 4ULL << 20;
  /// Bytes of each token's newest entries that a new file begins with, by turns.
  static constexpr std::uint64_t kCarriedBytes = kMaxFileBytes / 4;
  /// A longer answer is not kept: its order is carried out again.
  static constexpr std::size_t kMaxAnswerBytes = 4096;

  /// `file` need not be there yet; of an empty name the numbers go with the object. `note` hears
  /// when they cannot be kept: they are in memory then.
  RequestBook(std::filesystem::path file, Note note);

  /// Notes that the request, which asks for this, begins; says how it stood before.
  OrderStanding begin(const NumberedRequest& request);
  void end(const NumberedRequest& request, const OrderAnswer& answer);

 private:
  struct Entry {
    TokenDigest asks{};
    std::string of{};
    std::optional<OrderAnswer> answer{};
  };

  FileLock lock_file() const;
  void catch_up();
  void read(const std::filesystem::path& file, std::uint64_t from);
  void take(std::string_view line);
  void put(const std::string& number, Entry entry);
  void forget_one();
  void write(const std::string& number, const Entry& entry, bool alone);
  void rotate();
  std::string carried() const;

  const std::filesystem::path file_;
  const Note note_;
  std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
  std::map<std::string, std::deque<std::string>> numbers_of_;  ///< by token, the oldest first
  std::set<std::pair<std::size_t, std::string>> by_count_;     ///< tokens, by how many they have
  FileStamp known_;  ///< of the file that was read up to `read_`
  std::uint64_t read_ = 0;
  bool failed_ = false;
};

}  // namespace muster::api
