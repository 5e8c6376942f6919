// The clients of both APIs, for one user.
import { persistedExchange } from "@urql/exchange-persisted";
import createClient from "openapi-fetch";
import { createContext, useContext } from "react";
import { cacheExchange, Client, fetchExchange, type OperationContext } from "urql";
import type { paths } from "./generated/rest.ts";
import { createSend, type Send, withToken } from "./send.ts";

declare const GATEWAY_URL: string;
declare const REST_URL: string;
declare const ISSUER_URL: string;

export type Api = ReturnType<typeof createApi>;

/** One for the page: a user who signs out still sees what was written before. */
const send = createSend();

/** What everyone sees is read without the token: shared caches can then send the same stored response to all. */
export function createApi(token: string | undefined) {
  const sendAsUser = token === undefined ? send : withToken(send, token);
  const graphql = new Client({
    url: `${GATEWAY_URL}/graphql`,
    exchanges: [cacheExchange, persistedExchange(trustedDocuments), fetchExchange],
    fetch: toFetch(sendAsUser),
  });
  const publicRead: Partial<OperationContext> = { fetch: toFetch(send) };
  return {
    graphql,
    publicRead,
    publicRest: createClient<paths>({ baseUrl: `${REST_URL}/v2`, fetch: send }),
    rest: createClient<paths>({ baseUrl: `${REST_URL}/v2`, fetch: sendAsUser }),
    isSignedIn: token !== undefined,
  };
}

/** Each document is sent as its id in clients/web, never as its text; queries by GET, so that caches can store the responses. */
const trustedDocuments: Parameters<typeof persistedExchange>[0] = {
  generateHash: (_, document) => Promise.resolve((document as unknown as GeneratedDocument).__meta__.hash),
  enforcePersistedQueries: true,
  enableForMutation: true,
  preferGetForPersistedQueries: true,
};

/** `persistedDocuments` in codegen.ts adds the id. It is the hash of a sorted text, not of the text that urql has. */
interface GeneratedDocument {
  readonly __meta__: { readonly hash: string };
}

export const ApiContext = createContext<Api | undefined>(undefined);

export function useApi(): Api {
  const api = useContext(ApiContext);
  if (!api) throw new Error("There is no ApiContext.");
  return api;
}

/** The platform's issuer for development asks for no password. A real page uses the OpenID Connect library of its provider here. */
export async function fetchToken(user: string): Promise<string> {
  const response = await fetch(`${ISSUER_URL}/token`, { method: "POST", body: new URLSearchParams({ user }) });
  if (!response.ok) throw new Error(`The issuer responded with ${response.status}.`);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

function toFetch(sendRequest: Send): typeof fetch {
  return (input, init) => sendRequest(new Request(input, init));
}
