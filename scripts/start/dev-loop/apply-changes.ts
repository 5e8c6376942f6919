// Step 2 of the dev loop: applies a batch of saved files by the plan of change-plan.ts.
import { setTimeout as sleep } from "node:timers/promises";
import { readSubgraphs, type Subgraph, type SubgraphSource } from "../../../supergraph/subgraphs.ts";
import { createBreakingChangeWarner } from "./breaking-changes.ts";
import { type Composed, composeSources, mergeRoutesFromDisk, type Schemas, schemasOf } from "./composition.ts";
import { type PartName, publishedFiles, type ServiceName, serviceNames } from "../parts.ts";
import { isDescriptor, planChanges } from "./change-plan.ts";
import { publishIfChanged, hasBreakingChanges } from "../published-files.ts";
import type { SupervisedPart } from "../supervised-part.ts";

export interface ChangeHandlerOptions {
  readonly root: string;
  readonly dataDir: string;
  readonly services: readonly Subgraph[];
  /** Reads the schema of every service. Default: from disk. */
  readonly readSources?: () => readonly SubgraphSource[];
  readonly parts: ReadonlyMap<PartName, Pick<SupervisedPart, "restart">>;
  print(name: string, line: string): void;
  migrate(service: ServiceName): Promise<void>;
  /** How long the gateway gets to load a new supergraph before a service that removes fields restarts. */
  readonly gatewaySwapMs: number;
}

/**
 * Returns a function that applies saved files: it composes, migrates, restarts parts, and publishes the supergraph and the
 * routes. A service whose schema does not compose is not restarted until it composes. An empty list of paths composes and
 * publishes everything once.
 */
export function createChangeHandler(options: ChangeHandlerOptions): (paths: readonly string[]) => Promise<void> {
  const { root, services, parts, print, readSources = () => readSubgraphs(root, services) } = options;
  const schemas = createSchemaState({ ...options, readSources });
  const warnOfBreakingChanges = createBreakingChangeWarner(options);

  return async (paths) => {
    for (const path of paths.filter(isDescriptor)) print("start", `${path} changed: stop npm start and start it again`);
    const plan = planChanges(paths);
    const isFirst = paths.length === 0;
    const restarts = new Set([...plan.code].filter((name) => parts.has(name)));
    const mustCompose = isFirst || plan.schemas.size > 0 || schemas.hasUnpublished();
    const composed = mustCompose ? await composeSources(root, schemas.composed(), readSources()) : undefined;
    if (composed) for (const name of schemas.accept(composed)) restarts.add(name);
    for (const name of schemas.blockedServices())
      if (restarts.delete(name)) print(name, "not restarted: its schema does not compose");
    for (const name of plan.migrations) if (!(await tryMigrate(name, options))) restarts.delete(name);
    const publishing = schemas.publishAndRestart(async () => {
      const restarted = [...parts].filter(([name]) => restarts.has(name));
      const results = await Promise.all(restarted.map(([, part]) => part.restart(describeCause(paths))));
      return results.every(Boolean);
    });
    await Promise.all([publishing, composed?.ok ? warnOfBreakingChanges(composed.graph) : undefined]);
    if (!isFirst && plan.routes.size === 0) return;
    if (await publishRoutes(options)) await parts.get("rest-proxy")?.restart("its routes have changed");
  };
}

function describeCause([first = "", ...more]: readonly string[]): string {
  return more.length === 0 ? `${first} was saved` : `${first} and ${more.length} more were saved`;
}

type SchemaStateOptions = Pick<ChangeHandlerOptions, "dataDir" | "gatewaySwapMs" | "print"> &
  Required<Pick<ChangeHandlerOptions, "readSources">>;

/**
 * The schemas that are in use (`serving`), those of the last composition, which may have failed, and the last ones that composed (`composed`).
 * Decides whether the gateway or the services get new schemas first.
 */
function createSchemaState({ readSources, dataDir, gatewaySwapMs, print }: SchemaStateOptions) {
  let serving: Schemas = schemasOf(readSources());
  let lastComposition: Composed | undefined;
  let composed: Schemas | undefined;

  /** The services whose schema in the last composition is not the one in use. Empty before the first composition. */
  function changed(): readonly ServiceName[] {
    return lastComposition
      ? serviceNames.filter((name) => lastComposition?.schemas.get(name) !== serving.get(name))
      : [];
  }

  function publishLatest({ graph, schemas }: Composed & { readonly ok: true }): void {
    serving = schemas;
    if (publishIfChanged(publishedFiles(dataDir).supergraph, graph.supergraphSdl))
      print("start", "published a new supergraph; the gateway loads it");
  }

  return {
    /** Services that must not be restarted, because their saved schema does not compose. */
    blockedServices: (): readonly PartName[] => (lastComposition?.ok === false ? changed() : []),
    /** Whether saved schemas are not published yet. */
    hasUnpublished: () => changed().length > 0,
    /** The last schemas that composed. */
    composed: () => composed,
    /** Stores a composition. Returns the services to restart because of their schemas. */
    accept(next: Composed): readonly ServiceName[] {
      if (next.ok && lastComposition?.ok === false) print("start", "the supergraph composes again");
      const changedBefore = changed(); // A blocked service whose schema was reverted restarts too: its code may have changed.
      lastComposition = next;
      if (next.ok) composed = next.schemas;
      else report(print, "the supergraph does not compose; the last valid one remains in use", next.report);
      return [...new Set([...changedBefore, ...changed()])];
    },
    /** `hasBreakingChanges` explains the order. If a service does not become ready, the next batch publishes. */
    async publishAndRestart(restartServices: () => Promise<boolean>): Promise<void> {
      if (!lastComposition?.ok) return void (await restartServices());
      const pairs = changed().map(
        (name) => [serving.get(name) ?? "", lastComposition?.schemas.get(name) ?? ""] as const,
      );
      if (pairs.some(([before, after]) => hasBreakingChanges(before, after))) {
        publishLatest(lastComposition);
        await sleep(gatewaySwapMs);
        await restartServices();
      } else if (await restartServices()) publishLatest(lastComposition);
    },
  };
}

async function tryMigrate(service: ServiceName, { migrate, print }: ChangeHandlerOptions): Promise<boolean> {
  try {
    await migrate(service);
    return true;
  } catch (error) {
    report(
      print,
      "not restarted: its migration failed",
      (error instanceof Error ? error.message : String(error)).split("\n"),
      service,
    );
    return false;
  }
}

/** Returns true if routes.json has changed. */
async function publishRoutes({ root, services, dataDir, print }: ChangeHandlerOptions): Promise<boolean> {
  const merged = await mergeRoutesFromDisk(root, services);
  if (merged.ok) return publishIfChanged(publishedFiles(dataDir).routes, merged.content);
  report(print, "the REST routes are invalid; the last valid ones remain in use", merged.report);
  return false;
}

function report(
  print: ChangeHandlerOptions["print"],
  headline: string,
  lines: readonly string[],
  name = "start",
): void {
  for (const line of [headline, ...lines]) print(name, line);
}
