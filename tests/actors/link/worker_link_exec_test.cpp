#include <gtest/gtest.h>

#include <string>

#include "actors/link/worker_link_codec.hpp"
#include "tests/actors/link/read_back.hpp"

// Questions about commands beside tasks as frames, and back.

namespace muster {
namespace {

using test::kMaxBytes;
using test::read_back;

TEST(WorkerLinkExecTest, AQuestionAboutACommandComesBackAsItWas) {
  ExecRequest made;
  made.number = 5;
  made.task = TaskId{3};
  made.attempt = 2;
  made.command = 65'537;
  made.user = "ann";
  made.token = "t";
  made.argv = {"/bin/sh", "-c", std::string("\xff", 1)};
  made.terminal = true;
  made.term = "xterm";
  made.rows = 24;
  made.columns = 80;
  made.input_at = 7;
  made.input = std::string("a\0b", 3);
  made.input_ends = true;
  made.signal = 2;
  made.out_at = 11;
  made.err_at = 12;
  made.max_bytes = 100;
  made.wait = std::chrono::seconds{4};
  made.ends = true;
  const auto read = [](link_wire::Frame::Reader frame) { return read_exec(frame.getExec()); };
  const auto back = read_back<Expected<ExecRequest, LinkError>>(exec_frame(made, kMaxBytes), read);
  ASSERT_TRUE(back);
  EXPECT_EQ(exec_frame(back.value(), kMaxBytes), exec_frame(made, kMaxBytes));
  EXPECT_EQ(back->argv, made.argv);
  EXPECT_EQ(back->input, made.input);
  EXPECT_EQ(back->wait, made.wait);
  made.signal = 65;
  EXPECT_FALSE((read_back<Expected<ExecRequest, LinkError>>(exec_frame(made, kMaxBytes), read)));
}

TEST(WorkerLinkExecTest, OutputOfACommandIsCutToFitAndItIsNotOverThen) {
  ExecAnswer made;
  made.instance = InstanceId{7};
  made.number = 3;
  made.out_at = 40;
  made.out = "text";
  made.err = "more";
  made.over = true;
  made.exit_code = 9;
  made.reason = "why";
  const auto back = [](const ExecAnswer& answer, std::size_t max_bytes) {
    return read_back<Expected<ExecAnswer, LinkError>>(
        exec_answer_frame(answer, max_bytes),
        [](link_wire::Frame::Reader frame) { return read_exec_answer(frame.getExecAnswer()); });
  };
  const auto whole = back(made, kMaxBytes);
  ASSERT_TRUE(whole);
  EXPECT_EQ(exec_answer_frame(whole.value(), kMaxBytes), exec_answer_frame(made, kMaxBytes));
  EXPECT_TRUE(whole->over);
  made.out = std::string(kMaxBytes, 'x');
  const auto cut = back(made, kMaxBytes);
  ASSERT_TRUE(cut);
  EXPECT_LT(cut->out.size(), kMaxBytes);
  EXPECT_EQ(cut->err, "") << "its place stays, and it comes with the next answer";
  EXPECT_FALSE(cut->over);
}

}  // namespace
}  // namespace muster
