import { tagOf, type TakenSchemas, writeContractOperations } from "./contract-operation.ts";
import { describeApi } from "./api-description.ts";
import { createComponents, sortKeys } from "./openapi-components.ts";
import { toOperation, toTemplate } from "./openapi-operation.ts";
import type { OperationDocument, ServiceDocuments } from "@tributary/kit/openapi/openapi";
import type { Json } from "@tributary/kit/json/json";
import { createSchemaBook } from "@tributary/kit/openapi/schema-book";
import type { Method, RouteDeclaration } from "@tributary/kit/rest/routes";
import { findDocumentProblems, type DocumentSource, readDocuments } from "./openapi-sources.ts";
import type { GeneratorResult } from "../composition/generated-files.ts";
import { readRoutes } from "../routes/route-sources.ts";
import { compare } from "../routes/routes.ts";
import type { Subgraph } from "../subgraphs.ts";

export function documentFile(version: number): string {
  return `supergraph/openapi/v${version}.json`;
}

/** If no service has an src/rest/openapi.ts there are no files; if only some have one, each missing one is an error. */
export async function composeDocuments(root: string, subgraphs: readonly Subgraph[]): Promise<GeneratorResult> {
  const sources = await readDocuments(root, subgraphs, await readRoutes(root, subgraphs));
  // A source whose import failed counts too, so that the failure is reported.
  const isDocumented = ({ documents, failure, contract }: DocumentSource) =>
    documents !== undefined || failure !== undefined || contract !== undefined;
  if (!sources.some(isDocumented)) return { ok: true, files: [], warnings: [] };
  const errors = findDocumentProblems(sources);
  if (errors.length > 0) return { ok: false, errors };
  const files = versionsOf(sources).map((version) => ({
    path: documentFile(version),
    content: `${JSON.stringify(mergeDocuments(sources, version), undefined, 2)}\n`,
  }));
  return { ok: true, files, warnings: [] };
}

export function versionsOf(sources: readonly DocumentSource[]): readonly number[] {
  const routes = sources.flatMap((source) => source.routes);
  const versions = new Set(routes.flatMap((route) => route.versions));
  return [...versions].toSorted((a, b) => a - b);
}

/** OpenAPI 3.1.1, 4.8.1. */
export function mergeDocuments(sources: readonly DocumentSource[], version: number): Json {
  const book = createSchemaBook();
  const components = createComponents();
  const operations = sources.flatMap((source) => operationsOf(source, version));
  const paths: Record<string, Record<string, Json>> = {};
  for (const { route, tag, document } of operations.toSorted(byPathThenMethod)) {
    const template = toTemplate(route.path);
    const operationsByMethod = paths[template] ?? {};
    paths[template] = operationsByMethod;
    const source = { route, version, tag: tag.name, document };
    operationsByMethod[route.method.toLowerCase()] = toOperation(source, { book, components });
  }
  const tags = new Map(operations.map(({ tag }) => [tag.name, tag]));
  const taken: TakenSchemas = new Map(Object.entries({ ...book.named(), ...components.used().schemas }));
  const ownNames = new Set(taken.keys());
  for (const { contract } of sources) {
    if (contract === undefined) continue;
    for (const { template, method, operation } of writeContractOperations(contract, version, { components, taken })) {
      paths[template] = { ...paths[template], [method]: operation };
      tags.set(contract.name, { name: tagOf(contract.name), description: contract.description });
    }
  }
  const foreignSchemas = [...taken].filter(([name]) => !ownNames.has(name));
  // After all operations: `toOperation` adds the schemas and components to which it refers.
  const { schemas, headers, parameters, responses } = components.used();
  return {
    openapi: "3.1.1",
    ...describeVersion(version),
    tags: [...tags.values()],
    paths: sortKeys(Object.entries(paths)),
    components: {
      schemas: sortKeys([...Object.entries({ ...book.named(), ...schemas }), ...foreignSchemas]),
      headers,
      parameters,
      responses,
      securitySchemes,
    },
  };
}

interface VersionOperation {
  readonly route: RouteDeclaration;
  readonly document: OperationDocument;
  readonly tag: ServiceDocuments["tag"];
}

function operationsOf({ documents, routes }: DocumentSource, version: number): readonly VersionOperation[] {
  if (documents === undefined) return [];
  const { operations, tag } = documents;
  const versionRoutes = routes.filter(({ versions }) => versions.includes(version));
  return versionRoutes.flatMap((route) => {
    const document = operations[route.id]?.[version];
    return document === undefined ? [] : [{ route, document, tag }];
  });
}

const methodOrder: readonly Method[] = ["GET", "POST", "PATCH", "DELETE"];

function byPathThenMethod({ route: a }: VersionOperation, { route: b }: VersionOperation): number {
  return compare(a.path, b.path) || methodOrder.indexOf(a.method) - methodOrder.indexOf(b.method);
}

function describeVersion(version: number): Json {
  return {
    info: {
      title: "Tributary",
      version: `${version}.0.0`,
      summary: `Version ${version} of the REST API.`,
      description: describeApi(version),
      contact: { name: "The platform team" },
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: `/v${version}`, description: serverDescription, "x-internal": false }],
  };
}

/** Inventory tools expect each server's environment and audience (OWASP API9:2023). */
const serverDescription = "The server that serves this document, in production and locally.";

const securitySchemes = {
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "A JSON Web Token (RFC 7519) of a trusted OpenID provider. Issuer, audience, expiry and algorithm are validated (RFC8725). If an operation requires a scope, the token needs one of those in `x-scopes`.",
  },
};
