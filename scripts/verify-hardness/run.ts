import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Check, Finding, Scene } from "./check.ts";
import type { Cores } from "./cores.ts";
import { startGatewayProcess } from "./gateway-process.ts";
import type { VerifyOptions } from "./options.ts";
import { type CheckOutcome, reportFinding } from "./report.ts";

export interface RunOptions {
  readonly options: VerifyOptions;
  readonly cores: Cores;
  readonly print: (line: string) => void;
}

/** Runs one check in a scene of its own, and ends all that was started, whatever happens. */
export async function runCheck(check: Check, o: RunOptions): Promise<CheckOutcome> {
  const ends: (() => unknown)[] = [];
  const findings: Finding[] = [];
  const find = (finding: Finding) => {
    findings.push(finding);
    reportFinding(finding, o.print);
  };
  const interrupted = hearInterruption();
  o.print(`${check.name}: ${check.claim}`);
  try {
    await Promise.race([check.run(createScene({ ...o, find }, ends)), interrupted.happens]);
    return { check, findings };
  } catch (error) {
    if (interrupted.happened()) throw error;
    find({ claim: "the check runs to its end", holds: false, measured: String(error) });
    return { check, findings };
  } finally {
    for (const end of ends.reverse()) await end();
    interrupted.forget();
    o.print("");
  }
}

function createScene(
  { options, cores, print, find }: RunOptions & { find: (finding: Finding) => void },
  ends: (() => unknown)[],
): Scene {
  const folder = mkdtempSync(join(tmpdir(), "tributary-hardness-"));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  let count = 0;
  return {
    options,
    note: (line) => print(`        ${line}`),
    find,
    async startGateway(supergraphSdl, environment = {}) {
      const file = join(folder, `supergraph-${++count}.graphql`);
      writeFileSync(file, supergraphSdl);
      const gateway = await startGatewayProcess({
        kind: options.control ? "stock" : "ours",
        environment: { SUPERGRAPH_FILE: file, ...environment },
        prefix: cores.gatewayPrefix,
      });
      ends.push(() => gateway.stop());
      return Object.assign(gateway, { file });
    },
    onEnd: (end) => void ends.push(end),
  };
}

/** So that nothing is left behind when somebody wants an end. */
function hearInterruption() {
  const { promise: happens, reject } = Promise.withResolvers<never>();
  happens.catch(() => {});
  let heard = false;
  const hear = (signal: string) => {
    heard = true;
    reject(new Error(`Ended by ${signal}.`));
  };
  const signals = ["SIGINT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, hear);
  return {
    happens,
    happened: () => heard,
    forget: () => signals.forEach((signal) => process.off(signal, hear)),
  };
}
