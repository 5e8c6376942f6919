// Runs one check of the gateway's hardness, that is its resilience against wrong subgraphs and hostile clients: gives the check a context,
// collects its findings, and stops what it started.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResilienceCheck, Finding, CheckContext } from "./check.ts";
import type { Cores } from "./cores.ts";
import { GatewayFault, startGatewayProcess } from "./platform/gateway-process.ts";
import type { ResilienceOptions } from "./options.ts";
import { type CheckOutcome, reportFinding } from "./report.ts";

export interface CheckRunOptions {
  readonly options: ResilienceOptions;
  readonly cores: Cores;
  readonly print: (line: string) => void;
}

/**
 * Never rejects because of the check: if the check throws, or a cleanup, the outcome has crashed; a `GatewayFault` is a failed finding instead.
 * Rejects after SIGINT or SIGTERM, when everything is stopped.
 */
export async function runCheck(check: ResilienceCheck, o: CheckRunOptions): Promise<CheckOutcome> {
  const cleanups: (() => unknown)[] = [];
  const findings: Finding[] = [];
  let hasCrashed = false;
  const report = (finding: Finding) => {
    findings.push(finding);
    reportFinding(finding, o.print);
  };
  const reportCrash = (claim: string, error: unknown) => {
    hasCrashed = true;
    reportFinding({ claim, passed: false, measured: String(error) }, o.print);
  };
  const interruption = watchForInterruption();
  o.print(`${check.name}: ${check.purpose}`);
  try {
    await Promise.race([check.run(createContext({ ...o, report }, cleanups)), interruption.rejection]);
  } catch (error) {
    if (interruption.isInterrupted()) throw error;
    if (error instanceof GatewayFault)
      report({ claim: "the gateway keeps running", passed: false, measured: error.message });
    else reportCrash("the check completes", error);
  } finally {
    const errors = await runCleanups(cleanups);
    for (const error of errors) reportCrash("everything that the check started is stopped", error);
    interruption.stopWatching();
    o.print("");
  }
  return { check, findings, hasCrashed };
}

/** Runs all cleanups, the last registered first. @returns the errors of those that failed. */
async function runCleanups(cleanups: readonly (() => unknown)[]): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  for (const cleanUp of cleanups.toReversed()) {
    try {
      await cleanUp();
    } catch (error) {
      errors.push(error);
    }
  }
  return errors;
}

function createContext(
  { options, cores, print, report }: CheckRunOptions & { report: (finding: Finding) => void },
  cleanups: (() => unknown)[],
): CheckContext {
  const folder = mkdtempSync(join(tmpdir(), "tributary-resilience-"));
  cleanups.push(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  return {
    options,
    note: (line) => print(`        ${line}`),
    report,
    async startGateway(supergraphSdl, environment = {}) {
      const file = join(folder, `supergraph-${++count}.graphql`);
      writeFileSync(file, supergraphSdl);
      const gateway = await startGatewayProcess({
        kind: options.control ? "apollo" : "tributary",
        environment: { SUPERGRAPH_FILE: file, ...environment },
        commandPrefix: cores.gatewayPrefix,
      });
      cleanups.push(() => gateway.stop());
      return Object.assign(gateway, { file });
    },
    onCleanup: (cleanUp) => void cleanups.push(cleanUp),
  };
}

/** `rejection` rejects after SIGINT or SIGTERM, so that the check's processes are stopped before this one ends. */
function watchForInterruption() {
  const { promise: rejection, reject } = Promise.withResolvers<never>();
  rejection.catch(() => {});
  let isInterrupted = false;
  const onSignal = (signal: string) => {
    isInterrupted = true;
    reject(new Error(`Ended by ${signal}.`));
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    rejection,
    isInterrupted: () => isInterrupted,
    stopWatching: () => signals.forEach((signal) => process.off(signal, onSignal)),
  };
}
