import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { sampleServices } from "../../test/supergraph/repository-fixture.ts";
import { runLedger } from "./ledger-command.ts";
import { UsageError } from "./prometheus.ts";
import type { UsageEvidence } from "./usage.ts";

const nowMs = Date.parse("2026-11-28T09:00:00Z");
const end = nowMs / 1_000;
const hour = 3_600;
const day = 24 * hour;

const api = `type Query { post: Post }
type Post { body: String @deprecated(reason: "Use text.") title(size: Int @deprecated): String text: String }
`;
const supergraph = `
  type Query @join__type(graph: POSTS) { post: Post }
  type Post @join__type(graph: POSTS) { body: String title(size: Int): String text: String }
  enum join__Graph { POSTS @join__graph(name: "posts", url: "http://posts") }
`;
const routes = [
  { id: "getPost", method: "GET", path: "/posts/:id", versions: [1, 2], service: "posts" },
  { id: "getUser", method: "GET", path: "/users/:id", versions: [2], service: "users" },
];

/** Series with their values by hours or days ago, as Prometheus responds to each kind of query. */
interface Data {
  readonly history?: number;
  readonly present?: readonly (readonly [labels: object, hours: number])[];
  readonly used?: readonly (readonly [labels: object, valuesByDaysAgo: Readonly<Record<number, number>>])[];
  readonly restUsed?: Data["used"];
}

const body = { element: "Post.body" };
const size = { element: "Post.title.size" };
const route = { version: "1", method: "GET", route: "/posts/:id" };
const whole: NonNullable<Data["present"]> = [
  [body, 30 * 24],
  [size, 30 * 24],
  [route, 30 * 24],
];

test("the ledger lists each element with owner, users, and the days in which no client used it", async () => {
  const { printed, evidence } = await run({
    present: [
      [body, 30 * 24],
      [size, 12 * 24 + 23],
      [route, 30 * 24],
    ],
    used: [
      [
        { ...body, client: "web", verified: "true" },
        { 3: 100.02, 7: 4.9 },
      ],
      [{ ...body, client: "mobile", verified: "false" }, { 5: 0.2 }],
      [
        { ...body, client: "other", verified: "false" },
        { 1: 0, 2: 0 },
      ],
    ],
  });
  expect(printed.split("\n")).toEqual([
    "ELEMENT            OWNER                  USED BY                      UNUSED FOR                DEPRECATED",
    "Post.body          @tributary/posts-team  web 105, mobile (claimed) 1  3 days, since 2026-11-25  Use text.",
    "Post.title.size    @tributary/posts-team  no client                    12 days or more           No longer supported",
    "GET /posts/:id v1  @tributary/posts-team  no client                    30 days or more           deprecation 2027-01-01, sunset 2027-06-01",
    "Requests of the 30 days up to 2026-11-28T09:00:00.000Z.",
    "",
  ]);
  expect(evidence).toMatchObject({ until: "2026-11-28T09:00:00.000Z", days: 30 });
  expect(evidence.elements[0]).toEqual({
    element: "Post.body",
    owners: ["@tributary/posts-team"],
    deprecation: "Use text.",
    wholeDays: 30,
    uses: [
      { client: "web", verified: true, requests: 105, daysAgo: 3 },
      { client: "mobile", verified: false, requests: 1, daysAgo: 5 },
    ],
  });
});

test("a use in the last 24 hours is no day ago", async () => {
  const { evidence } = await run({ present: whole, used: [[{ ...body, client: "web", verified: "true" }, { 0: 1 }]] });
  expect(evidence.elements[0]).toMatchObject({ element: "Post.body", uses: [{ daysAgo: 0, requests: 1 }] });
});

test("an hour without data ends the days that are known", async () => {
  const { evidence } = await run({ present: [[body, 47]] });
  const days = evidence.elements.map(({ element, wholeDays }) => [element, wholeDays]);
  expect(days).toEqual([
    ["Post.body", 1],
    ["Post.title.size", 0],
    ["GET /posts/:id v1", 0],
  ]);
});

