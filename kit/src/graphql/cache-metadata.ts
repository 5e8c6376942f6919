// Which responses of a subgraph caches may store: `extensions.cache` of the response to a query with `extensions.cacheMetadata`.
import { type GraphQLResolveInfo, isType } from "graphql";
import type { Identity } from "../identity/tokens.ts";

interface Freshness {
  readonly seconds: number;
  /** After `seconds`, while the service fails (RFC 5861, 4). */
  readonly staleIfErrorSeconds: number;
}

export interface CacheMetadata extends Freshness {
  /** RFC 9875. Undefined if the response as a whole must not be stored. */
  readonly groups?: readonly string[];
  /** By the response name of each `_entities` field, the groups of each entity, in order; null for one that must not be stored. */
  readonly entities?: Readonly<Record<string, readonly (readonly string[] | null)[]>>;
}

/**
 * By `Type.field` or `Type.__resolveReference`: the cache groups of what this resolver loads. A resolver that is not listed must only use
 * its source: if it returns a promise, the response is not stored.
 */
export type FieldGroups = Readonly<Record<string, (source: never, args: never) => readonly string[]>>;

type ResolverMap = Readonly<Record<string, unknown>>;
type Resolver = (...args: readonly unknown[]) => unknown;

/** From the field up to the root. */
type Path = GraphQLResolveInfo["path"];

/** A call with a path within an entity counts for this entity, and for the whole response. */
export interface CacheRecord {
  /** Call it before the entities are resolved. */
  addEntities(responseName: string, count: number): void;
  add(groups: readonly string[], path: Path): void;
  /** Also the response as a whole. Without a path, or if no entity is there, no part may be stored. */
  forbid(path?: Path): void;
  read(): CacheMetadata | undefined;
}

interface GroupRecord {
  readonly groups: Set<string>;
  isForbidden: boolean;
}

export function createCacheRecord(freshness: Freshness): CacheRecord {
  const whole = createGroupRecord();
  const entities = new Map<string, readonly GroupRecord[]>();
  let isAllForbidden = false;

  /** From the root, the path of an entity is the response name of its `_entities` field, then its index. graphql-js links it in reverse. */
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
      const metadata: CacheMetadata = groups === null ? freshness : { ...freshness, groups };
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

/** The response depends on the caller if a member is read. */
export function watchIdentity(identity: Identity, onRead: () => void): Identity {
  return new Proxy(identity, {
    get(target, name) {
      onRead();
      return Reflect.get(target, name) as unknown;
    },
  });
}

/** Without a `cacheRecord`, a wrapped resolver only calls the original one. @throws Error for groups of an unknown resolver. */
export function recordCacheMetadata(resolvers: object, fieldGroups: FieldGroups): ResolverMap {
  const unusedCoordinates = new Set(Object.keys(fieldGroups));
  const recordingResolvers: Record<string, unknown> = {};
  for (const [type, fields] of Object.entries(resolvers)) {
    // The functions of a GraphQLScalarType are no resolvers.
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
