// Stage 4 of 5: fetch it. What a fetch lost, position by position, in the terms of the client's answer.
import type { GraphQLSchema } from "graphql";
import {
  findPositions,
  joinRootAnswers,
  matchRepresentations,
  namesOf,
  type Position,
  sharedPath,
} from "./positions.ts";
import { collectFields, namesSelectedAt, type ReadableOperation, rootFieldNames, typeApplies } from "./selections.ts";
import type { Path, SubgraphError } from "./subgraph-answer.ts";
import type { FetchFailureCode } from "./subgraph-client.ts";

/** One entry of the client's `errors[]` to be: stage 5 words it. */
export interface FieldLoss {
  readonly service: string;
  /** Undefined when the subgraph did not say where and nothing is missing. */
  readonly path: Path | undefined;
  readonly reason: LossReason;
  /** Set on the last entry of a fetch that lost more positions than are listed. */
  readonly moreCount?: number;
}

export type LossReason =
  | { readonly kind: "fetch-failed"; readonly code: FetchFailureCode }
  | { readonly kind: "subgraph-error"; readonly error: SubgraphError };

/** A fetch as the engine asked for it. */
export interface FetchAbout {
  readonly service: string;
  readonly schema: GraphQLSchema;
  readonly fetch: ReadableOperation;
  readonly client: ReadableOperation;
  /** Where its data goes: field names, `@` for each element of a list. */
  readonly planPath: Path;
  /** Undefined for a fetch of root fields. */
  readonly representations: readonly Record<string, unknown>[] | undefined;
  readonly rootAnswers: readonly Readonly<Record<string, unknown>>[];
}

/** A heavy list must not become a heavier list of errors. */
const lossesPerFetchMax = 100;

/** Collects what one fetch lost. Positions are only looked for when something is. */
export function createLossRecorder(about: FetchAbout) {
  const entries: { path: Path | undefined; reason: LossReason }[] = [];
  let dropped = 0;
  let cached: ReturnType<typeof readPlaces> | undefined;
  const places = () => (cached ??= readPlaces(about));

  function add(path: Path | undefined, reason: LossReason): void {
    if (entries.length < lossesPerFetchMax) entries.push({ path, reason });
    else dropped++;
  }

  /** Everything the fetch was for. */
  function loseAll(reason: LossReason): void {
    for (const path of places().all()) add(path, reason);
  }

  /** One place, in the subgraph's terms: `["_entities", 3, "name"]` or `["user", "name"]`. */
  function lose(localPath: Path | undefined, reason: LossReason): void {
    for (const path of places().of(localPath)) add(path, reason);
  }

  function finish(): readonly FieldLoss[] {
    const { service } = about;
    const last = entries.at(-1);
    const losses: FieldLoss[] = entries.map(({ path, reason }) => ({ service, path, reason }));
    if (dropped > 0 && last)
      losses.push({ service, path: sharedPath(about.planPath), reason: last.reason, moreCount: dropped });
    return losses;
  }

  return { lose, loseAll, finish };
}

function readPlaces(about: FetchAbout) {
  const positions = findPositions(joinRootAnswers(about.rootAnswers), about.planPath);
  const visible = namesSelectedAt(about.client, namesOf(about.planPath));
  return about.representations
    ? entityPlaces(about, matchRepresentations(about.representations, positions, about.schema), visible)
    : rootPlaces(about, positions);
}

function rootPlaces({ fetch, planPath }: FetchAbout, positions: readonly Position[]) {
  const names = rootFieldNames(fetch);
  const starts = positions.length > 0 ? positions.map(({ path }) => path) : [sharedPath(planPath)];
  const at = (localPath: Path) => starts.map((start) => start.concat(localPath.map(originalName)));
  return {
    all: () => names.flatMap((name) => at([name])),
    of: (localPath: Path | undefined): readonly (Path | undefined)[] =>
      localPath ? at(localPath) : [shownPath(planPath)],
  };
}

function entityPlaces(about: FetchAbout, positions: readonly (Position | undefined)[], visible: ReadonlySet<string>) {
  const representations = about.representations ?? [];
  const namesByType = new Map<string, readonly string[]>();

  /** What the fetch was to bring for an entity, as far as the client asked for it; keys for later fetches are not its business. */
  function namesFor(typename: string): readonly string[] {
    const known = namesByType.get(typename);
    if (known) return known;
    const names = entityFieldNames(about, typename)
      .map(originalName)
      .filter((name) => visible.has(name));
    namesByType.set(typename, names);
    return names;
  }

  function whole(index: number): readonly Path[] {
    const start = positions[index]?.path ?? sharedPath(about.planPath);
    const names = positions[index] ? namesFor(String(representations[index]?.["__typename"])) : [];
    return names.length > 0 ? names.map((name) => start.concat(name)) : [start];
  }

  function of(localPath: Path | undefined): readonly (Path | undefined)[] {
    const [, index, ...rest] = localPath ?? [];
    if (typeof index !== "number" || index >= representations.length) return [shownPath(about.planPath)];
    const start = positions[index]?.path;
    return rest.length === 0 || !start ? whole(index) : [[...start, ...rest.map(originalName)]];
  }

  return { all: () => representations.flatMap((_, index) => whole(index)), of };
}

function entityFieldNames({ fetch, schema }: FetchAbout, typename: string): readonly string[] {
  const roots = collectFields(fetch, fetch.operation.selectionSet, () => true).get("_entities") ?? [];
  const sets = roots.flatMap(({ selectionSet }) => selectionSet ?? []);
  const applies = (condition: string) => typeApplies(schema, condition, typename);
  return sets
    .flatMap((set) => collectFields(fetch, set, applies).keys().toArray())
    .filter((name) => name !== "__typename");
}

function shownPath(planPath: Path): Path | undefined {
  const path = sharedPath(planPath);
  return path.length > 0 ? path : undefined;
}

/** The planner renames a field that collides with another (`name__alias_0`) and renames it back in the data. */
function originalName<T extends string | number>(step: T): T | string {
  return typeof step === "string" ? step.replace(/__alias_\d+$/, "") : step;
}
