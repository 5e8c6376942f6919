/** What GraphiQL hands over: an operation, and what stands in its header editor. */
export interface Operation {
  readonly query: string;
  readonly operationName?: string | null;
  readonly variables?: unknown;
}

export interface OperationOptions {
  readonly headers?: Readonly<Record<string, unknown>>;
}

export type Answer = Readonly<Record<string, unknown>>;

export interface FetcherOptions {
  readonly endpoint: string;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
  /** The chosen caller's header; one in the header editor goes before it. */
  readonly authorization: () => Promise<string | undefined>;
}

/**
 * Sends GraphiQL's operations to the gateway by POST. It never throws: what goes wrong is shown like any other answer.
 * The schema is everybody's, so introspection does not wait for a token.
 */
export function createFetcher(
  o: FetcherOptions,
): (operation: Operation, options?: OperationOptions) => Promise<Answer> {
  return async (operation, options) => {
    try {
      const needsToken = operation.operationName !== "IntrospectionQuery";
      const authorization = needsToken ? await o.authorization() : undefined;
      return await send(o, operation, collectHeaders(authorization, options?.headers ?? {}));
    } catch (error) {
      return explain(error instanceof Error ? error.message : String(error));
    }
  };
}

async function send({ endpoint, fetch }: FetcherOptions, operation: Operation, headers: Headers): Promise<Answer> {
  const post = { method: "POST", headers, body: JSON.stringify(operation) };
  const response = await fetch(endpoint, post).catch(() => undefined);
  if (!response) return explain(`The gateway does not answer at ${endpoint}.`);
  const text = await response.text();
  const answer = readAnswer(text);
  return answer ?? explain(`The gateway answered ${response.status}, and not with JSON: ${text.slice(0, 200)}`);
}

function readAnswer(text: string): Answer | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === "object" && answer !== null ? (answer as Answer) : undefined;
  } catch {
    return undefined;
  }
}

/** `Headers` knows names in any case, so that the editor's `authorization` replaces ours. */
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

function explain(message: string): Answer {
  return { errors: [{ message }] };
}
