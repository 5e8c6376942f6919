import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { driveOutage, isRatioOf } from "../../scripts/verify/checks/alerts/outage.ts";
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
  await Promise.all([gateway?.process.end("SIGTERM"), restProxy?.process.end("SIGTERM")]);
  subgraph?.stop();
});

/** One scrape before the outage and one after it, as a short outage falls between two scrapes. */
test("after a short outage of new processes the recorded error ratios equal those that clients measured", async () => {
  const read = () => Promise.all([gateway, restProxy].map(({ adminUrl }) => readMetrics(adminUrl)));
  const before = await read();
  const measured = await driveOutage({
    graphqlUrl: gateway.process.url,
    restUrl: restProxy.process.url,
    healthyMs: 0,
    outageMs: 0,
    setFailing: subgraph.setFailing,
  });
  const scrapes = { before, after: await read() };
  const completeness = evaluateRatio("gateway", "completeness", scrapes);
  const availability = evaluateRatio("rest-proxy", "availability", scrapes);
  const numbers = JSON.stringify({ measured, completeness, availability });
  expect(Math.min(measured.graphql.failed, measured.rest.failed), numbers).toBeGreaterThan(20);
  expect(isRatioOf(completeness, measured.graphql), numbers).toBe(true);
  expect(isRatioOf(availability, measured.rest), numbers).toBe(true);
  expect(evaluateRatio("gateway", "availability", scrapes), numbers).toBe(0);
}, 60_000);

/** A comments service that finds no comment; while it fails, it closes the connection of each request. */
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

/** Evaluates the recording rule `sum(rate(…)) / sum(rate(…))` of a service level. */
function evaluateRatio(unit: string, level: string, scrapes: Scrapes): number {
  const rule = recordings.find(
    ({ record, labels }) =>
      record.endsWith("error:ratio_rate5m") && labels?.["endpoint"] === unit && labels["level"] === level,
  );
  const [failed, all] = readQuery(rule?.expr ?? "").selectors;
  if (!failed || !all) throw new Error(`${unit} ${level} is not a ratio of two sums`);
  return sumIncreases(failed, scrapes) / sumIncreases(all, scrapes);
}

/** Computes the increase as Prometheus does: a series that is missing from the first scrape has not increased. */
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
