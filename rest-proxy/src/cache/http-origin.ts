import { Agent, type IncomingMessage, request as send } from "node:http";
import type { OriginResponse, OriginRequest } from "./origin.ts";
import { storedHeaders } from "./stored-headers.ts";

/** One HTTP origin, reached over node:http: every header as it comes, no retries, no redirects, nothing unpacked. */
export interface HttpOrigin {
  /** `body` is sent as it comes; undefined for a request without one. */
  ask(target: string, request: OriginRequest, body: IncomingMessage | undefined): Promise<OriginResponse>;
  close(): void;
}

export function createHttpOrigin(origin: URL): HttpOrigin {
  const agent = new Agent({ keepAlive: true });

  return {
    ask: (target, { method, headers, signal }, body) =>
      new Promise((resolve, reject) => {
        const outgoing = send({
          ...{ agent, method, path: target, headers: [...storedHeaders(headers), ...framing(body)] },
          host: origin.hostname,
          port: origin.port,
          setHost: false,
        });
        const abort = () => void outgoing.destroy(new Error("aborted"));
        signal.addEventListener("abort", abort);
        outgoing.once("close", () => signal.removeEventListener("abort", abort));
        outgoing.once("error", reject);
        outgoing.once("response", (answer) => {
          // It may break off before its reader has begun.
          answer.on("error", () => {});
          resolve({ status: answer.statusCode ?? 502, headers: storedHeaders(answer.rawHeaders), body: answer });
        });
        if (signal.aborted) abort();
        if (!body) return void outgoing.end();
        // An origin that answers early, or not at all, must not take the client's connection with it.
        outgoing.once("close", () => body.unpipe(outgoing).resume());
        body.pipe(outgoing);
      }),
    close: () => agent.destroy(),
  };
}

/** A body of unknown length goes in chunks, as it came (RFC 9112, 6.1); `Transfer-Encoding` itself was for the client's connection. */
function framing(body: IncomingMessage | undefined): readonly string[] {
  return body && body.headers["transfer-encoding"] !== undefined ? ["Transfer-Encoding", "chunked"] : [];
}
