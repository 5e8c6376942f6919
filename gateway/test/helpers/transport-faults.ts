import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { fieldMessageOf } from "../../src/errors/codes.ts";
import { everywhere, leak, type ResponseFault } from "./response-faults.ts";
import { type Fault, respondJson } from "./subgraphs.ts";

/** The gateway's limit for the faults "too many bytes": larger than the correct responses. */
export const bodyBytesMax = 5_000;

const html = `<!DOCTYPE html><h1>Internal Server Error</h1><pre>${leak}</pre>`;

/** A gateway that followed a redirect to it would report SUBGRAPH_UNAVAILABLE. */
const unreachable = { location: "http://127.0.0.1:9/" };

/** Faults below GraphQL, and failures that a subgraph reports. */
export const transportFaults: readonly ResponseFault[] = (
  [
    ["closes the connection", "SUBGRAPH_UNAVAILABLE", (response) => response.destroy()],
    ["resets the connection", "SUBGRAPH_UNAVAILABLE", (response) => response.socket?.resetAndDestroy()],
    ["never responds", "SUBGRAPH_TIMEOUT", () => {}],
    ["stops in the middle of its body", "SUBGRAPH_TIMEOUT", (response) => response.writeHead(200).write('{"data":')],
    ["sends only headers", "SUBGRAPH_TIMEOUT", (response) => response.writeHead(200).flushHeaders()],
    ["drips its body", "SUBGRAPH_TIMEOUT", drip],
    [
      "breaks off its body",
      "SUBGRAPH_UNAVAILABLE",
      (response) => response.writeHead(200, { "content-length": 99 }).write("{", () => response.destroy()),
    ],
    ["responds 500 with HTML", "SUBGRAPH_INVALID_RESPONSE", send(500, html)],
    ["responds 200 with HTML", "SUBGRAPH_INVALID_RESPONSE", send(200, html)],
    ["sends an empty body", "SUBGRAPH_INVALID_RESPONSE", send(200, "")],
    ["sends half of its JSON text", "SUBGRAPH_INVALID_RESPONSE", sendHalf],
    ["sends too many bytes", "SUBGRAPH_RESPONSE_TOO_LARGE", sendPadded],
    ["sends an endless body", "SUBGRAPH_RESPONSE_TOO_LARGE", sendEndlessly],
    ["responds 401 with a text", "UNAUTHENTICATED", send(401, "who are you")],
    ["responds 403 with HTML", "FORBIDDEN", send(403, html)],
    [
      "responds 401 in GraphQL",
      "UNAUTHENTICATED",
      send(401, errorWith("UNAUTHENTICATED", fieldMessageOf("UNAUTHENTICATED"))),
    ],
    ["responds 429", "SUBGRAPH_UNAVAILABLE", send(429, "{}", { "retry-after": "9999" })],
    ["responds 503", "SUBGRAPH_UNAVAILABLE", send(503, '{"errors":[{"message":"later"}]}')],
    ["redirects with 302", "SUBGRAPH_INVALID_RESPONSE", send(302, html, unreachable)],
    ["redirects with 307", "SUBGRAPH_INVALID_RESPONSE", send(307, html, unreachable)],
    [
      "compresses its response twice",
      "SUBGRAPH_INVALID_RESPONSE",
      (response) => response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(gzipSync(gzipSync("{}"))),
    ],
    ["does not send HTTP", "SUBGRAPH_INVALID_RESPONSE", (response) => response.socket?.end("SSH-2.0-OpenSSH\r\n")],
    ["reports SERVICE_UNAVAILABLE", "SUBGRAPH_UNAVAILABLE", send(200, errorWith("SERVICE_UNAVAILABLE"))],
    ["reports INTERNAL_SERVER_ERROR", "SUBGRAPH_ERROR", send(200, errorWith("INTERNAL_SERVER_ERROR"))],
  ] satisfies readonly (readonly [name: string, code: string, respond: Fault])[]
).map(([name, code, respond]) => ({ name, fetches: everywhere, codes: [code], respond }));

function errorWith(code: string, message = leak): string {
  return JSON.stringify({ data: null, errors: [{ message, extensions: { code, stacktrace: [leak] } }] });
}

function send(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Fault {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    respondJson(response, status, text);
  };
}

/** Sends the correct response one byte at a time, then spaces, which JSON allows after the value. */
async function drip(...[response, _body, _request, resolveCorrectly]: Parameters<Fault>): Promise<void> {
  const text = JSON.stringify(await resolveCorrectly());
  response.writeHead(200, { "content-type": "application/json" });
  let sent = 0;
  const timer = setInterval(() => response.write(text[sent++] ?? " "), 10);
  response.on("close", () => clearInterval(timer));
}

async function sendHalf(...[response, _body, _request, resolveCorrectly]: Parameters<Fault>): Promise<void> {
  const text = JSON.stringify(await resolveCorrectly());
  respondJson(response, 200, text.slice(0, text.length / 2));
}

/** A correct result: only its size is wrong. */
async function sendPadded(...[response, _body, _request, resolveCorrectly]: Parameters<Fault>): Promise<void> {
  const extensions = { padding: "x".repeat(bodyBytesMax) };
  respondJson(response, 200, JSON.stringify({ ...(await resolveCorrectly()), extensions }));
}

function sendEndlessly(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(16_384, " ");
  const fillBuffer = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", fillBuffer);
  fillBuffer();
}
