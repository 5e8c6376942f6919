import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

export interface HttpClientRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** For a stream: the body is not read. */
  readonly headersOnly?: boolean;
}

export interface HttpClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Longer than the default deadline of a request to a service, 10 s, and shorter than that of a client's request to the gateway, 30 s. */
const timeoutDefaultMs = 15_000;

/** Of the server; a function returns that of the next request. */
export type BaseUrl = string | (() => string);

/** An HTTP client that behaves as in most programs: it reuses connections, opens as many as needed, and obeys `Connection` and `Keep-Alive`. */
export function createHttpClient(baseUrl: BaseUrl, timeoutMs: number = timeoutDefaultMs) {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });

  /** Sends the request once, without retries. @throws Error if no complete response arrives in time. */
  async function send(o: HttpClientRequest): Promise<HttpClientResponse> {
    const { method, path, headers = {}, body, headersOnly = false } = o;
    const { hostname, port } = new URL(typeof baseUrl === "string" ? baseUrl : baseUrl());
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const clientRequest = request({ hostname, port, path, method, agent, headers }, resolve);
    const timer = setTimeout(() => clientRequest.destroy(new Error(`no response in ${timeoutMs} ms`)), timeoutMs);
    clientRequest.on("error", reject).on("close", () => clearTimeout(timer));
    clientRequest.end(body);
    const response = await promise;
    if (headersOnly) clientRequest.destroy();
    const responseText = headersOnly ? "" : await text(response);
    return { status: response.statusCode ?? 0, headers: response.headers, text: responseText };
  }

  return { send, close: () => agent.destroy() };
}