test("less history than asked, and counts that a process has put together, are errors", async () => {
  await expect(run({ history: 13 * 24 + 5, present: whole })).rejects.toThrow(
    "Prometheus has data of a gateway for 13 whole days without a gap up to now, not for 30. Use --days 13, or wait.",
  );
  await expect(run({ history: 0 })).rejects.toThrow("Let it scrape each gateway.");
  const together = { element: "other", client: "other", verified: "other" };
  await expect(run({ present: whole, used: [[together, { 4: 1 }]] })).rejects.toThrow("more than 2,000 series");
  const rest = { version: "other", method: "other", route: "other", client: "other", verified: "other" };
  await expect(run({ present: whole, restUsed: [[rest, { 4: 1 }]] })).rejects.toThrow("A REST proxy has more than");
});

test("a server that is down, or no Prometheus, is an error that names its URL", async () => {
  await expect(ledger("http://127.0.0.1:1")).rejects.toThrow("Prometheus cannot be reached at http://127.0.0.1:1/");
  const page = await serve((_, response) => response.end("<html>"));
  await expect(ledger(page)).rejects.toThrow("is no Prometheus: its response is no JSON");
  const failing = await serve((_, response) =>
    response.writeHead(422).end("query processing would load too many samples"),
  );
  await expect(ledger(failing)).rejects.toThrow(/responded with 422 at http.*too many samples/);
});

test("a file that cannot be written is an error that names it", async () => {
  const failure: unknown = await run({ present: whole }, "supergraph").catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(UsageError);
  expect(String(failure)).toMatch(/\/supergraph cannot be written: EISDIR/);
});

async function run({ history = 30 * 24, present = [], used = [], restUsed = [] }: Data, file?: string) {
  const respond = async (request: IncomingMessage, response: ServerResponse) => {
    const parameters = new URLSearchParams(await text(request));
    const query = parameters.get("query") ?? "";
    const start = Number(parameters.get("start"));
    const isRest = query.includes("tributary_rest_");
    const hours = (labels: object, count: number) => ({
      metric: labels,
      values: Array.from({ length: count }, (_, i) => [end - i * hour, "1"]).filter(([time]) => Number(time) >= start),
    });
    const result = query.includes("retirement")
      ? [
          { metric: { version: "1", step: "sunset" }, values: [[end, String(Date.parse("2027-06-01") / 1_000)]] },
          { metric: { version: "1", step: "deprecation" }, values: [[end, String(Date.parse("2027-01-01") / 1_000)]] },
        ]
      : query.includes("in_flight")
        ? history > 0
          ? [hours({}, history)]
          : []
        : query.includes("present_over_time")
          ? present.filter(([labels]) => "route" in labels === isRest).map(([labels, count]) => hours(labels, count))
          : (isRest ? restUsed : used).map(([metric, values]) => ({
              metric,
              values: Object.entries(values).map(([daysAgo, value]) => [end - Number(daysAgo) * day, String(value)]),
            }));
    response.end(JSON.stringify({ status: "success", data: { resultType: "matrix", result } }));
  };
  return ledger(await serve((request, response) => void respond(request, response)), file);
}

async function ledger(prometheusUrl: string, file = "usage.json") {
  const root = mkdtempSync(join(tmpdir(), "ledger-"));
  mkdirSync(join(root, "supergraph"));
  writeFileSync(join(root, "supergraph/api.graphql"), api);
  writeFileSync(join(root, "supergraph/supergraph.graphql"), supergraph);
  writeFileSync(join(root, "supergraph/routes.json"), JSON.stringify({ routes }));
  const jsonFile = join(root, file);
  let printed = "";
  const print = (more: string) => void (printed += more);
  await runLedger({ root, prometheusUrl, days: 30, jsonFile, nowMs, subgraphs: sampleServices, print });
  return { printed, evidence: JSON.parse(readFileSync(jsonFile, "utf8")) as UsageEvidence };
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
