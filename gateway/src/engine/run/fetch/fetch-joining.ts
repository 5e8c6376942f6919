// Stage 4 of 5: run. Entity fetches with equal texts, which different client requests need in one turn of the event loop, are sent as one request: a
// request costs the gateway and the subgraph more than an entity. Off with FETCH_SHARING=false.
import { AbortSource, type AbortSignalLike } from "@tributary/kit/http/abort-source";
import type { FetchObserver } from "../../../telemetry/fetch-observer.ts";
import { type EntityList, type ReadParts, writeBody } from "./request-body.ts";
import type { Subgraph } from "./subgraph.ts";
import { abortedFetch, isUnsent } from "./subgraph-client.ts";
import type { Fetch, SubgraphRequest } from "./subgraph-request.ts";
import type { FetchResult, GraphqlResponse, SubgraphError } from "./subgraph-response.ts";

/** Of one client request. Writing and dividing a longer list costs more than the request that is saved (`npm run bench`, workload heavy-varying). */
const ownRepresentationsMax = 10;
const representationsMax = 100;
/** In UTF-16 code units. */
const bodyLengthMax = 100_000;
/** After a failure, or while a response is slow: joining may have caused it. */
const pauseMs = 60_000;
const slowMs = 500;

interface Member {
  readonly request: SubgraphRequest;
  readonly signal: AbortSignalLike;
}

interface JoinedMember extends Member, Pick<PromiseWithResolvers<FetchResult>, "resolve" | "reject"> {}

interface Group {
  readonly members: JoinedMember[];
  representationsCount: number;
  bodyLength: number;
  waitersCount: number;
  /** Aborted with the last member. */
  readonly abortSource: AbortSource;
}

/**
 * Below sharing, which also lets equal fetches share one that is in flight. A member gets what it would get alone: its entities, and the errors in them.
 * If that is not certain, each member is sent singly, as far as the retry budget allows; not after a timeout, which is that of each member.
 */
export function withJoining(next: Fetch, observer?: Pick<FetchObserver, "share">): Fetch {
  /**
   * Not sent yet, by text and variables. A new Map for each turn: `clear` gives a Map that is in the old heap a table there, and its former tables keep
   * all groups with their responses until a full collection (V8).
   */
  let groups = new Map<string, Group>();
  const { sendMembers, isPaused } = createGroupSender(next);

  function sendGroups(): void {
    const ready = groups.values();
    groups = new Map();
    for (const group of ready) void send(group);
  }

  async function send({ members, abortSource }: Group): Promise<void> {
    try {
      const results = await sendMembers(members, abortSource);
      for (const [index, { resolve }] of members.entries()) resolve(results[index] as (typeof results)[number]);
    } catch (error) {
      for (const { reject } of members) reject(error);
    }
  }

  function join(member: Member, count: number): Promise<FetchResult> {
    const { request, signal } = member;
    const { parts } = request;
    const key = parts.variables === "" ? parts.head : `${parts.head}${parts.variables}`;
    let group = groups.get(key);
    if (!group || !hasPlace(group, request, count)) {
      if (group) void send(group);
      else if (groups.size === 0) setImmediate(sendGroups);
      group = createGroup();
      groups.set(key, group);
    }
    const { promise, resolve, reject } = Promise.withResolvers<FetchResult>();
    const isFirst = group.members.push({ request, signal, resolve, reject }) === 1;
    group.representationsCount += count;
    group.bodyLength += request.body.length;
    group.waitersCount++;
    signal.addEventListener("abort", leave.bind(undefined, group, signal));
    if (isFirst) return promise;
    request.subgraph.client.noteShared(request.dueMs);
    if (request.progress) request.progress.isShared = true;
    observer?.share(request.service, request.scope.record, promise);
    return promise;
  }

  return (request, signal) => {
    const { parts, subgraph } = request;
    const count = countRepresentations(parts);
    if (count === 0 || count > ownRepresentationsMax || !mayJoin(request)) return next(request, signal);
    if (isPaused(subgraph) || subgraph.client.isFull(request.scope.callerKey)) return next(request, signal);
    return join({ request, signal }, count);
  };
}

