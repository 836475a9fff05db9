#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/files/content_parts.hpp"
#include "storage/files/object_batch.hpp"
#include "storage/files/user_files.hpp"
#include "tests/storage/files/staged_folder.hpp"
#include "tests/support/fake_server.hpp"
#include "tools/client/api_client.hpp"

// The part of the API that is about files, over a store in a folder of the test's.

namespace muster::client {

/// One request, as the fake API sees it.
struct FilesRequest {
  std::string target;  ///< "POST /v1/files/parts"
  std::map<std::string, std::string> query{};
  std::string body{};

  std::string of(const std::string& key) const {
    const auto found = query.find(key);
    return found == query.end() ? "" : found->second;
  }
  std::uint64_t number(const std::string& key) const {
    return of(key).empty() ? 0 : std::stoull(of(key));
  }
};

/// A folder that goes away with the object, in memory where there is such a place: a store waits
/// for the disk each time.
class FolderInMemory {
 public:
  FolderInMemory() {
    const std::filesystem::path memory = "/dev/shm";
    const bool is_there = access(memory.c_str(), W_OK) == 0;
    std::string made =
        (is_there ? memory : std::filesystem::temp_directory_path()) / "muster-test-XXXXXX";
    MUSTER_CHECK(mkdtemp(made.data()) != nullptr, "a test without a folder for its store");
    path_ = made;
  }
  ~FolderInMemory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FolderInMemory(const FolderInMemory&) = delete;
  FolderInMemory& operator=(const FolderInMemory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The API on the loopback.
class FakeFilesApi {
 public:
  static constexpr std::size_t kMostBody = std::size_t{8} << 20;

  std::string url() const { return server_.api(); }
  std::unique_ptr<ApiClient> client() const {
    ApiOptions options;
    options.retry_for = {};
    return std::make_unique<ApiClient>(ClusterContext{url(), {}, "secret", "the file t"}, options);
  }

  files::UserFiles& user(const std::string& name = "ann") {
    auto& files = users_[name];
    EXPECT_FALSE(files::make_store(store_.path() / "store"));
    if (!files) files = files::valid(files::UserFiles::open_in(store_.path() / "store", name));
    return *files;
  }
  /// Puts a content into the store.
  files::ContentId put(std::string_view content, const std::string& of = "ann") {
    auto writer = files::valid(files::ObjectWriter::begin(user(of).contents()));
    MUSTER_CHECK(!writer.add(content), "a test without a content");
    return files::valid(writer.finish());
  }
  /// The paths of requests so far, without their queries, that begin so.
  std::vector<std::string> asked(const std::string& begin = "") const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const FilesRequest& request : requests_) {
      if (request.target.starts_with(begin)) all.push_back(request.target);
    }
    return all;
  }
  std::vector<FilesRequest> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  /// Contents that came in bodies.
  int contents_taken() const { return taken_; }
  /// Bytes of parts that came, those that were not taken among them.
  std::uint64_t part_bytes() const { return part_bytes_; }

  /// Called before a request is answered; a text that is not empty is the answer instead.
  std::function<std::string(const FilesRequest&)> before;
  std::size_t most_missing = 10'000;
  std::size_t outputs_at_once = 1'000;

 private:
  using Json = nlohmann::json;

  std::string answer(const std::string& text) {
    FilesRequest request;
    std::string target = text.substr(0, text.find(" HTTP/1.1"));
    const std::size_t question = target.find('?');
    std::string query = question == std::string::npos ? "" : target.substr(question + 1);
    request.target = target.substr(0, question);
    while (!query.empty()) {
      const std::size_t end = std::min(query.find('&'), query.size());
      const std::size_t equals = query.find('=');
      request.query[query.substr(0, equals)] = query.substr(equals + 1, end - equals - 1);
      query.erase(0, end + 1);
    }
    request.body = text.substr(text.find("\r\n\r\n") + 4);
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    if (before) {
      if (std::string instead = before(request); !instead.empty()) return instead;
    }
    return route(request);
  }
  std::string route(const FilesRequest& request) {
    if (request.target == "POST /v1/files/stages") return stage(request);
    if (request.target == "POST /v1/files/contents") return take_contents(request);
    if (request.target == "POST /v1/files/parts") return take_part(request);
    if (request.target == "GET /v1/jobs/7/outputs") return outputs(request);
    if (request.target == "GET /v1/jobs/7/contents") return content(request);
    return failed(404, "no such job");
  }
  static std::string failed(int status, const std::string& why) {
    return test::reply_of(status, Json{{"error", {{"code", "x"}, {"message", why}}}}.dump());
  }
  static std::string user_in(const std::string& named) { return named.empty() ? "ann" : named; }

