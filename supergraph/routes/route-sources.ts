import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Subgraph } from "../subgraphs.ts";

export interface RouteSource extends Pick<Subgraph, "name" | "owner"> {
  readonly file: string;
  readonly text: string | undefined;
  readonly declarations: unknown;
  readonly failure?: string;
}

/** Modules with data only, so that the import has no effect. An edited file is imported again. */
export function readRoutes(root: string, subgraphs: readonly Subgraph[]): Promise<RouteSource[]> {
  return Promise.all(subgraphs.map((subgraph) => readRoutesOf(root, subgraph)));
}

async function readRoutesOf(root: string, { name, owner, folder }: Subgraph): Promise<RouteSource> {
  const file = `${folder}/src/rest/routes.ts`;
  const path = join(root, file);
  const source = { name, owner, file, declarations: undefined };
  if (!existsSync(path)) return { ...source, text: undefined };
  const text = readFileSync(path, "utf8");
  try {
    return { ...source, text, declarations: await importRoutes(path) };
  } catch (error) {
    return { ...source, text, failure: error instanceof Error ? error.message : String(error) };
  }
}

async function importRoutes(path: string): Promise<unknown> {
  // Node caches modules by URL. The mtime in the URL makes a long-lived process (`npm start`) import an edited file again.
  const url = `${pathToFileURL(path).href}?changed=${statSync(path, { bigint: true }).mtimeNs}`;
  const exported = (await import(/* @vite-ignore */ url)) as { readonly routes?: unknown };
  return exported.routes;
}
