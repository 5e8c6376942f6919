import { type Drain, isRefused } from "../drain.ts";
import { describeResponse } from "../exchange.ts";
import { declareRules, type RuleReport } from "../rule.ts";
import type { Subject } from "../subject.ts";

const section = "Start, health and stop";

export const healthRules = declareRules(section, {
  "health-ready": {
    text: "The health path responds with 200 while the service can serve.",
    check: async (subject, { expectStatus }) => expectStatus(await subject.send("GET", subject.healthPath), 200),
  },
  "health-live": {
    text: "/health/live responds with 200 while the process runs.",
    async check(subject, { expectStatus, skip }) {
      if (subject.healthPath !== "/health/ready") return skip(`external.health is ${subject.healthPath}`);
      expectStatus(await subject.send("GET", "/health/live"), 200);
    },
  },
});

const drains: Readonly<Record<string, readonly [text: string, expected: string, check: (drain: Drain) => DrainCheck]>> =
  {
    "drain-in-flight": [
      "After SIGTERM a request in flight gets its response.",
      "200 with data, for a POST to GraphQL of which half had arrived",
      ({ inFlight }) => [describeResponse(inFlight), inFlight.status === 200 && inFlight.text.includes("__typename")],
    ],
    "drain-new-requests": [
      "After SIGTERM a new request is refused, or its response has Connection: close.",
      "no connection, or Connection: close",
      ({ afterSignal }) => [describeResponse(afterSignal), isRefused(afterSignal)],
    ],
    "drain-exit": [
      "After SIGTERM the process exits with 0 within SHUTDOWN_GRACE_MS.",
      "ended with exit code 0",
      ({ ended }) => [ended, ended === "ended with exit code 0"],
    ],
  };

type DrainCheck = readonly [got: string, isExpected: boolean];

/** They stop the service. */
export const drainRules = Object.entries(drains).flatMap(([id, [text, expected, checkDrain]]) => {
  const check = async ({ drain }: Subject, { expectThat }: RuleReport) => {
    if (drain === undefined) return;
    const [got, isExpected] = checkDrain(await drain());
    expectThat(isExpected, { how: "kill -TERM <pid>", expected, got });
  };
  return declareRules(section, { [id]: { text, check } }, "start");
});
