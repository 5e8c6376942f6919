import type { Execution, PlannedRequest } from "./executions.ts";

export interface Operation {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

export interface OperationOptions {
  /** The content of the header editor. */
  readonly headers?: Readonly<Record<string, unknown>>;
}

export type Result = Readonly<Record<string, unknown>>;

export interface FetcherOptions {
  readonly endpoint: string;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** Undefined for none. An `Authorization` in the header editor takes precedence. */
  readonly authorization: () => Promise<string | undefined>;
  /** What the page shows of the schema. */
  readonly describeSchema?: (introspection: Result) => Result;
  /** Called for each response, except that of introspection. */
  readonly onExecuted: (execution: Execution) => void;
}

const excerptCharactersMax = 200;

/** Never rejects: failures are shown as GraphQL errors. Introspection is sent without a token, since the schema is public. */
export function createFetcher(
  o: FetcherOptions,
): (operation: Operation, options?: OperationOptions) => Promise<Result> {
  return async (operation, options) => {
    try {
      if (operation.operationName === "IntrospectionQuery") {
        const { result } = await send(o, operation, collectHeaders());
        return o.describeSchema?.(result) ?? result;
      }
      const headers = collectHeaders(await o.authorization(), { "x-query-plan": "1", ...options?.headers });
      const { response, result } = await send(o, operation, headers);
      const { plan, shown } = separatePlan(result);
      if (response) o.onExecuted({ ...readIds(response), plan });
      return shown;
    } catch (error) {
      return toErrorResult(error instanceof Error ? error.message : String(error));
    }
  };
}

interface Sent {
  readonly result: Result;
  readonly response?: Response;
}

async function send({ endpoint, fetch }: FetcherOptions, operation: Operation, headers: Headers): Promise<Sent> {
  const post = { method: "POST", headers, body: JSON.stringify(operation) };
  const response = await fetch(endpoint, post).catch(() => undefined);
  if (!response) return { result: toErrorResult(`The gateway does not respond at ${endpoint}.`) };
  const text = await response.text();
  const result = parseResult(text);
  if (result) return { result, response };
  const excerpt = text.slice(0, excerptCharactersMax);
  const message = `The gateway responded with status ${response.status} and a body that is no JSON object: ${excerpt}`;
  return { result: toErrorResult(message), response };
}

/** The plan has its own pane: among the data it would be in the way. */
function separatePlan(result: Result): { readonly plan: readonly PlannedRequest[] | null; readonly shown: Result } {
  const { extensions, ...others } = result;
  const { queryPlan, ...otherExtensions } = (extensions ?? {}) as { readonly queryPlan?: readonly PlannedRequest[] };
  if (queryPlan === undefined) return { plan: null, shown: result };
  const hasOthers = Object.keys(otherExtensions).length > 0;
  return { plan: queryPlan, shown: hasOthers ? { ...others, extensions: otherExtensions } : others };
}

/** `traceparent` is `00-<trace id>-<span id>-<flags>` (W3C Trace Context). */
function readIds({ headers }: Response): Pick<Execution, "requestId" | "traceId"> {
  return { requestId: headers.get("x-request-id"), traceId: headers.get("traceparent")?.split("-")[1] ?? null };
}

function parseResult(text: string): Result | undefined {
  try {
    const result: unknown = JSON.parse(text);
    const isJsonObject = typeof result === "object" && result !== null && !Array.isArray(result);
    return isJsonObject ? (result as Result) : undefined;
  } catch {
    return undefined;
  }
}

/** `Headers` ignores case, so `Authorization` of the header editor replaces `authorization`. */
function collectHeaders(authorization?: string, edited: Readonly<Record<string, unknown>> = {}): Headers {
  const headers = new Headers({
    accept: "application/json",
    "content-type": "application/json",
    "apollo-require-preflight": "true",
  });
  if (authorization !== undefined) headers.set("authorization", authorization);
  for (const [name, value] of Object.entries(edited)) headers.set(name, String(value));
  return headers;
}

function toErrorResult(message: string): Result {
  return { errors: [{ message }] };
}
