import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type AnswerFault, shapeFaults } from "../../gateway/test/helpers/response-faults.ts";
import { type FaultPlace, faultPlaces } from "../../gateway/test/helpers/fault-places.ts";
import { findWrongs } from "../../gateway/test/helpers/find-violations.ts";
import { type Library, startLibrary } from "../../gateway/test/helpers/library.ts";
import type { Check, Finding, Scene } from "./check.ts";
import { type Client, createClient } from "./requests.ts";
import { createTransportFaults } from "./transport-faults.ts";

const subgraphTimeoutMs = 500;
/** Two fetches one after the other may each use their time up; then what the gateway itself needs. */
const answerMsMax = 2 * subgraphTimeoutMs + 250;
const bodyBytesMax = 100_000;

/** Each fault at each place: what it costs, how long it takes, what it tells. */
export const answersCheck: Check = {
  name: "answers",
  claim: "a subgraph's wrong, slow or broken answer costs its own fields, each told, by the deadline, and nothing else",
  stockFails: true,
  async run(scene) {
    const library = await startLibrary();
    scene.onEnd(() => library.close());
    const elsewhere = await startElsewhere(scene);
    const gateway = await scene.startGateway(library.supergraphSdl, {
      SUBGRAPH_TIMEOUT_MS: String(subgraphTimeoutMs),
      SUBGRAPH_BODY_BYTES_MAX: String(bodyBytesMax),
    });
    const client = createClient(gateway.url);
    scene.onEnd(() => client.close());
    const faults = [...shapeFaults, ...createTransportFaults(bodyBytesMax, elsewhere.url)];
    scene.find(await tryWithoutFault(client));
    for (const fault of faults) scene.find(await tryFault(fault, library, client));
    scene.find(describeElsewhere(elsewhere.count()));
  },
};

async function tryWithoutFault(client: Client): Promise<Finding> {
  const wrong: string[] = [];
  for (const { name, query, data } of faultPlaces) {
    const { text } = await client.ask(query);
    if (text.trim() !== JSON.stringify({ data })) wrong.push(`${name}: ${text}`);
  }
  return {
    claim: "without a fault nothing is lost",
    holds: wrong.length === 0,
    measured: wrong.join("; ") || `${faultPlaces.length} operations answered truly`,
  };
}

async function tryFault({ name, where, act, codes }: AnswerFault, library: Library, client: Client): Promise<Finding> {
  const wrongs: string[] = [];
  let slowestMs = 0;
  for (const place of faultPlaces) {
    if (!where.includes(place.name)) continue;
    const subgraph = library[place.service];
    const sentBefore = subgraph.requests.length;
    subgraph.fault = act;
    const startMs = performance.now();
    const found = await findWrongsWithin(client, place, codes);
    const tookMs = performance.now() - startMs;
    subgraph.fault = undefined;
    const sent = subgraph.requests.length - sentBefore;
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > answerMsMax) found.push(`took ${Math.round(tookMs)} ms`);
    if (place.sentOnce && sent !== 1) found.push(`sent ${sent} times`);
    if (found.length > 0) wrongs.push(`${place.name}: ${found.slice(0, 3).join(", ")}`);
  }
  const measured = wrongs.join("; ") || `${where.length} places, slowest ${Math.round(slowestMs)} ms`;
  return { claim: `a subgraph that ${name}`, holds: wrongs.length === 0, measured };
}

async function findWrongsWithin(client: Client, place: FaultPlace, codes: readonly string[]): Promise<string[]> {
  try {
    return [...findWrongs(await client.ask(place.query), place, codes)];
  } catch (error) {
    return [String(error)];
  }
}

/** Where redirects lead: nobody may come here. */
async function startElsewhere(scene: Scene): Promise<{ url: string; count(): number }> {
  let count = 0;
  const server = createServer((_request, response) => {
    count++;
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  scene.onEnd(() => server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, count: () => count };
}

function describeElsewhere(count: number): Finding {
  return { claim: "no redirect is followed", holds: count === 0, measured: `${count} requests came where they lead` };
}
