import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Contender } from "../contenders/contenders.ts";
import { composeSupergraph, type SubgraphUrls } from "../graph/compose.ts";
import type { BenchmarkRequest } from "../graph/reference-executor.ts";
import { findFreePort, startPinned } from "./pinned-process.ts";

export interface GatewayProcess {
  readonly pid: number;
  readonly port: number;
  /** Sends a request and resolves with the GraphQL result. */
  execute(request: BenchmarkRequest): Promise<{ readonly data?: unknown; readonly errors?: unknown }>;
  /** Rejects with the end of the process's output if the process exits before `stop` is called. */
  readonly failed: Promise<never>;
  signal(name: NodeJS.Signals): void;
  stop(): Promise<void>;
}

export interface GatewayProcessOptions {
  readonly subgraphUrls: SubgraphUrls;
  /** The file that the supergraph is written to. */
  readonly supergraphFile: string;
  /** Further Node options and environment variables, which load a preload module (`preload.ts`). */
  readonly nodeOptions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const readyPollMs = 50;
const readyMsMax = 30_000;

/**
 * Starts a contender on core 0 and resolves when it executes queries.
 * @throws Error if the process exits or is not ready within 30 s.
 */
export async function startGateway(contender: Contender, options: GatewayProcessOptions): Promise<GatewayProcess> {
  const { subgraphUrls, supergraphFile, nodeOptions = [] } = options;
  writeFileSync(supergraphFile, composeSupergraph(subgraphUrls));
  const context = { port: await findFreePort(), supergraphFile, subgraphUrls };
  const gateway = startPinned({
    core: 0,
    command: [...nodeOptions, ...contender.command(context)],
    environment: { ...contender.environment(context), ...options.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const execute = (request: BenchmarkRequest) => post(context.port, request);
  try {
    await Promise.race([waitUntilReady(execute), gateway.failed]);
  } catch (error) {
    await gateway.stop();
    throw error;
  }
  return {
    pid: gateway.pid,
    port: context.port,
    execute,
    failed: gateway.failed,
    signal: (name) => void gateway.child.kill(name),
    stop: () => gateway.stop(),
  };
}

async function waitUntilReady(execute: GatewayProcess["execute"]): Promise<void> {
  const deadline = Date.now() + readyMsMax;
  while (Date.now() < deadline) {
    const result = await execute({ query: "{ __typename }" }).catch(() => undefined);
    if (result?.data) return;
    await sleep(readyPollMs);
  }
  throw new Error(`The gateway is not ready after ${readyMsMax} ms.`);
}

async function post(port: number, request: BenchmarkRequest) {
  const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(request),
  });
  return (await response.json()) as { readonly data?: unknown; readonly errors?: unknown };
}
