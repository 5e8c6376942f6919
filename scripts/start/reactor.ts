import { setTimeout as sleep } from "node:timers/promises";
import { type Composed, composeFromDisk, mergeRoutesFromDisk, readSchemas, type Schemas } from "./composition.ts";
import { type PartName, publishedFiles, type ServiceName, serviceNames } from "./parts.ts";
import { planReaction } from "./reaction.ts";
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

  return async (paths) => {
    const reaction = planReaction(paths);
    const isFirst = paths.length === 0;
    const restarts = new Set([...reaction.code].filter((name) => parts.has(name)));
    const composed = isFirst || reaction.schemas.size > 0 ? await composeFromDisk(root) : undefined;
    if (composed) for (const name of schemas.take(composed)) restarts.add(name);
    for (const name of schemas.held())
      if (restarts.delete(name)) say(name, "keeps running as it was: its schema does not compose");
    for (const name of reaction.migrations) if (!(await migrates(name, options))) restarts.delete(name);
    await schemas.publishAround(() => restart(restarts, paths));
    if (!isFirst && reaction.routes.size === 0) return;
    if (await publishRoutes(options)) await restart(["rest-proxy"], []);
  };
}

/** Knows the schemas that serve, those that wait, and in which order gateway and services learn of new ones. */
function createSchemaKeeper({ root, dataDir, gatewaySwapMs, say }: ReactorOptions) {
  let serving: Schemas = readSchemas(root);
  let held: readonly ServiceName[] = [];
  let next: { readonly content: string; readonly takesAway: boolean } | undefined;

  return {
    held: (): readonly PartName[] => held,
    /** Returns the services that have to be restarted because of their schemas. */
    take(composed: Composed): readonly ServiceName[] {
      const changed = serviceNames.filter((name) => composed.schemas.get(name) !== serving.get(name));
      const affected = [...new Set([...changed, ...held])];
      held = composed.ok ? [] : changed;
      if (!composed.ok) {
        report(say, "the supergraph does not compose; the last good one keeps serving", composed.report);
        return affected;
      }
      const pairs = changed.map((name) => [serving.get(name) ?? "", composed.schemas.get(name) ?? ""] as const);
      next = { content: composed.content, takesAway: pairs.some(([from, to]) => takesSomethingAway(from, to)) };
      serving = composed.schemas;
      return affected;
    },
    async publishAround(restartThem: () => Promise<void>): Promise<void> {
      const { content, takesAway } = next ?? {};
      next = undefined;
      if (takesAway !== true) await restartThem();
      if (content !== undefined && publish(publishedFiles(dataDir).supergraph, content))
        say("start", "the supergraph is composed anew; the gateway takes it over");
      if (takesAway !== true) return;
      await sleep(gatewaySwapMs);
      await restartThem();
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
