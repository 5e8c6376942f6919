// Runs one resilience check: gives it a context, collects its findings, and stops what it started.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResilienceCheck, Finding, CheckContext } from "./check.ts";
import type { Cores } from "./cores.ts";
import { startGatewayProcess } from "./platform/gateway-process.ts";
import type { ResilienceOptions } from "./options.ts";
import { type CheckOutcome, reportFinding } from "./report.ts";

export interface CheckRunOptions {
  readonly options: ResilienceOptions;
  readonly cores: Cores;
  readonly print: (line: string) => void;
}

/** Runs one check, and stops everything that it started. */
export async function runCheck(check: ResilienceCheck, o: CheckRunOptions): Promise<CheckOutcome> {
  const cleanups: (() => unknown)[] = [];
  const findings: Finding[] = [];
  const report = (finding: Finding) => {
    findings.push(finding);
    reportFinding(finding, o.print);
  };
  const interrupted = waitForInterruption();
  o.print(`${check.name}: ${check.claim}`);
  try {
    await Promise.race([check.run(createContext({ ...o, report }, cleanups)), interrupted.signalled]);
    return { check, findings };
  } catch (error) {
    if (interrupted.isSignalled()) throw error;
    report({ claim: "the check completes", passed: false, measured: String(error) });
    return { check, findings };
  } finally {
    for (const cleanUp of cleanups.reverse()) await cleanUp();
    interrupted.removeListeners();
    o.print("");
  }
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
        prefix: cores.gatewayPrefix,
      });
      cleanups.push(() => gateway.stop());
      return Object.assign(gateway, { file });
    },
    onCleanup: (cleanUp) => void cleanups.push(cleanUp),
  };
}

/** Rejects after SIGINT or SIGTERM, so that the check's processes are stopped before this one ends. */
function waitForInterruption() {
  const { promise: signalled, reject } = Promise.withResolvers<never>();
  signalled.catch(() => {});
  let isAborted = false;
  const onSignal = (signal: string) => {
    isAborted = true;
    reject(new Error(`Ended by ${signal}.`));
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, onSignal);
  return {
    signalled,
    isSignalled: () => isAborted,
    removeListeners: () => signals.forEach((signal) => process.off(signal, onSignal)),
  };
}
