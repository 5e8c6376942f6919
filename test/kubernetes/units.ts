import { readConfig as readGateway } from "../../gateway/src/config.ts";
import { readConfig as readIssuer } from "../../infra/issuer/src/config.ts";
import { readConfig as readRestProxy } from "../../rest-proxy/src/config.ts";
import type { Environment } from "../../kit/src/process/env.ts";
import { loadConfigReaders, serviceNames } from "../services.ts";

/** The configuration that all processes have. */
interface UnitConfig {
  readonly port: number;
  readonly host: string;
  readonly drainDelayMs: number;
  readonly shutdownGraceMs: number;
  /** Port of the metrics. The issuer has none. */
  readonly adminPort?: number | undefined;
  readonly adminHost?: string;
}

export interface Unit {
  readonly name: string;
  /** The process's own function. It throws for a configuration with which the process does not start. */
  readonly readConfig: (environment: Environment) => UnitConfig;
  /** The longest duration of a request: after it the caller's timeout has ended the request. */
  readonly requestMsMax: (environment: Environment) => number;
}

/** SUBGRAPH_TIMEOUT_MS of the gateway and UPSTREAM_TIMEOUT_MS of the REST proxy. */
const serviceRequestMsMax = 10_000;

const readProxy = (environment: Environment) => readRestProxy(environment, serviceNames);

export const units: readonly Unit[] = [
  ...(await loadConfigReaders()).map(([name, readConfig]) => ({
    name,
    readConfig,
    requestMsMax: () => serviceRequestMsMax,
  })),
  {
    name: "gateway",
    readConfig: readGateway,
    requestMsMax: (environment) => readGateway(environment).requestTimeoutMs,
  },
  {
    name: "rest-proxy",
    readConfig: readProxy,
    requestMsMax: (environment) => readProxy(environment).upstreamTimeoutMs,
  },
];

/** Only in the local overlay. */
export const issuer: Unit = { name: "issuer", readConfig: readIssuer, requestMsMax: () => 1_000 };
