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
}

const excerptCharactersMax = 200;

/** Never rejects: failures are shown as GraphQL errors. Introspection is sent without a token, since the schema is public. */
export function createFetcher(
  o: FetcherOptions,
): (operation: Operation, options?: OperationOptions) => Promise<Result> {
  return async (operation, options) => {
    try {
      const needsToken = operation.operationName !== "IntrospectionQuery";
      const authorization = needsToken ? await o.authorization() : undefined;
      return await send(o, operation, collectHeaders(authorization, options?.headers ?? {}));
    } catch (error) {
      return toErrorResult(error instanceof Error ? error.message : String(error));
    }
  };
}

async function send({ endpoint, fetch }: FetcherOptions, operation: Operation, headers: Headers): Promise<Result> {
  const post = { method: "POST", headers, body: JSON.stringify(operation) };
  const response = await fetch(endpoint, post).catch(() => undefined);
  if (!response) return toErrorResult(`The gateway does not respond at ${endpoint}.`);
  const text = await response.text();
  const result = parseResult(text);
  if (result) return result;
  const excerpt = text.slice(0, excerptCharactersMax);
  return toErrorResult(
    `The gateway responded with status ${response.status} and a body that is no JSON object: ${excerpt}`,
  );
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
function collectHeaders(authorization: string | undefined, edited: Readonly<Record<string, unknown>>): Headers {
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
