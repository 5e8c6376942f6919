import { createComponents } from "./openapi-components.ts";
import { toOperation, toTemplate } from "./openapi-operation.ts";
import { createSchemaBook, type Json } from "@tributary/kit/openapi/schema-book";
import { describeDocumentProblems, type DocumentSource, readDocuments } from "./openapi-sources.ts";
import type { Generation, GenerationOptions } from "../composition/generated-files.ts";
import { readRoutes } from "../routes/route-sources.ts";
import type { Subgraph } from "../subgraphs.ts";

/** Where the document of a version is committed. */
export function documentFile(version: number): string {
  return `supergraph/openapi/v${version}.json`;
}

/**
 * One OpenAPI document for each version that some route is served in, from the services' own words. None at all where no service has any
 * yet; with `partial`, from those that have.
 */
export async function composeDocuments(
  root: string,
  { partial }: GenerationOptions,
  list: readonly Subgraph[],
): Promise<Generation> {
  const sources = await readDocuments(root, list, await readRoutes(root, list));
  const isDocumented = ({ documents, failure }: DocumentSource) => documents !== undefined || failure !== undefined;
  if (!sources.some(isDocumented)) return { ok: true, files: [], remarks: [] };
  const taken = partial ? sources.filter(isDocumented) : sources;
  const errors = describeDocumentProblems(taken);
  if (errors.length > 0) return { ok: false, errors };
  const files = versionsOf(taken).map((version) => ({
    path: documentFile(version),
    content: `${JSON.stringify(mergeDocuments(taken, version), undefined, 2)}\n`,
  }));
  return { ok: true, files, remarks: [] };
}

/** The versions that some route is served in, ascending. */
export function versionsOf(sources: readonly DocumentSource[]): readonly number[] {
  const versions = sources.flatMap(({ routes }) => routes.flatMap(({ versions }) => versions));
  return [...new Set(versions)].toSorted((a, b) => a - b);
}

/** The services' chapters as one OpenAPI Object (OpenAPI 3.1.1, 4.8.1); the same text for the same words, whatever their order. */
export function mergeDocuments(sources: readonly DocumentSource[], version: number): Json {
  const book = createSchemaBook();
  const components = createComponents();
  const chapters = sources.flatMap((source) => chapterOf(source, version));
  const paths: Record<string, Record<string, Json>> = {};
  for (const { route, tag, document } of chapters.toSorted(byPathThenMethod)) {
    const item = (paths[toTemplate(route.path)] ??= {});
    item[route.method.toLowerCase()] = toOperation({ route, version, tag: tag.name, document }, { book, components });
  }
  const tags = new Map(chapters.map(({ tag }) => [tag.name, tag]));
  const { schemas, ...shared } = components.used();
  return {
    openapi: "3.1.1",
    ...aboutVersion(version),
    tags: [...tags.values()].toSorted((a, b) => compare(a.name, b.name)),
    paths,
    components: { schemas: sortKeys({ ...book.named(), ...schemas }), ...shared, securitySchemes },
  };
}

function chapterOf({ documents, routes }: DocumentSource, version: number) {
  if (documents === undefined) return [];
  return routes.flatMap((route) => {
    const document = { ...documents.operations[route.id] }[version];
    return document === undefined || !route.versions.includes(version) ? [] : [{ route, document, tag: documents.tag }];
  });
}

const methods = ["GET", "POST", "PATCH", "DELETE"];

function byPathThenMethod(a: { route: DocumentSource["routes"][number] }, b: typeof a): number {
  return compare(a.route.path, b.route.path) || methods.indexOf(a.route.method) - methods.indexOf(b.route.method);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

function sortKeys(schemas: Json): Json {
  return Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => compare(a, b)));
}

function aboutVersion(version: number): Json {
  return {
    info: {
      title: "Tributary",
      version: `${version}.0.0`,
      summary: `Version ${version} of the resources.`,
      description: aboutDescription,
      contact: { name: "The platform team" },
      license: { name: "Proprietary", identifier: "LicenseRef-Proprietary" },
    },
    servers: [{ url: `/v${version}`, description: aboutServer, "x-internal": false }],
  };
}

/** An audience and an environment are said of a server, so that nobody takes one for another (OWASP API9:2023). */
const aboutServer = "The server that this document came from, in production as in a local one.";

const aboutDescription = [
  "Users, their posts and comments, and a small catalogue with its orders. [The reference](/docs) says it for people.",
  "**Versions.** The path names the version. Without one, `Accept` does (`application/vnd.tributary.v2+json`, or `application/json;version=2`), and then `Content-Location` says where the answer is. Answers say which version it was in `API-Version`. A version that is going to go says so in `Deprecation`, `Sunset` and `Link`; after that it is 410.",
  "**Reading.** What is public needs no token. Every `GET` answers `HEAD` as well, and sends an `ETag`: sent back in `If-None-Match`, it is answered with 304 as long as nothing has changed. A shared cache may send a response that is some seconds old; with `Cache-Control: no-cache` the response was requested from the service at most one second before the request arrived. `Range`, `If-Match` and `If-Unmodified-Since` are ignored.",
  "**Lists** come in pages. `Link` has the pages beside this one; a cursor holds for its list, filters and order alone. A page ends at 1 MiB, whatever its limit. A bad query parameter is 400, and `errors` names it: unknown names and those given twice first, then values.",
  "**Writing.** A change (`PATCH`) is a JSON Merge Patch (RFC 7396), and says in `If-Match` what it was made from. Bodies are UTF-8 JSON of at most 65,536 bytes; a property that is not in the schema is 422.",
  "**Problems** are `application/problem+json` (RFC 9457). `type` leads to a page that explains it; `errors` lists everything that is wrong with an input at once.",
].join("\n\n");

const securitySchemes = {
  bearer: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "A JSON Web Token (RFC 7519) of an OpenID provider that is trusted here, read as RFC8725 has it: issuer, audience, expiry and algorithm are checked. Where an operation needs a scope, `x-scopes` lists those of which one will do.",
  },
};
