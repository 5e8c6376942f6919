// The check `responses` of resilience: a subgraph responds wrongly, to each kind of fetch in turn (`faultyFetches`). Checks the lost fields, the
// errors and the time.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { everywhere, leak, type ResponseFault, shapeFaults } from "../../../../gateway/test/helpers/response-faults.ts";
import { type FaultyFetch, faultyFetches } from "../../../../gateway/test/helpers/fault-places.ts";
import { findViolations } from "../../../../gateway/test/helpers/find-violations.ts";
import { type Library, startLibrary } from "../../../../gateway/test/helpers/library.ts";
import { type Fault, respondJson } from "../../../../gateway/test/helpers/subgraphs.ts";
import type { CheckContext, ResilienceCheck } from "./check.ts";
import type { GraphqlClient } from "./graphql-client.ts";

const subgraphTimeoutMs = 500;
/** Two successive fetches may each take the whole timeout; the rest is for the gateway. */
const responseMsMax = 2 * subgraphTimeoutMs + 250;
const bodyBytesMax = 100_000;
/** Of each fetch. */
const shownProblemsMax = 3;

export const wrongResponsesCheck: ResilienceCheck = {
  name: "responses",
  purpose: "a wrong, slow or broken subgraph response loses only its fields, each with an error, within the deadline",
  apolloFails: true,
  async run(context) {
    const library = await startLibrary();
    context.onCleanup(() => library.close());
    const redirectTarget = await startRedirectTarget(context);
    const gateway = await context.startGateway(library.supergraphSdl, {
      SUBGRAPH_TIMEOUT_MS: String(subgraphTimeoutMs),
      SUBGRAPH_BODY_BYTES_MAX: String(bodyBytesMax),
    });
    const client = context.createClient(gateway);
    await tryWithoutFault(context, client);
    for (const fault of [...shapeFaults, ...createTransportFaults(redirectTarget.url)])
      await tryFault(context, fault, library, client);
    const redirects = redirectTarget.countRequests();
    context.claim("no redirect is followed", redirects === 0, `${redirects} requests to the redirect target`);
  },
};

async function tryWithoutFault(context: CheckContext, client: GraphqlClient): Promise<void> {
  const wrongResults: string[] = [];
  for (const { name, query, data } of faultyFetches) {
    const { text } = await client.send(query);
    if (text.trim() !== JSON.stringify({ data })) wrongResults.push(`${name}: ${text}`);
  }
  context.claim(
    "without a fault every result is complete",
    wrongResults.length === 0,
    wrongResults.join("; ") || `${faultyFetches.length} operations have the expected result`,
  );
}

async function tryFault(
  context: CheckContext,
  fault: ResponseFault,
  library: Library,
  client: GraphqlClient,
): Promise<void> {
  const problems: string[] = [];
  let slowestMs = 0;
  const affectedFetches = faultyFetches.filter(({ name }) => fault.fetches.includes(name));
  for (const faultyFetch of affectedFetches) {
    const subgraph = library[faultyFetch.service];
    const requestsBefore = subgraph.requests.length;
    subgraph.fault = fault.respond;
    const startMs = performance.now();
    const fetchProblems = await findProblems(client, faultyFetch, fault.codes);
    const tookMs = performance.now() - startMs;
    subgraph.fault = undefined;
    const requestCount = subgraph.requests.length - requestsBefore;
    slowestMs = Math.max(slowestMs, tookMs);
    if (tookMs > responseMsMax) fetchProblems.push(`took ${Math.round(tookMs)} ms`);
    if (faultyFetch.sentOnce && requestCount !== 1) fetchProblems.push(`sent ${requestCount} times`);
    if (fetchProblems.length > 0)
      problems.push(`${faultyFetch.name}: ${fetchProblems.slice(0, shownProblemsMax).join(", ")}`);
  }
  const measured = problems.join("; ") || `${fault.fetches.length} places, slowest ${Math.round(slowestMs)} ms`;
  context.claim(`a subgraph that ${fault.name} loses only its fields`, problems.length === 0, measured);
}

async function findProblems(
  client: GraphqlClient,
  faultyFetch: FaultyFetch,
  codes: readonly string[],
): Promise<string[]> {
  try {
    const response = await client.send(faultyFetch.query);
    return [...findViolations(response, faultyFetch, codes)];
  } catch (error) {
    return [String(error)];
  }
}

interface RedirectTarget {
  readonly url: string;
  countRequests(): number;
}

