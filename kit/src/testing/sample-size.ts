/** Whether a test runs in full: each night (`FULL_SAMPLES=true npm test`). */
export const isFull = process.env["FULL_SAMPLES"] === "true";

/** How many inputs a test generates: few in each run, and all of them each night. */
export function sampleSize(few: number, all: number): number {
  return isFull ? all : few;
}
