import { join } from "node:path";
import { feedPortOf } from "@tributary/kit/feed/feed-config";
import type { RemoteIssuer } from "./against/remote-probe.ts";
import { remoteSchemaFiles } from "./against/schema-sources.ts";
import type { StartOptions, SubstituteKind } from "./options.ts";
import {
  isService,
  type PartName,
  portOf,
  externalOf,
  type Ports,
  publishedFiles,
  type ServiceName,
  serviceNames,
  urlOf,
} from "./parts.ts";
import { defaultRestPaths } from "../../supergraph/contract/rest-paths.ts";
import { toVariablePrefix } from "../../supergraph/services.ts";
import type { Secrets } from "./secrets.ts";
import type { SubstituteConfig } from "./substitute/main.ts";

export interface PartContext extends Pick<StartOptions, "substitutes" | "addresses" | "remote"> {
  readonly root: string;
  readonly ports: Ports;
  readonly dataDir: string;
  readonly secrets: Secrets;
  /** The supervisor's environment. Every part inherits it, so that `LOG_LEVEL=debug npm start` applies to all parts. */
  readonly inherited: Readonly<Record<string, string | undefined>>;
  /** Undefined without a remote, before it has responded, and if ISSUER and JWKS_URL are set. */
  readonly findRemoteIssuer: () => RemoteIssuer | undefined;
}

/** The supervisor's environment overrides ISSUER, AUDIENCE, JWKS_URL and SETTINGS_FILE, but not addresses, ports and databases. */
export function environmentOf(name: PartName, context: PartContext): Record<string, string | undefined> {
  return {
    ...identityVariables(context),
    ...context.inherited,
    ...listenerVariables(name, context),
    ...partVariables(name, context),
  };
}

function identityVariables({ ports, findRemoteIssuer }: PartContext): Record<string, string> {
  const remoteIssuer = findRemoteIssuer();
  if (remoteIssuer) return { ISSUER: remoteIssuer.issuer, AUDIENCE: "tributary", JWKS_URL: remoteIssuer.jwksUrl };
  const localIssuer = urlOf(ports.issuer);
  return { ISSUER: localIssuer, AUDIENCE: "tributary", JWKS_URL: `${localIssuer}/.well-known/jwks.json` };
}

function listenerVariables(name: PartName, { ports }: PartContext): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    PORT: String(portOf(ports, name)),
    PROFILE: "development",
    SHUTDOWN_GRACE_MS: "2500", // Less than `stopGraceMs` of run.ts, after which a part is killed.
  };
}

function partVariables(name: PartName, context: PartContext): Record<string, string | undefined> {
  const { root, ports, dataDir, secrets, substitutes, inherited } = context;
  const substituteKind = isService(name) ? substitutes.get(name) : undefined;
  if (substituteKind) return substituteVariables(name, substituteKind, context);
  if (isService(name))
    return {
      DATABASE_URL: databaseUrl(name, context),
      CURSOR_KEYS: secrets.cursorKey,
      FEED_PORT: String(feedPortOf(portOf(ports, name))),
      FEED_KEYS: secrets.feedKey,
    };
  if (name === "gateway")
    return {
      FEED_KEYS: secrets.feedKey,
      CONSISTENCY_KEYS: secrets.consistencyKey,
      SUPERGRAPH_FILE: publishedFiles(dataDir).supergraph,
      SETTINGS_FILE: inherited["SETTINGS_FILE"] || join(root, "supergraph/gateway.yaml"),
      ISSUER_URL: issuerUrl(context),
      REST_PROXY_URL: urlOf(ports["rest-proxy"]),
      ...gatewayVariables(addressesOf(context)),
    };
  if (name === "rest-proxy")
    return {
      FEED_KEYS: secrets.feedKey,
      CONSISTENCY_KEYS: secrets.consistencyKey,
      ROUTES_FILE: publishedFiles(dataDir).routes,
      ISSUER_URL: issuerUrl(context),
      GATEWAY_URL: urlOf(ports.gateway),
      // Client developers see the headers of a deprecated version, and no request gets 410.
      DEPRECATED_VERSIONS: inherited["DEPRECATED_VERSIONS"] || "1=-30d",
      SUNSET_VERSIONS: inherited["SUNSET_VERSIONS"] || "1=+180d",
      ...restProxyVariables(addressesOf(context)),
    };
  // The issuer. With a stored key, tokens remain valid after a restart of the issuer.
  return { KEY_FILE: join(dataDir, "issuer-key.json") };
}

