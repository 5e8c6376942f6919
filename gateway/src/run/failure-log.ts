// Stage 4 of 5: fetch it. What the log is told of one fetch that went wrong: what kind of wrong and where, and nothing of what was said.
import { isClientCode, isClientFacingCode, toClientCode } from "../errors/codes.ts";
import type { Observe, ToldSubgraphError } from "../telemetry/observation-log.ts";
import type { RequestScope } from "./request-scope.ts";
import type { AskedAnswer, Path, SubgraphError } from "./subgraph-response.ts";
import type { TellPath } from "./redact-path.ts";

type GraphqlAnswer = Extract<AskedAnswer, { kind: "graphql" }>;
export type FailedAnswer = Exclude<AskedAnswer, { kind: "graphql" }>;

export interface ReportOptions {
  readonly observe: Observe;
  readonly tellPath: TellPath;
}

/** Errors, and places, of one answer that the log is told of. */
const reportedMax = 20;

export function createReport(
  { observe, tellPath }: ReportOptions,
  service: string,
  { requestId, trace: { traceId }, identity, signal, record }: RequestScope,
) {
  const ofRequest = { requestId, traceId, ...identity };
  return {
    errors({ errors, replica }: Pick<GraphqlAnswer, "errors" | "replica">): void {
      const failure = errors.find(({ extensions }) => !isClientFacingCode(extensions["code"]));
      const code = failure && toClientCode(failure.extensions["code"]);
      if (code !== undefined) record?.noteFailure({ service, replica, reason: code });
      const some = errors.slice(0, reportedMax).map((error) => tellError(error, tellPath));
      observe({ kind: "subgraph-errors", ...ofRequest, service, replica, code, count: errors.length, errors: some });
    },
    misshapen(paths: readonly Path[], replica: string): void {
      if (paths.length === 0) return;
      record?.noteFailure({ service, replica, reason: "MISSHAPEN" });
      const some = paths.slice(0, reportedMax).map(tellPath);
      observe({ kind: "subgraph-answer-misshapen", ...ofRequest, service, replica, count: paths.length, paths: some });
    },
    failure(answer: FailedAnswer): void {
      if (answer.kind === "abandoned" || signal.reason === "gone") return;
      const { code, replica } = answer;
      record?.noteFailure({ service, replica, reason: code });
      const about = { kind: "subgraph-fetch-failed", ...ofRequest, service, replica, code } as const;
      if (answer.kind === "failed") observe({ ...about, cause: answer.cause });
      else observe({ ...about, answer: answer.why });
    },
  };
}

/** Its message may quote a row, its code and its path may be anything: only what we know by name is told. */
function tellError({ message, path, extensions }: SubgraphError, tellPath: TellPath): ToldSubgraphError {
  const { code } = extensions;
  return {
    code: isClientCode(code) ? code : code === undefined ? "none" : "other",
    path: path && tellPath(path),
    messageCharacters: message.length,
  };
}
