// The values of the introspection fields of a request, read at the start of stage 4 (run), before the fetches.
import { getVariableValues, type GraphQLSchema, type SelectionSetNode } from "graphql";
import { createBoundedMap, type MapSize } from "@tributary/kit/collections/bounded-map";
import type { Json } from "@tributary/kit/json/json";
import type { DocumentCpu } from "../../../document-cpu.ts";
import { Rejection } from "../../../errors/rejections.ts";
import type { ValidatedOperation } from "../../parse/validated-operation.ts";
import {
  type IntrospectionEntry,
  type IntrospectionSelection,
  type IntrospectionValues,
  selectIntrospection,
  writeIntrospection,
} from "./introspection-writer.ts";

/** The part of a CompiledPlan that is read here. */
interface IntrospectedPlan {
  readonly introspection: SelectionSetNode | undefined;
}

export interface Introspection {
  /**
   * By alias. Undefined if the operation has none; synchronous for a cached or small response.
   * @param cpu gets the CPU time of a planner's thread; that of the main thread is for the caller to count.
   * @throws Rejection INTROSPECTION_TOO_LARGE; SERVICE_UNAVAILABLE if too many large responses are pending; or of the planner pool.
   */
  read(
    plan: IntrospectedPlan,
    operation: ValidatedOperation,
    variables: Json,
    cpu: DocumentCpu,
  ): IntrospectionValues | Promise<IntrospectionValues> | undefined;
  size(): MapSize;
}

export interface IntrospectionOptions {
  readonly apiSchema: GraphQLSchema;
  /** To the introspection queries that tools send. Never evicted. */
  readonly standard: readonly IntrospectionEntry[];
  /** Undefined if the JSON is longer than `bytesMax`. */
  readonly executeInWorker: (
    key: string,
    bytesMax: number,
    cpu: DocumentCpu,
  ) => Promise<IntrospectionValues | undefined>;
  /** The longest response, as JSON in bytes. Raised to twice the longest standard response, if it is less. */
  readonly bytesMax: number;
  readonly onEvicted: () => void;
}

/** Longer responses are written by a planner worker. 1 KB takes 20 to 30 µs, so the main thread is blocked for 0.5 ms at most. */
const mainThreadBytesMax = 16_000;
/** Limited, because the measured time of a task includes its wait for a busy worker. */
const pauseMsMax = 200;
const pendingMax = 32;
/** The size of the cache, in responses of the greatest length. */
const longestResponsesCached = 4;
/** A longer key is not stored with its plan but computed for each request: the operation store, which limits memory, does not count keys. */
const keyCharactersMax = 4_000;
const entriesMax = 10_000;
/** Estimated, besides key and JSON. */
const entryBytes = 500;
/** Of a key: JavaScript strings are UTF-16. */
const bytesPerCharacter = 2;

export function createIntrospection(o: IntrospectionOptions): Introspection {
  const longestStandardBytes = Math.max(0, ...o.standard.map(({ values }) => bytesOf(values)));
  const bytesMax = Math.max(o.bytesMax, 2 * longestStandardBytes);
  const standard = new Map(o.standard.map(({ key, values }) => [key, values]));
  const runInHalfTimeQueue = createHalfTimeQueue();
  const pending = new Map<string, Promise<IntrospectionValues>>();
  const cache = createBoundedMap<IntrospectionValues>({
    entriesMax,
    weightMax: longestResponsesCached * bytesMax,
    onEvicted: o.onEvicted,
  });
  /** Without variables, the selection is computed once per plan. */
  const keyOfPlan = new WeakMap<IntrospectedPlan, string>();

  function findValues(key: string): IntrospectionValues | undefined {
    return standard.get(key) ?? cache.get(key);
  }

  function storeValues(key: string, values: IntrospectionValues): IntrospectionValues {
    const keyBytes = bytesPerCharacter * key.length;
    cache.set(key, values, bytesOf(values) + keyBytes + entryBytes);
    return values;
  }

  /** Tries on the main thread first, and stops there after `mainThreadBytesMax`. */
  function execute(
    selection: IntrospectionSelection,
    cpu: DocumentCpu,
  ): IntrospectionValues | Promise<IntrospectionValues> {
    const { key } = selection;
    const earlier = pending.get(key);
    if (earlier) return earlier;
    const small = writeIntrospection(o.apiSchema, selection, Math.min(mainThreadBytesMax, bytesMax));
    if (small) return storeValues(key, small);
    if (pending.size >= pendingMax) throw createBusyRejection();
    const values = executeLarge(key, cpu).finally(() => pending.delete(key));
    pending.set(key, values);
    return values;
  }

  async function executeLarge(key: string, cpu: DocumentCpu): Promise<IntrospectionValues> {
    const large = await runInHalfTimeQueue(() => o.executeInWorker(key, bytesMax, cpu));
    if (large) return storeValues(key, large);
    throw new Rejection(
      "INTROSPECTION_TOO_LARGE",
      `The response to the introspection is longer than ${bytesMax} bytes. Select less of the schema.`,
    );
  }

  return {
    size: cache.size,
    read(plan, validated, variables, cpu) {
      if (!plan.introspection) return undefined;
      const knownKey = keyOfPlan.get(plan);
      const cached = knownKey === undefined ? undefined : findValues(knownKey);
      if (cached) return cached;
      const { variableDefinitions = [] } = validated.operation;
      const { coerced = {} } = getVariableValues(o.apiSchema, variableDefinitions, variables);
      const selection = selectIntrospection(o.apiSchema, plan.introspection, coerced);
      if (variableDefinitions.length === 0 && selection.key.length <= keyCharactersMax)
        keyOfPlan.set(plan, selection.key);
      return findValues(selection.key) ?? execute(selection, cpu);
    },
  };
}

/** Pauses after each task for as long as it took: large responses leave half of a worker's time to operations, and of a processor. */
function createHalfTimeQueue(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let lastPauseEnded: Promise<void> = Promise.resolve();
  return async (task) => {
    const previousPauseEnded = lastPauseEnded;
    const { promise: pauseEnded, resolve: endPause } = Promise.withResolvers<void>();
    lastPauseEnded = pauseEnded;
    await previousPauseEnded;
    const startedMs = performance.now();
    try {
      return await task();
    } finally {
      const tookMs = performance.now() - startedMs;
      setTimeout(endPause, Math.min(tookMs, pauseMsMax));
    }
  };
}

function createBusyRejection(): Rejection {
  const message = "Too many large introspection responses are pending. Retry after 1 s.";
  return new Rejection("SERVICE_UNAVAILABLE", message, { "Retry-After": "1" });
}

function bytesOf(values: IntrospectionValues): number {
  return Object.values(values).reduce((sum, { length }) => sum + length, 0);
}
