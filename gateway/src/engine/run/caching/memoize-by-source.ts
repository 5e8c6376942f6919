// Stage 4 of 5: run. Representations, data joins, request bodies and response bodies that are computed from shared responses are computed once. They are
// stored on what they are computed from, and freed with it.

export interface MemoSource {
  /** Not in a WeakMap, which would cost more in garbage collection than memoizing saves. */
  memos?: Memo[] | undefined;
  /**
   * Gets the change of the estimated bytes on this source, also on values that are memoized on it. Undefined for a source that is freed with its
   * requests.
   */
  onMemo?: ((bytes: number) => void) | undefined;
}

export interface SharedSource extends MemoSource {
  /** True once several client requests use it, or can. */
  isShared?: boolean;
}

interface Memo {
  readonly bytes: number;
  readonly sources: readonly MemoSource[];
  readonly key: object;
  readonly value: unknown;
}

/** Many operations may read one source. The oldest memo is dropped. */
const memosMax = 256;
/** On a source that outlives its requests, each keeps a compiled plan in memory. */
const storedMemosMax = 32;
/** Of the object of a memo, and of its list of sources. */
const memoBytes = 200;
/** Of an entry of a list or of a map. */
const entryBytes = 100;

/**
 * @param sources all values that `compute` reads, in a fixed order. The memo is stored on the first one.
 * @param key an object of the compiled plan that identifies the computation.
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
  const dropped = memos.length >= (first.onMemo ? storedMemosMax : memosMax) ? memos.shift() : undefined;
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

/** Of texts, bytes and lists; nothing deeper than members. */
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
