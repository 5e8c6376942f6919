// Stage 4 of 5: run. Values that are computed from subgraph responses which several requests share are computed once: representations, joins,
// request bodies and response bodies. They are stored on the object they are computed from, and freed with it.

/** An object that computed values are memoized on. */
export interface MemoSource {
  /**
   * Values computed from this source, alone or with other sources; undefined if there are none yet. Not in a WeakMap, which would cost more in
   * garbage collection than memoizing saves.
   */
  memos?: Memo[] | undefined;
  /**
   * Called with the change of the estimated bytes that are memoized on this source or, transitively, on a value that is memoized on it. Undefined for
   * a source that is freed with the requests that share it.
   */
  onMemo?: ((bytes: number) => void) | undefined;
}

/** A source that several client requests can get. */
export interface SharedSource extends MemoSource {
  /** True once several client requests use it, or can: only then is memoizing worth it. */
  isShared?: boolean;
}

interface Memo {
  /** Estimated. */
  readonly bytes: number;
  readonly sources: readonly MemoSource[];
  readonly key: object;
  readonly value: unknown;
}

/** The most memos on one source, which many different operations may read. Beyond this number the oldest memo is dropped. */
const memosMax = 256;
/** Estimated memory of the object of a memo, and of its list of sources. */
const memoBytes = 200;
/** Estimated memory of an entry of a list or of a map in a memoized value. */
const entryBytes = 100;

/**
 * The value that `compute` returned for the same sources and key before, else the value that it returns now.
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
  const bytes = first.onMemo ? memoBytes + estimateBytes(value) : 0;
  const dropped = memos.length >= memosMax ? memos.shift() : undefined;
  memos.push({ bytes, sources, key, value });
  if (!first.onMemo) return value;
  first.onMemo(bytes - (dropped?.bytes ?? 0));
  // Values that are memoized on this value count too.
  const isSource = typeof value === "object" && value !== null;
  if (isSource) (value as MemoSource).onMemo ??= first.onMemo;
  return value;
}

function areSame(a: readonly MemoSource[], b: readonly MemoSource[]): boolean {
  return a.length === b.length && a.every((source, i) => source === b[i]);
}

/** Counts texts, bytes and lists: of the value itself, or of the members of an object; nothing deeper. */
function estimateBytes(value: unknown): number {
  const ownBytes = estimateMemberBytes(value);
  if (ownBytes > 0 || typeof value !== "object" || value === null) return ownBytes;
  let bytes = 0;
  for (const member of Object.values(value)) bytes += estimateMemberBytes(member);
  return bytes;
}

function estimateMemberBytes(member: unknown): number {
  if (typeof member === "string") return member.length;
  if (member instanceof Uint8Array) return member.byteLength;
  return Array.isArray(member) ? entryBytes * member.length : 0;
}
