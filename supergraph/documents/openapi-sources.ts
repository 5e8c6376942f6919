import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServiceDocuments } from "@tributary/kit/openapi/openapi";
import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import type { CompositionError } from "../composition/composition-errors.ts";
import type { Contract } from "../contract/contract.ts";
import type { RouteSource } from "../routes/route-sources.ts";
import type { Subgraph } from "../subgraphs.ts";

export interface DocumentSource extends Pick<Subgraph, "name" | "owner"> {
  readonly file: string;
  readonly routes: readonly RouteDeclaration[];
  readonly documents: ServiceDocuments | undefined;
  readonly failure?: string;
  /** Of an external service, instead of `documents`. */
  readonly contract?: Contract;
}

/** Modules with data only. Node imports a file once per process, even if it is edited. */
export function readDocuments(
  root: string,
  subgraphs: readonly Subgraph[],
  routeSources: readonly RouteSource[],
): Promise<DocumentSource[]> {
  return Promise.all(
    subgraphs.map((subgraph) => {
      const routeSource = routeSources.find(({ name }) => name === subgraph.name);
      return readDocumentsOf(root, subgraph, routeSource);
    }),
  );
}

async function readDocumentsOf(
  root: string,
  { name, owner, folder }: Subgraph,
  { declarations, contract }: Partial<RouteSource> = {},
): Promise<DocumentSource> {
  if (contract)
    return {
      name,
      owner,
      file: contract.file,
      routes: declarations as readonly RouteDeclaration[],
      documents: undefined,
      contract,
    };
  const file = `${folder}/src/rest/openapi.ts`;
  const path = join(root, file);
  const source = { name, owner, file, routes: (declarations ?? []) as readonly RouteDeclaration[] };
  if (!existsSync(path)) return { ...source, documents: undefined };
  try {
    const exported = (await import(/* @vite-ignore */ pathToFileURL(path).href)) as {
      readonly documents?: ServiceDocuments;
    };
    return { ...source, documents: exported.documents };
  } catch (error) {
    return { ...source, documents: undefined, failure: error instanceof Error ? error.message : String(error) };
  }
}

const documentsMissing =
  "This file has no documents. Export documents = { tag: { name, description }, operations: { … } }, with an operation for each REST " +
  "route and version; a service without routes exports operations: {}.";

/** All problems that prevent composing the documents: a missing file, a route without a document, or one with other parameters than the route. */
export function findDocumentProblems(sources: readonly DocumentSource[]): CompositionError[] {
  return sources.flatMap((source) => {
    const { name, owner, file, documents, failure, contract } = source;
    if (contract) return [...contract.problems];
    const toError = (code: string, message: string) => ({ message, code, subgraph: name, owner, file });
    if (documents === undefined) {
      return [toError("DOCUMENTS_MISSING", failure ?? documentsMissing)];
    }
    return source.routes.flatMap((route) =>
      problemsOfRoute(route, documents).map(({ problem, advice }) => ({
        ...toError("DOCUMENTS_INVALID", `Route ${route.id}: ${problem}`),
        advice,
      })),
    );
  });
}

interface DocumentProblem {
  readonly problem: string;
  readonly advice: string;
}

const pathParameterPattern = /:([A-Za-z0-9]+)/g;

/** Each problem once, with its versions: `it has no document (v1, v2).` */
function problemsOfRoute(route: RouteDeclaration, { operations }: ServiceDocuments): readonly DocumentProblem[] {
  const documentByVersion = { ...operations[route.id] };
  const members = route.versions.map((version) => `${version}: …`).join(", ");
  const toAdd = `add \`${route.id}: { ${members} }\` to operations.`;
  const problems = route.versions.flatMap((version) => {
    const document = documentByVersion[version];
    if (document === undefined) return [{ version, problem: "it has no document", advice: toAdd }];
    const { path = {}, query = {} } = document;
    const pathParameters = [...route.path.matchAll(pathParameterPattern)].map(([, name]) => name ?? "");
    const differences = [
      ...differencesOf("path", pathParameters, Object.keys(path)),
      ...differencesOf("query", route.query ?? [], Object.keys(query)),
    ];
    return differences.map(({ problem, advice }) => ({ version, problem: `its document ${problem}`, advice }));
  });
  return [...Map.groupBy(problems, ({ problem }) => problem)].map(([problem, occurrences]) => {
    const versions = occurrences.map(({ version }) => `v${version}`).join(", ");
    return { problem: `${problem} (${versions}).`, advice: occurrences[0]?.advice ?? "" };
  });
}

function differencesOf(
  location: "path" | "query",
  declared: readonly string[],
  documented: readonly string[],
): readonly DocumentProblem[] {
  const missing = declared.filter((name) => !documented.includes(name));
  const extra = documented.filter((name) => !declared.includes(name));
  return [
    ...missing.map((name) => ({
      problem: `lacks the ${location} parameter ${name}`,
      advice: `add \`${name}: …\` to the ${location} of the document.`,
    })),
    ...extra.map((name) => ({
      problem: `has a ${location} parameter ${name} that the route does not declare`,
      advice: `add it to the ${location} of the route, or remove it from the document.`,
    })),
  ];
}
