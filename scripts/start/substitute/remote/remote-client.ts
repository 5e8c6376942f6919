import type { Log } from "@tributary/kit/process/log";
import {
  failedResult,
  readResult,
  type ResultError,
  type SubgraphOperation,
  type SubgraphResult,
} from "../graphql-messages.ts";

/** Never rejects. Without a response the result has the code SERVICE_UNAVAILABLE, which the local gateway reports as SUBGRAPH_UNAVAILABLE. */
export type SendToRemote = (
  operation: SubgraphOperation,
  o: { readonly headers: Readonly<Record<string, string>>; readonly signal: AbortSignal },
) => Promise<SubgraphResult>;

/** For codes of the remote gateway: the code with which a service reports the same failure to the local gateway. */
const codesOfServices: Readonly<Record<string, string>> = {
  SUBGRAPH_UNAVAILABLE: "SERVICE_UNAVAILABLE",
  SUBGRAPH_TIMEOUT: "SERVICE_UNAVAILABLE",
  DEADLINE_EXCEEDED: "SERVICE_UNAVAILABLE",
  OVERLOADED: "SERVICE_UNAVAILABLE",
  RATE_LIMITED: "TOO_MANY_REQUESTS",
};

/** Errors about the whole operation that mean: the API of the remote is not the one for which the operation was written. */
const mismatchCodes: ReadonlySet<unknown> = new Set(["GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"]);

export function createRemoteClient(url: string, log: Log): SendToRemote {
  let isDown = false;

  function reportDown(cause: unknown): void {
    if (!isDown)
      log.warn({ remote: url, err: cause }, "the remote does not respond: its fields are null until it does");
    isDown = true;
  }

  return async (operation, { headers, signal }) => {
    try {
      const sentHeaders = { accept: "application/json", "content-type": "application/json", ...headers };
      // `signal` ends at the deadline of the local gateway, which then disconnects.
      const response = await fetch(url, {
        method: "POST",
        headers: sentHeaders,
        body: JSON.stringify(operation),
        signal,
      });
      const result = readResult(await response.text());
      if (!result) throw new Error(`The remote sent no GraphQL response, but status ${response.status}`);
      if (isDown) log.info({ remote: url }, "the remote responds again");
      isDown = false;
      const mismatch = result.errors.find(({ extensions }) => mismatchCodes.has(extensions?.["code"]));
      if (mismatch)
        log.warn({ remote: url, reason: mismatch.message }, "the remote has another schema: its fields are null");
      return { ...result, errors: result.errors.map(toServiceError) };
    } catch (cause) {
      // A request that the local gateway has aborted does not mean that the remote is down.
      if (!signal.aborted) reportDown(cause);
      return failedResult("SERVICE_UNAVAILABLE", "The remote does not respond.");
    }
  };
}

function toServiceError(error: ResultError): ResultError {
  const serviceCode = codesOfServices[String(error.extensions?.["code"])];
  return serviceCode === undefined ? error : { ...error, extensions: { ...error.extensions, code: serviceCode } };
}
