@0xae4b38e9a220a6c0;
# What a master and its workers say to each other, one Frame a message (docs/worker-link.md).
# Fields and kinds are only ever added. What an older program has to understand of a newer one stays
# as it is in every major version: Version, Frame.hello.version, Frame.welcome.version and Refused.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("muster::link_wire");

struct Version {
  major @0 :UInt16;
  minor @1 :UInt16;
}

struct Frame {
  union {
    # A kind that the reader does not know reads as a number beyond these.
    heartbeat @0 :Void;
    hello @1 :Hello;  # worker: first frame, and again when greeted
    welcome @2 :Welcome;  # master: answer to the first hello
    refused @3 :Refused;  # master: why the link ends
    credit @4 :UInt32;  # so many more frames may be sent
    report @5 :Report;
    samples @6 :Samples;
    log @7 :Log;
    start @8 :StartOrder;
    stop @9 :AttemptName;
    settled @10 :AttemptName;
    greet @11 :Void;
    sample @12 :UInt64;  # number of the asking
    logRequest @13 :LogRequest;
    metrics @14 :Metrics;
    filled @15 :Filled;
    exec @16 :Exec;
    execAnswer @17 :ExecAnswer;
    usage @18 :UInt64;  # number of the question
    usageAnswer @19 :UsageAnswer;
  }
}

struct Hello {
  version @0 :Version;
  credits @1 :UInt32;  # frames that the master may send before it is granted more
  instance @2 :UInt64;
  capacity @3 :List(Float64);  # Resources, in the order of kResourceKinds
  limits @4 :Text;
  known @5 :List(Report);
  number @6 :UInt64;
  isolation @7 :Text;
  more @8 :Bool;  # the rest of `known` comes in hellos of the same number, right behind this one
  ownCheckpoints @9 :Bool;
}

struct Welcome {
  version @0 :Version;
  credits @1 :UInt32;
}

struct Refused {
  version @0 :Version;
  reason @1 :Text;
}

struct AttemptName {
  task @0 :UInt64;
  attempt @1 :UInt32;
}

struct Report {
  instance @0 :UInt64;
  task @1 :UInt64;
  attempt @2 :UInt32;
  kind @3 :UInt8;  # WorkerReportKind
  exitCode @4 :Int32;
  fetchNs @5 :Int64;
  buildNs @6 :Int64;
  uploadNs @7 :Int64;
  reason @8 :Text;
  outTail @9 :Data;  # what programs write is bytes, not text
  errTail @10 :Data;
  failure @11 :UInt8;  # FailureKind
  outBytes @12 :UInt64;  # all that it wrote
  errBytes @13 :UInt64;
  cpuNs @14 :Int64;  # processor time; 0: not measured
  peakBytes @15 :UInt64;  # of memory; 0: not measured
}

struct Samples {
  instance @0 :UInt64;
  asking @1 :UInt64;
  samples @2 :List(Sample);

  struct Sample {
    task @0 :UInt64;
    attempt @1 :UInt32;
    scaled @2 :UInt64;  # parts per 2^32
  }
  progress @3 :List(Progress);
  more @4 :Bool;  # the rest comes in answers to the same asking, right behind this one

  struct Progress {
    task @0 :UInt64;
    done @1 :Float64;
    training @2 :Training;  # not set: it trains nothing, or does not say
    attempt @3 :UInt32;
  }
  struct Training {
    nodes @0 :UInt32;
    replicas @1 :UInt32;
    localBatch @2 :UInt32;
    accumulation @3 :UInt32;
    stepS @4 :Float64;
    syncS @5 :Float64;
    gradSqr @6 :Float64;
    gradVar @7 :Float64;
  }
}

# Of attempts that have reported something new, all that each has reported of itself.
struct Metrics {
  instance @0 :UInt64;
  attempts @1 :List(Attempt);

  struct Attempt {
    task @0 :UInt64;
    attempt @1 :UInt32;
    values @2 :List(Value);  # by name, in the order of the alphabet, each name once
    replica @3 :Replica;  # not set: the attempt is of no service, or has said nothing new
  }
  struct Replica {  # ReplicaState (model/service.hpp)
    ready @0 :Bool;
    restarts @1 :UInt32;
    exitCode @2 :Int32;
    pauseNs @3 :Int64;
    trouble @4 :Text;
    address @5 :Text;
    ports @6 :List(Port);
  }
  struct Port {
    name @0 :Text;
    number @1 :UInt32;
  }
  struct Value {
    name @0 :Text;
    value @1 :Float64;
  }
}

struct Log {
  instance @0 :UInt64;
  number @1 :UInt64;
  offset @2 :UInt64;
  text @3 :Data;
  moreMayCome @4 :Bool;
  unknown @5 :Bool;  # nothing of the attempt is here
  end @6 :UInt64;  # all that it has written so far
}

# Of attempts that run, up to where files of their output are full.
struct Filled {
  instance @0 :UInt64;
  logs @1 :List(Log);

