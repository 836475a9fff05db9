#include "serve/api/file_routes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "model/constraint.hpp"
#include "storage/files/path_pattern.hpp"

namespace muster::api {
namespace {

using files::ContentId;
using Json = nlohmann::ordered_json;

constexpr int kInvalid = 422;
/// Before each content of a body: its length, the low byte first.
constexpr std::size_t kLengthBytes = 8;

/// The text with bytes that are no UTF-8 replaced.
std::string document_text(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int status_of(files::FileError code) {
  switch (code) {
    case files::FileError::invalid:
    case files::FileError::too_large:
    case files::FileError::damaged:
    case files::FileError::changed:
      return kInvalid;
    case files::FileError::missing:
      return 404;
    case files::FileError::no_space:
      return 507;
    case files::FileError::exhausted:
      return 503;
    default:
      return 500;
  }
}

Response refused(const Failure<files::FileError>& failure) {
  const int status = status_of(failure.code);
  // Of a place on the node's disk the users need not know more.
  const std::string where = status == 500 || status == 503 ? "the store of files: " : "";
  return error_response(status, where + failure.message);
}

/// Cuts a body into contents; nothing where the lengths do not fit.
std::optional<std::vector<std::string_view>> contents_in(std::string_view body) {
  std::vector<std::string_view> contents;
  while (!body.empty()) {
    if (body.size() < kLengthBytes || contents.size() == FileStore::kMostContents) {
      return std::nullopt;
    }
    std::uint64_t length = 0;
    for (std::size_t i = kLengthBytes; i-- > 0;) {
      length = length << 8U | static_cast<unsigned char>(body[i]);
    }
    body.remove_prefix(kLengthBytes);
    if (length > body.size()) return std::nullopt;
    contents.push_back(body.substr(0, length));
    body.remove_prefix(length);
  }
  return contents;
}

/// The member of a body {"tree": ID, "user": USER}; empty: it is not there, or no text.
std::string member_of(const std::string& body, const char* name) {
  const auto document = Json::parse(body, nullptr, false);
  if (!document.is_object() || !document.contains(name) || !document[name].is_string()) return {};
  return document[name].get<std::string>();
}

Response answer_stage(FileStore& store, const std::string& user, const FileQuestion& asked) {
  const auto tree = ContentId::parse(member_of(asked.body, "tree"));
  if (!tree) {
    return error_response(kInvalid,
                          "body: tree: has to be the id of a tree, 64 hexadecimal digits");
  }
  const auto staged = store.stage(user, tree.value());
  if (!staged) return refused(staged.error());
  Json missing = Json::array();
  for (const ContentId& each : staged->missing) missing.push_back(each.text());
  return {.body = document_text({{"tree", tree->text()},
                                 {"complete", staged->complete},
                                 {"missing", std::move(missing)}})};
}

Response answer_put(FileStore& store, const std::string& user, const FileQuestion& asked) {
  const auto contents = contents_in(asked.body);
  if (!contents) {
    return error_response(
        kInvalid, fmt::format("body: has to be contents, at most {}, each behind its length in {} "
                              "bytes, the low one first",
                              FileStore::kMostContents, kLengthBytes));
  }
  const auto put = store.put(user, *contents);
  if (!put) return refused(put.error());
  Json ids = Json::array();
  for (const ContentId& each : put.value()) ids.push_back(each.text());
  return {.body = document_text({{"contents", std::move(ids)}})};
}

Response answer_part(FileStore& store, const std::string& user, const FileQuestion& asked) {
  const auto id = ContentId::parse(asked.query.text("id"));
  if (!id) return error_response(kInvalid, "id: has to be 64 hexadecimal digits");
  const auto there = store.add_part(
      user, {id.value(), asked.query.number("size"), asked.query.number("offset"), asked.body});
  if (!there) return refused(there.error());
  return {.body = document_text({{"bytes", there->bytes}, {"complete", there->complete}})};
}

/// "INDEX.ATTEMPT"; nothing for another text.
std::optional<files::OutputsPlace> place_from(std::string_view text) {
  files::OutputsPlace place;
  if (text.empty()) return place;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, place.index);
  if (index.ec != std::errc{} || index.ptr == end || *index.ptr != '.') return std::nullopt;
  const auto attempt = std::from_chars(index.ptr + 1, end, place.attempt);
  if (attempt.ec != std::errc{} || attempt.ptr != end) return std::nullopt;
  return place;
}

Response answer_outputs(const FileStore& store, const std::string& user,
                        const FileQuestion& asked) {
  const auto from = place_from(asked.query.text("from"));
  if (!from) return error_response(kInvalid, "from: has to be `next` of the page before");
  const std::size_t limit = asked.query.number("limit");
  const auto found = store.outputs(user, asked.job.value, *from, limit + 1);
  if (!found) return refused(found.error());
  Json list = Json::array();
  Json next = nullptr;
  for (const files::Outputs& each : found.value()) {
    if (list.size() == limit) {
      next = fmt::format("{}.{}", each.place.index, each.place.attempt);
      break;
    }
    list.push_back({{"task", each.place.index},
                    {"attempt", each.place.attempt},
                    {"tree", each.tree.text()},
                    {"files", each.files},
                    {"bytes", each.bytes},
                    {"kept_s", each.kept_s},
                    {"skipped", each.skipped}});
  }
  return {.body = document_text({{"outputs", std::move(list)}, {"next", std::move(next)}})};
}

Response answer_content(const FileStore& store, const std::string& user,
                        const FileQuestion& asked) {
  const auto id = ContentId::parse(asked.query.text("id"));
  if (!id) return error_response(kInvalid, "id: has to be 64 hexadecimal digits");
  auto bytes = store.read(user, {id.value(), asked.query.number("offset"),
                                 static_cast<std::size_t>(asked.query.number("max"))});
  if (!bytes) return refused(bytes.error());
  return {.body = std::move(bytes).value(), .content_type = "application/octet-stream"};
}

Response answer_of(FileStore& store, const std::string& user, const FileQuestion& asked) {
  switch (asked.operation) {
    case Operation::stage:
      return answer_stage(store, user, asked);
    case Operation::put_contents:
      return answer_put(store, user, asked);
    case Operation::add_part:
      return answer_part(store, user, asked);
    case Operation::outputs:
      return answer_outputs(store, user, asked);
    default:
      return answer_content(store, user, asked);
  }
}

/// The numbers of jobs in the answer to a submission, in order.
std::vector<std::uint64_t> jobs_in(const Answer& answer) {
  constexpr int kCreated = 201;
  std::vector<std::uint64_t> jobs;
  if (answer.status != kCreated) return jobs;
  const auto document = Json::parse(answer.json, nullptr, false);
  if (!document.is_object() || !document.contains("jobs")) return jobs;
  for (const auto& each : document["jobs"]) {
    if (!each.is_object() || !each.contains("job") || !each["job"].is_number_unsigned()) return {};
    jobs.push_back(each["job"].get<std::uint64_t>());
  }
  return jobs;
}

/// For whom the caller brings files. An error is the answer.
Expected<std::string, int> user_of_files(const Principal& who, const FileQuestion& question) {
  const std::string named = question.operation == Operation::stage
                                ? member_of(question.body, "user")
                                : question.query.text("user");
  if (named.empty() || named == who.user) return who.user;
  if (who.role == Role::admin) return named;
  return Failure<int>{403, fmt::format("user: the token '{}' acts for '{}' and not for '{:.256}'",
                                       who.token, who.user, named)};
}

Response no_file_store() {
  return error_response(409,
                        "this node has no store of files: ask the API of a node that has "
                        "(files.folder of the cluster file)");
}

/// Has the question answered on the thread of that user's files.
void ask_store(const FilesRequest& request, const std::string& user, FileQuestion question) {
  const StoreWork work = brings_files(question.operation) ? StoreWork::slow : StoreWork::quick;
  request.store->post(
      user, work,
      [store = request.store, exchange = request.exchange, user, question = std::move(question)] {
        exchange->finish(answer_of(*store, user, question));
      });
}

/// The trees that jobs begin with, in their order; an empty id: the job begins with no files.
using Trees = std::vector<std::pair<std::string, std::string>>;

Trees trees_of(const std::vector<Job>& jobs) {
  Trees trees;
  trees.reserve(jobs.size());
  for (const Job& job : jobs) trees.emplace_back(job.user, job.program.stage);
  return trees;
}

bool has_files(const Trees& trees) {
  return std::ranges::any_of(trees, [](const auto& each) { return !each.second.empty(); });
}

/// The job keeps off machines that have no way to the store; a failure is the answer.
std::optional<Response> keep_off(Job& job, const std::vector<std::string>& families) {
  if (families.empty()) return std::nullopt;
  const std::string term = fmt::format("family!={}", fmt::join(families, "|"));
  if (job.constraint.ends_with(term)) return std::nullopt;
  const std::string text = job.constraint.empty() ? term : job.constraint + "," + term;
  if (const auto constraint = Constraint::parse(text); !constraint) {
    return error_response(
        kInvalid,
        fmt::format("constraint: with the term {}, which a job with files has as well: {}", term,
                    constraint.error().message));
  }
  job.constraint = text;
  return std::nullopt;
}

/// Why a job cannot have such files, or patterns of outputs; nothing: it can.
std::optional<Response> files_fault(const Program& program) {
  if (!program.stage.empty() && !ContentId::parse(program.stage)) {
    return error_response(
        kInvalid,
        fmt::format("stage: has to be the id of a tree of files that was sent before, 64 "
                    "hexadecimal digits, as `muster submit --stage FOLDER` sends them; it "
                    "is \"{:.80}\"",
                    program.stage));
  }
  for (const std::string& each : program.outputs) {
    const auto pattern = files::PathPattern::compile(each);
    if (pattern) continue;
    return error_response(kInvalid,
                          fmt::format("outputs: \"{:.80}\": {}", each, pattern.error().message));
  }
  return std::nullopt;
}

/// The answer where one of the trees is not in the store; nothing: all are. They count as used.
std::optional<Response> missing_tree(FileStore& store, const Trees& trees) {
  const std::set<std::pair<std::string, std::string>> each_once(trees.begin(), trees.end());
  for (const auto& [user, text] : each_once) {
    const auto tree = ContentId::parse(text);
    if (!tree) continue;  // a job without files
    const auto there = store.use_stage(user, tree.value());
    if (!there) return refused(there.error());
    if (there.value()) continue;
    return error_response(
        kInvalid, fmt::format("stage: the files {} of '{}' are not in the store, or not all: send "
                              "them first, as `muster submit --stage FOLDER` does",
                              text, user));
  }
  return std::nullopt;
}

/// Calls `then` when the trees are there, at once where there are no trees; else answers.
void admit(const FilesRequest& request, const Trees& trees, std::function<void()> then) {
  if (!has_files(trees)) return then();
  request.store->post(
      trees.front().first, StoreWork::quick,
      [store = request.store, exchange = request.exchange, trees, then = std::move(then)] {
        if (auto missing = missing_tree(*store, trees))
          return exchange->finish(*std::move(missing));
        then();
      });
}

/// The reply of a submission: before it goes on, the trees are kept for the jobs that were taken.
Reply keeping_trees(const FilesRequest& request, Trees trees) {
  Reply reply = reply_to(request.exchange);
  if (!has_files(trees)) return reply;
  return
      [store = request.store, trees = std::move(trees), reply = std::move(reply)](Answer answer) {
        const auto jobs = jobs_in(answer);
        if (jobs.size() != trees.size()) return reply(std::move(answer));
        store->post(trees.front().first, StoreWork::quick,
                    [store, trees, reply, jobs, answer = std::move(answer)] {
                      for (std::size_t i = 0; i < jobs.size(); ++i) {
                        const auto& [user, text] = trees[i];
                        if (const auto tree = ContentId::parse(text))
                          store->pin(user, jobs[i], tree.value());
                      }
                      reply(answer);
                    });
      };
}

/// Has a job taken as another one was, when the files that this began with are in the store; the
/// reply keeps them for it. Answers instead when they have gone.
void take_again(const FilesRequest& request, JobId job, std::function<void(Reply)> take) {
  if (!request.store) return take(reply_to(request.exchange));
  request.backend.owner(job, [request, job, take = std::move(take)](const JobOwner& owner) {
    // The backend says why it does not know the job.
    if (!owner.user) return take(reply_to(request.exchange));
    const auto step = [request, job, take, user = *owner.user] {
      const auto tree = request.store->pinned(user, job.value);
      if (!tree) return request.exchange->finish(refused(tree.error()));
      if (!tree.value()) return take(reply_to(request.exchange));
      const auto there = request.store->use_stage(user, *tree.value());
      if (!there) return request.exchange->finish(refused(there.error()));
      if (there.value()) return take(keeping_trees(request, {{user, tree.value()->text()}}));
      request.exchange->finish(error_response(
          kInvalid, fmt::format("stage: the files that job {} began with are not in the store any "
                                "more: submit it anew, with its folder",
                                job.value)));
    };
    request.store->post(*owner.user, StoreWork::quick, step);
  });
}

}  // namespace

bool brings_files(Operation operation) {
  return operation == Operation::stage || operation == Operation::put_contents ||
         operation == Operation::add_part;
}

bool reads_files(Operation operation) {
  return operation == Operation::outputs || operation == Operation::content;
}

void about_files(const FilesRequest& request, const Principal& who, FileQuestion question) {
  if (!request.store) return request.exchange->finish(no_file_store());
  if (brings_files(question.operation)) {
    const auto user = user_of_files(who, question);
    if (user) return ask_store(request, user.value(), std::move(question));
    return request.exchange->finish(error_response(user.error().code, user.error().message));
  }
  const JobId job = question.job;
  request.backend.owner(job, [request, question = std::move(question)](JobOwner owner) {
    if (!owner.user) return request.exchange->finish(to_response(std::move(owner.why)));
    ask_store(request, *owner.user, question);
  });
}

std::optional<Response> prepare_files(const FileStore* store, std::vector<Job>& jobs) {
  for (Job& job : jobs) {
    if (!job.program.has_files()) continue;
    if (store == nullptr) return no_file_store();
    if (auto fault = files_fault(job.program)) return fault;
    if (store->options().all_are_away) {
      return error_response(409,
                            "stage and outputs: the machines of this cluster have joined and share "
                            "no folder with it, so that no files can come to them or be kept");
    }
    if (auto fault = keep_off(job, store->options().families_away)) return fault;
  }
  return std::nullopt;
}

void submit_jobs(const FilesRequest& request, std::vector<Job> jobs) {
  if (auto fault = prepare_files(request.store.get(), jobs)) {
    return request.exchange->finish(*std::move(fault));
  }
  Trees trees = trees_of(jobs);
  if (!has_files(trees)) return request.backend.submit(std::move(jobs), reply_to(request.exchange));
  admit(request, trees, [request, trees, jobs = std::move(jobs)] {
    request.backend.submit(jobs, keeping_trees(request, trees));
  });
}

void update_service(const FilesRequest& request, ServiceChange change) {
  std::vector<Job> jobs{*std::move(change.as)};
  if (auto fault = prepare_files(request.store.get(), jobs)) {
    return request.exchange->finish(*std::move(fault));
  }
  change.as = jobs.front();
  const Trees trees = trees_of(jobs);
  admit(request, trees, [request, trees, change = std::move(change)] {
    request.backend.change_service(change, keeping_trees(request, trees));
  });
}

void resubmit_with_files(const FilesRequest& request, const Again& again) {
  take_again(request, again.job,
             [request, again](Reply reply) { request.backend.resubmit(again, std::move(reply)); });
}

void restart_service(const FilesRequest& request, const ServiceChange& change) {
  take_again(request, change.job, [request, change](Reply reply) {
    request.backend.change_service(change, std::move(reply));
  });
}

}  // namespace muster::api
