import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { TlsOptions } from "node:tls";
import { composeServices } from "@apollo/composition";
import { buildSubgraphSchema } from "@apollo/subgraph";
import { execute, type ExecutionResult, parse, validate } from "graphql";
import { isMirrored } from "./compare-paths.ts";

/**
 * Responds instead of the real subgraph. `body` is the gateway's request, `resolveCorrectly` returns the subgraph's result for its variables
 * or for others.
 */
export type Fault = (
  response: ServerResponse,
  body: SubgraphRequest,
  request: IncomingMessage,
  resolveCorrectly: (variables?: SubgraphRequest["variables"]) => Promise<ExecutionResult>,
) => unknown;

interface SubgraphRequest {
  readonly query: string;
  readonly variables: Record<string, unknown>;
}

export interface RunningSubgraph {
  readonly name: string;
  readonly url: string;
  readonly typeDefs: string;
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly body: SubgraphRequest }[];
  /** Received documents that are not valid against this subgraph's executable schema, each with the reason. */
  readonly invalidDocuments: string[];
  /** Undefined: responses as it should. */
  fault: Fault | undefined;
  /** Requests arrive and get no response. */
  isFrozen: boolean;
  close(): Promise<void>;
}

export interface SubgraphOptions {
  readonly name: string;
  readonly typeDefs: string;
  readonly resolvers: object;
  readonly port?: number;
  /** Precedes the type definitions. Default: `federationLink`; "" makes it a federation 1 subgraph. */
  readonly header?: string;
  /** Then it serves https, as localhost. */
  readonly tls?: TlsOptions;
}

/** The header of a federation 2 subgraph. */
export const federationLink = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.7",
  import: ["@key", "@external", "@requires", "@provides", "@shareable", "@inaccessible", "@interfaceObject", "@override", "@tag", "@composeDirective"])\n`;

/** A real subgraph on a free port of this machine. */
export async function startSubgraph({
  name,
  typeDefs: ownDefs,
  resolvers,
  port = 0,
  header = federationLink,
  tls,
}: SubgraphOptions): Promise<RunningSubgraph> {
  const typeDefs = header + ownDefs;
  const schema = buildSubgraphSchema([{ typeDefs: parse(typeDefs), resolvers: resolvers as never }]);
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === "GET") {
      // Of the breaker: while every request waits.
      if (!subgraph.isFrozen) response.end();
      return;
    }
    if (subgraph.isFrozen) return;
    const body: SubgraphRequest = JSON.parse(await readText(request));
    const { headers } = request;
    if (!isMirrored(headers)) subgraph.requests.push({ headers, body });
    const document = parse(body.query);
    const errors = validate(schema, document);
    if (errors.length > 0) subgraph.invalidDocuments.push(`${name} received ${body.query}: ${errors.join("; ")}`);
    const resolveCorrectly = async (variableValues = body.variables): Promise<ExecutionResult> =>
      errors.length > 0 ? { errors } : execute({ schema, document, variableValues, contextValue: { headers } });
    if (subgraph.fault) subgraph.fault(response, body, request, resolveCorrectly);
    else respondJson(response, 200, JSON.stringify(await resolveCorrectly()));
  }
  const listener: RequestListener = (request, response) => void serve(request, response);
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const subgraph: RunningSubgraph = {
    name,
    url: `${tls ? "https://localhost" : "http://127.0.0.1"}:${(server.address() as AddressInfo).port}/graphql`,
    typeDefs,
    requests: [],
    invalidDocuments: [],
    fault: undefined,
    isFrozen: false,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return subgraph;
}

export function respondJson(
  response: ServerResponse,
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
}

/** What `compose` would publish for these subgraphs. */
export function composeSupergraph(subgraphs: readonly Pick<RunningSubgraph, "name" | "typeDefs" | "url">[]): string {
  const { supergraphSdl, errors } = composeServices(
    subgraphs.map(({ name, typeDefs, url }) => ({ name, url, typeDefs: parse(typeDefs) })),
  );
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? [], "The test's subgraphs do not compose");
  return supergraphSdl;
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
