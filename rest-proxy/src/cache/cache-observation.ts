/** What the cache did, for whoever counts. */
export type CacheObservation =
  | { readonly kind: "hit" | "not-modified" | "miss" | "collapsed" | "revalidated" | "passed" | "refresh-skipped" }
  | { readonly kind: "stale"; readonly because: "while-revalidate" | "if-error" }
  | { readonly kind: "invalidated"; readonly entries: number }
  | { readonly kind: "evicted"; readonly bytes: number }
  | { readonly kind: "refresh-failed"; readonly origin: string; readonly key: string; readonly cause: unknown };
