// Stage 4 of 5: run. The values of introspection fields: from the cache, or executed over the API schema.
import { getVariableValues, type GraphQLSchema } from "graphql";
import { Refusal } from "../errors.ts";
import type { AdmittedOperation } from "../parse/admitted-operation.ts";
import { createBoundedMap, type KeptSize } from "../parse/bounded-map.ts";
import type { CompiledPlan } from "../plan/compiled-plan.ts";
import {
  type IntrospectionEntry,
  type IntrospectionSelection,
  type IntrospectionTexts,
  selectIntrospection,
  writeIntrospection,
} from "../plan/introspection-writer.ts";

type Json = Readonly<Record<string, unknown>>;

/** JSON in UTF-8 by the aliases of `IntrospectionFields`. */
type IntrospectionValues = Readonly<Record<string, Buffer>>;

export interface Introspection {
  /**
   * Undefined for an operation without introspection fields; at once for a cached or small response.
   * @param variables as provided, already found acceptable.
   * @throws Refusal INTROSPECTION_TOO_LARGE; SERVICE_UNAVAILABLE when too many large responses are being written.
   */
  read(
    plan: CompiledPlan,
    operation: AdmittedOperation,
    variables: Json,
  ): IntrospectionValues | Promise<IntrospectionValues> | undefined;
  size(): KeptSize;
}

export interface IntrospectionOptions {
  /** What clients see. */
  readonly apiSchema: GraphQLSchema;
  /** The responses to the introspection queries of tools. They are not evicted. */
  readonly standard: readonly IntrospectionEntry[];
  /** Executes the selection with this key in another thread. Undefined if the JSON is longer than `charactersMax`. */
  readonly executeInThread: (key: string, charactersMax: number) => Promise<IntrospectionTexts | undefined>;
  /** Longest response, in characters of JSON. A response of twice the longest standard one is allowed in any case. */
  readonly charactersMax: number;
  readonly onEvicted: () => void;
}

/** Written on the main thread: 20 to 30 µs for 1,000 characters, so 2 ms at most. */
const mainThreadCharactersMax = 64_000;
/** Large responses that are written or waited for at once. */
const pendingMax = 32;
/** The cache holds this many responses of the greatest length. */
const longestResponsesCached = 4;
const entriesMax = 10_000;
/** What an entry takes beside its key and its bytes. */
const entryBytes = 500;

export function createIntrospection(o: IntrospectionOptions): Introspection {
  const standardLengths = o.standard.map(({ texts }) => lengthOf(texts));
  const charactersMax = Math.max(o.charactersMax, 2 * Math.max(0, ...standardLengths));
  const standard = new Map(o.standard.map(({ key, texts }) => [key, toValues(texts)]));
  const pending = new Map<string, Promise<IntrospectionValues>>();
  const cache = createBoundedMap<IntrospectionValues>({
    entriesMax,
    weightMax: longestResponsesCached * charactersMax,
    onEvicted: o.onEvicted,
  });
  /** Of plans whose operations have no variables. */
  const keys = new WeakMap<CompiledPlan, string>();

  function find(key: string): IntrospectionValues | undefined {
    return standard.get(key) ?? cache.get(key);
  }

  function store(key: string, texts: IntrospectionTexts): IntrospectionValues {
    const values = toValues(texts);
    cache.set(key, values, bytesOf(values) + 2 * key.length + entryBytes);
    return values;
  }

  function execute(selection: IntrospectionSelection): IntrospectionValues | Promise<IntrospectionValues> {
    const { key } = selection;
    const small = writeIntrospection(o.apiSchema, selection, Math.min(mainThreadCharactersMax, charactersMax));
    if (small) return store(key, small);
    const earlier = pending.get(key);
    if (earlier) return earlier;
    if (pending.size >= pendingMax) throw refuseForNow();
    const values = executeLarge(key).finally(() => pending.delete(key));
    pending.set(key, values);
    return values;
  }

  async function executeLarge(key: string): Promise<IntrospectionValues> {
    const texts = await o.executeInThread(key, charactersMax);
    if (texts) return store(key, texts);
    throw new Refusal(
      "INTROSPECTION_TOO_LARGE",
      `The response to the introspection is longer than ${charactersMax} characters. Select less of the schema.`,
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
      if (variableDefinitions.length === 0) keys.set(plan, selection.key);
      return find(selection.key) ?? execute(selection);
    },
  };
}

function refuseForNow(): Refusal {
  const message = "Too many large introspection responses are being written. Try again soon.";
  return new Refusal("SERVICE_UNAVAILABLE", message, { "Retry-After": "1" });
}

function toValues(texts: IntrospectionTexts): IntrospectionValues {
  return Object.fromEntries(Object.entries(texts).map(([alias, text]) => [alias, toBytes(text)]));
}

/** Not from Node's pool, of which a small buffer would keep 8 KB alive. */
function toBytes(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

function bytesOf(values: IntrospectionValues): number {
  return Object.values(values).reduce((sum, { length }) => sum + length, 0);
}

function lengthOf(texts: IntrospectionTexts): number {
  return Object.values(texts).reduce((sum, { length }) => sum + length, 0);
}
