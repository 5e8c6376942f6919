import { setTimeout as sleep } from "node:timers/promises";

/** @returns false if the condition does not hold in time. */
export async function pollUntil(
  holds: () => boolean | Promise<boolean>,
  { everyMs, withinMs }: { readonly everyMs: number; readonly withinMs: number },
): Promise<boolean> {
  const deadlineMs = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadlineMs) return false;
    await sleep(everyMs);
  }
  return true;
}
