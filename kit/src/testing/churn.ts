// A process that adds and removes objects, sixteen at a time, in an InFlightList or a Set. in-flight-list.test.ts
// starts it with --trace-gc and --expose-gc, and reads how many bytes V8 promotes to the old generation.
import { InFlightList } from "../collections/in-flight-list.ts";

const objectCount = 150_000;
const inFlightMax = 16;

const list = new InFlightList<object>();
const set = new Set<object>();
const removers = Array.from({ length: inFlightMax }, () => () => {});
const add = process.argv[2] === "set" ? addToSet : addToList;

for (let n = 0; n < objectCount; n++) {
  // A full collection, as every process has now and then: it promotes all live objects.
  if (n === objectCount / 10) globalThis.gc?.();
  removers[n % inFlightMax]?.();
  removers[n % inFlightMax] = add({ n, weight: Array.from({ length: 16 }, () => n) });
}

function addToSet(object: object): () => void {
  set.add(object);
  return () => set.delete(object);
}

function addToList(object: object): () => void {
  const entry = list.add(object);
  return () => list.remove(entry);
}
