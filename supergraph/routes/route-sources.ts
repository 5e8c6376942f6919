import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { CompositionError } from "../composition/composition-errors.ts";
import { type Contract, readContract } from "../contract/contract.ts";
import { listOperationPositions, toDeclarations } from "../contract/contract-operations.ts";
import type { Subgraph } from "../subgraphs.ts";

export interface RouteSource extends Pick<Subgraph, "name" | "owner"> {
  readonly file: string;
  readonly text: string | undefined;
  readonly declarations: unknown;
  readonly failure?: string;
  /** Of an external service. */
  readonly contract?: Contract;
  /** In the contract, by the ids of the routes. */
  readonly positions?: ReadonlyMap<string, { readonly line: number; readonly column: number }>;
  readonly contractProblems?: readonly CompositionError[];
}

/** Modules with data only, so that the import has no effect, and contracts. An edited file is read again. */
export function readRoutes(root: string, subgraphs: readonly Subgraph[]): Promise<RouteSource[]> {
  return Promise.all(subgraphs.map((subgraph) => readRoutesOf(root, subgraph)));
}

async function readRoutesOf(root: string, subgraph: Subgraph): Promise<RouteSource> {
  const { name, owner, folder } = subgraph;
  if (subgraph.external) return readContractRoutes(readContract(root, subgraph));
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

function readContractRoutes(contract: Contract): RouteSource {
  const { name, owner, file } = contract;
  const contractProblems = [...contract.problems];
  const declarations = toDeclarations(contract, contractProblems);
  return {
    name,
    owner,
    file,
    text: "",
    declarations,
    contract,
    positions: listOperationPositions(contract),
    contractProblems,
  };
}

async function importRoutes(path: string): Promise<unknown> {
  // Node caches modules by URL. The mtime in the URL makes a long-lived process (`npm start`) import an edited file again.
  const url = `${pathToFileURL(path).href}?changed=${statSync(path, { bigint: true }).mtimeNs}`;
  const exported = (await import(/* @vite-ignore */ url)) as { readonly routes?: unknown };
  return exported.routes;
}
