// The REST half of a mock: responds with the examples of the OpenAPI documents, or with values that are made from their schemas.
import { globSync, readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { basename, join } from "node:path";
import { AppError } from "@tributary/kit/errors/app-error";
import type { Json } from "@tributary/kit/json/json";
import { entriesOf, memberOf } from "../../../../supergraph/contract/json-members.ts";
import { exampleOf } from "../openapi-example.ts";
import type { RestForwarder } from "../server.ts";

const requestPath = /^\/(v\d+)(\/[^?]*)/;

/** @param folder with the documents, `v1.json` and so on; those of all services. */
export function createMockRest(folder: string): RestForwarder {
  const files = globSync("v*.json", { cwd: folder });
  const documents = new Map(
    files.map((file) => [basename(file, ".json"), JSON.parse(readFileSync(join(folder, file), "utf8")) as Json]),
  );
  return (request, response, { path: versionedPath }) => {
    const [, version = "", path = ""] = requestPath.exec(versionedPath) ?? [];
    respond(request, response, path, documents.get(version));
  };
}

function respond(request: IncomingMessage, response: ServerResponse, path: string, document: Json | undefined): void {
  const method = request.method === "HEAD" ? "get" : (request.method ?? "GET").toLowerCase();
  const operation = document && findOperation(document, path, method);
  if (!document || !operation)
    throw new AppError("NOT_FOUND", "The OpenAPI documents do not have this route: npm run generate");
  const responses = entriesOf(memberOf(operation, "responses"));
  const [status = "200", success] = responses.find(([code]) => code.startsWith("2")) ?? [];
  const [[type, media] = []] = entriesOf(memberOf(success, "content"));
  response.writeHead(Number(status), type === undefined ? {} : { "Content-Type": type });
  response.end(
    media === undefined || request.method === "HEAD" ? undefined : JSON.stringify(exampleOf(media, document)),
  );
}

/** A path without parameters before one with. */
function findOperation(document: Json, path: string, method: string): unknown {
  const segments = path.split("/");
  const matches = entriesOf(memberOf(document, "paths")).filter(([template, operations]) => {
    const parts = template.split("/");
    const isMatch = parts.every((part, index) => part.startsWith("{") || part === segments[index]);
    return parts.length === segments.length && isMatch && memberOf(operations, method) !== undefined;
  });
  const [exact] = matches.toSorted(([a], [b]) => a.split("{").length - b.split("{").length);
  return memberOf(exact?.[1], method);
}
