import { join } from "node:path";
import type { Secrets } from "./secrets.ts";

export const serviceNames = ["users", "posts", "comments", "orders"] as const;
export type ServiceName = (typeof serviceNames)[number];
export const partNames = ["issuer", ...serviceNames, "gateway", "rest-proxy"] as const;
export type PartName = (typeof partNames)[number];

/** One process of the platform. */
export interface Part {
  readonly name: PartName;
  /** From the repository's root. */
  readonly folder: string;
  /** The variable of the supervisor that holds its port; the process itself reads PORT. */
  readonly portVariable: string;
  readonly defaultPort: number;
}

/** Every process, in the order in which its output and its address are listed. */
export const parts: readonly Part[] = [
  { name: "issuer", folder: "infra/issuer", portVariable: "ISSUER_PORT", defaultPort: 4020 },
  { name: "users", folder: "services/users", portVariable: "USERS_PORT", defaultPort: 4001 },
  { name: "posts", folder: "services/posts", portVariable: "POSTS_PORT", defaultPort: 4002 },
  { name: "comments", folder: "services/comments", portVariable: "COMMENTS_PORT", defaultPort: 4003 },
  { name: "orders", folder: "services/orders", portVariable: "ORDERS_PORT", defaultPort: 4004 },
  { name: "gateway", folder: "gateway", portVariable: "GATEWAY_PORT", defaultPort: 4000 },
  { name: "rest-proxy", folder: "rest-proxy", portVariable: "REST_PROXY_PORT", defaultPort: 4010 },
];

export const postgresPort = { variable: "POSTGRES_PORT", default: 4032 } as const;

export type Ports = Readonly<Record<PartName | "postgres", number>>;

export function isService(name: string): name is ServiceName {
  return serviceNames.some((service) => service === name);
}

export function entryOf(part: Part): string {
  return join(part.folder, "src", "main.ts");
}

/** The files that the gateway and the proxy read: copies that the team's loop rewrites. */
export function publishedFiles(dataDir: string): { readonly supergraph: string; readonly routes: string } {
  const folder = join(dataDir, "supergraph");
  return { supergraph: join(folder, "supergraph.graphql"), routes: join(folder, "routes.json") };
}

export interface PartContext {
  readonly ports: Ports;
  readonly dataDir: string;
  readonly secrets: Secrets;
  /** What the supervisor itself was given; passed on, so that LOG_LEVEL=debug npm start reaches every part. */
  readonly ambient: Readonly<Record<string, string | undefined>>;
}

/** The variables of one part's process. Whose tokens count may be said from outside (ISSUER, …); where it listens not. */
export function environmentOf(name: PartName, context: PartContext): Record<string, string | undefined> {
  return { ...identityOf(context), ...context.ambient, ...fixedFor(name, context), ...ownFor(name, context) };
}

function identityOf({ ports }: PartContext): Record<string, string> {
  const issuer = urlOf(ports.issuer);
  return { ISSUER: issuer, AUDIENCE: "tributary", JWKS_URL: `${issuer}/.well-known/jwks.json` };
}

function fixedFor(name: PartName, { ports }: PartContext): Record<string, string> {
  return {
    HOST: "127.0.0.1",
    PORT: String(ports[name]),
    PROFILE: "development",
    // Long enough for open connections to move to a successor on the same port, short enough for Ctrl-C.
    DRAIN_DELAY_MS: "200",
    SHUTDOWN_GRACE_MS: "2500",
    APOLLO_TELEMETRY_DISABLED: "1", // The gateway says so too, but a standby loads its code before its main does.
  };
}

function ownFor(name: PartName, context: PartContext): Record<string, string> {
  const { ports, dataDir, secrets } = context;
  const published = publishedFiles(dataDir);
  if (isService(name)) return { DATABASE_URL: databaseUrl(name, context), CURSOR_KEYS: secrets.cursorKey };
  if (name === "gateway")
    return { SUPERGRAPH_FILE: published.supergraph, ISSUER_URL: urlOf(ports.issuer), ...movedSubgraphs(ports) };
  if (name === "rest-proxy") return { ROUTES_FILE: published.routes, ...serviceUrls(ports) };
  return {};
}

/** The address with which a service opens its own database. */
export function databaseUrl(service: ServiceName, { ports, secrets }: Pick<PartContext, "ports" | "secrets">): string {
  return `postgres://${service}:${secrets.databasePasswords[service]}@127.0.0.1:${ports.postgres}/${service}`;
}

export function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

// The supergraph names the default addresses; only who listens elsewhere has to be named again.
function movedSubgraphs(ports: Ports): Record<string, string> {
  const moved = parts.filter(({ name, defaultPort }) => isService(name) && ports[name] !== defaultPort);
  return Object.fromEntries(
    moved.map(({ name }) => [`SUBGRAPH_URL_${name.toUpperCase()}`, `${urlOf(ports[name])}/graphql`]),
  );
}

function serviceUrls(ports: Ports): Record<string, string> {
  return Object.fromEntries(serviceNames.map((name) => [`${name.toUpperCase()}_URL`, urlOf(ports[name])]));
}
