import { createFailureLog } from "@tributary/kit/telemetry/failure-log";
import { expect, test } from "vitest";
import type { GatewayObservation } from "../observations.ts";
import { createLibraryLogger, createObservationLog } from "./observation-log.ts";

function setUp() {
  const lines: unknown[][] = [];
  const say =
    (level: string) =>
    (...args: unknown[]) =>
      void lines.push([level, ...args]);
  const log = { debug: say("debug"), info: say("info"), warn: say("warn"), error: say("error"), fatal: say("fatal") };
  return { lines, observe: createObservationLog(log as never, createFailureLog(log as never)) };
}

test("an observation becomes one line with its fields and a message", () => {
  const { lines, observe } = setUp();
  observe({ kind: "supergraph-loaded", id: "a", subgraphs: ["users"], tookMs: 3 });
  expect(lines).toEqual([
    [
      "info",
      { observation: "supergraph-loaded", id: "a", subgraphs: ["users"], tookMs: 3 },
      "serving a new supergraph",
    ],
  ]);
});

test("a cause is logged as an error with its stack", () => {
  const { lines, observe } = setUp();
  const cause = new Error("at db.internal");
  const operation = { operationName: "Feed", documentHash: "4f1a" };
  const replica = "http://users:4001/ (10.0.0.7)";
  const about = { requestId: "r", traceId: "0af7", ...operation, service: "users", replica, code: "SUBGRAPH_TIMEOUT" };
  observe({ kind: "subgraph-fetch-failed", ...about, cause });
  observe({ kind: "internal-error", cause: "thrown text" });
  expect(lines[0]).toMatchObject([
    "warn",
    { requestId: "r", trace_id: "0af7", ...operation, service: "users", replica, code: "SUBGRAPH_TIMEOUT", err: cause },
    expect.any(String),
  ]);
  expect(lines[1]).toMatchObject(["error", { err: new Error("thrown text") }, expect.any(String)]);
});

test("a fetch that fails again for the same reason is not logged again", () => {
  const { lines, observe } = setUp();
  const about = { requestId: "r", traceId: "t", service: "users", replica: "a", code: "SUBGRAPH_TIMEOUT" } as const;
  for (let i = 0; i < 100; i++) observe({ kind: "subgraph-fetch-failed", ...about, cause: new Error("late") });
  for (let i = 0; i < 100; i++) observe({ kind: "lookup-failed", service: "users", host: "users", cause: new Error() });
  expect(lines.map(([, fields]) => (fields as GatewayObservation).kind ?? fields)).toMatchObject([
    { observation: "subgraph-fetch-failed", reason: "SUBGRAPH_TIMEOUT" },
    { observation: "lookup-failed", replica: "users" },
  ]);
});

test("responses that do not fit the schema are one line for each subgraph and reason, then counted", () => {
  const { lines, observe } = setUp();
  const about = { requestId: "r", traceId: "t", service: "users" } as const;
  const problems = [{ path: "user.name", code: "INVALID_FIELD_VALUE" }];
  for (let i = 0; i < 100; i++) {
    observe({ kind: "subgraph-response-invalid", ...about, replica: "a", count: 1, paths: ["_entities.0"] });
    observe({ kind: "values-rejected", ...about, code: "INVALID_FIELD_VALUE", problems });
  }
  expect(lines.map(([level, fields]) => [level, fields])).toEqual([
    [
      "warn",
      expect.objectContaining({ observation: "subgraph-response-invalid", replica: "a", reason: "RESPONSE_INVALID" }),
    ],
    ["warn", expect.objectContaining({ service: "users", reason: "INVALID_FIELD_VALUE", trace_id: "t", problems })],
  ]);
});

test("errors of a failing subgraph are counted, and errors meant for the client are not warnings", () => {
  const { lines, observe } = setUp();
  const about = { requestId: "r", traceId: "t", service: "users", replica: "a", count: 1, errors: [] } as const;
  for (let i = 0; i < 100; i++) observe({ kind: "subgraph-errors", ...about, code: "SUBGRAPH_UNAVAILABLE" });
  observe({ kind: "subgraph-errors", ...about, code: "SUBGRAPH_ERROR" });
  observe({ kind: "subgraph-errors", ...about, code: undefined });
  expect(lines.map(([level, fields]) => [level, (fields as { reason?: string }).reason])).toEqual([
    ["warn", "SUBGRAPH_UNAVAILABLE"],
    ["warn", "SUBGRAPH_ERROR"],
    ["debug", undefined],
  ]);
});

test("a line of a library keeps its level, except info, which becomes debug", () => {
  const { lines, observe } = setUp();
  const library = createLibraryLogger(observe);
  library.info("Gateway successfully loaded schema.");
  library.warn("careful");
  library.error(new Error("broken"));
  expect(lines.map(([level]) => level)).toEqual(["debug", "warn", "error"]);
  expect(lines[2]?.[1]).toContain("Error: broken");
});

test("every kind has a level and a message", () => {
  const { lines, observe } = setUp();
  for (const kind of ["client-disconnected", "request-rejected", "supergraph-rejected"] as const)
    observe({ kind } as GatewayObservation);
  expect(lines.map(([level]) => level)).toEqual(["debug", "debug", "error"]);
});
