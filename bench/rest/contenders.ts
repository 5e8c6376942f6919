import { join } from "node:path";
import { readStartCommand } from "../contenders/start-command.ts";
import { writeNginxConfig } from "./nginx.ts";
import type { RestWorkloadName } from "./workloads.ts";

export type RestContenderName = "floor" | "nginx-cache" | "nginx" | "fastify" | "ours" | "service";

/** What a contender is started with. */
export interface RestGround {
  readonly port: number;
  readonly originPort: number;
  /** Empty, and its own. */
  readonly folder: string;
  /** Of the posts service, with one published post. */
  readonly databaseUrl: string;
}

interface Start {
  readonly program?: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface RestContender {
  readonly name: RestContenderName;
  readonly title: string;
  readonly needs: "nginx" | "peers" | "nothing";
  readonly workloads: readonly RestWorkloadName[];
  start(ground: RestGround): Start;
}

const bench = join(import.meta.dirname, "..");

const serviceCommand = [join(bench, "../services/posts/src/main.ts")];

export const restContenders: readonly RestContender[] = [
  {
    name: "floor",
    title: "an empty `node:http` handler",
    needs: "nothing",
    workloads: ["hit"],
    start: ({ port }) => ({ command: [join(bench, "rest/empty-handler.ts")], environment: { PORT: String(port) } }),
  },
  {
    name: "nginx-cache",
    title: "nginx, `proxy_cache`",
    needs: "nginx",
    workloads: ["hit", "not-modified"],
    start: (ground) => startNginx(ground, true),
  },
  {
    name: "nginx",
    title: "nginx, `proxy_pass`",
    needs: "nginx",
    workloads: ["pass"],
    start: (ground) => startNginx(ground, false),
  },
  {
    name: "fastify",
    title: "`@fastify/http-proxy`",
    needs: "peers",
    workloads: ["pass"],
    start: ({ port, originPort }) => ({
      command: [join(bench, "peers/fastify-proxy.mjs")],
      environment: { PORT: String(port), ORIGIN: addressOf(originPort) },
    }),
  },
  {
    name: "ours",
    title: "ours",
    needs: "nothing",
    workloads: ["hit", "not-modified", "pass"],
    start: (ground) => ({ command: readStartCommand("rest-proxy"), environment: ourEnvironment(ground) }),
  },
  {
    name: "service",
    title: "the posts service",
    needs: "nothing",
    workloads: ["service", "service-not-modified", "service-graphql"],
    start: (ground) => ({ command: serviceCommand, environment: serviceEnvironment(ground) }),
  },
];

function startNginx({ folder, port, originPort }: RestGround, caches: boolean): Start {
  return { program: "nginx", command: ["-c", writeNginxConfig({ folder, port, originPort, caches })] };
}

/** As in production, with every service at the one origin. */
function ourEnvironment({ port, originPort }: RestGround): Readonly<Record<string, string>> {
  const services = ["USERS", "POSTS", "COMMENTS", "ORDERS"].map((name) => [`${name}_URL`, addressOf(originPort)]);
  return {
    ...Object.fromEntries(services),
    PROFILE: "production",
    TRUSTED_PROXIES: "none",
    // Counted like everybody else, and never refused.
    RATE_LIMIT_READS_PER_MINUTE: "100000000",
    PORT: String(port),
    HOST: "127.0.0.1",
    ROUTES_FILE: join(bench, "../supergraph/routes.json"),
  };
}

/** With the log of a production process: lines of traced requests are written. */
function serviceEnvironment({ port, databaseUrl }: RestGround): Readonly<Record<string, string>> {
  return { PORT: String(port), HOST: "127.0.0.1", DATABASE_URL: databaseUrl };
}

const addressOf = (port: number) => `http://127.0.0.1:${port}`;
