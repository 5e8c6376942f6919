// Stage 4 of 5: run. Values that are computed from subgraph responses which several requests share are computed once.

/** An object that computed values are memoized on. */
export interface MemoSource {
  /** Values computed from this source, alone or with others. A WeakMap would cost more in garbage collection than it saves. */
  memos?: Memo[] | undefined;
}

interface Memo {
  readonly sources: readonly MemoSource[];
  readonly key: object;
  readonly value: unknown;
}

/**
 * The value that `compute` returned for the same sources and key before, else what it returns now.
 * @param key identifies the computation, which may depend on the sources alone.
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

function areSame(one: readonly MemoSource[], other: readonly MemoSource[]): boolean {
  return one.length === other.length && one.every((value, i) => value === other[i]);
}
