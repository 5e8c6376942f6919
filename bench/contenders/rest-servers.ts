// The REST servers to measure, and how each is started.
import { join } from "node:path";
import { readServices } from "../../supergraph/services.ts";
import type { Contender, ContenderContext } from "./contender.ts";
import { readNodeArguments } from "./image-arguments.ts";
import { writeNginxConfig } from "./nginx.ts";

const bench = join(import.meta.dirname, "..");

export const restServers: readonly Contender[] = [
  {
    name: "empty-handler",
    title: "an empty `node:http` handler",
    isOurs: false,
    workloads: ["hit"],
    start: ({ port }) => ({
      args: [join(bench, "contenders/empty-handler.ts")],
      environment: { PORT: String(port) },
    }),
  },
  {
    name: "nginx-cache",
    title: "nginx, `proxy_cache`",
    isOurs: false,
    requires: "nginx",
    workloads: ["hit", "not-modified"],
    start: (context) => ({ program: "nginx", args: ["-c", writeNginxConfig(context, { caches: true })] }),
  },
  {
    name: "nginx",
    title: "nginx, `proxy_pass`",
    isOurs: false,
    requires: "nginx",
    workloads: ["pass"],
    start: (context) => ({ program: "nginx", args: ["-c", writeNginxConfig(context, { caches: false })] }),
  },
  {
    name: "fastify",
    title: "`@fastify/http-proxy`",
    isOurs: false,
    requires: "peers",
    workloads: ["pass"],
    start: ({ port, originUrl }) => ({
      args: [join(bench, "peers/fastify-proxy.mjs")],
      environment: { PORT: String(port), ORIGIN: originUrl },
    }),
  },
  {
    name: "ours",
    title: "Tributary",
    isOurs: true,
    workloads: ["hit", "not-modified", "pass"],
    start: (context) => ({ args: readNodeArguments("rest-proxy"), environment: toProxyEnvironment(context) }),
  },
  {
    name: "service",
    title: "the posts service",
    isOurs: true,
    requires: "posts database",
    workloads: ["service", "service-not-modified", "service-graphql"],
    // ACCESS_LOG has its default, `sampled`: traced requests write log lines, as in production. FEED_PORT 0 is any free port.
    start: ({ port, databaseUrl }) => ({
      args: [join(bench, "../services/posts/src/main.ts")],
      environment: { PORT: String(port), HOST: "127.0.0.1", DATABASE_URL: databaseUrl, FEED_PORT: "0" },
    }),
  },
];

/** The production configuration, with the origin as the URL of every service. */
function toProxyEnvironment({ port, originUrl }: ContenderContext): Readonly<Record<string, string>> {
  const serviceVariables = readServices(join(bench, "..")).flatMap(({ variablePrefix }) => [
    [`${variablePrefix}_URL`, originUrl],
    // The origin of this benchmark has no change feed.
    [`${variablePrefix}_FEED_URL`, "none"],
  ]);
  return {
    ...Object.fromEntries(serviceVariables),
    FEED_KEYS: "for-benchmarks-only",
    CONSISTENCY_KEYS: "for-benchmarks-only",
    PROFILE: "production",
    TRUSTED_PROXIES: "none",
    // So high that the rate limiter counts the requests and never rejects one.
    RATE_LIMIT_READS_PER_MINUTE: "100000000",
    PORT: String(port),
    HOST: "127.0.0.1",
    ROUTES_FILE: join(bench, "../supergraph/routes.json"),
  };
}
