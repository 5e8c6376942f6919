// Stage 4 of 5: run. Values that are computed from subgraph responses which several requests share are computed once: representations, joins,
// request bodies and response bodies. They are stored on the object they are computed from, and freed with it.

/** An object that computed values are memoized on. */
export interface MemoSource {
  /** Values computed from this source, alone or with others; undefined if there are none yet. A WeakMap would cost more in garbage collection than it saves. */
  memos?: Memo[] | undefined;
  /**
   * Called with the estimated bytes of each value that is memoized on this source, or on a value that is memoized on it. Undefined for a source that is
   * freed with the requests that share it.
   */
  onMemo?: ((bytes: number) => void) | undefined;
}

/** A source that several client requests can get. */
export interface SharedSource extends MemoSource {
  /** Whether they have, or will: values that are computed from it are then worth memoizing. */
  isShared?: boolean;
}

interface Memo {
  readonly sources: readonly MemoSource[];
  readonly key: object;
  readonly value: unknown;
}

/** Values on one source, which the operations that read it can make many; the oldest one is dropped. */
const memosMax = 256;
/** The object of a memo, and its sources. */
const memoBytes = 200;
/** An entry of a list or of a map in a memoized value. */
const entryBytes = 100;

/**
 * The value that `compute` returned for the same sources and key before, else what it returns now.
 * @param sources the values that `compute` reads, in a fixed order. The memo is stored on the first one.
 * @param key an object of the compiled plan that identifies the computation. The result depends on nothing but the key and the sources.
 */
export function memoizeBySource<Value>(
  sources: readonly [MemoSource, ...MemoSource[]],
  key: object,
  compute: () => Value,
): Value {
  const [first] = sources;
  const memo = first.memos?.find((candidate) => candidate.key === key && areSame(candidate.sources, sources));
  if (memo) return memo.value as Value;
  const value = compute();
  const memos = (first.memos ??= []);
  if (memos.length >= memosMax) memos.shift();
  memos.push({ sources, key, value });
  if (first.onMemo) {
    first.onMemo(memoBytes + estimateBytes(value));
    if (typeof value === "object" && value !== null) (value as MemoSource).onMemo = first.onMemo;
  }
  return value;
}

function areSame(a: readonly MemoSource[], b: readonly MemoSource[]): boolean {
  return a.length === b.length && a.every((source, i) => source === b[i]);
}

/** Of a text, or of an object whose texts, bytes and lists are its own members. */
function estimateBytes(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 0;
  let bytes = 0;
  for (const member of Object.values(value)) {
    if (typeof member === "string") bytes += member.length;
    else if (member instanceof Uint8Array) bytes += member.byteLength;
    else if (Array.isArray(member)) bytes += entryBytes * member.length;
  }
  return bytes;
}
