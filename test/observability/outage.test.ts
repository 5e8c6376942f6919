import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { driveOutage, isRatioOf } from "../../scripts/verify-alerts/outage.ts";
import type { Exposition } from "./exposition.ts";
import { recordings } from "./files.ts";
import { matches, readQuery, type Selector } from "./promql.ts";
import { type EntryPoint, readMetrics, startEntryPoint, variables } from "./running-units.ts";

let subgraph: Awaited<ReturnType<typeof startComments>>;
let gateway: EntryPoint;
let restProxy: EntryPoint;

beforeAll(async () => {
  subgraph = await startComments();
  const names = ["USERS", "POSTS", "COMMENTS", "ORDERS"];
  const addresses = Object.fromEntries(names.map((name) => [name, [subgraph.url]]));
  gateway = await startEntryPoint("gateway", {
    SUPERGRAPH_FILE: "supergraph/supergraph.graphql",
    ...variables(addresses, (name) => `SUBGRAPH_URL_${name}`, "/graphql"),
  });
  restProxy = await startEntryPoint(
    "rest-proxy",
    variables(addresses, (name) => `${name}_URL`, ""),
  );
}, 120_000);
afterAll(async () => {
  await Promise.all([gateway?.process.stop(), restProxy?.process.stop()]);
  subgraph?.stop();
});

/** One scrape before the outage, one after it: a short outage falls between two. */
test("after a short outage on fresh processes the recorded error ratios are what clients saw", async () => {
  const read = () => Promise.all([gateway, restProxy].map(({ adminUrl }) => readMetrics(adminUrl)));
  const before = await read();
  const seen = await driveOutage({
    graphqlUrl: gateway.process.url,
    restUrl: restProxy.process.url,
    healthyMs: 0,
    outageMs: 0,
    setFailing: subgraph.setFailing,
  });
  const scrapes = { before, after: await read() };
  const completeness = evaluateRatio("gateway", "completeness", scrapes);
  const availability = evaluateRatio("rest-proxy", "availability", scrapes);
  const numbers = JSON.stringify({ seen, completeness, availability });
  expect(Math.min(seen.graphql.failed, seen.rest.failed), numbers).toBeGreaterThan(20);
  expect(isRatioOf(completeness, seen.graphql), numbers).toBe(true);
  expect(isRatioOf(availability, seen.rest), numbers).toBe(true);
  expect(evaluateRatio("gateway", "availability", scrapes), numbers).toBe(0);
}, 60_000);

/** A subgraph of comments that finds none; while it fails, it drops the connection of each request. */
async function startComments() {
  let isFailing = false;
  const server = createServer((request, response) => {
    if (isFailing) return void request.socket.destroy();
    if (request.method === "POST") return sendJson(response, 200, '{"data":{"comment":null}}');
    return sendJson(response, 404, '{"status":404}');
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFailing: (next: boolean) => void (isFailing = next),
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function sendJson(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { "content-type": "application/json" }).end(body);
}

interface Scrapes {
  readonly before: readonly Exposition[];
  readonly after: readonly Exposition[];
}

/** The recorded `sum(rate(…)) / sum(rate(…))`. */
function evaluateRatio(door: string, level: string, scrapes: Scrapes): number {
  const rule = recordings.find(
    ({ record, labels }) =>
      record.endsWith("error:ratio_rate5m") && labels?.["door"] === door && labels["level"] === level,
  );
  const [failed, all] = readQuery(rule?.expr ?? "").selectors;
  if (!failed || !all) throw new Error(`${door} ${level} is no ratio of two sums`);
  return sumIncreases(failed, scrapes) / sumIncreases(all, scrapes);
}

/** As Prometheus computes it: a series that the first scrape did not have has not increased. */
function sumIncreases(selector: Selector, { before, after }: Scrapes): number {
  const read = (expositions: readonly Exposition[]) =>
    new Map(
      expositions
        .flatMap(({ samples }) => samples.filter((sample) => matches(selector, sample)))
        .map(({ labels, value }) => [JSON.stringify(labels), value]),
    );
  const [first, last] = [read(before), read(after)];
  return [...last].reduce((sum, [series, value]) => sum + value - (first.get(series) ?? value), 0);
}
