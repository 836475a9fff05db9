#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "model/expected.hpp"
#include "tools/client/api_client.hpp"

// Lists of the API come in pages.

namespace muster::client {

/// The wanted part of a list.
struct Pages {
  std::string path;               ///< with its query, which may be empty: "/v1/jobs?"
  std::string list;               ///< the member of the answer: "jobs" or "tasks"
  std::uint64_t most;             ///< most entries, over all pages
  std::string after{};            ///< where to begin as the API takes it; empty: at the beginning
  std::string name{};             ///< only entries whose name it is; empty: all
  std::uint64_t at_once = 1'000;  ///< most entries of a page
};

/// Takes a page; `last`: no other follows. A failure ends the asking.
using UsePage = std::function<std::optional<Failure<ClientError>>(const Answer& page, bool last)>;

/// Asks for page after page until there are enough or no more. Afterwards `pages.after` is where
/// one could go on; empty: that was all.
std::optional<Failure<ClientError>> each_page(ApiClient& api, Pages& pages, const UsePage& use);

/// Makes one document of pages without keeping them: `print` is called with piece after piece. A
/// page that is alone is left as the server wrote it.
class JsonOfPages {
 public:
  JsonOfPages(std::string list, std::function<void(const std::string&)> print)
      : list_(std::move(list)), print_(std::move(print)) {}
  void add(const Answer& page, bool last);

 private:
  std::string list_;
  std::function<void(const std::string&)> print_;
  bool begun_ = false;
  bool listed_ = false;  ///< an entry
  bool complete_ = true;
  nlohmann::json silent_ = nlohmann::json::array();
};

}  // namespace muster::client
