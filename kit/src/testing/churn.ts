// A process in which things come and go, sixteen at a time, on a roster or in a set. For the test of rosters; needs --expose-gc.
import { Roster } from "../collections/in-flight-list.ts";

const things = 1_000_000;
const atOnce = 16;

const roster = new Roster<object>();
const set = new Set<object>();
const leave = Array.from({ length: atOnce }, () => () => {});
const come = process.argv[2] === "set" ? comeIntoSet : comeOntoRoster;

for (let n = 0; n < things; n++) {
  // As in each process now and then: whatever is alive is old afterwards.
  if (n === things / 10) globalThis.gc?.();
  leave[n % atOnce]?.();
  leave[n % atOnce] = come({ n, weight: Array.from({ length: 16 }, () => n) });
}

function comeIntoSet(thing: object): () => void {
  set.add(thing);
  return () => set.delete(thing);
}

function comeOntoRoster(thing: object): () => void {
  const entry = roster.add(thing);
  return () => roster.remove(entry);
}
