// Which responses of a subgraph caches may store: a gateway that wants to know sends `extensions.cacheMetadata` with a query, and gets
// `extensions.cache` if the response is the same for every caller and the groups of all its data are known.
import type { Identity } from "../identity/tokens.ts";

/** What a cache must know of a response, in its `extensions.cache`. */
export interface CacheMetadata {
  /** How long it is fresh, in seconds. */
  readonly seconds: number;
  /** Cache groups (RFC 9875): a change in one of them invalidates the response. */
  readonly groups: readonly string[];
}

/**
 * The cache groups of what a resolver loads, by `Type.field` or `Type.__resolveReference`, from its source (the reference) and its arguments. A resolver
 * that is not listed may only use its source: if it returns a promise, the response must not be stored.
 */
export type FieldGroups = Readonly<Record<string, (source: never, args: never) => readonly string[]>>;

/** The resolver map of a subgraph, as `buildSubgraphSchema` accepts it. */
type ResolverMap = Readonly<Record<string, unknown>>;
type Resolver = (...args: readonly unknown[]) => unknown;

/** Collects the metadata of one response. */
export interface CacheRecord {
  add(groups: readonly string[]): void;
  /** The response must not be stored. */
  forbid(): void;
  /** Undefined if it must not be stored. */
  read(): CacheMetadata | undefined;
}

export function createCacheRecord(seconds: number): CacheRecord {
  const groups = new Set<string>();
  let isForbidden = false;
  return {
    add(names) {
      for (const name of names) groups.add(name);
    },
    forbid: () => void (isForbidden = true),
    read: () => (isForbidden ? undefined : { seconds, groups: [...groups] }),
  };
}

/** An identity that calls `onRead` when anything of it is read: the response then depends on the caller. */
export function watchIdentity(identity: Identity, onRead: () => void): Identity {
  return new Proxy(identity, {
    get(target, name) {
      onRead();
      return Reflect.get(target, name) as unknown;
    },
  });
}

/**
 * Adds the recording of cache metadata to the resolvers. It costs nothing unless the context has a record.
 * @throws Error for groups of a resolver that does not exist.
 */
export function recordCacheMetadata(resolvers: object, fieldGroups: FieldGroups): ResolverMap {
  const unused = new Set(Object.keys(fieldGroups));
  const recording = Object.entries(resolvers).map(([type, fields]) => [
    type,
    Object.fromEntries(
      Object.entries(fields as ResolverMap).map(([field, resolver]) => {
        const coordinate = `${type}.${field}`;
        unused.delete(coordinate);
        return [
          field,
          typeof resolver === "function" ? record(resolver as Resolver, coordinate, fieldGroups) : resolver,
        ];
      }),
    ),
  ]);
  if (unused.size > 0)
    throw new Error(`Groups are declared for resolvers that do not exist: ${[...unused].join(", ")}.`);
  return Object.fromEntries(recording) as ResolverMap;
}

function record(resolver: Resolver, coordinate: string, fieldGroups: FieldGroups): Resolver {
  const isReference = coordinate.endsWith(".__resolveReference");
  const groupsOf = fieldGroups[coordinate] as ((source: unknown, args: unknown) => readonly string[]) | undefined;

  return (...values) => {
    const result = resolver(...values);
    const context = values[isReference ? 1 : 2] as { readonly cacheRecord?: CacheRecord };
    if (context.cacheRecord === undefined) return result;
    if (groupsOf) context.cacheRecord.add(groupsOf(values[0], isReference ? undefined : values[1]));
    else if (result instanceof Promise) context.cacheRecord.forbid();
    return result;
  };
}
