import { expect, test } from "vitest";
import {
  type CompiledFetch,
  type FieldAccess,
  noJoin,
  type ObjectLayout,
  type ResponsePosition,
} from "../plan/compile/compiled-plan.ts";
import { createFieldErrorRecorder, type FieldErrorReason } from "./field-errors.ts";
import type { RepresentationSet } from "./representations.ts";

const objectCount = 500;
const errorCount = 300;
const reason: FieldErrorReason = { kind: "fetch-failed", code: "SUBGRAPH_TIMEOUT" };

test.each([
  ["a field of an entity", ["_entities", 0, "left"], 1],
  ["an entity with two fields", ["_entities", 0], 2],
] as const)(
  "errors at %s that many objects have are all counted, and only the first 100 get a path",
  (_, path, fieldsOfError) => {
    const { recorder, countPaths } = createRecorder();
    for (let error = 0; error < errorCount; error++) recorder.addAt(path, reason);
    const errors = recorder.finish();
    expect(errors).toHaveLength(101);
    expect(errors[99]?.path?.slice(0, 2)).toEqual(["products", 100 / fieldsOfError - 1]);
    expect(errors[100]?.moreCount).toBe(errorCount * objectCount * fieldsOfError - 100);
    expect(countPaths()).toBeLessThan(500);
  },
);

test("a failed fetch is counted at each field of each object", () => {
  const { recorder, countPaths } = createRecorder();
  recorder.addForAll(reason);
  expect(recorder.finish()[100]?.moreCount).toBe(2 * objectCount - 100);
  expect(countPaths()).toBeLessThan(500);
});

/** All objects have the same key, so there is one representation. */
function createRecorder() {
  let paths = 0;
  const layout = {
    typename: "Product",
    access,
    responseNamesFrom: () => ["left", "other"],
    selects: () => true,
  } as unknown as ObjectLayout;
  const position: ResponsePosition = {
    listDepth: 1,
    layoutOf: () => layout,
    toClientPath(steps) {
      paths++;
      return steps;
    },
  };
  function access(key: string): FieldAccess {
    return { read: (object) => object[key], plainKey: key, joinIndex: noJoin, service: undefined, position };
  }
  const fetch = { service: "stock", joinIndex: 0, paths: [[{ key: "products", types: undefined }]] };
  const root = { products: Array.from({ length: objectCount }, () => ({ id: "1" })) };
  const representations = { count: 1, indexOf: () => 0 } as unknown as RepresentationSet;
  const recorder = createFieldErrorRecorder(
    fetch as unknown as CompiledFetch,
    { root, position: { ...position, listDepth: 0 }, dataJoins: [] },
    representations,
    [],
  );
  return { recorder, countPaths: () => paths };
}