/** Where GraphiQL and the try-it forms get their demo tokens. Undefined: they have none. */
function issuerUrl({ remote, findRemoteIssuer, ports }: PartContext): string | undefined {
  return remote ? findRemoteIssuer()?.url : urlOf(ports.issuer);
}

function substituteVariables(
  name: string,
  kind: SubstituteKind,
  { root, dataDir, remote }: PartContext,
): Record<string, string> {
  const files = remoteSchemaFiles(dataDir);
  const config: SubstituteConfig = {
    name,
    schemaFile: kind === "mock" ? join(root, "services", name, "schema.graphql") : files.of(name),
    restPaths: externalOf(name)?.rest ?? defaultRestPaths,
    openapiFolder: join(root, "supergraph", "openapi"),
    remote: kind === "mock" || !remote ? undefined : { apiFile: files.api, ...remote },
  };
  return { SUBSTITUTE: JSON.stringify(config) };
}

export interface ServiceAddresses {
  readonly name: string;
  readonly graphqlUrl: string;
  readonly restUrl: string;
  readonly feedUrl: string | undefined;
}

/** The variables of the gateway. Without a change feed the entity cache would not see changes. */
export function gatewayVariables(services: readonly ServiceAddresses[]): Record<string, string> {
  const variables = services.flatMap(({ name, graphqlUrl, feedUrl }): readonly (readonly [string, string])[] => {
    const prefix = toVariablePrefix(name);
    const url = [`SUBGRAPH_URL_${prefix}`, graphqlUrl] as const;
    if (feedUrl === undefined) return [url];
    return [url, [`ENTITY_CACHE_${prefix}`, "on"], [`SUBGRAPH_FEED_URL_${prefix}`, feedUrl]];
  });
  return Object.fromEntries(variables);
}

/** The variables of the REST proxy. */
export function restProxyVariables(services: readonly ServiceAddresses[]): Record<string, string> {
  const variables = services.flatMap(({ name, restUrl, feedUrl = "none" }) => {
    const prefix = toVariablePrefix(name);
    return [[`${prefix}_URL`, restUrl] as const, [`${prefix}_FEED_URL`, feedUrl] as const];
  });
  return Object.fromEntries(variables);
}

function addressesOf(context: PartContext): readonly ServiceAddresses[] {
  const { ports, addresses, substitutes } = context;
  return serviceNames.map((name) => {
    const restUrl = addresses.get(name) ?? urlOf(portOf(ports, name));
    // A substitute has the path of the platform's own services.
    const external = substitutes.has(name) ? undefined : externalOf(name);
    const graphqlUrl = `${restUrl}${external?.graphqlPath ?? "/graphql"}`;
    return { name, restUrl, graphqlUrl, feedUrl: feedUrlOf(name, context) };
  });
}

/** A substitute has no change feed, and an external service may have none. `addresses` are of external services that run already. */
function feedUrlOf(name: ServiceName, { ports, substitutes, addresses, inherited }: PartContext): string | undefined {
  if (substitutes.has(name)) return undefined;
  if (addresses.has(name)) return inherited[`${toVariablePrefix(name)}_FEED_URL`] || undefined;
  const external = externalOf(name);
  if (external && external.feedUrl === undefined) return undefined;
  return urlOf(feedPortOf(portOf(ports, name)));
}

export function databaseUrl(service: ServiceName, { ports, secrets }: Pick<PartContext, "ports" | "secrets">): string {
  return `postgres://${service}:${secrets.databasePasswords[service]}@127.0.0.1:${ports.postgres}/${service}`;
}
