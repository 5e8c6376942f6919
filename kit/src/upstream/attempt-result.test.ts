import { expect, test } from "vitest";
import { hasCloseOption, rejectInvalid, toOutcome, toRetryReason } from "./attempt-result.ts";
import type { ResponseHeaders, TransportFailure, TransportResult } from "./transport.ts";

const respond = (status: number, headers: ResponseHeaders = {}): TransportResult<Buffer> => ({
  ...{ kind: "response", status, headers, rawHeaders: [], body: Buffer.of() },
});
const fail = (reason: TransportFailure["reason"]): TransportResult<Buffer> => ({
  ...{ kind: "failed", reason, cause: new Error(reason) },
});

test.each([
  [respond(200), "success", undefined],
  [respond(500), "success", undefined],
  [respond(502), "failure", "status"],
  [respond(503), "failure", "status"],
  [respond(504, { connection: "close" }), "failure", "status"],
  [respond(503, { "retry-after": "2" }), "success", undefined],
  [respond(503, { "retry-after": "2", connection: "close" }), "draining", undefined],
  [respond(200, { connection: "close" }), "draining", undefined],
  [fail("reset"), "failure", "reset"],
  [fail("refused"), "failure", "refused"],
  [fail("attempt-timeout"), "failure", "timeout"],
  [fail("timeout"), "failure", undefined],
  [fail("too-large"), "inconclusive", undefined],
  [fail("aborted"), "inconclusive", undefined],
])("%j is %s for the replica's health, and a reason to retry: %s", (result, outcome, reason) => {
  expect([toOutcome(result, 10), toRetryReason(result)]).toEqual([outcome, reason]);
});

test.each([
  ["timeout", "timeout"],
  ["attempt-timeout", "timeout"],
  ["refused", "timeout"],
  ["reset", "failure"],
  ["aborted", "inconclusive"],
] as const)("after 450 ms, %s is the outcome %s", (reason, outcome) => {
  expect(toOutcome(fail(reason), 450)).toBe(outcome);
});

test.each([101, 199, 600, 999])("a response with status %i is not HTTP", (status) => {
  expect(rejectInvalid(respond(status))).toMatchObject({ kind: "failed", reason: "reset" });
});

test.each<[connection: string | readonly string[] | undefined, hasClose: boolean]>([
  [undefined, false],
  ["keep-alive", false],
  ["Keep-Alive, Upgrade", false],
  ["closed", false],
  ["close", true],
  ["X-Hop, Close", true],
  [["keep-alive", "close"], true],
])("Connection: %j contains close: %s", (connection, hasClose) => {
  expect(hasCloseOption(connection)).toBe(hasClose);
});
