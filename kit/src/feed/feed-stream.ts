import { createParser } from "eventsource-parser";
import { z } from "zod";
import type { ReplicaAddress } from "../upstream/addresses.ts";
import { openPool } from "../upstream/undici-transport.ts";
import { type FeedPosition, readFeedPosition, writeFeedPosition } from "./position.ts";
import type { FeedEvent } from "./change-feed.ts";

export interface FeedStreamOptions {
  readonly replica: ReplicaAddress;
  readonly key: string;
  readonly since: FeedPosition | undefined;
  readonly signal: AbortSignal;
  onEvent(event: FeedEvent): void;
}

/** Then the feed is down. It sends events at least every 250 ms, and comments before the first one. */
export const silenceMsMax = 1_000;
/** A thousand groups of 256 characters, ten thousand subjects of tokens, and the position. */
const eventCharsMax = 1_048_576;
const connectTimeoutMs = 1_000;

/** @throws always: the reason why the stream ended. */
export async function readFeedStream(o: FeedStreamOptions): Promise<never> {
  const silence = new AbortController();
  const silenceTimer = setTimeout(() => {
    silence.abort(new Error("The feed sent no event for a second."));
  }, silenceMsMax);
  const pool = openPool(o.replica, { connectionsMax: 1, connectTimeoutMs });
  const headers: Record<string, string> = { authorization: `Bearer ${o.key}` };
  if (o.since !== undefined) headers["last-event-id"] = writeFeedPosition(o.since);
  try {
    const response = await pool.request({
      method: "GET",
      path: "/changes",
      headers,
      signal: AbortSignal.any([silence.signal, o.signal]),
    });
    if (response.statusCode !== 200) throw new Error(`The feed responded with status ${response.statusCode}.`);
    let hasEvent = false;
    const parser = createParser({
      maxBufferSize: eventCharsMax,
      onEvent({ event, id, data }) {
        silenceTimer.refresh();
        hasEvent = true;
        o.onEvent(toFeedEvent(event, id, data));
      },
      // Later only events prove that the replica can read its database.
      onComment() {
        if (!hasEvent) silenceTimer.refresh();
      },
      onError(error) {
        // Unknown fields are ignored (HTML Living Standard, 9.2.6).
        if (error.type === "max-buffer-size-exceeded") throw error;
      },
    });
    const decoder = new TextDecoder();
    for await (const chunk of response.body) {
      parser.feed(decoder.decode(chunk as Buffer, { stream: true }));
    }
    throw new Error("The feed ended the stream.");
  } finally {
    clearTimeout(silenceTimer);
    await pool.destroy();
  }
}

const revoked = z.array(z.string()).optional();
const changesSchema = z.object({ groups: z.array(z.string()), revoked });
const resetSchema = z.object({ revoked });

function toFeedEvent(kind: string | undefined, id: string | undefined, data: string): FeedEvent {
  const position = readFeedPosition(id ?? "");
  if (position && kind === "reset") return { kind, position, ...resetSchema.parse(JSON.parse(data)) };
  if (position && kind === "changes") return { kind, position, ...changesSchema.parse(JSON.parse(data)) };
  throw new Error(`The feed sent an unknown event: ${kind}, ${id}`);
}
