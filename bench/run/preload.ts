import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { GatewayProcess } from "./gateway-process.ts";

/** A module of `preload/` that is loaded into a gateway with `--import` and measures inside its process. */
export interface Preload<Report> {
  /** Node options and environment variables to start the gateway with. */
  readonly nodeOptions: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Sends SIGUSR2 and resolves with the module's report on the time since the previous signal. @throws Error after 10 s without a report. */
  collect(gateway: GatewayProcess): Promise<Report>;
}

const pollMs = 5;
const reportMsMax = 10_000;

export function createPreload<Report>(module: "loop-pauses" | "cpu-profile"): Preload<Report> {
  const file = join(mkdtempSync(join(tmpdir(), "bench-preload-")), "report.json");
  return {
    nodeOptions: ["--import", join(import.meta.dirname, `../preload/${module}.ts`)],
    environment: { BENCH_REPORT_FILE: file },
    async collect(gateway) {
      rmSync(file, { force: true });
      gateway.signal("SIGUSR2");
      const deadline = Date.now() + reportMsMax;
      while (!existsSync(file)) {
        if (Date.now() > deadline) throw new Error(`No report of preload/${module}.ts after ${reportMsMax} ms.`);
        await sleep(pollMs);
      }
      return JSON.parse(readFileSync(file, "utf8"));
    },
  };
}
