#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/job_request.hpp"
#include "config/numbers.hpp"
#include "config/request_value.hpp"

// The one declaration of what a job request may say. Reading, checking, the flags of `muster
// submit` and `muster plan` and the API's schema of a request are derived from it, and a test
// compares the table in docs/jobs.md with it. Members of JobRequest begin with their defaults;
// those that are optional get theirs where the job is made or runs, and their rows say it in words.

namespace muster::config {

/// Takes what is wrong: the field, as "env.NAME" where it is a member of one, and what would be
/// right.
using Report = std::function<void(std::string_view field, std::string message)>;

/// The text that may stand for a number.
enum class NumberText : std::uint8_t { none, time, memory };

/// A number, or a text that stands for one.
struct RequestNumber {
  std::variant<double JobRequest::*, std::uint32_t JobRequest::*, int JobRequest::*,
               std::optional<double> JobRequest::*, std::optional<std::uint32_t> JobRequest::*>
      at;
  NumberRange range;
  NumberText text = NumberText::none;
};
/// A short text in one line.
struct RequestText {
  std::string JobRequest::*at;
};
/// Yes or no. `check` says what is wrong with it beside other keys, where anything can be.
struct RequestSwitch {
  bool JobRequest::*at;
  void (*check)(const JobRequest&, const Report&) = nullptr;
};
/// One of the words of an enumeration.
struct RequestWord {
  MarketChoice JobRequest::*at;
};
/// Anything else: where it is, how it is read (false: it is of the wrong kind) and what is wrong
/// with it.
struct RequestOther {
  std::variant<std::string JobRequest::*, std::vector<std::string> JobRequest::*,
               std::vector<double> JobRequest::*, std::map<std::string, std::string> JobRequest::*,
               std::optional<RequestService> JobRequest::*>
      at;
  std::string wanted;
  bool (*read)(JobRequest&, const RequestValue&);
  void (*check)(const JobRequest&, const Report&);
  std::optional<NumberRange> numbers{};  ///< the texts of a list may be these numbers, too
  std::size_t longest = 0;               ///< of a text, in bytes, where nothing else bounds it
};

/// The flag of `muster submit` that sets a key: a switch's to the opposite of its default.
struct RequestFlag {
  std::string_view name{};     ///< "--cpus"; empty: the key has none of its own
  std::string_view meaning{};  ///< one line, where it differs from the key's
};

/// A key and everything that holds for it.
struct RequestKey {
  std::string name;
  std::string type;           ///< for the documentation alone
  std::string default_value;  ///< for the documentation and the API's schema; "required", "none"
  std::string meaning;        ///< one line
  std::variant<RequestNumber, RequestText, RequestSwitch, RequestWord, RequestOther> kind;
  RequestFlag flag{};
};

/// How long a name, a user, a class or a token may be.
inline constexpr std::size_t kMaxRequestText = 256;

/// Every key, in the order of the documentation.
const std::vector<RequestKey>& request_keys();

/// "a whole number from 1 to 100000": the right form.
std::string wanted(const RequestKey& key);

/// Puts the value into the request when it is of the key's kind and in its range.
bool read_value(JobRequest& request, const RequestKey& key, const RequestValue& value);

/// The first member of a table that cannot be a variable's value; null when there is no such
/// member, or the value is not a table.
const RequestMember* first_that_is_no_text(const RequestValue& value);

/// Reports what is wrong with the key's value in a request, wherever it came from.
void check_value(const JobRequest& request, const RequestKey& key, const Report& report);

/// Reports what does not go together. `tasks_given`: the number of tasks is no default.
void check_together(const JobRequest& request, bool tasks_given, const Report& report);

}  // namespace muster::config
