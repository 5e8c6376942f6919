import { Writable } from "node:stream";
import { createLog, silentLog } from "@tributary/kit/process/log";
import { createFailureLog, type Failure } from "@tributary/kit/telemetry/failure-log";
import { expect, test } from "vitest";
import { badGateway } from "../errors/service-failure.ts";
import { createObserver } from "./observations.ts";

const about = {
  requestId: "r-1",
  traceId: "0af7",
  method: "GET",
  route: "/things/:id",
  path: "/v1/things/ada@example.com",
};

test("failures of the platform are logged as warnings or errors, input of clients at debug level", () => {
  const lines: Record<string, unknown>[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as Record<string, unknown>);
      done();
    },
  });
  const log = createLog({ name: "rest-proxy", level: "debug", destination });
  const observe = createObserver(log, createFailureLog(log));
  observe({ kind: "unreadable", code: "HPE_INVALID_METHOD", requestId: "r-2" });
  observe({ kind: "response-truncated", service: "things", reason: "GATEWAY_TIMEOUT", ...about });
  const replica = "http://things:4001/ (10.0.0.7)";
  const failed = { service: "things", replica, code: "BAD_GATEWAY", cause: new Error("refused"), ...about };
  for (let i = 0; i < 100; i++) observe({ kind: "service-failed", ...failed });
  observe({ kind: "retried", replica, reason: "reset", status: undefined, service: "things" });
  observe({ kind: "replica-ejected", replica, pauseMs: 1_000, cause: new Error("reset"), service: "things" });
  observe({ kind: "replica-restored", replica, service: "things" });
  observe({ kind: "lookup-failed", host: "things", cause: new Error("ENOTFOUND"), service: "things" });
  observe({ kind: "refresh-failed", service: "things", key: "/v1/things/1", cause: new Error("refused") });
  observe({ kind: "old-versions", usage: [{ version: 1, client: "shop", route: "getThing", requests: 7 }] });
  observe({ kind: "bug", cause: new Error("broken"), ...about });
  expect(lines.map(({ level }) => level)).toEqual([
    ...["debug", "warn", "warn"],
    ...["debug", "warn", "info", "warn"],
    ...["warn", "info", "error"],
  ]);
  expect(lines[8]).toMatchObject({ usage: [{ client: "shop", requests: 7 }] });
  expect(lines[2]).toMatchObject({
    service: "things",
    replica,
    requestId: "r-1",
    trace_id: "0af7",
    err: { message: "refused" },
  });
  expect(lines[2]).toMatchObject({ route: "/things/:id" });
  expect(JSON.stringify(lines)).not.toContain("/v1/");
});

test("failed refreshes are counted for each service, replica and code", () => {
  const failures: Failure[] = [];
  const observe = createObserver(silentLog, { report: (failure) => failures.push(failure), close: () => undefined });
  const replica = "http://things:4001/ (10.0.0.7)";
  for (const cause of [badGateway(new Error("refused"), replica), new Error("broken")])
    observe({ kind: "refresh-failed", service: "things", key: "/v1/things/1", cause });
  expect(failures).toEqual([
    { service: "things", replica, reason: "BAD_GATEWAY" },
    { service: "things", replica: undefined, reason: "REFRESH_FAILED" },
  ]);
});
