import type { ServerResponse } from "node:http";
import { createDisconnectSignal } from "@tributary/kit/http/abort-source";
import type { CacheObservation } from "./cache-observation.ts";
import { type Forwarded, forwardedStatus } from "./cache-status.ts";
import type { CacheLookup, OriginFetchers } from "./lookup.ts";
import type { OriginResponse } from "./origin.ts";
import { destroyBody, relayBody } from "./relay.ts";
import { type CompleteHeaders, sendHead } from "./sending.ts";

export interface Passed {
  readonly lookup: CacheLookup;
  readonly response: ServerResponse;
  readonly ways: OriginFetchers;
  readonly complete: CompleteHeaders;
  readonly forwarded: Forwarded;
  /** Called before any byte of the response goes to the client. */
  readonly onAnswer?: (answer: OriginResponse) => void;
  /** Called when there is no response. */
  readonly onError?: (error: unknown) => void;
}

export interface PassingOptions {
  readonly name: string;
  readonly observe: (observation: CacheObservation) => void;
}

/** The client's own request, as it is, and the origin's answer, as it comes. Nothing is kept. */
export async function passOn({ name, observe }: PassingOptions, p: Passed): Promise<void> {
  const { lookup, response, ways, complete, forwarded } = p;
  const signal = createDisconnectSignal(response);
  const method = lookup.request.method ?? "";
  let answer: OriginResponse;
  try {
    answer = await ways.forClient({ method, headers: ways.headers, signal });
  } catch (error) {
    p.onError?.(error);
    throw error;
  }
  p.onAnswer?.(answer);
  observe({ kind: "passed" });
  if (response.destroyed) return destroyBody(answer.body);
  sendHead(response, answer, forwardedStatus(name, { forwarded, status: answer.status }), complete);
  await relayBody(answer.body, { client: response, bytesMax: 0, isWanted: () => false });
}
