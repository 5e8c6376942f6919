// The REST half of a mock: responds with the examples of the OpenAPI documents, or with values that are made from their schemas.
import { globSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { AppError } from "@tributary/kit/errors/app-error";
import { sample } from "openapi-sampler";
import type { RestForwarder } from "../server.ts";

interface MediaType {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
  readonly schema?: Parameters<typeof sample>[0];
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, MediaType>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const requestPath = /^\/(v\d+)(\/[^?]*)/;

/** @param folder with the documents, `v1.json` and so on; those of all services. */
export function createMockRest(folder: string): RestForwarder {
  const documents = new Map(
    globSync("v*.json", { cwd: folder }).map((file) => [
      file.replace(".json", ""),
      JSON.parse(readFileSync(join(folder, file), "utf8")) as Document,
    ]),
  );
  return (request, response, { path: versionedPath }) => {
    const [, version = "", path = ""] = requestPath.exec(versionedPath) ?? [];
    respond(request, response, path, documents.get(version));
  };
}

function respond(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  document: Document | undefined,
): void {
  const method = request.method === "HEAD" ? "get" : (request.method ?? "GET").toLowerCase();
  const operation = document && findOperation(document, path, method);
  if (!operation) throw new AppError("NOT_FOUND", "The OpenAPI documents do not have this route: npm run generate");
  const [status = "200", success] = Object.entries(operation.responses).find(([code]) => code.startsWith("2")) ?? [];
  const [type, media] = Object.entries(success?.content ?? {})[0] ?? [];
  response.writeHead(Number(status), type === undefined ? {} : { "Content-Type": type });
  response.end(media === undefined || request.method === "HEAD" ? undefined : JSON.stringify(bodyOf(media, document)));
}

/** A path without parameters before one with. */
function findOperation({ paths }: Document, path: string, method: string): Operation | undefined {
  const segments = path.split("/");
  const matches = Object.entries(paths).filter(([template, operations]) => {
    const parts = template.split("/");
    const isMatch = parts.every((part, index) => part.startsWith("{") || part === segments[index]);
    return parts.length === segments.length && isMatch && Object.hasOwn(operations, method);
  });
  const [exact] = matches.toSorted(([a], [b]) => a.split("{").length - b.split("{").length);
  return exact?.[1][method];
}

function bodyOf({ example, examples = {}, schema }: MediaType, document: Document): unknown {
  if (example !== undefined) return example;
  const [first] = Object.values(examples);
  if (first?.value !== undefined) return first.value;
  return schema === undefined ? null : sample(schema, { quiet: true }, document);
}
