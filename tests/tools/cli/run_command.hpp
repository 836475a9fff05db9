#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/fake_server.hpp"
#include "tests/support/temp_file.hpp"
#include "tools/cli/commands.hpp"

// A command of the client, run in the test's process against a server whose answers stand in it.

namespace muster::cli {

using Words = std::vector<std::string>;

/// The outcome of a command.
struct Ran {
  int exit_code = kDone;
  std::string out;
  std::string err;
};

/// A stream that a test reads instead of whoever would.
class Captured {
 public:
  explicit Captured(std::ostream& stream) : stream_(stream), before_(stream.rdbuf(text_.rdbuf())) {}
  ~Captured() { stream_.rdbuf(before_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;
  std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::ostream& stream_;
  std::streambuf* before_;
};

/// Runs the command that the words name. Words that the command line refuses have kUsage, and what
/// it says of them as an error.
inline Ran run_words(CLI::App& app, const int& exit_code, Words words) {
  std::reverse(words.begin(), words.end());  // as the library takes them
  const Captured out(std::cout), err(std::cerr);
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return {kUsage, out.text(), error.what()};
  }
  return {exit_code, out.text(), err.text()};
}

/// `command`: the words behind "--".
inline Ran run_at(const std::string& api, Words words, const Words& command = {}) {
  static const test::TempFile token("token", "secret\n");
  CLI::App app;
  app.require_subcommand(1);
  int exit_code = kDone;
  add_client_commands(app, exit_code, command);
  words.insert(words.end(), {"--api", api, "--token-file", token.path().string()});
  return run_words(app, exit_code, std::move(words));
}

inline Ran run(const test::FakeServer& server, Words words) {
  return run_at(server.api(), std::move(words));
}

/// "GET /v1/jobs?limit=50" of each request.
inline Words asked(const test::FakeServer& server) {
  Words all;
  for (const std::string& request : server.requests()) {
    all.push_back(request.substr(0, request.find(" HTTP/1.1")));
  }
  return all;
}

inline std::string body_of(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

/// A job as the API shows it.
inline std::string job(int number, const std::string& state, const std::string& more = "") {
  return R"({"job": )" + std::to_string(number) + R"(, "name": "n)" + std::to_string(number) +
         R"(", "user": "ann", "class": "c", "state": ")" + state +
         R"(", "master": null, "tasks_total": 1, "waiting": 0, "held": 0, "capped": 0,
            "starting": 0, "running": 0, "finished": 0, "failed": 0, "failed_attempts": 0,
            "submitted_s": null, "over_s": null, "usd": 0.5, "market": "any", "gang": false,
            "command": ["a"])" +
         (more.empty() ? R"(, "exit_code": null)" : more) + "}";
}

}  // namespace muster::cli
