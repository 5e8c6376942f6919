// The GraphQL client of the resilience checks.
import { createHttpClient, type HttpClientResponse } from "../../traffic/http-client.ts";

export type GraphqlClient = ReturnType<typeof createGraphqlClient>;

interface SendOptions {
  readonly variables?: object;
  readonly authorization?: string;
}

/** A GraphQL client over persistent connections, as many as needed. */
export function createGraphqlClient(gatewayUrl: string, timeoutMs?: number) {
  const httpClient = createHttpClient(gatewayUrl, timeoutMs);
  return {
    /** @throws Error if no complete response arrives in time. */
    send(query: string, { variables, authorization }: SendOptions = {}): Promise<HttpClientResponse> {
      const headers = {
        "content-type": "application/json",
        accept: "application/json",
        ...(authorization !== undefined && { authorization }),
      };
      return httpClient.send({ method: "POST", path: "/graphql", headers, body: JSON.stringify({ query, variables }) });
    },
    close: () => httpClient.close(),
  };
}

/** The result of `sendForCode` begins with this if the request got no response, or a response that is not JSON. */
export const noResponse = "no response";

/**
 * Sends a query. Never rejects.
 * @returns the code of the first error, or "status N" if that error has no code; "data" without errors; otherwise a text that begins with `noResponse`.
 */
export async function sendForCode(client: GraphqlClient, query: string): Promise<string> {
  try {
    const { status, text } = await client.send(query);
    // Errors are before the data. The data can be long, so it is not parsed.
    if (text.startsWith('{"data":{')) return "data";
    const { errors } = JSON.parse(text) as { errors?: readonly { extensions?: { code?: string } }[] };
    return errors ? (errors[0]?.extensions?.code ?? `status ${status}`) : "data";
  } catch (error) {
    return `${noResponse}: ${String(error)}`;
  }
}
