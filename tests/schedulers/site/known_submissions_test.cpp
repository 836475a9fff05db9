#include "schedulers/site/known_submissions.hpp"

#include <gtest/gtest.h>

#include "model/live_ids.hpp"
#include "model/submission_key.hpp"

namespace muster {
namespace {

constexpr std::uint32_t kOwnSite = 1;

KnownToken of(const std::string& user, const std::string& token, std::uint64_t job) {
  return {token, job_id_of(kOwnSite, job), user};
}
KnownToken forwarded(JobId job) {
  return {{}, job, {}, true};
}
/// As it was written when users were not kept.
KnownToken old(const std::string& token, JobId job) {
  return {token, job};
}

TEST(KnownSubmissions, ATokenIsItsUsersOwn) {
  KnownSubmissions known(10, kOwnSite);
  known.add(of("ann", "1", 1), 1);
  known.add(of("bob", "1", 2), 1);
  EXPECT_EQ(known.find("ann", "1")->job, job_id_of(kOwnSite, 1));
  EXPECT_EQ(known.find("bob", "1")->job, job_id_of(kOwnSite, 2));
  EXPECT_FALSE(known.find("eve", "1"));
  EXPECT_FALSE(known.find("ann", ""));
}

Job job_of(const std::string& user, const std::string& token) {
  Job job;
  job.user = user;
  job.token = token;
  return job;
}

TEST(KnownSubmissions, AScopedTokenIsThatOfTheUserForWhomItWasSent) {
  KnownSubmissions known(10, kOwnSite);
  const Job of_ci = job_of("ann", scoped_token("ci", "1"));
  const SubmissionKey key = submission_key(of_ci);
  EXPECT_EQ(key.token, "1");
  known.add(of(key.scope, key.token, 1), 1);
  EXPECT_EQ(known.find(of_ci)->job, job_id_of(kOwnSite, 1));
  EXPECT_EQ(known.find(job_of("bob", scoped_token("ci", "1")))->job, job_id_of(kOwnSite, 1));
  EXPECT_FALSE(known.find(job_of("ann", scoped_token("ann", "1"))));
  EXPECT_FALSE(known.find(job_of("ci", "1"))) << "no user is called as a scope is";
  EXPECT_EQ(scoped_token("ci", ""), "");
}

TEST(KnownSubmissions, ATokenFromBeforeScopesIsFoundByItsJobsUser) {
  KnownSubmissions known(10, kOwnSite);
  known.recall(of("ann", "1", 1));
  EXPECT_EQ(known.find(job_of("ann", scoped_token("ci", "1")))->job, job_id_of(kOwnSite, 1));
  EXPECT_FALSE(known.find(job_of("bob", scoped_token("ci", "1"))));
  EXPECT_EQ(known.find(job_of("ann", "1"))->job, job_id_of(kOwnSite, 1));
}

TEST(KnownSubmissions, SaysWhichWriteHasToSucceedFirst) {
  KnownSubmissions known(10, kOwnSite);
  known.add(of("ann", "1", 1), 7);
  EXPECT_EQ(known.find("ann", "1")->write, 7u);
  known.written(7);
  EXPECT_EQ(known.find("ann", "1")->write, 0u);
}

TEST(KnownSubmissions, ForgetsWhatCouldNotBeKept) {
  KnownSubmissions known(10, kOwnSite);
  known.add(of("ann", "1", 1), 1);
  known.add(of("ann", "2", 2), 2);
  known.add(forwarded(JobId{5}), 1);
  known.failed(1);
  EXPECT_FALSE(known.find("ann", "1"));
  EXPECT_FALSE(known.find_forwarded(JobId{5}));
  EXPECT_TRUE(known.find("ann", "2"));
  known.add(of("ann", "1", 3), 3);
  EXPECT_EQ(known.find("ann", "1")->job, job_id_of(kOwnSite, 3));
}

TEST(KnownSubmissions, AUsersTokenThatReadsLikeAForwardedJobIsOnlyAToken) {
  KnownSubmissions known(10, kOwnSite);
  known.add(of("ann", "forwarded 5", 1), 1);
  EXPECT_FALSE(known.find_forwarded(JobId{5}));
  known.recall(old("forwarded 5", job_id_of(kOwnSite, 5)));
  EXPECT_FALSE(known.find_forwarded(JobId{5}));
  EXPECT_TRUE(known.find("bob", "forwarded 5"));
}

TEST(KnownSubmissions, KeepsAsManyAsItsStoreDoesTheOldestGoFirst) {
  KnownSubmissions known(3, kOwnSite);
  known.add(of("ann", "1", 1), 1);
  known.written(1);
  for (std::uint64_t i = 2; i < 1000; ++i) {
    known.add(of("ann", std::to_string(i), i), i);
    known.written(i);
    EXPECT_LE(known.size(), 3u);
  }
  EXPECT_FALSE(known.find("ann", "1"));
  EXPECT_FALSE(known.find("ann", "996"));
  EXPECT_TRUE(known.find("ann", "997"));
  EXPECT_TRUE(known.find("ann", "999"));
}

TEST(KnownSubmissions, AForwardedJobIsKnownHoweverMuchIsSubmitted) {
  KnownSubmissions known(3, kOwnSite);
  known.recall(forwarded(JobId{4}));
  known.add(forwarded(JobId{5}), 1);
  EXPECT_EQ(known.find_forwarded(JobId{5})->write, 1u);
  known.written(1);
  for (std::uint64_t i = 2; i < 1000; ++i) {
    known.add(of("ann", std::to_string(i), i), i);
    known.written(i);
  }
  for (const JobId job : {JobId{4}, JobId{5}}) {
    ASSERT_TRUE(known.find_forwarded(job));
    EXPECT_EQ(known.find_forwarded(job)->write, 0u);
  }
  EXPECT_FALSE(known.find_forwarded(JobId{6}));
}

TEST(KnownSubmissions, WhatIsBeingWrittenIsKnownHoweverMuchItIs) {
  KnownSubmissions known(2, kOwnSite);
  for (std::uint64_t i = 1; i <= 5; ++i) known.add(of("ann", std::to_string(i), i), i);
  EXPECT_TRUE(known.find("ann", "1"));
  for (std::uint64_t i = 1; i <= 5; ++i) known.written(i);
  EXPECT_EQ(known.size(), 2u);
}

TEST(KnownSubmissions, AnOldTokenWithoutAUserIsEverybodys) {
  KnownSubmissions known(10, kOwnSite);
  known.recall(old("1", job_id_of(kOwnSite, 1)));
  EXPECT_EQ(known.find("ann", "1")->job, job_id_of(kOwnSite, 1));
  EXPECT_EQ(known.find("bob", "1")->job, job_id_of(kOwnSite, 1));
}

TEST(KnownSubmissions, AnOldForwardedJobIsFoundByItsNumber) {
  KnownSubmissions known(10, kOwnSite);
  known.recall(old("forwarded 5", JobId{5}));
  EXPECT_EQ(known.find_forwarded(JobId{5})->job, JobId{5});
  EXPECT_FALSE(known.find("ann", "forwarded 5"));
}

}  // namespace
}  // namespace muster