  struct Log {
    task @0 :UInt64;
    attempt @1 :UInt32;
    outBytes @2 :UInt64;
    errBytes @3 :UInt64;
  }
}

struct LogRequest {
  number @0 :UInt64;
  task @1 :UInt64;
  attempt @2 :UInt32;
  errorStream @3 :Bool;
  offset @4 :UInt64;
  maxBytes @5 :UInt32;
}

# Begins a command beside a running task, or goes on with one (model/exec.hpp).
struct Exec {
  number @0 :UInt64;
  task @1 :UInt64;
  attempt @2 :UInt32;
  command @3 :UInt64;  # 0: it is to begin
  user @4 :Text;
  argv @5 :List(Data);
  terminal @6 :Bool;
  term @7 :Text;
  rows @8 :UInt16;
  columns @9 :UInt16;
  inputAt @10 :UInt64;
  input @11 :Data;
  inputEnds @12 :Bool;
  signal @13 :Int32;
  outAt @14 :UInt64;
  errAt @15 :UInt64;
  maxBytes @16 :UInt32;
  waitNs @17 :Int64;
  ends @18 :Bool;
  token @19 :Text;
}

struct ExecAnswer {
  instance @0 :UInt64;
  number @1 :UInt64;
  command @2 :UInt64;
  trouble @3 :UInt8;  # ExecTrouble
  reason @4 :Text;
  attempt @5 :UInt32;
  inputAt @6 :UInt64;
  outAt @7 :UInt64;
  out @8 :Data;
  errAt @9 :UInt64;
  err @10 :Data;
  over @11 :Bool;
  exitCode @12 :Int32;
}

# Resources that the attempts take which run (model/usage.hpp).
struct UsageAnswer {
  instance @0 :UInt64;
  number @1 :UInt64;
  attempts @2 :List(Attempt);

  struct Attempt {
    task @0 :UInt64;
    attempt @1 :UInt32;
    cpuNs @2 :Int64;
    peakBytes @3 :UInt64;
    memoryBytes @4 :UInt64;
    cores @5 :Float64;  # what counts if coresSet
    coresSet @6 :Bool;
    diskBytes @7 :UInt64;
  }
}

# TaskOrder (model/task_order.hpp) and what it is made of: members are called as its keys are,
# inThisSpelling, times with Ns.
struct StartOrder {
  job @0 :UInt64;
  task @1 :TaskSpec;
  attempt @2 :UInt32;
  granted @3 :List(Float64);
  program @4 :Program;
  taskCount @5 :UInt32;
  workloadClass @6 :Text;
  user @7 :Text;
  service @8 :Service;  # what counts if serviceSet
  serviceSet @9 :Bool;
}

struct Service {
  ports @0 :List(Text);
  ready @1 :Check;
  alive @2 :Check;
  startWithinNs @3 :Int64;
  drainNs @4 :Int64;
  replicas @5 :UInt32;
  surge @6 :UInt32;
  maxUnavailable @7 :UInt32;
  healthyForNs @8 :Int64;
  updateWithinNs @9 :Int64;
  revision @10 :UInt32;
  replaces @11 :UInt64;
  master @12 :Text;
  goal @13 :Goal;
  least @14 :UInt32;
  most @15 :UInt32;
  leastCpus @16 :Float64;
  leastMemoryGib @17 :Float64;

  struct Goal {
    metric @0 :Text;
    bound @1 :Float64;
    atLeast @2 :Bool;
    probe @3 :List(Text);
    everyNs @4 :Int64;
    timeoutNs @5 :Int64;
  }
  struct Check {
    kind @0 :UInt8;  # CheckKind
    port @1 :Text;
    path @2 :Text;
    command @3 :List(Text);
    everyNs @4 :Int64;
    timeoutNs @5 :Int64;
    successes @6 :UInt32;
    failures @7 :UInt32;
  }
}

struct TaskSpec {
  id @0 :UInt64;
  demands @1 :List(FamilyDemand);
  image @2 :Text;
  fetchNs @3 :Int64;
  buildNs @4 :Int64;
  initNs @5 :Int64;
  stopNs @6 :Int64;
  uploadNs @7 :Int64;
  arrayIndex @8 :UInt32;
  runtimeHintNs @9 :Int64;  # what counts if runtimeHintSet
  runtimeHintSet @10 :Bool;
}

struct FamilyDemand {
  family @0 :Text;
  amount @1 :List(Float64);
  speed @2 :Float64;
}

struct Program {
  argv @0 :List(Data);
  env @1 :List(Variable);
  workDir @2 :Text;
  timeLimitNs @3 :Int64;
  stopGraceNs @4 :Int64;
  baselineRatePerS @5 :Float64;
  warnSignal @6 :Int32;
  warnBeforeNs @7 :Int64;
  warnProgramOnly @8 :Bool;
  script @9 :Text;
  makeWorkDir @10 :Bool;
  stage @11 :Text;
  outputs @12 :List(Text);
  optionalOutputs @13 :Bool;

  struct Variable {
    name @0 :Text;
    value @1 :Data;
  }
}
