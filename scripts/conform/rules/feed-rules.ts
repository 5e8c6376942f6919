import { randomUUID } from "node:crypto";
import type { FeedEvent } from "@tributary/kit/feed/change-feed";
import {
  type FeedPosition,
  includesWrite,
  readFeedPosition,
  readWritePosition,
  writeFeedPosition,
} from "@tributary/kit/feed/position";
import { createExample, listCreations, sendExample, toServicePath } from "../examples.ts";
import { exchange } from "../exchange.ts";
import { type OpenFeed, openFeed } from "../feed-stream.ts";
import { declareRules, type RuleReport } from "../rule.ts";
import type { Subject } from "../subject.ts";

const noWrite = "no example of a write creates what shared caches may store, with Cache-Groups";

export const feedRules = declareRules(
  "The change feed",
  {
    "feed-key": {
      text: "Without one of FEED_KEYS the feed is 401 or 403.",
      async check({ feed }, { expectStatus }) {
        const request = { method: "GET", url: `${feed?.url}/changes`, body: undefined };
        for (const headers of [{}, { authorization: "Bearer conform-another-key" }])
          expectStatus(await exchange({ ...request, headers }, true), 401, 403);
      },
    },
    "feed-opens": {
      text: "Without a position the first event is a reset.",
      check: (subject, report) => expectFirst(subject, report, undefined),
    },
    "feed-unknown-position": {
      text: "After a Last-Event-ID of another epoch the first event is a reset.",
      check: (subject, report) => expectFirst(subject, report, readFeedPosition(`${randomUUID()}/1:1:`)),
    },
    "feed-alive": {
      text: "It sends events also without changes, so that readers know that it is up.",
      check: (subject, { expectThat }) =>
        withStream(subject, undefined, async (stream, how) => {
          await stream.until(() => stream.events.length > 2);
          expectThat(stream.events.length > 2, { how, expected: "an event every 250 ms", got: describe(stream) });
        }),
    },
    "feed-change": {
      text: "A write appears with the groups of what it has changed, before a position that includes it.",
      check: (subject, { expectThat, skip }) =>
        withStream(subject, undefined, async (stream, how) => {
          await stream.until(() => stream.events.length > 0);
          const write = await sendWrite(subject);
          if (write === undefined) return skip(noWrite);
          await stream.until(() => stream.events.some((event) => hasGroup(event, write.groups)));
          const groupsAt = stream.events.findIndex((event) => hasGroup(event, write.groups));
          const includedAt = stream.events.findIndex(({ position }) => includesWrite(position, write));
          const isExpected = groupsAt >= 0 && (includedAt < 0 || groupsAt <= includedAt);
          const expected = `one of the groups ${[...write.groups].join(", ")} after ${write.what}`;
          expectThat(isExpected, { how, expected, got: describe(stream) });
        }),
    },
    "feed-resume": {
      text: "After a Last-Event-ID the first event has every change since that position, or is a reset.",
      check: (subject, { expectThat, skip }) =>
        withStream(subject, undefined, async (stream) => {
          await stream.until(() => stream.events.length > 0);
          const position = stream.events[0]?.position;
          const write = await sendWrite(subject);
          if (write === undefined) return skip(noWrite);
          await stream.until(() => stream.events.some((event) => hasGroup(event, write.groups)));
          await withStream(subject, position, async (resumed, how) => {
            await resumed.until(() => resumed.events.length > 0);
            const [event] = resumed.events;
            const isExpected = event !== undefined && (event.kind === "reset" || hasGroup(event, write.groups));
            const expected = `one of the groups ${[...write.groups].join(", ")}, or a reset`;
            expectThat(isExpected, { how, expected, got: describe(resumed) });
          });
        }),
    },
  },
  "feed",
);

/** @param check gets the command that opens the same stream. */
async function withStream(
  { feed }: Subject,
  since: FeedPosition | undefined,
  check: (stream: OpenFeed, how: string) => Promise<void>,
): Promise<void> {
  if (feed === undefined) return;
  const position = since ? ` -H 'Last-Event-ID: ${writeFeedPosition(since)}'` : "";
  const stream = openFeed(feed, since);
  await check(stream, `curl -N '${feed.url}/changes' -H 'Authorization: Bearer ${feed.key}'${position}`);
  stream.close();
}

function expectFirst(subject: Subject, { expectThat }: RuleReport, since: FeedPosition | undefined): Promise<void> {
  return withStream(subject, since, async (stream, how) => {
    await stream.until(() => stream.events.length > 0);
    expectThat(stream.events[0]?.kind === "reset", { how, expected: "event: reset", got: describe(stream) });
  });
}

function hasGroup(event: FeedEvent, groups: ReadonlySet<string>): boolean {
  return event.kind === "changes" && event.groups.some((group) => groups.has(group));
}

/** Undefined if no example creates what shared caches may store: only that needs groups. */
async function sendWrite(subject: Subject) {
  for (const operation of listCreations(subject)) {
    if ((await createExample(subject, operation)) === undefined) continue;
    const { exchange: created, as } = await sendExample(subject, operation);
    const { headers } = await subject.send("GET", toServicePath(created.headers["location"] ?? "/", subject), { as });
    const groups = new Set([...(headers["cache-groups"] ?? "").matchAll(/"([^"]*)"/g)].map(([, group = ""]) => group));
    const { epoch, xid = 0 } = { ...readWritePosition(created.headers["write-position"] ?? "") };
    const { method, url, body } = created.request;
    const isShared = !/\b(?:private|no-store)\b/.test(headers["cache-control"] ?? "");
    if (isShared && groups.size > 0) return { epoch, xid, groups, what: `${method} ${url} with ${body}` };
  }
  return undefined;
}

function describe({ events, failure }: OpenFeed): string {
  const shown = events.map((event) => `${event.kind} ${"groups" in event ? event.groups.join(",") : ""}`.trim());
  return failure() ?? (shown.length === 0 ? "no event" : shown.slice(0, 5).join("; "));
}