  std::string stage(const FilesRequest& request) {
    const Json body = Json::parse(request.body);
    const auto id = files::valid(files::ContentId::parse(body.at("tree").get<std::string>()));
    const auto staged = user(user_in(body.value("user", ""))).stage(id, {}, most_missing);
    if (!staged) return failed(422, staged.error().message);
    Json missing = Json::array();
    for (const auto& each : staged->missing) missing.push_back(each.text());
    return test::reply_of(
        200,
        Json{{"tree", id.text()}, {"complete", staged->complete}, {"missing", missing}}.dump());
  }
  std::string take_contents(const FilesRequest& request) {
    if (request.body.size() > kMostBody) return failed(413, "too large");
    std::string_view left = request.body;
    Json ids = Json::array();
    while (left.size() >= 8) {
      std::uint64_t length = 0;
      for (std::size_t i = 8; i-- > 0;) {
        length = length << 8U | static_cast<unsigned char>(left[i]);
      }
      if (left.size() - 8 < length) return failed(422, "a length that does not fit");
      ids.push_back(put(left.substr(8, length), user_in(request.of("user"))).text());
      left.remove_prefix(8 + length);
      ++taken_;
    }
    return test::reply_of(200, Json{{"contents", ids}}.dump());
  }
  std::string take_part(const FilesRequest& request) {
    part_bytes_ += request.body.size();
    const auto there =
        files::add_part(user(user_in(request.of("user"))),
                        {files::valid(files::ContentId::parse(request.of("id"))),
                         request.number("size"), request.number("offset"), request.body});
    if (!there) return failed(422, there.error().message);
    return test::reply_of(200, Json{{"bytes", there->bytes}, {"complete", there->complete}}.dump());
  }
  std::string outputs(const FilesRequest& request) {
    files::OutputsPlace from;
    if (const std::string text = request.of("from"); !text.empty()) {
      from.index = static_cast<std::uint32_t>(std::stoul(text));
      from.attempt = static_cast<std::uint32_t>(std::stoul(text.substr(text.find('.') + 1)));
    }
    auto found = files::valid(user().outputs().list(7, from, outputs_at_once + 1));
    Json next = nullptr;
    if (found.size() > outputs_at_once) {
      next = fmt::format("{}.{}", found.back().place.index, found.back().place.attempt);
      found.pop_back();
    }
    Json list = Json::array();
    for (const files::Outputs& each : found) {
      list.push_back({{"task", each.place.index},
                      {"attempt", each.place.attempt},
                      {"tree", each.tree.text()},
                      {"files", each.files},
                      {"bytes", each.bytes},
                      {"kept_s", each.kept_s},
                      {"skipped", each.skipped}});
    }
    return test::reply_of(200, Json{{"outputs", list}, {"next", next}}.dump());
  }
  std::string content(const FilesRequest& request) {
    const auto id = files::valid(files::ContentId::parse(request.of("id")));
    const auto file = user().contents().open_read(id);
    if (!file) return failed(404, file.error().message);
    std::string bytes(request.number("max"), '\0');
    const ssize_t got = pread(file->get(), bytes.data(), bytes.size(),
                              static_cast<off_t>(request.number("offset")));
    bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return test::reply_of(200, bytes, "Content-Type: application/octet-stream\r\n");
  }

  FolderInMemory store_;
  std::map<std::string, std::unique_ptr<files::UserFiles>> users_;
  std::atomic<int> taken_{0};
  std::atomic<std::uint64_t> part_bytes_{0};
  mutable std::mutex mutex_;
  std::vector<FilesRequest> requests_;
  /// Last: its thread uses all of the above.
  test::FakeServer server_{[this](const std::string& request) { return answer(request); }};
};

}  // namespace muster::client
