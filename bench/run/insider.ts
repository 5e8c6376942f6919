import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayProcess } from "./gateway-process.ts";

/** A module of `inside/` that is loaded into a gateway and tells what it sees there. */
export interface Insider<Told> {
  /** What the gateway has to be started with. */
  readonly nodeOptions: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  ask(gateway: GatewayProcess): Promise<Told>;
}

const pollMs = 5;
const answerMsMax = 10_000;

export function createInsider<Told>(module: "loop-pauses" | "cpu-profile"): Insider<Told> {
  const file = join(mkdtempSync(join(tmpdir(), "bench-insider-")), "told.json");
  return {
    nodeOptions: ["--import", join(import.meta.dirname, `../inside/${module}.ts`)],
    environment: { BENCH_TELL_FILE: file },
    async ask(gateway) {
      rmSync(file, { force: true });
      gateway.signal("SIGUSR2");
      const deadline = Date.now() + answerMsMax;
      while (!existsSync(file)) {
        if (Date.now() > deadline) throw new Error(`The gateway's ${module} do not answer.`);
        await sleep(pollMs);
      }
      return JSON.parse(readFileSync(file, "utf8"));
    },
  };
}
