import { createHttpClient, type HttpClientResponse } from "../processes/http-client.ts";

export interface GraphqlClient {
  /** Throws if no complete response arrives in time. */
  send(query: string, o?: SendOptions): Promise<HttpClientResponse>;
  close(): void;
}

interface SendOptions {
  readonly variables?: object;
  readonly authorization?: string;
  /** Aborting it closes the connection. */
  readonly signal?: AbortSignal;
}

/** A GraphQL client over persistent connections, as many as needed. */
export function createGraphqlClient(gatewayUrl: string, timeoutMs?: number): GraphqlClient {
  const { send, close } = createHttpClient(gatewayUrl, timeoutMs);
  const fixedHeaders = { "content-type": "application/json", accept: "application/json" };
  return {
    send(query, { variables, signal, authorization } = {}) {
      const headers = authorization === undefined ? fixedHeaders : { ...fixedHeaders, authorization };
      const body = JSON.stringify({ query, variables });
      return send({ method: "POST", path: "/graphql", headers, body, ...(signal ? { signal } : {}) });
    },
    close,
  };
}
