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
  readonly readSources?: () => readonly SubgraphSource[];
  readonly parts: ReadonlyMap<PartName, Pick<SupervisedPart, "restart">>;
  print(name: string, line: string): void;
  migrate(service: ServiceName): Promise<void>;
  /** How long the gateway gets to load a new supergraph before a service that removes fields restarts. */
  readonly gatewaySwapMs: number;
}

/** A service whose schema does not compose is not restarted until it composes. An empty list of paths composes and publishes everything once. */
export function createChangeHandler(options: ChangeHandlerOptions): (paths: readonly string[]) => Promise<void> {
  const { root, dataDir, services, parts, gatewaySwapMs, print } = options;
  const { readSources = () => readSubgraphs(root, services) } = options;
  const schemaState = createSchemaState({ readSources, dataDir, gatewaySwapMs, print });
  const warnOfBreakingChanges = createBreakingChangeWarner(root, services, print);

  async function restartParts(names: ReadonlySet<PartName>, cause: string): Promise<boolean> {
    const selected = [...parts].filter(([name]) => names.has(name));
    const results = await Promise.all(selected.map(([, part]) => part.restart(cause)));
    return results.every(Boolean);
  }

  return async (paths) => {
    for (const path of paths.filter(isDescriptor)) print("start", `${path} changed: stop npm start and start it again`);
    const plan = planChanges(paths);
    const isFirst = paths.length === 0;
    const toRestart = new Set([...plan.code].filter((name) => parts.has(name)));
    const mustCompose = isFirst || plan.schemas.size > 0 || schemaState.hasUnpublished();
    const composed = mustCompose ? await composeSources(root, schemaState.lastValid(), readSources()) : undefined;
    if (composed) for (const name of schemaState.accept(composed)) toRestart.add(name);
    for (const name of schemaState.blockedServices()) {
      const wasRequested = toRestart.delete(name);
      if (wasRequested) print(name, "not restarted: its schema does not compose");
    }
    for (const name of plan.migrations) {
      const isMigrated = await tryMigrate(name, options);
      if (!isMigrated) toRestart.delete(name);
    }
    const publishing = schemaState.publishAndRestart(() => restartParts(toRestart, describeCause(paths)));
    const warning = composed?.ok ? warnOfBreakingChanges(composed.graph) : undefined;
    await Promise.all([publishing, warning]);
    if (isFirst || plan.routes.size > 0) {
      const haveRoutesChanged = await publishRoutes(options);
      if (haveRoutesChanged) await parts.get("rest-proxy")?.restart("its routes have changed");
    }
  };
}

function describeCause([first = "", ...more]: readonly string[]): string {
  return more.length === 0 ? `${first} was saved` : `${first} and ${more.length} more were saved`;
}

type SchemaStateOptions = Pick<ChangeHandlerOptions, "dataDir" | "gatewaySwapMs" | "print"> &
  Required<Pick<ChangeHandlerOptions, "readSources">>;

/** Holds three sets of schemas, and decides whether the gateway or the services get new schemas first. */
function createSchemaState({ readSources, dataDir, gatewaySwapMs, print }: SchemaStateOptions) {
  /** In use by the gateway: those of the start, then the last published ones. */
  let serving: Schemas = schemasOf(readSources());
  let lastComposition: Composed | undefined;
  /** They may not be published yet. */
  let lastValid: Schemas | undefined;

  /** Those whose schema in the last composition is not the one in use. */
  function findChangedServices(): readonly ServiceName[] {
    const latest = lastComposition?.schemas;
    if (latest === undefined) return [];
    return serviceNames.filter((name) => latest.get(name) !== serving.get(name));
  }

  function hasBreakingService(schemas: Schemas): boolean {
    return findChangedServices().some((name) => hasBreakingChanges(serving.get(name) ?? "", schemas.get(name) ?? ""));
  }

  function publishLatest({ graph, schemas }: Composed & { readonly ok: true }): void {
    serving = schemas;
    if (publishIfChanged(publishedFiles(dataDir).supergraph, graph.supergraphSdl))
      print("start", "published a new supergraph; the gateway loads it");
  }

  return {
    /** Their saved schema does not compose. */
    blockedServices: (): readonly PartName[] => (lastComposition?.ok === false ? findChangedServices() : []),
    hasUnpublished: () => findChangedServices().length > 0,
    lastValid: () => lastValid,
    accept(next: Composed): readonly ServiceName[] {
      if (next.ok && lastComposition?.ok === false) print("start", "the supergraph composes again");
      // A blocked service whose schema was reverted restarts too: its code may have changed.
      const changedBefore = findChangedServices();
      const reported = lastComposition?.ok ? lastComposition.warnings : [];
      lastComposition = next;
      if (next.ok) {
        lastValid = next.schemas;
        for (const warning of next.warnings.filter((text) => !reported.includes(text))) print("start", warning);
      } else report(print, "the supergraph does not compose; the last valid one remains in use", next.report);
      return [...new Set([...changedBefore, ...findChangedServices()])];
    },
    /** `hasBreakingChanges` explains the order. If a service does not become ready, the next batch publishes. */
    async publishAndRestart(restartServices: () => Promise<boolean>): Promise<void> {
      const latest = lastComposition;
      if (!latest?.ok) {
        await restartServices();
        return;
      }
      if (hasBreakingService(latest.schemas)) {
        publishLatest(latest);
        await sleep(gatewaySwapMs);
        await restartServices();
        return;
      }
      const areReady = await restartServices();
      if (areReady) publishLatest(latest);
    },
  };
}

async function tryMigrate(service: ServiceName, { migrate, print }: ChangeHandlerOptions): Promise<boolean> {
  try {
    await migrate(service);
    return true;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    report(print, "not restarted: its migration failed", message.split("\n"), service);
    return false;
  }
}

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
