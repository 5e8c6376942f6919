import { createHttpClient, type HttpClientResponse } from "../processes/http-client.ts";

export interface Client {
  /** Throws when no whole answer came in time. */
  ask(query: string, o?: AskOptions): Promise<HttpClientResponse>;
  close(): void;
}

interface AskOptions {
  readonly variables?: object;
  readonly authorization?: string;
  /** The client goes away. */
  readonly signal?: AbortSignal;
}

/** GraphQL over kept connections, as many as are needed. */
export function createClient(gatewayUrl: string, timeoutMs?: number): Client {
  const { send, close } = createHttpClient(gatewayUrl, timeoutMs);
  const fixedHeaders = { "content-type": "application/json", accept: "application/json" };
  return {
    ask(query, { variables, signal, authorization } = {}) {
      const headers = authorization === undefined ? fixedHeaders : { ...fixedHeaders, authorization };
      const body = JSON.stringify({ query, variables });
      return send({ method: "POST", path: "/graphql", headers, body, ...(signal ? { signal } : {}) });
    },
    close,
  };
}
