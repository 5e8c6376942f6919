const firstDelayMs = 250;
const longestDelayMs = 8_000;

/** The delay before a restart after `failures` consecutive failures: 250 ms, doubled each time, at most 8 s. */
export function backoffMs(failures: number): number {
  return Math.min(firstDelayMs * 2 ** Math.max(0, failures - 1), longestDelayMs);
}
