// Stage 4 of 5: run. Values that are computed from subgraph responses which several requests share are computed once: representations, joins,
// request bodies and response bodies. They are stored on the object they are computed from, and freed with it.

/** An object that computed values are memoized on. */
export interface MemoSource {
  /** Values computed from this source, alone or with others; undefined if there are none yet. A WeakMap would cost more in garbage collection than it saves. */
  memos?: Memo[] | undefined;
}

interface Memo {
  readonly sources: readonly MemoSource[];
  readonly key: object;
  readonly value: unknown;
}

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
  (first.memos ??= []).push({ sources, key, value });
  return value;
}

function areSame(a: readonly MemoSource[], b: readonly MemoSource[]): boolean {
  return a.length === b.length && a.every((source, i) => source === b[i]);
}
