import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { chooseMediaType } from "@tributary/kit/http/accept";
import { createFrontPage, type FrontPageLink, healthLink, statusLink } from "@tributary/kit/pages/front-page";
import type { ProcessState } from "@tributary/kit/process/process-status";
import { summarizeState } from "@tributary/kit/process/status-summary";
import type { Config } from "./config.ts";
import { Rejection } from "./errors/rejections.ts";
import type { ClientResponse } from "./response.ts";

/**
 * Prepares the response to `GET /` and `HEAD /` (server.ts): what this process is, with links to what it serves, as JSON or HTML.
 * @param hasGraphiql whether the bundle of GraphiQL is built.
 * @param readState for the HTML page in development.
 * @returns a function that throws a Rejection for other methods (405).
 */
export function createFrontPageResponder(
  {
    build,
    introspection,
    profile,
    restProxyUrl,
  }: Pick<Config, "build" | "introspection" | "profile"> & Partial<Pick<Config, "restProxyUrl">>,
  hasGraphiql: boolean,
  readState: () => ProcessState,
): (request: Pick<IncomingMessage, "method" | "headers">) => ClientResponse {
  const links = [endpointLink];
  if (hasGraphiql) links.push(graphiqlLink);
  if (introspection) links.push(schemaLink);
  const isDevelopment = profile === "development";
  if (isDevelopment) links.push(ownersLink, healthLink, statusLink);
  if (restProxyUrl !== undefined) links.push({ ...restLink, path: restProxyUrl }, changesLinkOf(restProxyUrl));
  const content = {
    name: "GraphQL gateway",
    description: "One GraphQL API over the data of all services.",
    version: build.version,
    links,
  };
  const page = createFrontPage(content);
  // Names and values in turn.
  const headers = ["Cache-Control", "public, no-cache"];
  headers.push("Content-Security-Policy", page.policy);
  headers.push("Referrer-Policy", "no-referrer");
  const toResponse = (type: string, content: string): ClientResponse => {
    const body = Buffer.from(content);
    const etag = createHash("sha256").update(body).digest("base64url").slice(0, 16);
    return { status: 200, contentType: `${type}; charset=utf-8`, headers, body, etag };
  };
  const json = toResponse("application/json", page.json);
  const html = toResponse("text/html", page.html);
  return (request) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead) throw new Rejection("METHOD_NOT_ALLOWED", undefined, { Allow: "GET, HEAD" });
    const type = chooseMediaType(request.headers.accept, ["application/json", "text/html"]);
    if (type !== "text/html") return json;
    if (!isDevelopment) return html;
    return toResponse("text/html", createFrontPage({ ...content, state: summarizeState(readState()) }).html);
  };
}

const endpointLink: FrontPageLink = {
  key: "graphql",
  path: "/graphql",
  title: "GraphQL endpoint",
  method: "POST",
  text: "Send an operation as JSON: query, variables, operationName.",
};
const graphiqlLink: FrontPageLink = {
  key: "graphiql",
  path: "/graphiql",
  title: "GraphiQL",
  text: "Write and run operations in the browser, with the documentation of every field.",
};
const ownersLink: FrontPageLink = {
  key: "owners",
  path: "/owners",
  title: "Who owns what",
  text: "Each subgraph with its team, and its entities and fields.",
};
const restLink = {
  key: "rest",
  title: "REST API",
  text: "The same data as resources, with a reference of every operation.",
};
function changesLinkOf(restProxyUrl: string): FrontPageLink {
  return {
    key: "changes",
    path: `${restProxyUrl}/docs/changes`,
    title: "Changes",
    text: "What the next release changes in the GraphQL and in the REST API.",
  };
}
const schemaLink: FrontPageLink = {
  key: "schema",
  path: "/schema.graphql",
  title: "API schema",
  text: "Every type and field that clients can use, as text.",
};
