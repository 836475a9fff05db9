#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "model/exec.hpp"
#include "workers/process/descriptor.hpp"
#include "workers/process/exec/side_command.hpp"

namespace muster::process {

/// Runs the commands beside the tasks of one worker, on a thread of its own that is started with
/// the first question. Commands end with it.
class ExecDesk {
 public:
  struct Options {
    std::filesystem::path attempts;  ///< the folder of the attempts' folders
    InstanceId instance;
    std::uint32_t most = 32;                   ///< commands at once; 0: no such ones
    Duration keep = std::chrono::seconds{60};  ///< how long one runs without a question for it
  };
  /// Of these, those of one user, and those beside one task.
  static constexpr std::uint32_t kMostOfUser = 16;
  static constexpr std::uint32_t kMostOfTask = 8;
  /// Questions that wait for news of one command; the oldest is answered when more come.
  static constexpr std::size_t kMostWaiting = 4;
  /// Questions that are not looked at yet; further ones are refused.
  static constexpr std::size_t kMostAsked = 1024;

  /// Called once, on the desk's thread or the asker's.
  using Answer = std::function<void(ExecAnswer)>;

  explicit ExecDesk(Options options);
  ~ExecDesk();
  ExecDesk(const ExecDesk&) = delete;
  ExecDesk& operator=(const ExecDesk&) = delete;

  /// Returns at once.
  void ask(ExecRequest request, Answer answer);

 private:
  struct Question {
    ExecRequest request;
    Answer answer;
    Duration until{};  ///< when it is answered without news
  };
  struct Open {
    Open(const ExecRequest& request, const std::filesystem::path& attempts)
        : command(request, attempts) {}

    std::uint64_t number = 0;
    SideCommand command;
    Duration asked{};   ///< the last question
    bool told = false;  ///< the question that began it has been answered
    std::deque<Question> waiting{};
  };
  using Commands = std::list<Open>;

  void work();
  bool take_questions(std::deque<Question>& questions);
  int wait_ms() const;
  void look(Question question);
  void begin(Question question);
  void go_on(Open& open, Question question);
  std::string bound_reached(const ExecRequest& request);
  void forget_one_over();
  void serve(Open& open, Duration now);
  std::uint64_t new_number();

  const Options options_;
  Descriptor wakeup_;
  std::mutex mutex_;
  std::deque<Question> asked_;  ///< guarded by mutex_
  bool quit_ = false;           ///< likewise
  // All below belongs to the desk's thread.
  Commands commands_;
  std::uint16_t count_ = 0;
  std::thread thread_;  ///< started by the first question
};

}  // namespace muster::process
