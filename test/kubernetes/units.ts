import { readConfig as readComments } from "../../services/comments/src/config.ts";
import { readConfig as readOrders } from "../../services/orders/src/config.ts";
import { readConfig as readPosts } from "../../services/posts/src/config.ts";
import { readConfig as readUsers } from "../../services/users/src/config.ts";
import { readConfig as readGateway } from "../../gateway/src/config.ts";
import { readConfig as readIssuer } from "../../infra/issuer/src/config.ts";
import { readConfig as readRestProxy } from "../../rest-proxy/src/config.ts";
import type { Environment } from "../../kit/src/process/env.ts";

/** What every process of ours is told. */
interface UnitConfig {
  readonly port: number;
  readonly host: string;
  readonly drainDelayMs: number;
  readonly shutdownGraceMs: number;
  /** Where metrics are. The issuer has none. */
  readonly adminPort?: number | undefined;
  readonly adminHost?: string;
}

export interface Unit {
  readonly name: string;
  readonly kind: "service" | "door" | "issuer";
  /** The process's own: it throws where the process would not start. */
  readonly readConfig: (environment: Environment) => UnitConfig;
  /** How long an answer may be worked on: whoever asked has given up by then. */
  readonly answerMsMax: (environment: Environment) => number;
}

export const serviceNames = ["users", "posts", "comments", "orders"] as const;

/** Both doors wait for a service as long: SUBGRAPH_TIMEOUT_MS and UPSTREAM_TIMEOUT_MS. */
const doorPatienceMs = 10_000;

const readProxy = (environment: Environment) => readRestProxy(environment, serviceNames);

export const units: readonly Unit[] = [
  { name: "users", kind: "service", readConfig: readUsers, answerMsMax: () => doorPatienceMs },
  { name: "posts", kind: "service", readConfig: readPosts, answerMsMax: () => doorPatienceMs },
  { name: "comments", kind: "service", readConfig: readComments, answerMsMax: () => doorPatienceMs },
  { name: "orders", kind: "service", readConfig: readOrders, answerMsMax: () => doorPatienceMs },
  {
    name: "gateway",
    kind: "door",
    readConfig: readGateway,
    answerMsMax: (environment) => readGateway(environment).requestTimeoutMs,
  },
  {
    name: "rest-proxy",
    kind: "door",
    readConfig: readProxy,
    answerMsMax: (environment) => readProxy(environment).upstreamTimeoutMs,
  },
];

/** In the local overlay alone. */
export const issuer: Unit = { name: "issuer", kind: "issuer", readConfig: readIssuer, answerMsMax: () => 1_000 };
