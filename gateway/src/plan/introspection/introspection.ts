// Stage 3 of 5: plan. The values of introspection fields: from the cache, or executed over the API schema.
import { getVariableValues, type GraphQLSchema } from "graphql";
import { Rejection } from "../../errors/rejections.ts";
import type { ValidatedOperation } from "../../parse/validated-operation.ts";
import { createBoundedMap, type KeptSize } from "@tributary/kit/collections/bounded-map";
import type { CompiledPlan } from "../compile/compiled-plan.ts";
import {
  type IntrospectionEntry,
  type IntrospectionSelection,
  type IntrospectionValues,
  selectIntrospection,
  writeIntrospection,
} from "./introspection-writer.ts";

type Json = Readonly<Record<string, unknown>>;

export interface Introspection {
  /**
   * The values of an operation's introspection fields, by the aliases of `IntrospectionFields`. Undefined without such fields; synchronous for
   * a cached or small response.
   * @param variables as provided, already found acceptable.
   * @throws Rejection INTROSPECTION_TOO_LARGE; SERVICE_UNAVAILABLE when too many large responses are being written.
   */
  read(
    plan: CompiledPlan,
    operation: ValidatedOperation,
    variables: Json,
  ): IntrospectionValues | Promise<IntrospectionValues> | undefined;
  size(): KeptSize;
}

export interface IntrospectionOptions {
  /** What clients see. */
  readonly apiSchema: GraphQLSchema;
  /** The responses to the introspection queries of tools. They are not evicted. */
  readonly standard: readonly IntrospectionEntry[];
  /** Executes the selection with this key in another thread. Undefined if the JSON is longer than `bytesMax`. */
  readonly executeInThread: (key: string, bytesMax: number) => Promise<IntrospectionValues | undefined>;
  /** Longest response, as JSON. A response of twice the longest standard one is allowed in any case. */
  readonly bytesMax: number;
  readonly onEvicted: () => void;
}

/** Written on the main thread: 20 to 30 µs for 1 KB, so 0.5 ms at most. */
const mainThreadBytesMax = 16_000;
/** A task may have waited for a busy thread. */
const pauseMsMax = 200;
/** Large responses that are written or waited for at once. */
const pendingMax = 32;
/** The cache holds this many responses of the greatest length. */
const longestResponsesCached = 4;
/** A longer key is described again for each request: it would not be weighed with its operation. */
const keyCharactersMax = 4_000;
const entriesMax = 10_000;
/** What an entry takes beside its key and its bytes. */
const entryBytes = 500;

export function createIntrospection(o: IntrospectionOptions): Introspection {
  const bytesMax = Math.max(o.bytesMax, 2 * Math.max(0, ...o.standard.map(({ values }) => lengthOf(values))));
  const standard = new Map(o.standard.map(({ key, values }) => [key, values]));
  const inTurn = createHalfTimeQueue();
  const pending = new Map<string, Promise<IntrospectionValues>>();
  const cache = createBoundedMap<IntrospectionValues>({
    entriesMax,
    weightMax: longestResponsesCached * bytesMax,
    onEvicted: o.onEvicted,
  });
  /** Of plans whose operations have no variables. */
  const keys = new WeakMap<CompiledPlan, string>();

  function find(key: string): IntrospectionValues | undefined {
    return standard.get(key) ?? cache.get(key);
  }

  function store(key: string, values: IntrospectionValues): IntrospectionValues {
    cache.set(key, values, lengthOf(values) + 2 * key.length + entryBytes);
    return values;
  }

  function execute(selection: IntrospectionSelection): IntrospectionValues | Promise<IntrospectionValues> {
    const { key } = selection;
    const earlier = pending.get(key);
    if (earlier) return earlier;
    const small = writeIntrospection(o.apiSchema, selection, Math.min(mainThreadBytesMax, bytesMax));
    if (small) return store(key, small);
    if (pending.size >= pendingMax) throw refuseForNow();
    const values = executeLarge(key).finally(() => pending.delete(key));
    pending.set(key, values);
    return values;
  }

  async function executeLarge(key: string): Promise<IntrospectionValues> {
    const large = await inTurn(() => o.executeInThread(key, bytesMax));
    if (large) return store(key, large);
    throw new Rejection(
      "INTROSPECTION_TOO_LARGE",
      `The response to the introspection is longer than ${bytesMax} bytes. Select less of the schema.`,
    );
  }

  return {
    size: cache.size,
    read(plan, { operation: { variableDefinitions = [] } }, variables) {
      if (!plan.introspection) return undefined;
      const known = keys.get(plan);
      const cached = known === undefined ? undefined : find(known);
      if (cached) return cached;
      const { coerced = {} } = getVariableValues(o.apiSchema, variableDefinitions, variables);
      const selection = selectIntrospection(o.apiSchema, plan.introspection, coerced);
      if (variableDefinitions.length === 0 && selection.key.length <= keyCharactersMax) keys.set(plan, selection.key);
      return find(selection.key) ?? execute(selection);
    },
  };
}

/**
 * Runs one task after the other, with a pause after each that is as long as the task took, 200 ms at most: so clients that ask for one large response after
 * the other leave half of a planner thread's time to operations, and half of a processor to the event loop.
 */
function createHalfTimeQueue(): <Result>(task: () => Promise<Result>) => Promise<Result> {
  let last: Promise<void> = Promise.resolve();
  return async (task) => {
    const earlier = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    await earlier;
    const startedMs = performance.now();
    try {
      return await task();
    } finally {
      setTimeout(resolve, Math.min(performance.now() - startedMs, pauseMsMax));
    }
  };
}

function refuseForNow(): Rejection {
  const message = "Too many large introspection responses are being written. Try again soon.";
  return new Rejection("SERVICE_UNAVAILABLE", message, { "Retry-After": "1" });
}

function lengthOf(values: IntrospectionValues): number {
  return Object.values(values).reduce((sum, { length }) => sum + length, 0);
}
