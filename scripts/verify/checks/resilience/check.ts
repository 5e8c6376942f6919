// The types of a resilience check, and `runCheck`, which resilience.ts calls for each check.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCleanups } from "../../runner.ts";
import type { VerificationRun } from "../../verification.ts";
import { type TestedGateway, GatewayFault, startTestedGateway } from "./tested-gateway.ts";
import { createGraphqlClient, type GraphqlClient } from "./graphql-client.ts";

export interface ResilienceCheck {
  /** The name for `--only`. */
  readonly name: string;
  /** What is proved if all claims hold. */
  readonly purpose: string;
  /** Whether an unmodified Apollo Gateway fails this check: then `--control` requires that at least one claim does not hold. */
  readonly apolloFails: boolean;
  /** If it throws a `GatewayFault`, one claim does not hold. After any other error the verification has failed, also with `--control`. */
  run(context: CheckContext): Promise<void>;
}

/** What a check uses. Everything that it starts is stopped before the next check. */
export interface CheckContext extends Pick<VerificationRun, "isQuick" | "isControl" | "print" | "onCleanup"> {
  claim(text: string, holds: boolean, measured: string): void;
  /**
   * Starts this repository's gateway, or with `--control` Apollo Gateway, with this supergraph. Resolves when the gateway serves it.
   * @param environment additional variables.
   */
  startGateway(supergraphSdl: string, environment?: Readonly<Record<string, string>>): Promise<TestedGateway>;
  createClient(gateway: TestedGateway, timeoutMs?: number): GraphqlClient;
}

/** Runs a check, and stops what it started. */
export async function runCheck(
  check: ResilienceCheck,
  run: Pick<VerificationRun, "isQuick" | "isControl" | "print" | "claim" | "onCleanup">,
): Promise<void> {
  const { add: onCleanup, runAll } = createCleanups();
  // SIGINT and SIGTERM do not end `check.run`, so after them runner.ts runs the cleanups.
  run.onCleanup(runAll);
  const folder = mkdtempSync(join(tmpdir(), "tributary-resilience-"));
  onCleanup(() => rmSync(folder, { recursive: true, force: true }));
  let failedClaims = 0;
  const claim: CheckContext["claim"] = (text, holds, measured) => {
    if (!holds) failedClaims++;
    // With `--control` the claim is printed, and not judged: only `failedClaims` is.
    run.claim(text, holds, { measured });
  };
  const context: CheckContext = {
    isQuick: run.isQuick,
    isControl: run.isControl,
    print: run.print,
    claim,
    onCleanup,
    async startGateway(supergraphSdl, environment = {}) {
      const kind = run.isControl ? "apollo" : "tributary";
      const gateway = await startTestedGateway({ kind, supergraphSdl, folder, environment });
      onCleanup(() => gateway.stop());
      return gateway;
    },
    createClient({ url }, timeoutMs) {
      const client = createGraphqlClient(url, timeoutMs);
      onCleanup(() => client.close());
      return client;
    },
  };
  run.print(`\n${check.name}: ${check.purpose}`);
  try {
    await check.run(context);
  } catch (error) {
    if (!(error instanceof GatewayFault)) throw error;
    claim("the gateway keeps running", false, error.message);
  } finally {
    await runAll();
  }
  if (run.isControl && check.apolloFails) {
    const found = { measured: `${failedClaims} claims do not hold`, control: "holds" } as const;
    run.claim("the check finds a fault of Apollo Gateway", failedClaims > 0, found);
  }
}
