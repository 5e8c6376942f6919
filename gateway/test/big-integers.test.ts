import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type RunningGateway, startGateway } from "./helpers/gateway.ts";
import { composeSupergraph, federationLink, respondJson } from "./helpers/subgraphs.ts";

/*
 * Whole numbers beyond 2^53 - 1, which JavaScript's numbers round: `rows` sends the data of a test as it is, and `facts` returns each representation as
 * the text that it received. All texts are compared as JSON texts, since JSON.parse would round them.
 */

const rowsDefs = `${federationLink}
  scalar Long
  scalar JSON
  input Filter { id: ID ids: [ID!] number: Long numbers: [Long!] any: JSON }
  type Query {
    rows: [Row!]! boxes: [Box] pairs: [Pair] nodes: [Node] any: JSON longs: [Long] double: Float int: Int text: String
    find(id: ID, number: Long, numbers: [Long], any: JSON, filter: Filter): String
    float(of: Float): String
  }
  interface Node { id: ID! }
  type Row @key(fields: "number") { number: Long! weight: Long detail: Detail @shareable }
  type Box implements Node @key(fields: "id") { id: ID! }
  type Place { number: Long }
  type Pair @key(fields: "place { number } numbers") { place: Place numbers: [Long] }
  type Detail @shareable { first: Long }
`;
const factsDefs = `${federationLink}
  scalar Long
  type Row @key(fields: "number") { number: Long! weight: Long @external fact: String byWeight: String @requires(fields: "weight") detail: Detail @shareable }
  type Box @key(fields: "id") { id: ID! fact: String }
  type Place { number: Long }
  type Pair @key(fields: "place { number } numbers") { place: Place numbers: [Long] fact: String }
  type Detail @shareable { second: Long }
`;

/** The JSON of the data that `rows` sends next. */
let rowsData = "";
/** Changes the response of `facts`. */
let changeFacts = (json: string) => json;
const requests: { readonly service: string; readonly body: string }[] = [];
let closeSubgraphs: (() => void)[];
let supergraphSdl: string;

beforeAll(async () => {
  const rows = await startRaw("rows", rowsDefs, () => `{"data":${rowsData}}`);
  const facts = await startRaw("facts", factsDefs, (body) => {
    const entities = representationsIn(body).map(toEntity);
    return changeFacts(`{"data":{"_entities":[${entities.join()}]}}`);
  });
  closeSubgraphs = [rows.close, facts.close];
  supergraphSdl = composeSupergraph([rows, facts]);
});
afterAll(() => closeSubgraphs.forEach((close) => close()));
beforeEach(() => {
  changeFacts = (json) => json;
});

