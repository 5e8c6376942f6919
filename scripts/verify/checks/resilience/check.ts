// The types of a resilience check, and `runCheck`, which resilience.ts calls for each check.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { VerificationRun } from "../../verification.ts";
import { type TestedGateway, GatewayFault, startTestedGateway } from "./tested-gateway.ts";
import { createGraphqlClient, type GraphqlClient } from "./graphql-client.ts";

/** How long the checks run. */
interface Sizes {
  /** Seconds for which `attacks` measures each attack, after 3 s of warm-up. */
  readonly seconds: number;
  /** Clients that disconnect in `aborts`. */
  readonly aborts: number;
  /** Successive supergraphs in `generations`. */
  readonly generations: number;
  /** Different documents that `introspection` sends. */
  readonly documents: number;
  /** Minutes for which `memory` samples memory use under load. */
  readonly minutes: number;
}

const fullSizes: Sizes = { seconds: 30, aborts: 1_000, generations: 1_000, documents: 10_000, minutes: 30 };
const quickSizes: Sizes = { seconds: 3, aborts: 100, generations: 100, documents: 500, minutes: 1 };

export interface ResilienceCheck {
  /** The name for `--only`. */
  readonly name: string;
  /** What is proved if all claims hold. */
  readonly purpose: string;
  /** Whether an unmodified Apollo Gateway fails this check: then `--control` requires that at least one claim does not hold. */
  readonly apolloFails: boolean;
  /** If it throws a `GatewayFault`, one claim does not hold. After any other error the check has failed, also with `--control`. */
  run(context: CheckContext): Promise<void>;
}

/** What a check uses. Everything that it starts is stopped before the next check. */
export interface CheckContext {
  readonly sizes: Sizes;
  /** Prints a further measurement, or the progress of a long check. */
  readonly print: (line: string) => void;
  claim(text: string, holds: boolean, measured: string): void;
  /**
   * Starts this repository's gateway, or with `--control` Apollo Gateway, with this supergraph. Resolves when the gateway serves it.
   * @param environment additional variables.
   */
  startGateway(supergraphSdl: string, environment?: Readonly<Record<string, string>>): Promise<TestedGateway>;
  createClient(gateway: TestedGateway, timeoutMs?: number): GraphqlClient;
  /** Registers a function that runs after the check. The registered functions run in reverse order, also if one of them throws. */
  onCleanup(cleanUp: () => unknown): void;
}

type ResilienceRun = Pick<VerificationRun, "isQuick" | "isControl" | "print" | "claim" | "onCleanup">;

/** Runs a check, and stops what it started. Never rejects. */
export async function runCheck(check: ResilienceCheck, run: ResilienceRun): Promise<void> {
  const cleanups: (() => unknown)[] = [];
  // SIGINT and SIGTERM do not end `check.run`, so after them runner.ts runs the cleanups.
  run.onCleanup(() => runCleanups(cleanups));
  const errors: unknown[] = [];
  let failedClaims = 0;
  const claim = (text: string, holds: boolean, measured: string) => {
    if (!holds) failedClaims++;
    // With `--control` the claim is printed, and not judged: only `failedClaims` is.
    run.claim(text, holds, { measured });
  };
  run.print(`\n${check.name}: ${check.purpose}`);
  try {
    await check.run(createContext(run, claim, cleanups));
  } catch (error) {
    if (error instanceof GatewayFault) claim("the gateway keeps running", false, error.message);
    else errors.push(error);
  }
  errors.push(...(await runCleanups(cleanups)));
  const measured = errors.length === 0 ? {} : { measured: errors.map(String).join("; ") };
  run.claim("the check completes and stops what it started", errors.length === 0, { ...measured, control: "holds" });
  if (run.isControl && check.apolloFails) {
    const found = { measured: `${failedClaims} claims do not hold`, control: "holds" } as const;
    run.claim("the check finds a fault of Apollo Gateway", failedClaims > 0, found);
  }
}

function createContext(
  { isQuick, isControl, print }: ResilienceRun,
  claim: CheckContext["claim"],
  cleanups: (() => unknown)[],
): CheckContext {
  const folder = mkdtempSync(join(tmpdir(), "tributary-resilience-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  let gatewayCount = 0;
  return {
    sizes: isQuick ? quickSizes : fullSizes,
    claim,
    print: (line) => print(`      ${line}`),
    async startGateway(supergraphSdl, environment = {}) {
      gatewayCount++;
      const gateway = await startTestedGateway({
        kind: isControl ? "apollo" : "tributary",
        supergraphSdl,
        supergraphFile: join(folder, `supergraph-${gatewayCount}.graphql`),
        environment,
      });
      cleanups.push(() => gateway.stop());
      return gateway;
    },
    createClient({ url }, timeoutMs) {
      const client = createGraphqlClient(url, timeoutMs);
      cleanups.push(() => client.close());
      return client;
    },
    onCleanup(cleanUp) {
      cleanups.push(cleanUp);
    },
  };
}

/** Removes and runs all cleanups, the last registered first. @returns the errors of those that failed. */
async function runCleanups(cleanups: (() => unknown)[]): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (let cleanUp = cleanups.pop(); cleanUp; cleanUp = cleanups.pop()) {
    try {
      await cleanUp();
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}
