import { buildSubgraphSchema } from "@apollo/subgraph";
import { execute, parse } from "graphql";
import { subgraphResolvers } from "../graph/resolvers.ts";
import { type BenchmarkSubgraphName, subgraphSdl } from "../graph/schemas.ts";

/** Limit of stored bytes, several times what a whole run needs. Beyond it responses are computed for each request, and counted. */
const storedBytesMax = 4_000_000_000;

/**
 * The responses of one subgraph: graphql-js computes one response per request body, which is stored and sent again.
 * @param onCompute called before a response is computed.
 * @returns a function from a request body, in Latin-1, to the complete HTTP response; a promise if it must be computed.
 */
export function createCannedResponses(name: BenchmarkSubgraphName, onCompute: () => void) {
  const schema = buildSubgraphSchema([
    { typeDefs: parse(subgraphSdl[name]), resolvers: subgraphResolvers[name] as never },
  ]);
  const stored = new Map<string, Buffer>();
  let storedBytes = 0;

  const compute = async (body: string): Promise<Buffer> => {
    onCompute();
    const text = Buffer.from(body, "latin1").toString();
    const { query, variables, operationName } = JSON.parse(text);
    const result = await execute({ schema, document: parse(query), variableValues: variables, operationName });
    const response = toHttp(JSON.stringify(result), ["Content-Type: application/json"]);
    storedBytes += response.length + body.length;
    if (storedBytes < storedBytesMax) stored.set(body, response);
    return response;
  };
  return (body: string): Buffer | Promise<Buffer> => stored.get(body) ?? compute(body);
}

/** Returns the bytes of a response with status 200. */
export function toHttp(text: string, headers: readonly string[]): Buffer {
  const body = Buffer.from(text);
  const head = ["HTTP/1.1 200 OK", ...headers, `Content-Length: ${body.length}`];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}
