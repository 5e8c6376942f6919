import type { Environment } from "@tributary/kit/process/env";
import { CommandError } from "../../command-line.ts";

export interface RemoteIssuer {
  /** The `iss` of its tokens. */
  readonly issuer: string;
  readonly jwksUrl: string;
  /** Where a developer gets a token. */
  readonly url: string;
}

export type RemoteProbe =
  /** `issuer` is undefined if ISSUER and JWKS_URL name it. */
  | { readonly kind: "up"; readonly issuer: RemoteIssuer | undefined }
  | { readonly kind: "down"; readonly cause: string };

const timeoutMs = 3_000;
const howToNameIssuer = "set ISSUER and JWKS_URL (and AUDIENCE, unless it is tributary)";
/** A load balancer responds with these statuses while its gateway is down. */
const unavailableStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

/** A remote that does not respond may be up later. @throws CommandError if the URL is not that of a gateway, or if the issuer is unknown. */
export async function probeRemote(graphqlUrl: string, environment: Environment): Promise<RemoteProbe> {
  const response = await send(graphqlUrl, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query: "{ __typename }" }),
  });
  if ("cause" in response) return { kind: "down", cause: response.cause };
  if (unavailableStatuses.has(response.status)) return { kind: "down", cause: `status ${response.status}` };
  if (!isGraphql(response.json)) throw notGateway(graphqlUrl, response.status);
  if (environment["ISSUER"] && environment["JWKS_URL"]) return { kind: "up", issuer: undefined };
  return findIssuer(graphqlUrl);
}

/** The gateway of a development platform names its issuer for GraphiQL; the issuer describes itself (OpenID Connect Discovery 1.0). */
async function findIssuer(graphqlUrl: string): Promise<RemoteProbe> {
  const configUrl = new URL("graphiql/config.json", graphqlUrl).href;
  const config = await send(configUrl);
  if ("cause" in config) return { kind: "down", cause: config.cause };
  const { issuer: issuerUrl } = config.json as { readonly issuer?: unknown };
  if (typeof issuerUrl !== "string")
    throw new CommandError(
      `${configUrl} does not name the issuer of the tokens that the remote accepts (status ${config.status}). If ${graphqlUrl} is a Tributary gateway, ${howToNameIssuer}.`,
    );
  const discoveryUrl = `${issuerUrl.replace(/\/$/, "")}/.well-known/openid-configuration`;
  const discovery = await send(discoveryUrl);
  if ("cause" in discovery) return { kind: "down", cause: `its token issuer ${issuerUrl}: ${discovery.cause}` };
  const { issuer, jwks_uri: jwksUrl } = discovery.json as { readonly issuer?: unknown; readonly jwks_uri?: unknown };
  if (typeof issuer === "string" && typeof jwksUrl === "string")
    return { kind: "up", issuer: { issuer, jwksUrl, url: issuerUrl } };
  throw new CommandError(`${discoveryUrl} describes no token issuer (status ${discovery.status}): ${howToNameIssuer}.`);
}

/** `json` is empty for a body that is not JSON, or no object. With `cause` there was no response. */
type ProbeResponse = { readonly status: number; readonly json: object } | { readonly cause: string };

async function send(url: string, init: RequestInit = {}): Promise<ProbeResponse> {
  try {
    const response = await fetch(url, { ...init, redirect: "manual", signal: AbortSignal.timeout(timeoutMs) });
    const json: unknown = await response.json().catch(() => undefined);
    const isObject = typeof json === "object" && json !== null;
    return { status: response.status, json: isObject ? json : {} };
  } catch (error) {
    const { message, cause } = error as Error;
    // The message of `fetch` is "fetch failed"; its cause says why.
    const causeMessage = cause instanceof Error ? cause.message : "";
    return { cause: causeMessage || message };
  }
}

function isGraphql(json: object): boolean {
  const { data, errors } = json as {
    readonly data?: { readonly __typename?: unknown } | null;
    readonly errors?: unknown;
  };
  return data?.__typename === "Query" || Array.isArray(errors);
}

function notGateway(graphqlUrl: string, status: number): CommandError {
  return new CommandError(
    `--against ${graphqlUrl}: this is not the GraphQL endpoint of a Tributary gateway (status ${status}, no GraphQL response). Give the URL of the gateway, such as https://gateway.example.`,
  );
}
