import { join } from "node:path";
import { readNodeArguments } from "../contenders/image-arguments.ts";
import { writeNginxConfig } from "./nginx.ts";
import type { RestWorkloadName } from "./rest-workloads.ts";

export type RestContenderName = "empty-handler" | "nginx-cache" | "nginx" | "fastify" | "ours" | "service";

export interface RestContenderContext {
  readonly port: number;
  readonly originPort: number;
  /** An empty folder for this process only. */
  readonly folder: string;
  /** The posts service's database, which contains one published post. */
  readonly databaseUrl: string;
}

interface RestContenderStart {
  readonly program?: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export interface RestContender {
  readonly name: RestContenderName;
  readonly title: string;
  readonly requires: "nginx" | "peers" | "nothing";
  readonly workloads: readonly RestWorkloadName[];
  start(context: RestContenderContext): RestContenderStart;
}

const bench = join(import.meta.dirname, "..");

const serviceCommand = [join(bench, "../services/posts/src/main.ts")];

export const restContenders: readonly RestContender[] = [
  {
    name: "empty-handler",
    title: "an empty `node:http` handler",
    requires: "nothing",
    workloads: ["hit"],
    start: ({ port }) => ({ command: [join(bench, "rest/empty-handler.ts")], environment: { PORT: String(port) } }),
  },
  {
    name: "nginx-cache",
    title: "nginx, `proxy_cache`",
    requires: "nginx",
    workloads: ["hit", "not-modified"],
    start: (context) => startNginx(context, true),
  },
  {
    name: "nginx",
    title: "nginx, `proxy_pass`",
    requires: "nginx",
    workloads: ["pass"],
    start: (context) => startNginx(context, false),
  },
  {
    name: "fastify",
    title: "`@fastify/http-proxy`",
    requires: "peers",
    workloads: ["pass"],
    start: ({ port, originPort }) => ({
      command: [join(bench, "peers/fastify-proxy.mjs")],
      environment: { PORT: String(port), ORIGIN: toUrl(originPort) },
    }),
  },
  {
    name: "ours",
    title: "Tributary",
    requires: "nothing",
    workloads: ["hit", "not-modified", "pass"],
    start: (context) => ({ command: readNodeArguments("rest-proxy"), environment: ourEnvironment(context) }),
  },
  {
    name: "service",
    title: "the posts service",
    requires: "nothing",
    workloads: ["service", "service-not-modified", "service-graphql"],
    start: (context) => ({ command: serviceCommand, environment: serviceEnvironment(context) }),
  },
];

function startNginx({ folder, port, originPort }: RestContenderContext, caches: boolean): RestContenderStart {
  return { program: "nginx", command: ["-c", writeNginxConfig({ folder, port, originPort, caches })] };
}

/** The production configuration, with the origin as the URL of every service. */
function ourEnvironment({ port, originPort }: RestContenderContext): Readonly<Record<string, string>> {
  const services = ["USERS", "POSTS", "COMMENTS", "ORDERS"].map((name) => [`${name}_URL`, toUrl(originPort)]);
  return {
    ...Object.fromEntries(services),
    PROFILE: "production",
    TRUSTED_PROXIES: "none",
    // So high that the rate limiter counts the requests and never rejects one.
    RATE_LIMIT_READS_PER_MINUTE: "100000000",
    PORT: String(port),
    HOST: "127.0.0.1",
    ROUTES_FILE: join(bench, "../supergraph/routes.json"),
  };
}

/** Logs as in production, so traced requests write log lines. */
function serviceEnvironment({ port, databaseUrl }: RestContenderContext): Readonly<Record<string, string>> {
  return { PORT: String(port), HOST: "127.0.0.1", DATABASE_URL: databaseUrl };
}

const toUrl = (port: number) => `http://127.0.0.1:${port}`;
