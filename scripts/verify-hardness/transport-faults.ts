// Faulty subgraph responses for wrong-responses.ts, with the error codes that clients must get. gateway/test/helpers/response-faults.ts has
// those that the tests use too.
import type { ServerResponse } from "node:http";
import { type ResponseFault, everywhere, leak } from "../../gateway/test/helpers/response-faults.ts";
import { respondJson, type Fault } from "../../gateway/test/helpers/subgraphs.ts";

const dripMs = 100;
const html = `<!DOCTYPE html><h1>Internal Server Error</h1><pre>${leak}</pre>`;

/**
 * Subgraph responses that are late, incomplete or not GraphQL.
 * @param bodyBytesMax the gateway's limit for a response body.
 * @param redirectUrl the target of redirects.
 */
export function createTransportFaults(bodyBytesMax: number, redirectUrl: string): readonly ResponseFault[] {
  const timeout = ["SUBGRAPH_TIMEOUT"];
  const unavailable = ["SUBGRAPH_UNAVAILABLE"];
  const invalid = ["SUBGRAPH_BAD_ANSWER"];
  const tooLarge = ["SUBGRAPH_ANSWER_TOO_LARGE"];
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
    ["responds with too large a body", tooLarge, oversizedResponse(bodyBytesMax)],
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
  const timer = setInterval(() => response.write(text[sent++] ?? " "), dripMs);
  response.on("close", () => clearInterval(timer));
};

function partialResponse(then: (response: ServerResponse) => unknown): Fault {
  return async (response, _body, _request, executeNormally) => {
    const text = JSON.stringify(await executeNormally());
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
    response.write(text.slice(0, text.length / 2), () => then(response));
  };
}

const halfResponse: Fault = async (response, _body, _request, executeNormally) => {
  const text = JSON.stringify(await executeNormally());
  respondJson(response, 200, text.slice(0, text.length / 2));
};

/** A correct result with padding: only its size is wrong. */
function oversizedResponse(bodyBytesMax: number): Fault {
  return async (response, _body, _request, executeNormally) => {
    const padding = "x".repeat(bodyBytesMax);
    respondJson(response, 200, JSON.stringify({ ...(await executeNormally()), extensions: { padding } }));
  };
}

const endlessResponse: Fault = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(16_384, " ");
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", write);
  write();
};
