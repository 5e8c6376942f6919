import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildASTSchema, findBreakingChanges, parse } from "graphql";
import { publishedFiles } from "./parts.ts";
import { StartError } from "./start-error.ts";

/** Copies the committed supergraph and routes to where the gateway and the proxy read them. */
export function publishCommitted(root: string, dataDir: string): void {
  const published = publishedFiles(dataDir);
  mkdirSync(dirname(published.supergraph), { recursive: true });
  const pairs = [
    [join(root, "supergraph", "supergraph.graphql"), published.supergraph],
    [join(root, "supergraph", "routes.json"), published.routes],
  ] as const;
  for (const [from, to] of pairs) {
    if (!existsSync(from)) throw new StartError(`${from} is missing. Make it: npm run generate`);
    copyFileSync(from, `${to}.tmp`);
    renameSync(`${to}.tmp`, to);
  }
}

/** Replaces a published file in one step: a reader sees the old one or the new one. False when nothing has changed. */
export function publish(file: string, content: string): boolean {
  if (existsSync(file) && readFileSync(file, "utf8") === content) return false;
  writeFileSync(`${file}.tmp`, content);
  renameSync(`${file}.tmp`, file);
  return true;
}

/**
 * Whether a subgraph's new schema lacks something that the old one offered. Then the gateway has to learn it before the
 * service does, or it asks for what is no longer there; otherwise after, or it asks for what is not there yet.
 */
export function takesSomethingAway(before: string, after: string): boolean {
  const [from, to] = [before, after].map((sdl) => buildASTSchema(parse(sdl), { assumeValidSDL: true }));
  return from === undefined || to === undefined || findBreakingChanges(from, to).length > 0;
}
