// Stage 4 of 5: fetch it. What a fetch lost, position by position, in the terms of the client's answer.
import type { CompiledFetch } from "../plan/compile/compiled-plan.ts";
import type { RepresentationSet } from "./representations.ts";
import type { Path, SubgraphError } from "./subgraph-response.ts";
import type { FetchFailureCode } from "./subgraph-client.ts";
import { findPlaces, type Placed, type Tree } from "./targets.ts";

/** One entry of the client's `errors[]` to be: stage 5 words it. */
export interface FieldLoss {
  readonly service: string;
  /** Undefined when the subgraph did not say where and nothing is missing. */
  readonly path: Path | undefined;
  readonly reason: LossReason;
  /** Set on the last entry of a fetch that lost more positions than are listed. */
  readonly moreCount?: number;
}

type LossReason =
  | { readonly kind: "fetch-failed"; readonly code: FetchFailureCode }
  | { readonly kind: "subgraph-error"; readonly error: SubgraphError };

/** A heavy list must not become a heavier list of errors. */
const lossesPerFetchMax = 100;

export interface LossRecorder {
  /** Everything that the fetch was for. */
  loseAll(reason: LossReason): void;
  /** One place, in the subgraph's terms: `["_entities", 3, "name"]` or `["user", "name"]`; undefined for somewhere. */
  lose(localPath: Path | undefined, reason: LossReason): void;
  finish(): readonly FieldLoss[];
}

/** Collects what one fetch lost. Places are only looked for when something is: then the answer is walked once more. */
export function createLossRecorder(
  fetch: CompiledFetch,
  tree: Tree,
  representations: RepresentationSet | undefined,
): LossRecorder {
  const entries: { path: Path | undefined; reason: LossReason }[] = [];
  let dropped = 0;
  let all: readonly Placed[] | undefined;
  let groups: ReadonlyMap<number, readonly Placed[]> | undefined;
  const allPlaces = () => (all ??= findPlaces(tree, fetch.paths));
  const placesOf = () => (groups ??= groupPlaces(allPlaces(), representations));
  const shared = () => tree.position.toClientPath(sharedPath(tree, fetch.paths[0] ?? []));

  function add(path: Path | undefined, reason: LossReason): void {
    const told = path && path.length > 0 ? path : undefined;
    if (entries.length < lossesPerFetchMax) entries.push({ path: told, reason });
    else dropped++;
  }

  function loseWhole(places: readonly Placed[], reason: LossReason): void {
    for (const place of places) for (const path of wholePaths(place, fetch, tree)) add(path, reason);
  }

  function lose(localPath: Path | undefined, reason: LossReason): void {
    const { index, steps } = readLocalPath(localPath, representations);
    if (index === undefined || steps === undefined) return add(shared(), reason);
    if (steps.length === 0) return loseWhole(placesOf().get(index) ?? [], reason);
    for (const { path, position } of placesOf().get(index) ?? []) {
      add([...tree.position.toClientPath(path), ...position.toClientPath(steps.map(originalKey))], reason);
    }
  }

  return {
    lose,
    loseAll: (reason) =>
      loseWhole(
        allPlaces().filter((place) => isSent(place, representations)),
        reason,
      ),
    finish() {
      const { service } = fetch;
      const last = entries.at(-1);
      const losses: FieldLoss[] = entries.map(({ path, reason }) => ({ service, path, reason }));
      if (dropped > 0 && last) losses.push({ service, path: shared(), reason: last.reason, moreCount: dropped });
      return losses;
    },
  };
}

/** By representation; a fetch of root fields has one for all its places. */
function groupPlaces(
  places: readonly Placed[],
  representations: RepresentationSet | undefined,
): ReadonlyMap<number, readonly Placed[]> {
  const groups = new Map<number, Placed[]>();
  for (const place of places) {
    const index = representations ? representations.indexOf(place.object) : 0;
    if (index === undefined) continue;
    const group = groups.get(index);
    if (group) group.push(place);
    else groups.set(index, [place]);
  }
  return groups;
}

function isSent({ object }: Placed, representations: RepresentationSet | undefined): boolean {
  return representations === undefined || representations.indexOf(object) !== undefined;
}

/** What the fetch was to bring at a place, as far as the client asked for it; if nothing of it, the place. */
function wholePaths({ path, layout }: Placed, fetch: CompiledFetch, { position }: Tree): readonly Path[] {
  const start = position.toClientPath(path);
  const names = layout.namesFrom(fetch);
  return names.length > 0 ? names.map((name) => [...start, name]) : [start];
}

interface LocalPlace {
  readonly index: number | undefined;
  readonly steps: Path | undefined;
}

/** In an entity fetch a place begins `["_entities", index]`; less says nothing. */
function readLocalPath(path: Path | undefined, representations: RepresentationSet | undefined): LocalPlace {
  if (!representations) return { index: 0, steps: path && path.length > 0 ? path : undefined };
  const [, index, ...steps] = path ?? [];
  if (typeof index !== "number" || index >= representations.count || index < 0) {
    return { index: undefined, steps: undefined };
  }
  return { index, steps };
}

/** The planner renames a field that collides with another (`name__alias_0`), and renames it back in the data. */
function originalKey<Step extends string | number>(step: Step): Step | string {
  return typeof step === "string" ? step.replace(/__alias_\d+$/, "") : step;
}

/** The part of a path before the first list: one that surely exists. */
function sharedPath({ root, position, joins }: Tree, path: readonly string[]): readonly string[] {
  const steps: string[] = [];
  let at = position;
  let object = root;
  for (const key of path) {
    const access = at.layoutOf(object, joins)?.access(key);
    steps.push(key);
    const value = access?.read(object, joins);
    if (!access?.position || typeof value !== "object" || value === null || Array.isArray(value)) break;
    object = value as Readonly<Record<string, unknown>>;
    at = access.position;
  }
  return steps;
}
