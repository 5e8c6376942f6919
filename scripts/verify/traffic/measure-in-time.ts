import type { VerificationRun } from "../verification.ts";

/** If requests are sent later than this, the latencies measure the load, or the machine, instead of the process under test. */
const lagMsMax = 20;
const attemptsMax = 5;

type Lagging = { readonly lagMs: number } | undefined;

/** Measures again if requests were sent late: not in the control, whose load itself is late. @throws Error if they are late five times. */
export async function measureInTime<const Reports extends readonly Lagging[]>(
  { print, isControl }: Pick<VerificationRun, "print" | "isControl">,
  measure: () => Promise<Reports>,
  onLate: () => void = () => {},
): Promise<Reports> {
  for (let attempt = 1; ; attempt++) {
    const reports = await measure();
    const lagMs = Math.max(...reports.map((report) => report?.lagMs ?? 0));
    if (isControl || lagMs <= lagMsMax) return reports;
    const problem = `Requests were sent up to ${lagMs.toFixed(0)} ms late: the run is void`;
    if (attempt === attemptsMax) throw new Error(problem);
    print(`${problem}, and is repeated.`);
    onLate();
  }
}