function createGroupSender(next: Fetch) {
  const pausedUntilMs = new WeakMap<Subgraph, number>();

  async function sendMembers(
    members: readonly Member[],
    abortSource: AbortSource,
  ): Promise<readonly (FetchResult | Promise<FetchResult>)[]> {
    const [first] = members as readonly [Member];
    if (abortSource.aborted) return members.map(() => abortedFetch(abortSource.reason));
    if (members.length === 1) return [next(first.request, abortSource)];
    const { parts, subgraph } = first.request;
    const pause = () => void pausedUntilMs.set(subgraph, performance.now() + pauseMs);
    const lists = parts.lists.map((list, index) => joinLists(list, index, members));
    // Not only once the request has ended: one slow entity would make all requests late that are joined meanwhile.
    const timer = setTimeout(pause, slowMs).unref();
    const joined = { ...first.request, body: writeJoined(parts, lists) };
    const result = await next(joined, abortSource).finally(() => clearTimeout(timer));
    if (isUnsent(result)) return members.map(sendAlone);
    const isCertain = abortSource.aborted || result.kind === "abandoned" || isDivisible(result, lists);
    if (isCertain) return members.map((_, member) => divide(result, lists, member));
    pause();
    if (result.kind === "failed" && result.code === "SUBGRAPH_TIMEOUT") return members.map(() => result);
    return members.map((member, index) => repeatAlone(member, result) ?? divide(result, lists, index));
  }

  /** Undefined if the budget has no retry left. */
  function repeatAlone(member: Member, failure: Exclude<FetchResult, { kind: "abandoned" }>) {
    const { request, signal } = member;
    if (!signal.aborted && !request.subgraph.client.takeRetry(failure.replica ?? "")) return undefined;
    return sendAlone(member);
  }

  function sendAlone({ request, signal }: Member): FetchResult | Promise<FetchResult> {
    if (signal.aborted) return abortedFetch(signal.reason);
    if (request.progress) request.progress.isShared = false;
    return next(request, signal);
  }

  function isPaused(subgraph: Subgraph): boolean {
    const pauseEndMs = pausedUntilMs.get(subgraph);
    return pauseEndMs !== undefined && performance.now() < pauseEndMs;
  }

  return { sendMembers, isPaused };
}

/**
 * Only reads whose responses cannot depend on the client. Not those that are read through the entity cache (run.ts: not each of a subgraph that has
 * one), or for a client response that caches may store, since a subgraph may declare for a whole response what is due to one entity, nor those whose
 * response headers are sent to the client.
 */
function mayJoin({
  isShareable,
  cache,
  wantsCaching,
  authorization,
  receipts,
  forwarded,
  subgraph,
}: SubgraphRequest): boolean {
  if (!isShareable || cache || wantsCaching || subgraph.settings.responseHeaders) return false;
  return authorization === undefined && receipts === undefined && (forwarded?.varying ?? "") === "";
}

function countRepresentations({ lists }: ReadParts): number {
  let sum = 0;
  for (const { representations } of lists) sum += representations.count;
  return sum;
}

function createGroup(): Group {
  return {
    members: [],
    representationsCount: 0,
    bodyLength: 0,
    waitersCount: 0,
    abortSource: new AbortSource(),
  };
}

function hasPlace(
  { members, representationsCount, bodyLength, abortSource }: Group,
  { subgraph, settledWrites, feedChanges, body }: SubgraphRequest,
  count: number,
): boolean {
  const [first] = members;
  return (
    first?.request.subgraph === subgraph &&
    first.request.settledWrites === settledWrites &&
    first.request.feedChanges === feedChanges &&
    representationsCount + count <= representationsMax &&
    bodyLength + body.length <= bodyLengthMax &&
    !abortSource.aborted
  );
}

function leave(group: Group, { reason }: AbortSignalLike): void {
  group.waitersCount--;
  if (group.waitersCount === 0) group.abortSource.abort(reason);
}

