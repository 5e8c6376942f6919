/** How many inputs a test generates: few in each run, and all of them each night (`FULL_SAMPLES=true npm test`). */
export function sampleSize(few: number, all: number): number {
  return process.env["FULL_SAMPLES"] === "true" ? all : few;
}
