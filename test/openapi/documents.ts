import { fileURLToPath } from "node:url";
import type { OperationExample, OperationDocument } from "../../kit/src/openapi/openapi.ts";
import { mergeDocuments, versionsOf } from "../../supergraph/documents/compose-documents.ts";
import {
  findDocumentProblems,
  type DocumentSource,
  readDocuments,
} from "../../supergraph/documents/openapi-sources.ts";
import { readRoutes } from "../../supergraph/routes/route-sources.ts";
import { readServices } from "../../supergraph/services.ts";
import type { Schema } from "./json-schema.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The documents of this repository's services. Throws if one is invalid. */
async function readServiceDocuments(): Promise<readonly DocumentSource[]> {
  const services = readServices(root);
  const sources = await readDocuments(root, services, await readRoutes(root, services));
  const [problem] = findDocumentProblems(sources);
  if (problem) throw new Error(problem.message);
  return sources;
}

/** The parts of an OpenAPI document that tests read. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, { readonly schema: Schema }>>;
    readonly responses: Operation["responses"];
  };
}

interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly $ref?: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly $ref?: string;
        readonly headers?: Schema;
        readonly content?: Readonly<Record<string, Media>>;
        readonly links?: Readonly<Record<string, { readonly operationId: string; readonly parameters: Schema }>>;
      }
    >
  >;
}

export async function mergeOpenApi(version: number): Promise<OpenApi> {
  return mergeDocuments(await readServiceDocuments(), version) as unknown as OpenApi;
}

export function operationsOf(document: OpenApi): ReadonlyMap<string, Operation> {
  const operations = Object.values(document.paths).flatMap((item) => Object.values(item));
  return new Map(operations.map((operation) => [operation.operationId, operation]));
}

/** An example with its operation, so that a test can send it and check the response. */
export interface RunnableExample extends OperationExample {
  readonly id: string;
  readonly service: string;
  readonly method: string;
  readonly version: number;
  readonly document: OperationDocument;
}

let requests = 0;

/** The body for one request; undefined for a request without one. */
export function createBody({ body, uniqueBody }: RunnableExample): unknown {
  return uniqueBody ? uniqueBody(++requests) : body;
}

export async function readExamples(): Promise<readonly RunnableExample[]> {
  const sources = await readServiceDocuments();
  return versionsOf(sources).flatMap((version) =>
    sources.flatMap(({ name: service, routes, documents }) =>
      routes.flatMap(({ id, method }) => {
        const document = { ...documents?.operations[id] }[version];
        return document?.examples.map((example) => ({ ...example, id, service, method, version, document })) ?? [];
      }),
    ),
  );
}
