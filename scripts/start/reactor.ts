import { setTimeout as sleep } from "node:timers/promises";
import { createClientBreakWarner } from "./client-breaks.ts";
import { type Composed, composeFromDisk, mergeRoutesFromDisk, readSchemas, type Schemas } from "./composition.ts";
import { type PartName, publishedFiles, type ServiceName, serviceNames } from "./parts.ts";
import { planReaction, serviceList } from "./reaction.ts";
import { createRestarter, type RestarterOptions } from "./restarter.ts";
import { publish, takesSomethingAway } from "./supergraph.ts";

export interface ReactorOptions extends RestarterOptions {
  readonly root: string;
  readonly dataDir: string;
  migrate(service: ServiceName): Promise<void>;
  /** How long the gateway gets to read a new supergraph before a service takes something away. */
  readonly gatewaySwapMs: number;
}

/**
 * Makes what was saved run. Schemas first: a service whose schema does not compose keeps running as it was, until it
 * does. No paths at all means: look at everything once.
 */
export function createReactor(options: ReactorOptions): (paths: readonly string[]) => Promise<void> {
  const { root, parts, say } = options;
  const restart = createRestarter(options);
  const schemas = createSchemaKeeper(options);
  const warnOfClientBreaks = createClientBreakWarner(options);

  return async (paths) => {
    if (paths.includes(serviceList)) say("start", `${serviceList} changed: restart npm start`);
    const reaction = planReaction(paths);
    const isFirst = paths.length === 0;
    const restarts = new Set([...reaction.code].filter((name) => parts.has(name)));
    const mustCompose = isFirst || reaction.schemas.size > 0 || schemas.areWaiting();
    const composed = mustCompose ? await composeFromDisk(root, schemas.composed()) : undefined;
    if (composed) for (const name of schemas.take(composed)) restarts.add(name);
    for (const name of schemas.held())
      if (restarts.delete(name)) say(name, "keeps running as it was: its schema does not compose");
    for (const name of reaction.migrations) if (!(await migrates(name, options))) restarts.delete(name);
    const publishing = schemas.publishAround(() => restart(restarts, paths));
    await Promise.all([publishing, composed?.ok ? warnOfClientBreaks(composed.graph) : undefined]);
    if (!isFirst && reaction.routes.size === 0) return;
    if (await publishRoutes(options)) await restart(["rest-proxy"], []);
  };
}

/** Knows the schemas that serve, those that wait, and in which order gateway and services learn of new ones. */
function createSchemaKeeper({ root, dataDir, gatewaySwapMs, say }: ReactorOptions) {
  let serving: Schemas = readSchemas(root);
  let latest: Composed | undefined;
  let composed: Schemas | undefined;

  function changed(): readonly ServiceName[] {
    return latest ? serviceNames.filter((name) => latest?.schemas.get(name) !== serving.get(name)) : [];
  }

  function publishLatest({ graph, schemas }: Composed & { readonly ok: true }): void {
    serving = schemas;
    if (publish(publishedFiles(dataDir).supergraph, graph.supergraphSdl))
      say("start", "the supergraph is composed anew; the gateway takes it over");
  }

  return {
    /** Services that must not be restarted, for they would serve what does not compose. */
    held: (): readonly PartName[] => (latest?.ok === false ? changed() : []),
    /** Whether schemas were saved that do not serve yet. */
    areWaiting: () => changed().length > 0,
    /** The schemas that composed last. */
    composed: () => composed,
    /** Returns the services that have to be restarted because of their schemas. */
    take(next: Composed): readonly ServiceName[] {
      if (next.ok && latest?.ok === false) say("start", "the supergraph composes again");
      const waited = changed(); // One that was held, and has its old schema again, may still have other code.
      latest = next;
      if (next.ok) composed = next.schemas;
      else report(say, "the supergraph does not compose; the last good one keeps serving", next.report);
      return [...new Set([...waited, ...changed()])];
    },
    async publishAround(restartThem: () => Promise<boolean>): Promise<void> {
      if (!latest?.ok) return void (await restartThem());
      const pairs = changed().map((name) => [serving.get(name) ?? "", latest?.schemas.get(name) ?? ""] as const);
      if (pairs.some(([before, after]) => takesSomethingAway(before, after))) {
        publishLatest(latest);
        await sleep(gatewaySwapMs);
        await restartThem();
      } else if (await restartThem()) publishLatest(latest);
    },
  };
}

async function migrates(service: ServiceName, { migrate, say }: ReactorOptions): Promise<boolean> {
  try {
    await migrate(service);
    return true;
  } catch (error) {
    report(say, "is not restarted", (error instanceof Error ? error.message : String(error)).split("\n"), service);
    return false;
  }
}

/** True when the proxy has something new to read. */
async function publishRoutes({ root, dataDir, say }: ReactorOptions): Promise<boolean> {
  const merged = await mergeRoutesFromDisk(root);
  if (merged.ok) return publish(publishedFiles(dataDir).routes, merged.content);
  report(say, "the REST routes do not fit together; the last good ones keep serving", merged.report);
  return false;
}

function report(say: ReactorOptions["say"], headline: string, lines: readonly string[], name = "start"): void {
  for (const line of [headline, ...lines]) say(name, line);
}
