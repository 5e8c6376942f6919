// Stage 4 of 5: fetch it. What the log is told of one fetch that went wrong: whole, up to a bound.
import type { Observe } from "../telemetry/observations.ts";
import type { RequestScope } from "./request-scope.ts";
import type { AskedAnswer, Path, SubgraphError } from "./subgraph-answer.ts";

export type FailedAnswer = Exclude<AskedAnswer, { kind: "graphql" }>;

/** Errors, and places, of one answer that the log is told of. */
const reportedMax = 20;

export function createReport(observe: Observe, service: string, { requestId, signal }: RequestScope) {
  return {
    errors(errors: readonly SubgraphError[]): void {
      if (errors.length === 0) return;
      const some = errors.slice(0, reportedMax);
      observe({ kind: "subgraph-errors", requestId, service, count: errors.length, errors: some });
    },
    misshapen(paths: readonly Path[]): void {
      if (paths.length === 0) return;
      const some = paths.slice(0, reportedMax).map((path) => path.join("."));
      observe({ kind: "subgraph-answer-misshapen", requestId, service, count: paths.length, paths: some });
    },
    failure(answer: FailedAnswer): void {
      if (signal.reason === "gone") return;
      const cause = answer.kind === "failed" ? answer.cause : new Error(answer.why);
      observe({ kind: "subgraph-fetch-failed", requestId, service, code: answer.code, cause });
    },
  };
}
