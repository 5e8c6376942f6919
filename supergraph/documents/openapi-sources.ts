import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServiceDocuments } from "@tributary/kit/openapi/openapi";
import type { RouteDeclaration } from "@tributary/kit/rest/routes";
import type { CompositionError } from "../composition/composition-errors.ts";
import type { RouteSource } from "../routes/route-sources.ts";
import type { Subgraph } from "../subgraphs.ts";

/** One service's src/rest/openapi.ts and its routes. */
export interface DocumentSource extends Pick<Subgraph, "name" | "owner"> {
  readonly file: string;
  readonly routes: readonly RouteDeclaration[];
  /** Undefined if the file is missing or the import failed. */
  readonly documents: ServiceDocuments | undefined;
  readonly failure?: string;
}

/** Imports each service's documents: modules with data only, without side effects. Node imports a file once per process, even if it is edited. */
export function readDocuments(
  root: string,
  list: readonly Subgraph[],
  routes: readonly RouteSource[],
): Promise<DocumentSource[]> {
  return Promise.all(
    list.map(async ({ name, owner, folder }) => {
      const file = `${folder}/src/rest/openapi.ts`;
      const declarations = routes.find((source) => source.name === name)?.declarations;
      const source = { name, owner, file, routes: (declarations ?? []) as readonly RouteDeclaration[] };
      if (!existsSync(join(root, file))) return { ...source, documents: undefined };
      try {
        const exported = (await import(/* @vite-ignore */ pathToFileURL(join(root, file)).href)) as {
          readonly documents?: ServiceDocuments;
        };
        return { ...source, documents: exported.documents };
      } catch (error) {
        return { ...source, documents: undefined, failure: error instanceof Error ? error.message : String(error) };
      }
    }),
  );
}

const documentsMissing =
  "This file has no documents. Export documents = { tag: { name, description }, operations: { … } }, with an operation for each REST " +
  "route and version; a service without routes exports operations: {}.";

/** All problems that prevent composing the documents: a missing file, a route without a document, or other parameters. */
export function describeDocumentProblems(sources: readonly DocumentSource[]): CompositionError[] {
  return sources.flatMap((source) => {
    const { name, owner, file, documents, failure } = source;
    const problem = (code: string, message: string) => ({ message, code, subgraph: name, owner, file });
    if (documents === undefined) {
      return [problem("DOCUMENTS_MISSING", failure ?? documentsMissing)];
    }
    return source.routes.flatMap((route) =>
      problemsOfRoute(route, documents).map((message) => problem("DOCUMENTS_INVALID", `Route ${route.id}: ${message}`)),
    );
  });
}

function problemsOfRoute(route: RouteDeclaration, { operations }: ServiceDocuments): string[] {
  const documented = { ...operations[route.id] };
  const problems = route.versions.flatMap((version) => {
    const document = documented[version];
    if (document === undefined) return [{ version, problem: "it has no document" }];
    const { path = {}, query = {} } = document;
    const inPath = [...route.path.matchAll(/:([A-Za-z0-9]+)/g)].map(([, name]) => name ?? "");
    return [
      ...differencesOf("path", inPath, Object.keys(path)),
      ...differencesOf("query", route.query ?? [], Object.keys(query)),
    ].map((difference) => ({ version, problem: `its document ${difference}` }));
  });
  return [...Map.groupBy(problems, ({ problem }) => problem)].map(
    ([problem, same]) => `${problem} (${same.map(({ version }) => `v${version}`).join(", ")}).`,
  );
}

function differencesOf(location: string, declared: readonly string[], documented: readonly string[]): string[] {
  const missing = declared.filter((name) => !documented.includes(name));
  const extra = documented.filter((name) => !declared.includes(name));
  return [
    ...missing.map((name) => `lacks the ${location} parameter ${name}`),
    ...extra.map((name) => `has a ${location} parameter ${name} that the route does not declare`),
  ];
}
