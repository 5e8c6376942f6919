// Stage 4 of 5: run. Reports failed fetches as redacted observations for the log, and in the request's record for the access log.
import { isClientCode, toMaskedCode } from "../../errors/codes.ts";
import type { GatewayObserver, RedactedSubgraphError } from "../../observations.ts";
import type { RedactPath } from "./redact-path.ts";
import type { RequestScope } from "./request-scope.ts";
import type { FetchResult, ResponsePath, SubgraphError } from "./fetch/subgraph-response.ts";

type GraphqlResult = Extract<FetchResult, { kind: "graphql" }>;
export type FailedResult = Exclude<FetchResult, { kind: "graphql" }>;

export interface FailureReportOptions {
  readonly observe: GatewayObserver;
  readonly redactPath: RedactPath;
}

const reportedMax = 20;

/** Kinds, codes and redacted paths, and no text of the response. */
export function createFailureReports(
  { observe, redactPath }: FailureReportOptions,
  service: string,
  { requestId, trace, identity, deadline, record }: RequestScope,
) {
  const ids = { requestId, traceId: trace.traceId, ...identity };
  return {
    /** A failure unless all of its errors are meant for the client. */
    errors({ errors, replica }: Pick<GraphqlResult, "errors" | "replica">): void {
      const failure = errors.find((error) => error.public === undefined);
      const code = failure && toMaskedCode(failure.extensions["code"]);
      if (code !== undefined) record?.addFailure({ service, replica, reason: code });
      const reported = errors.slice(0, reportedMax).map((error) => redactError(error, redactPath));
      observe({ kind: "subgraph-errors", ...ids, service, replica, code, count: errors.length, errors: reported });
    },
    invalid(paths: readonly ResponsePath[], replica: string): void {
      if (paths.length === 0) return;
      record?.addFailure({ service, replica, reason: "RESPONSE_INVALID" });
      const reported = paths.slice(0, reportedMax).map(redactPath);
      observe({ kind: "subgraph-response-invalid", ...ids, service, replica, count: paths.length, paths: reported });
    },
    /** Nothing is reported if the fetch was not sent, was late for the client only, or if the client has disconnected. */
    failure(result: FailedResult): void {
      if (result.kind === "abandoned" || deadline.signal().reason === "disconnected") return;
      const { code, replica } = result;
      record?.addFailure({ service, replica, reason: code });
      const failure = { kind: "subgraph-fetch-failed", ...ids, service, replica, code } as const;
      if (result.kind === "failed") observe({ ...failure, cause: result.cause });
      else observe({ ...failure, response: result.why });
    },
  };
}

/** A subgraph's message, code and path can contain anything: only known codes and field names are logged. */
function redactError({ message, path, extensions }: SubgraphError, redactPath: RedactPath): RedactedSubgraphError {
  return {
    code: toLoggedCode(extensions["code"]),
    path: path && redactPath(path),
    messageCharacters: message.length,
  };
}

function toLoggedCode(code: unknown): string {
  if (code === undefined) return "none";
  return isClientCode(code) ? code : "other";
}
