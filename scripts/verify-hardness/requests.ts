import { Agent, request } from "node:http";

interface ClientAnswer {
  readonly status: number;
  readonly text: string;
}

export interface Client {
  /** Throws when no whole answer came in time. */
  ask(query: string, o?: AskOptions): Promise<ClientAnswer>;
  close(): void;
}

interface AskOptions {
  readonly variables?: object;
  readonly authorization?: string;
  /** The client goes away. */
  readonly signal?: AbortSignal;
}

/** Longer than any deadline of ours: what takes more hangs. */
const timeoutMs = 15_000;

/** GraphQL over kept connections, as many as are needed. */
export function createClient(gatewayUrl: string): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const { hostname, port } = new URL(gatewayUrl);
  const fixedHeaders = { "content-type": "application/json", accept: "application/json" };

  function ask(query: string, { variables, signal, authorization }: AskOptions = {}): Promise<ClientAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<ClientAnswer>();
    const headers = authorization === undefined ? fixedHeaders : { ...fixedHeaders, authorization };
    const options = { hostname, port, path: "/graphql", method: "POST", agent, headers };
    const asked = request({ ...options, ...(signal ? { signal } : {}) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    const timer = setTimeout(() => asked.destroy(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
    asked.on("error", reject).on("close", () => clearTimeout(timer));
    asked.end(JSON.stringify({ query, variables }));
    return promise;
  }

  return { ask, close: () => agent.destroy() };
}