describe.each([
  ["without the entity cache", {}],
  [
    "with the entity cache",
    {
      ENTITY_CACHE_ROWS: "on",
      ENTITY_CACHE_FACTS: "on",
      SUBGRAPH_FEED_URL_ROWS: "none",
      SUBGRAPH_FEED_URL_FACTS: "none",
    },
  ],
  ["without fetch sharing", { FETCH_SHARING: "false" }],
])("%s", (_, environment: Record<string, string>) => {
  let gateway: RunningGateway;
  /** Each test has another gateway: the cache of another test has other rows. */
  beforeEach(async () => {
    gateway = await startGateway({ supergraphSdl, environment });
    return () => gateway.drain();
  });

  test.each([
    ["that a double rounds", ["9007199254740993"]],
    ["that a double cannot tell apart", ["9007199254740992", "9007199254740993"]],
    ["that are equal", ["9007199254740993", "9007199254740993", "9007199254740995"]],
    ["that are negative", ["-9007199254740993", "-9007199254740992"]],
    ["of which a double has other digits", ["1152921504606846976", "1152921504606847000"]],
    ["of 64 bits", ["9223372036854775807", "-9223372036854775808", "18446744073709551615"]],
    ["of 128 bits", ["340282366920938463463374607431768211455"]],
    ["that a double represents", ["9007199254740991", "0", "-7"]],
  ])("keys %s are exact in representations and for the client", async (_name, numbers) => {
    rowsData = `{"rows":[${numbers.map((number) => `{"number":${number},"a_n":${number}}`).join()}]}`;
    const facts = numbers.map((number) => JSON.stringify(`{"__typename":"Row","number":${number}}`));
    const expectRows = (query: string, write: (number: string, fact: string | undefined) => string) =>
      expectResponse(query, `{"rows":[${numbers.map((number, i) => write(number, facts[i])).join()}]}`);
    const requested = await expectRows("{rows{number fact}}", (number, fact) => `{"number":${number},"fact":${fact}}`);
    expect(representationsIn(requested.find(({ service }) => service === "facts")?.body ?? "")).toHaveLength(
      new Set(numbers).size,
    );
    await expectRows("{rows{n:number fact}}", (number, fact) => `{"n":${number},"fact":${fact}}`);
    await expectRows("{rows{fact}}", (_number, fact) => `{"fact":${fact}}`);
  });

  test.each([
    [
      "an ID is a string",
      "{boxes{id fact}}",
      '{"boxes":[{"id":9007199254740993},{"id":"9007199254740993"},{"id":9007199254740992},{"id":7}]}',
      String.raw`{"boxes":[{"id":"9007199254740993","fact":"{\"__typename\":\"Box\",\"id\":9007199254740993}"},{"id":"9007199254740993","fact":"{\"__typename\":\"Box\",\"id\":\"9007199254740993\"}"},{"id":"9007199254740992","fact":"{\"__typename\":\"Box\",\"id\":9007199254740992}"},{"id":"7","fact":"{\"__typename\":\"Box\",\"id\":7}"}]}`,
    ],
    [
      "an ID that the client does not select",
      "{boxes{fact}}",
      '{"boxes":[{"id":-9007199254740993}]}',
      String.raw`{"boxes":[{"fact":"{\"__typename\":\"Box\",\"id\":-9007199254740993}"}]}`,
    ],
    [
      "an ID of an interface",
      "{nodes{id ...on Box{fact}}}",
      '{"nodes":[{"__typename":"Box","id":9007199254740993}]}',
      String.raw`{"nodes":[{"id":"9007199254740993","fact":"{\"__typename\":\"Box\",\"id\":9007199254740993}"}]}`,
    ],
    [
      "numbers in a key's object and list",
      "{pairs{fact}}",
      '{"pairs":[{"place":{"number":9007199254740993},"numbers":[9007199254740993]},{"place":{"number":9007199254740992},"numbers":[9007199254740993]},{"place":{"number":9007199254740993},"numbers":[9007199254740993,null,-9223372036854775808]}]}',
      String.raw`{"pairs":[{"fact":"{\"__typename\":\"Pair\",\"place\":{\"number\":9007199254740993},\"numbers\":[9007199254740993]}"},{"fact":"{\"__typename\":\"Pair\",\"place\":{\"number\":9007199254740992},\"numbers\":[9007199254740993]}"},{"fact":"{\"__typename\":\"Pair\",\"place\":{\"number\":9007199254740993},\"numbers\":[9007199254740993,null,-9223372036854775808]}"}]}`,
    ],
    [
      "a field that @requires names",
      "{rows{byWeight}}",
      '{"rows":[{"number":1,"weight":9007199254740993},{"number":1,"weight":9007199254740992}]}',
      String.raw`{"rows":[{"byWeight":"{\"__typename\":\"Row\",\"number\":1,\"weight\":9007199254740993}"},{"byWeight":"{\"__typename\":\"Row\",\"number\":1,\"weight\":9007199254740992}"}]}`,
    ],
    [
      "an object that two subgraphs provide",
      "{rows{number detail{first second}}}",
      '{"rows":[{"number":9007199254740993,"detail":{"first":9007199254740995}}]}',
      '{"rows":[{"number":9007199254740993,"detail":{"first":9007199254740995,"second":9007199254740997}}]}',
    ],
    [
      "numbers within the value of a custom scalar",
      "{any}",
      '{"any":{"a":[9007199254740993,{"b":-9007199254740993}],"9007199254740993":"9007199254740993","c":[1.5,1e3,true,null]}}',
      '{"any":{"a":[9007199254740993,{"b":-9007199254740993}],"9007199254740993":"9007199254740993","c":[1.5,1000,true,null]}}',
    ],
    [
      "a list of numbers",
      "{longs}",
      '{ "longs" : [ 9007199254740993 , null,\n9007199254740992,\t-1 ] }',
      '{"longs":[9007199254740993,null,9007199254740992,-1]}',
    ],
    ["a Float is a double", "{double}", '{"double":9007199254740993}', '{"double":9007199254740992}'],
    ["a Float with many digits is a double", "{double}", '{"double":1000000000000000000000}', '{"double":1e+21}'],
    // Only numbers that are written as whole numbers are exact.
    [
      "other numbers are doubles",
      "{longs}",
      '{"longs":[-0,1e20,9007199254740993.0,9007199254740993.5,9.007199254740993e15,-9007199254740993E0]}',
      '{"longs":[0,100000000000000000000,9007199254740992,9007199254740994,9007199254740992,-9007199254740992]}',
    ],
  ])("%s", async (_name, query, data, expected) => {
    rowsData = data;
    await expectResponse(query, expected);
  });

  test.each([
    ["{int}", '{"int":9007199254740993}'],
    ["{text}", '{"text":9007199254740993}'],
    ["{boxes{id}}", '{"boxes":[{"id":9007199254740993.0}]}'],
    ["{boxes{id}}", '{"boxes":[{"id":1e20}]}'],
  ])("%s of another type is an error: %s", async (query, data) => {
    rowsData = data;
    const { body } = await gateway.send(query);
    expect(body.errors.map(({ extensions }: { extensions: unknown }) => extensions)).toEqual([
      { code: "INVALID_FIELD_VALUE" },
    ]);
  });

  test("an entity with another ID is rejected, and one with the ID as another type is not", async () => {
    rowsData = '{"boxes":[{"id":9007199254740993},{"id":"9007199254740995"}]}';
    changeFacts = (json) =>
      json
        .replace(/"a_0_0_id":9007199254740993/, '"a_0_0_id":9007199254740992')
        .replace(/"a_0_0_id":"(\d+)"/, '"a_0_0_id":$1');
    const { body } = await gateway.send("{boxes{fact}}");
    expect(body.data.boxes.map(({ fact }: { fact: unknown }) => typeof fact)).toEqual(["object", "string"]);
    expect(body.errors).toMatchObject([
      { path: ["boxes", 0, "fact"], extensions: { code: "SUBGRAPH_INVALID_RESPONSE" } },
    ]);
  });

  /** On the full path, then twice on the fast path. @returns the requests to subgraphs. */
  async function expectResponse(query: string, data: string) {
    requests.length = 0;
    for (const isFast of [false, true, true]) {
      const { text } = await gateway.send(query);
      expect(text).toBe(`{"data":${data}}`);
      expect(gateway.tookFastPath()).toBe(isFast);
    }
    const isCached = environment["ENTITY_CACHE_ROWS"] === "on";
    const rowsRequests = requests.filter(({ service }) => service === "rows");
    if (isCached) expect(rowsRequests.length).toBeLessThan(2);
    else expect(rowsRequests).toHaveLength(3);
    return [...requests];
  }
});

