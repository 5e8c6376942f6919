import { Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request, type RequestOptions } from "node:http";

export interface HttpClientRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Aborting it closes the connection. */
  readonly signal?: AbortSignal;
}

export interface HttpClientResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface HttpClient {
  /** Sends the request once, without retries. @throws Error if no complete response arrives in time. */
  send(request: HttpClientRequest): Promise<HttpClientResponse>;
  close(): void;
}

/** Longer than the default deadline of a request to a service, 10 s, and shorter than that of a client's request to the gateway, 30 s. */
const timeoutDefaultMs = 15_000;

/** An HTTP client that behaves as in most programs: it reuses connections, opens as many as needed, and obeys `Connection` and `Keep-Alive`. */
export function createHttpClient(baseUrl: string, timeoutMs: number = timeoutDefaultMs): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const { hostname, port } = new URL(baseUrl);

  function send({ method, path, headers = {}, body, signal }: HttpClientRequest): Promise<HttpClientResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<HttpClientResponse>();
    const allHeaders: OutgoingHttpHeaders = { ...headers };
    if (body !== undefined) allHeaders["content-length"] = String(Buffer.byteLength(body));
    const options: RequestOptions = { hostname, port, path, method, agent, headers: allHeaders };
    if (signal) options.signal = signal;
    const clientRequest = request(options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    const timer = setTimeout(() => clientRequest.destroy(new Error(`no response in ${timeoutMs} ms`)), timeoutMs);
    clientRequest.on("error", reject).on("close", () => clearTimeout(timer));
    clientRequest.end(body);
    return promise;
  }

  return { send, close: () => agent.destroy() };
}
