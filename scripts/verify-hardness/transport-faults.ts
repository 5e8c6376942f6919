import type { ServerResponse } from "node:http";
import { type AnswerFault, everywhere, leak } from "../../gateway/test/helpers/response-faults.ts";
import { answerJson, type Fault } from "../../gateway/test/helpers/subgraphs.ts";

const dripMs = 100;
const html = `<!DOCTYPE html><h1>Internal Server Error</h1><pre>${leak}</pre>`;

/**
 * Answers that come late, in part, or are no GraphQL at all.
 * @param bodyBytesMax the gateway's bound for an answer.
 * @param elsewhereUrl where redirects lead.
 */
export function createTransportFaults(bodyBytesMax: number, elsewhereUrl: string): readonly AnswerFault[] {
  const late = ["SUBGRAPH_TIMEOUT"];
  const broken = ["SUBGRAPH_UNAVAILABLE"];
  const bad = ["SUBGRAPH_BAD_ANSWER"];
  const large = ["SUBGRAPH_ANSWER_TOO_LARGE"];
  const faults: readonly (readonly [name: string, codes: readonly string[], act: Fault])[] = [
    ["says nothing", late, () => {}],
    ["sends its head and nothing more", late, (response) => response.writeHead(200).flushHeaders()],
    ["drips", late, drip],
    ["stops in the middle of its body", late, partOfTruth(() => {})],
    ["breaks its connection", broken, (response) => response.socket?.resetAndDestroy()],
    ["ends its connection", broken, (response) => response.socket?.end()],
    ["breaks its connection in the middle of its body", broken, partOfTruth(({ socket }) => socket?.resetAndDestroy())],
    ["answers HTML", bad, says(200, html)],
    ["answers 500 in HTML", bad, says(500, html)],
    ["answers with an empty body", bad, says(200, "")],
    ["answers with half its JSON", bad, halfOfTruth],
    ["answers in no HTTP", bad, (response) => response.socket?.end("SSH-2.0-OpenSSH_9.9\r\n")],
    ["answers 401", bad, says(401, `{"message":"${leak}"}`)],
    ["answers 403", bad, says(403, html)],
    ["answers 429", broken, says(429, `{"errors":[{"message":"${leak}"}]}`, { "retry-after": "99999" })],
    ["answers 503", broken, says(503, `{"errors":[{"message":"${leak}"}]}`, { "retry-after": "99999" })],
    ["answers 302", bad, says(302, html, { location: elsewhereUrl })],
    ["answers 307", bad, says(307, html, { location: elsewhereUrl })],
    ["answers too much", large, tooMuchTruth(bodyBytesMax)],
    ["answers without end", large, endless],
    ["fails for reasons of its own", ["SUBGRAPH_ERROR"], says(200, ownFailure)],
  ];
  return faults.map(([name, codes, act]) => ({ name, codes, act, where: everywhere }));
}

const ownFailure = JSON.stringify({
  data: null,
  errors: [{ message: leak, extensions: { code: "INTERNAL_SERVER_ERROR", stacktrace: [leak] } }],
});

function says(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Fault {
  return (response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    answerJson(response, status, text);
  };
}

/** The whole truth, a byte at a time: it is not there by any deadline. */
const drip: Fault = async (response, _body, _request, answerTruly) => {
  const text = JSON.stringify(await answerTruly());
  response.writeHead(200, { "content-type": "application/json" });
  let sent = 0;
  const timer = setInterval(() => response.write(text[sent++] ?? " "), dripMs);
  response.on("close", () => clearInterval(timer));
};

function partOfTruth(then: (response: ServerResponse) => unknown): Fault {
  return async (response, _body, _request, answerTruly) => {
    const text = JSON.stringify(await answerTruly());
    response.writeHead(200, { "content-type": "application/json", "content-length": text.length });
    response.write(text.slice(0, text.length / 2), () => then(response));
  };
}

const halfOfTruth: Fault = async (response, _body, _request, answerTruly) => {
  const text = JSON.stringify(await answerTruly());
  answerJson(response, 200, text.slice(0, text.length / 2));
};

/** True, but padded: only who looks at the size finds it wrong. */
function tooMuchTruth(bodyBytesMax: number): Fault {
  return async (response, _body, _request, answerTruly) => {
    const padding = "x".repeat(bodyBytesMax);
    answerJson(response, 200, JSON.stringify({ ...(await answerTruly()), extensions: { padding } }));
  };
}

const endless: Fault = (response) => {
  response.writeHead(200, { "content-type": "application/json" });
  const chunk = Buffer.alloc(16_384, " ");
  const write = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on("drain", write);
  write();
};