describe("a number of the client", () => {
  let gateway: RunningGateway;
  beforeAll(async () => {
    gateway = await startGateway({ supergraphSdl });
    rowsData = "{}";
    return () => gateway.drain();
  });

  /** Sends the operation on each path, twice on the fast path. @returns the body that `rows` received, which is the same each time. */
  async function sendAndRead(query: string, variables = "{}"): Promise<string> {
    requests.length = 0;
    const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
    const headers = { "content-type": "application/json" };
    for (const path of ["/graphql?full", "/graphql", "/graphql"]) {
      await fetch(gateway.url + path, { method: "POST", headers, body });
      expect(gateway.tookFastPath()).toBe(path === "/graphql");
    }
    expect(new Set(requests.map((request) => request.body)).size).toBe(1);
    return requests[0]?.body ?? "";
  }

  test.each([
    ["Long", "number", "9007199254740993", "9007199254740993"],
    ["Long!", "number", "-18446744073709551616", "-18446744073709551616"],
    ["Long", "number", "1152921504606846976", "1152921504606846976"],
    ["Long", "number", "1000000000000000000001", "1000000000000000000001"],
    ["Long", "number", '"9007199254740993"', '"9007199254740993"'],
    ["[Long]", "numbers", "[9007199254740993,1]", "[9007199254740993,1]"],
    [
      "JSON",
      "any",
      '{"a":[9007199254740993,"9007199254740993",1.5]}',
      '{"a":[9007199254740993,"9007199254740993",1.5]}',
    ],
    ["ID", "id", "9007199254740993", '"9007199254740993"'],
    ["ID!", "id", "12345678901234567890123", '"12345678901234567890123"'],
    [
      "Filter",
      "filter",
      '{"id":9007199254740993,"ids":[9007199254740993],"number":9007199254740993,"numbers":9007199254740993,"any":[9007199254740993]}',
      '{"id":"9007199254740993","ids":["9007199254740993"],"number":9007199254740993,"numbers":9007199254740993,"any":[9007199254740993]}',
    ],
  ])("is exact as a variable of type %s: %s %s", async (type, argument, sent, received) => {
    const body = await sendAndRead(`query($v:${type}){find(${argument}:$v)}`, `{"v":${sent}}`);
    expect(body).toContain(`"variables":{"v":${received}}}`);
  });

  test("is a double as a variable of type Float", async () => {
    const body = await sendAndRead("query($v:Float){float(of:$v)}", '{"v":9007199254740993}');
    expect(body).toContain('"variables":{"v":9007199254740992}}');
  });

  test.each([
    "{find(number:9007199254740993)}",
    "{find(number:-1152921504606846976)}",
    "{find(number:1000000000000000000001)}",
    "{find(any:{a:[9007199254740993{b:-9007199254740993}]c:1.5})}",
    "{find(numbers:[9007199254740993 1])}",
    "{find(filter:{id:9007199254740993 number:9007199254740993 any:[9007199254740993]})}",
    "{find(id:9007199254740993)}",
    '{find(any:["9007199254740993" 9007199254740993])}',
    "query($v:Long=9007199254740993){find(number:$v)}",
  ])("is exact in the document: %s", async (query) => {
    const body = await sendAndRead(query);
    const numbersIn = (text: string) => text.match(/"?-?\d{16,}"?/g);
    expect(numbersIn((JSON.parse(body) as { query: string }).query)).toEqual(numbersIn(query));
  });
});

/** A subgraph that sends JSON texts. */
async function startRaw(name: string, typeDefs: string, respond: (body: string) => string) {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString();
      requests.push({ service: name, body });
      response.setHeader("cache-control", "public, max-age=60");
      respondJson(response, 200, respond(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { name, typeDefs, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

type RawReviver = (key: string, value: unknown, context: { readonly source: string }) => unknown;

/** JSON.parse that keeps the texts of numbers; JSON.stringify writes them again. */
function parseRaw(json: string): unknown {
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): object };
  const revive: RawReviver = (_key, value, { source }) => (typeof value === "number" ? rawJSON(source) : value);
  return JSON.parse(json, revive as (key: string, value: unknown) => unknown);
}

function representationsIn(body: string): readonly Readonly<Record<string, unknown>>[] {
  const { variables } = parseRaw(body) as { variables: { representations: Record<string, unknown>[] } };
  return variables.representations;
}

/** The JSON of the entity for a representation, with the key field that the gateway adds. */
function toEntity(representation: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(representation);
  const fields = { ...representation, a_0_0_id: representation["id"], fact: text, a_f: text, byWeight: text };
  return `${JSON.stringify(fields).slice(0, -1)},"detail":{"second":9007199254740997}}`;
}
