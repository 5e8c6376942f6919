import { join } from "node:path";

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

/** Where a part listens. */
export function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}
