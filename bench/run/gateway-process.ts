import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders/contenders.ts";
import { composeSupergraph, type SubgraphUrls } from "../graph/compose.ts";
import type { GraphqlRequest } from "../graph/oracle.ts";
import { findFreePort, startPinned } from "./pinned-process.ts";

export interface GatewayProcess {
  readonly pid: number;
  readonly port: number;
  /** A request's JSON answer. */
  ask(request: GraphqlRequest): Promise<{ readonly data?: unknown; readonly errors?: unknown }>;
  /** Rejects when it ends by itself, with its last words. */
  readonly failed: Promise<never>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export interface GatewayPlace {
  readonly subgraphUrls: SubgraphUrls;
  /** Where the supergraph is written to. */
  readonly supergraphFile: string;
  /** Further arguments and variables: for a profile, a monitor. */
  readonly nodeOptions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const readyPollMs = 50;
const readyMsMax = 30_000;

/** A contender on core 0. Resolves when it answers queries. */
export async function startGateway(contender: Contender, place: GatewayPlace): Promise<GatewayProcess> {
  const { subgraphUrls, supergraphFile, nodeOptions = [] } = place;
  writeFileSync(supergraphFile, composeSupergraph(subgraphUrls));
  const ground = { port: await findFreePort(), supergraphFile, subgraphUrls };
  const gateway = startPinned({
    core: 0,
    command: [...nodeOptions, ...contender.command(ground)],
    environment: { ...contender.environment(ground), ...place.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ask = (request: GraphqlRequest) => post(ground.port, request);
  try {
    await Promise.race([untilAnswering(ask), gateway.failed]);
  } catch (error) {
    await gateway.stop();
    throw error;
  }
  return {
    pid: gateway.pid,
    port: ground.port,
    ask,
    failed: gateway.failed,
    signal: (name) => void gateway.child.kill(name),
    stop: () => gateway.stop(),
  };
}

async function untilAnswering(ask: GatewayProcess["ask"]): Promise<void> {
  const deadline = Date.now() + readyMsMax;
  while (Date.now() < deadline) {
    const answer = await ask({ query: "{ __typename }" }).catch(() => undefined);
    if (answer?.data) return;
    await sleep(readyPollMs);
  }
  throw new Error(`It does not answer after ${readyMsMax} ms.`);
}

async function post(port: number, request: GraphqlRequest) {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(request),
  });
  return (await response.json()) as { readonly data?: unknown; readonly errors?: unknown };
}
