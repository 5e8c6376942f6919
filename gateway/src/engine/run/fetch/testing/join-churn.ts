// A process whose fetches are joined, four in each turn of the event loop. fetch-joining.test.ts reads how many bytes V8 promotes to the old generation.
import { setImmediate } from "node:timers/promises";
import { withJoining } from "../fetch-joining.ts";
import { toRead, toResult } from "./reads.ts";

const turns = 5_000;
const entity = () => ({ texts: Array.from({ length: 250 }, (_, n) => n / 2) });
const join = withJoining(() => Promise.resolve(toResult({ _entities: [entity()] })));
const entities = { entitiesKey: "_entities", variable: "r", representations: { count: 1, textOf: () => "1" } };

for (let turn = 0; turn < turns; turn++) {
  // A full collection, as every process has now and then: it promotes all live objects.
  if (turn === turns / 10) globalThis.gc?.();
  for (const field of ["a", "b", "c", "d"]) {
    const read = { ...toRead("{}"), parts: { head: field, responseForm: undefined, variables: "", lists: [entities] } };
    void join(read as never, new AbortController().signal);
  }
  await setImmediate();
}