/** The target of redirects. It must not receive a request. */
async function startRedirectTarget(context: CheckContext): Promise<RedirectTarget> {
  let requestCount = 0;
  const server = createServer((_request, response) => {
    requestCount++;
    response.end("{}");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  context.onCleanup(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, countRequests: () => requestCount };
}

const dripMs = 100;
const html = `<!DOCTYPE html><h1>Internal Server Error</h1><pre>${leak}</pre>`;

/**
 * Subgraph responses that are late, incomplete or not GraphQL.
 * @param redirectUrl the target of redirects.
 */
function createTransportFaults(redirectUrl: string): readonly ResponseFault[] {
  const timeout = ["SUBGRAPH_TIMEOUT"];
  const unavailable = ["SUBGRAPH_UNAVAILABLE"];
  const invalid = ["SUBGRAPH_INVALID_RESPONSE"];
  const tooLarge = ["SUBGRAPH_RESPONSE_TOO_LARGE"];
  const faults: readonly (readonly [name: string, codes: readonly string[], respond: Fault])[] = [
    ["sends no response", timeout, () => {}],
    ["sends only headers", timeout, (response) => response.writeHead(200).flushHeaders()],
    ["sends its body byte by byte", timeout, drip],
    ["stops in the middle of its body", timeout, partialResponse(() => {})],
    ["resets its connection", unavailable, (response) => response.socket?.resetAndDestroy()],
    ["ends its connection", unavailable, (response) => response.socket?.end()],
    [
      "resets its connection in the middle of its body",
      unavailable,
      partialResponse(({ socket }) => socket?.resetAndDestroy()),
    ],
    ["responds with HTML", invalid, respond(200, html)],
    ["responds with 500 and HTML", invalid, respond(500, html)],
    ["responds with an empty body", invalid, respond(200, "")],
    ["responds with half of its JSON", invalid, halfResponse],
    ["responds without HTTP", invalid, (response) => response.socket?.end("SSH-2.0-OpenSSH_9.9\r\n")],
    ["responds with 401", invalid, respond(401, `{"message":"${leak}"}`)],
    ["responds with 403", invalid, respond(403, html)],
    ["responds with 429", unavailable, respond(429, `{"errors":[{"message":"${leak}"}]}`, { "retry-after": "99999" })],
    ["responds with 503", unavailable, respond(503, `{"errors":[{"message":"${leak}"}]}`, { "retry-after": "99999" })],
    ["responds with 302", invalid, respond(302, html, { location: redirectUrl })],
    ["responds with 307", invalid, respond(307, html, { location: redirectUrl })],
    ["responds with too large a body", tooLarge, oversizedResponse],
    ["responds with an endless body", tooLarge, endlessResponse],
    ["responds with a GraphQL error", ["SUBGRAPH_ERROR"], respond(200, internalError)],
  ];
  return faults.map(([name, codes, fault]) => ({ name, codes, respond: fault, fetches: everywhere }));
}

const internalError = JSON.stringify({
  data: null,
  errors: [{ message: leak, extensions: { code: "INTERNAL_SERVER_ERROR", stacktrace: [leak] } }],
});

function respond(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Fault {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    respondJson(response, status, text);
  };
}

/** Sends the correct response one byte at a time, so that it is not complete by any deadline. */
const drip: Fault = async (response, _body, _request, executeNormally) => {
  const text = JSON.stringify(await executeNormally());
  response.writeHead(200, { "content-type": "application/json" });
  let sent = 0;
  const timer = setInterval(() => {
    // Then spaces, which JSON allows after the value.
    response.write(text[sent] ?? " ");
    sent++;
  }, dripMs);
  response.on("close", () => clearInterval(timer));
};

/** Sends the first half of the correct response, then calls `onHalfSent`. */
function partialResponse(onHalfSent: (response: ServerResponse) => unknown): Fault {
  return async (response, _body, _request, executeNormally) => {
    const text = JSON.stringify(await executeNormally());
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
    response.write(text.slice(0, text.length / 2), () => onHalfSent(response));
  };
}

const halfResponse: Fault = async (response, _body, _request, executeNormally) => {
  const text = JSON.stringify(await executeNormally());
  respondJson(response, 200, text.slice(0, text.length / 2));
};

/** A correct result with padding: only its size is wrong. */
const oversizedResponse: Fault = async (response, _body, _request, executeNormally) => {
  const padding = "x".repeat(bodyBytesMax);
  const result = await executeNormally();
  respondJson(response, 200, JSON.stringify({ ...result, extensions: { padding } }));
};

const endlessResponse: Fault = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(16_384, " ");
  const fillBuffer = () => {
    let isWritable = true;
    while (isWritable && !response.destroyed) isWritable = response.write(chunk);
  };
  response.on("drain", fillBuffer);
  fillBuffer();
};
