// How the backend of the tests answers commands beside tasks.

#include <fmt/format.h>

#include "serve/api/exec_request.hpp"
#include "tests/serve/fake_backend.hpp"

namespace muster::api {

void FakeBackend::exec(const ExecQuery& query, Reply reply) {
  const std::lock_guard lock(mutex_);
  const ExecRequest& request = query.request;
  const bool begins = request.command == 0;
  changes_.push_back(
      fmt::format("{} beside {}:{}", begins ? "exec" : "step", query.job.value, query.index));
  if (query.job.value >= kJobs) return reply(refusal(404, "not found", "there is no such job"));
  ExecAnswer made;
  made.command = begins ? 65'537 : request.command;
  made.attempt = 1;
  made.input_at = request.input_at + request.input.size();
  made.over = !begins;
  if (!begins && request.max_bytes > 0) made.out = "done\n";
  reply(exec_document(query, made));
}

}  // namespace muster::api
