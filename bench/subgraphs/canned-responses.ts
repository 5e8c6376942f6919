import { buildSubgraphSchema } from "@apollo/subgraph";
import { execute, parse } from "graphql";
import { getResolvers } from "../graph/resolvers.ts";
import { subgraphSdl, type BenchmarkSubgraphName } from "../graph/schemas.ts";

/** Limit of stored bytes, several times what a whole run needs. Beyond it responses are computed for each request, and counted. */
const storedBytesMax = 4_000_000_000;

export interface CannedResponses {
  /** Returns the complete HTTP response to a request body; a promise if it must be computed. */
  respond(body: string): Buffer | Promise<Buffer>;
  readonly counts: { fetches: number; computed: number };
}

/** The responses of one subgraph: graphql-js computes one response per request body, which is stored and sent again. */
export function createCannedResponses(name: BenchmarkSubgraphName): CannedResponses {
  const schema = buildSubgraphSchema([{ typeDefs: parse(subgraphSdl[name]), resolvers: getResolvers(name) as never }]);
  const stored = new Map<string, Buffer>();
  const counts = { fetches: 0, computed: 0 };
  let storedBytes = 0;

  const compute = async (body: string): Promise<Buffer> => {
    counts.computed += 1;
    const text = Buffer.from(body, "latin1").toString();
    const { query, variables, operationName } = JSON.parse(text);
    const result = await execute({ schema, document: parse(query), variableValues: variables, operationName });
    const response = toHttp(JSON.stringify(result));
    storedBytes += response.length + body.length;
    if (storedBytes < storedBytesMax) stored.set(body, response);
    return response;
  };
  return {
    counts,
    respond(body) {
      counts.fetches += 1;
      return stored.get(body) ?? compute(body);
    },
  };
}

function toHttp(json: string): Buffer {
  const body = Buffer.from(json);
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
