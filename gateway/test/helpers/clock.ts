import { vi } from "vitest";

const realNow = performance.now.bind(performance);

/** Moves the monotonic clock of this process forward until `vi.restoreAllMocks`. */
export function passTime(ms: number): void {
  const passedMs = performance.now() - realNow() + ms;
  vi.spyOn(performance, "now").mockImplementation(() => realNow() + passedMs);
}
