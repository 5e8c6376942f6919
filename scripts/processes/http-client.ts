import { Agent, type IncomingHttpHeaders, request } from "node:http";

export interface HttpQuestion {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The client goes away. */
  readonly signal?: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface HttpClient {
  /** Sends once, never again. @throws Error when no whole answer came in time. */
  send(question: HttpQuestion): Promise<HttpAnswer>;
  close(): void;
}

/** Longer than any deadline of ours: what takes more hangs. */
const timeoutUsualMs = 15_000;

/** One client as there are many: it keeps its connections, opens as many as it needs, and goes by `Connection` and `Keep-Alive`. */
export function createHttpClient(baseUrl: string, timeoutMs: number = timeoutUsualMs): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const { hostname, port } = new URL(baseUrl);

  function send({ method, path, headers = {}, body, signal }: HttpQuestion): Promise<HttpAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const options = { hostname, port, path, method, agent, headers: { ...headers, ...length } };
    const asked = request({ ...options, ...(signal ? { signal } : {}) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, headers: answered, text: Buffer.concat(chunks).toString("utf8") });
      });
    });
    const timer = setTimeout(() => asked.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    asked.on("error", reject).on("close", () => clearTimeout(timer));
    asked.end(body);
    return promise;
  }

  return { send, close: () => agent.destroy() };
}

/**
 * What is wrong with an answer that had to be one of `statuses` with a body that `isRight`; undefined when nothing is. An answer of GraphQL
 * with `errors` is wrong whatever its status.
 */
export function judgeAnswer(
  { status, text }: HttpAnswer,
  statuses: readonly number[],
  isRight: (body: unknown) => boolean,
): string | undefined {
  const wrong = () => `${status}: ${text.slice(0, 160)}`;
  if (!statuses.includes(status)) return wrong();
  try {
    const body: unknown = JSON.parse(text);
    const hasErrors = typeof body === "object" && body !== null && "errors" in body;
    return hasErrors || !isRight(body) ? wrong() : undefined;
  } catch {
    return wrong();
  }
}