/** Equal representations are sent once. */
interface JoinedList extends Pick<EntityList, "variable" | "entitiesKey"> {
  readonly indexByText: ReadonlyMap<string, number>;
  /** By member: the indexes of its representations. */
  readonly indexes: readonly (readonly number[])[];
}

function joinLists({ variable, entitiesKey }: EntityList, listIndex: number, members: readonly Member[]): JoinedList {
  const indexByText = new Map<string, number>();
  const indexes = members.map(({ request }) => {
    const { representations } = request.parts.lists[listIndex] as EntityList;
    const own: number[] = [];
    for (let i = 0; i < representations.count; i++) {
      const text = representations.textOf(i);
      const index = indexByText.get(text) ?? indexByText.size;
      indexByText.set(text, index);
      own.push(index);
    }
    return own;
  });
  return { variable, entitiesKey, indexByText, indexes };
}

function writeJoined({ head, variables }: ReadParts, lists: readonly JoinedList[]): string {
  const members = lists.map(({ variable, indexByText }) => `"${variable}":[${[...indexByText.keys()].join(",")}]`);
  return writeBody(head, members, variables);
}

/** Whether it is known of each part of the response whose it is. */
function isDivisible(result: FetchResult, lists: readonly JoinedList[]): boolean {
  if (result.kind !== "graphql" || !result.data) return false;
  const { data, errors } = result;
  return lists.every((list) => findEntities(data, list)) && errors.every(({ path }) => findList(path, lists));
}

/** Undefined unless it has the requested length. */
function findEntities(
  data: Readonly<Record<string, unknown>>,
  { entitiesKey, indexByText }: JoinedList,
): readonly unknown[] | undefined {
  const entities = data[entitiesKey];
  return Array.isArray(entities) && entities.length === indexByText.size ? entities : undefined;
}

/** Undefined for an error that is not in an entity. */
function findList(path: SubgraphError["path"], lists: readonly JoinedList[]): JoinedList | undefined {
  const [entitiesKey, index] = path ?? [];
  const list = lists.find((joined) => joined.entitiesKey === entitiesKey);
  return list && typeof index === "number" && index >= 0 && index < list.indexByText.size ? list : undefined;
}

function divide(result: FetchResult, lists: readonly JoinedList[], member: number): FetchResult {
  if (result.kind !== "graphql") return result;
  const { data, errors } = result;
  return {
    ...result,
    bytes: undefined,
    data: data && Object.fromEntries(lists.map((list) => [list.entitiesKey, entitiesOf(data, list, member)])),
    errors: errors.length === 0 ? errors : errors.flatMap((error) => errorsOf(error, result, lists, member)),
  };
}

function entitiesOf(
  data: Readonly<Record<string, unknown>>,
  list: JoinedList,
  member: number,
): readonly unknown[] | null {
  const entities = findEntities(data, list);
  return entities ? (list.indexes[member]?.map((index) => entities[index]) ?? null) : null;
}

/** Instead of an error in another member's entity, whose text may name it. The client gets SUBGRAPH_UNAVAILABLE. */
const foreignError: SubgraphError = {
  message: "",
  path: undefined,
  extensions: { code: "SERVICE_UNAVAILABLE" },
  public: undefined,
};

/** An error that is in no entity is for every member. Without data, each error is the reason. */
function errorsOf(
  error: SubgraphError,
  { data }: GraphqlResponse,
  lists: readonly JoinedList[],
  member: number,
): readonly SubgraphError[] {
  const [entitiesKey, index, ...rest] = error.path ?? [];
  const list = lists.find((joined) => joined.entitiesKey === entitiesKey);
  if (!list || typeof index !== "number") return [error];
  const ownIndex = list.indexes[member]?.indexOf(index) ?? -1;
  if (ownIndex >= 0) return [{ ...error, path: [list.entitiesKey, ownIndex, ...rest] }];
  const isForOthers = data && findEntities(data, list) && findList(error.path, lists);
  return isForOthers ? [] : [foreignError];
}
