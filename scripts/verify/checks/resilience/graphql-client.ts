// The GraphQL client of the resilience checks. `readCode` reads the error code of a response.
import { createHttpClient, type HttpClientResponse } from "../../traffic/http-client.ts";

export interface GraphqlClient {
  /** @throws Error if no complete response arrives in time, or after `signal` was aborted. */
  send(query: string, options?: SendOptions): Promise<HttpClientResponse>;
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
  const httpClient = createHttpClient(gatewayUrl, timeoutMs);
  const fixedHeaders = { "content-type": "application/json", accept: "application/json" };
  return {
    send(query, { variables, signal, authorization } = {}) {
      const headers = authorization === undefined ? fixedHeaders : { ...fixedHeaders, authorization };
      const body = JSON.stringify({ query, variables });
      const request = { method: "POST", path: "/graphql", headers, body };
      return httpClient.send(signal === undefined ? request : { ...request, signal });
    },
    close: () => httpClient.close(),
  };
}

/** The code of the first error, or "status N" if that error has no code; "data" without errors. */
export function readCode({ status, text }: HttpClientResponse): string {
  const { errors } = JSON.parse(text) as { errors?: readonly { extensions?: { code?: string } }[] };
  if (!errors) return "data";
  return errors[0]?.extensions?.code ?? `status ${status}`;
}

/** The result of `sendForCode` begins with this if the request got no response, or a response that is not JSON. */
export const noResponse = "no response";

/** Sends a query. @returns like `readCode`, or a text that begins with `noResponse`. Never rejects. */
export async function sendForCode(client: GraphqlClient, query: string): Promise<string> {
  try {
    return readCode(await client.send(query));
  } catch (error) {
    return `${noResponse}: ${String(error)}`;
  }
}
