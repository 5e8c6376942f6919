// Which responses of a subgraph caches may store, for the gateway's entity cache and for HTTP caches in front of the gateway. The gateway sends
// `extensions.cacheMetadata` with a query. It gets `extensions.cache` if the response, or an entity in it, is the same for every caller and its cache
// groups are known. subgraph-endpoint.ts connects this module to Apollo Server.
import { type GraphQLResolveInfo, isType } from "graphql";
import type { Identity } from "../identity/tokens.ts";

/** What a cache must know of a response, in its `extensions.cache`. */
export interface CacheMetadata {
  /** How long it is fresh, in seconds. */
  readonly seconds: number;
  /** Cache groups (RFC 9875): a change in one of them invalidates the response. Undefined if the response as a whole must not be stored. */
  readonly groups?: readonly string[];
  /**
   * Of a response with entities: by the response name of each `_entities` field, the groups of each entity, in the order of the representations. Null
   * for an entity that must not be stored.
   */
  readonly entities?: Readonly<Record<string, readonly (readonly string[] | null)[]>>;
}

/**
 * By `Type.field` or `Type.__resolveReference`: a function that derives the cache groups of the data that this resolver loads, from its source (or
 * the reference) and its arguments. A resolver that is not listed must only use its source: if it returns a promise, the response is not stored.
 */
export type FieldGroups = Readonly<Record<string, (source: never, args: never) => readonly string[]>>;

/** The resolver map of a subgraph, as `buildSubgraphSchema` accepts it. */
type ResolverMap = Readonly<Record<string, unknown>>;
type Resolver = (...args: readonly unknown[]) => unknown;

/** Where a field is in the response, from the field up to the root. */
type Path = GraphQLResolveInfo["path"];

/** Collects the metadata of one response. A call with a path within an entity counts for this entity, and for the whole response. */
export interface CacheRecord {
  /** Call it before the entities are resolved. @param responseName of the `_entities` field. @param count of the representations. */
  addEntities(responseName: string, count: number): void;
  add(groups: readonly string[], path: Path): void;
  /** The entity at the path, and the response as a whole, must not be stored. Without a path, or if no entity is there, no part may be stored. */
  forbid(path?: Path): void;
  /** Undefined if nothing may be stored. */
  read(): CacheMetadata | undefined;
}

/** The cache groups of the whole response or of one entity, and whether caches must not store it. */
interface GroupRecord {
  readonly groups: Set<string>;
  isForbidden: boolean;
}

export function createCacheRecord(seconds: number): CacheRecord {
  const whole = createGroupRecord();
  const entities = new Map<string, readonly GroupRecord[]>();
  /** Whether no part of the response may be stored, not even an entity. */
  let isAllForbidden = false;

  /**
   * The entity that contains the field. From the root, the path of an entity is the response name of its `_entities` field, then its index. Undefined
   * for any other path. graphql-js links a path from the field to the root, so the last two keys of the loop are the first two of the path.
   */
  function entityAt(path: Path): GroupRecord | undefined {
    let rootKey = path.key;
    let keyBelowRoot: Path["key"] | undefined;
    for (let step = path.prev; step; step = step.prev) {
      keyBelowRoot = rootKey;
      rootKey = step.key;
    }
    if (typeof keyBelowRoot !== "number") return undefined;
    const records = entities.get(String(rootKey));
    return records?.[keyBelowRoot];
  }

  return {
    addEntities(responseName, count) {
      const records = Array.from({ length: count }, createGroupRecord);
      entities.set(responseName, records);
    },
    add(groups, path) {
      const entity = entityAt(path);
      for (const group of groups) {
        whole.groups.add(group);
        entity?.groups.add(group);
      }
    },
    forbid(path) {
      const entity = path && entityAt(path);
      whole.isForbidden = true;
      if (entity) entity.isForbidden = true;
      else isAllForbidden = true;
    },
    read() {
      if (isAllForbidden) return undefined;
      const groups = groupsOf(whole);
      const metadata: CacheMetadata = groups === null ? { seconds } : { seconds, groups };
      if (entities.size === 0) return metadata;
      const entries = [...entities].map(([responseName, records]) => [responseName, records.map(groupsOf)] as const);
      return { ...metadata, entities: Object.fromEntries(entries) };
    },
  };
}

function createGroupRecord(): GroupRecord {
  return { groups: new Set(), isForbidden: false };
}

function groupsOf({ groups, isForbidden }: GroupRecord): readonly string[] | null {
  return isForbidden ? null : [...groups];
}

/** An identity that calls `onRead` each time a member of it is read: the response then depends on the caller. */
export function watchIdentity(identity: Identity, onRead: () => void): Identity {
  return new Proxy(identity, {
    get(target, name) {
      onRead();
      return Reflect.get(target, name) as unknown;
    },
  });
}

/**
 * Wraps the resolvers so that they record cache metadata in `cacheRecord` of the context. Without a `cacheRecord`, a wrapped resolver only calls the
 * original one.
 * @throws Error for groups of a resolver that does not exist.
 */
export function recordCacheMetadata(resolvers: object, fieldGroups: FieldGroups): ResolverMap {
  const unusedCoordinates = new Set(Object.keys(fieldGroups));
  const recordingResolvers: Record<string, unknown> = {};
  for (const [type, fields] of Object.entries(resolvers)) {
    // A GraphQLScalarType: its functions are no resolvers.
    if (isType(fields)) {
      recordingResolvers[type] = fields;
      continue;
    }
    const recordingFields: Record<string, unknown> = {};
    for (const [field, resolver] of Object.entries(fields as ResolverMap)) {
      const coordinate = `${type}.${field}`;
      unusedCoordinates.delete(coordinate);
      const isResolver = typeof resolver === "function";
      recordingFields[field] = isResolver ? wrapResolver(resolver as Resolver, coordinate, fieldGroups) : resolver;
    }
    recordingResolvers[type] = recordingFields;
  }
  if (unusedCoordinates.size > 0)
    throw new Error(`Groups are declared for resolvers that do not exist: ${[...unusedCoordinates].join(", ")}.`);
  return recordingResolvers;
}

function wrapResolver(resolver: Resolver, coordinate: string, fieldGroups: FieldGroups): Resolver {
  const isReference = coordinate.endsWith(".__resolveReference");
  const findGroups = fieldGroups[coordinate] as ((source: unknown, args: unknown) => readonly string[]) | undefined;
  // The arguments are (reference, context, info) for a reference resolver, (source, args, context, info) for any other.
  const contextIndex = isReference ? 1 : 2;
  const infoIndex = isReference ? 2 : 3;

  return (...values) => {
    const result = resolver(...values);
    const { cacheRecord } = values[contextIndex] as { readonly cacheRecord?: CacheRecord };
    if (cacheRecord === undefined) return result;
    const { path } = values[infoIndex] as GraphQLResolveInfo;
    if (findGroups) {
      const args = isReference ? undefined : values[1];
      cacheRecord.add(findGroups(values[0], args), path);
    } else if (result instanceof Promise) {
      cacheRecord.forbid(path);
    }
    return result;
  };
}
