import { type Drain, isClosing } from "../drain.ts";
import { declareRules, type RuleReport } from "../rule.ts";
import type { Subject } from "../subject.ts";

const section = "Start, health and stop";
const shownCharsMax = 200;

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

/** They stop the service. */
export const drainRules = declareRules(
  section,
  {
    "drain-in-flight": {
      text: "After SIGTERM a request in flight gets its response.",
      check: (subject, report) =>
        checkDrain(
          subject,
          report,
          "200 with data, for a POST to GraphQL of which half had arrived",
          ({ inFlight }) => ({
            isExpected: inFlight.startsWith("HTTP/1.1 200 ") && inFlight.includes("__typename"),
            got: inFlight,
          }),
        ),
    },
    "drain-new-requests": {
      text: "After SIGTERM a new request is refused, or its response has Connection: close.",
      check: (subject, report) =>
        checkDrain(subject, report, "no connection, or Connection: close", ({ afterSignal }) => ({
          isExpected: afterSignal === "" || isClosing(afterSignal),
          got: afterSignal,
        })),
    },
    "drain-exit": {
      text: "After SIGTERM the process exits with 0 within SHUTDOWN_GRACE_MS.",
      check: (subject, report) =>
        checkDrain(subject, report, "ended with exit code 0", ({ ended }) => ({
          isExpected: ended === "ended with exit code 0",
          got: ended,
        })),
    },
  },
  "start",
);

async function checkDrain(
  { drain }: Subject,
  { expectThat }: RuleReport,
  expected: string,
  check: (drain: Drain) => { readonly isExpected: boolean; readonly got: string },
): Promise<void> {
  if (drain === undefined) return;
  const { isExpected, got } = check(await drain());
  const shown = got === "" ? "the connection was closed" : got.replaceAll(/\s+/g, " ").slice(0, shownCharsMax);
  expectThat(isExpected, { how: "kill -TERM <pid>", expected, got: shown });
}
