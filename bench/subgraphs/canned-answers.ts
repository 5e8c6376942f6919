import { buildSubgraphSchema } from "@apollo/subgraph";
import { execute, parse } from "graphql";
import { resolversOf } from "../graph/resolvers.ts";
import { subgraphSdl, type SubgraphName } from "../graph/schemas.ts";

/** A whole run's bodies fit many times; beyond it answers are computed again each time, and counted. */
const answerBytesMax = 4_000_000_000;

export interface CannedAnswers {
  /** The whole HTTP answer to a request's body. */
  answer(body: string): Buffer | Promise<Buffer>;
  /** How many were asked for, and how many of these had to be computed. */
  readonly counts: { asked: number; computed: number };
}

/** Answers of one subgraph: graphql-js computes each body's answer once, afterwards it is one look-up. */
export function createCannedAnswers(name: SubgraphName): CannedAnswers {
  const schema = buildSubgraphSchema([{ typeDefs: parse(subgraphSdl[name]), resolvers: resolversOf(name) as never }]);
  const known = new Map<string, Buffer>();
  const counts = { asked: 0, computed: 0 };
  let bytesKept = 0;

  const compute = async (body: string): Promise<Buffer> => {
    counts.computed += 1;
    const text = Buffer.from(body, "latin1").toString();
    const { query, variables, operationName } = JSON.parse(text);
    const result = await execute({ schema, document: parse(query), variableValues: variables, operationName });
    const answer = toHttp(JSON.stringify(result));
    bytesKept += answer.length + body.length;
    if (bytesKept < answerBytesMax) known.set(body, answer);
    return answer;
  };
  return {
    counts,
    answer(body) {
      counts.asked += 1;
      return known.get(body) ?? compute(body);
    },
  };
}

function toHttp(json: string): Buffer {
  const body = Buffer.from(json);
  const head = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}
