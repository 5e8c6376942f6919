import { Writable } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLog } from "../process/log.ts";
import { feedMetrics } from "../telemetry/metrics/declarations/process-metrics.ts";
import { createPrometheus } from "../telemetry/metrics/prometheus.ts";
import { createFeedStateObserver, createFloodLog } from "./feed-telemetry.ts";

test("a followed service is exported as 0 from the start, as 1 while its feed is up, and a service without a feed not at all", async () => {
  const { observe, readGauge } = await setUp(["posts", "line-items"]);
  expect(await readGauge()).toEqual(['{service="posts"} 0', '{service="line-items"} 0']);
  observe({ kind: "feed-state", service: "line-items", state: "up", cause: undefined });
  expect(await readGauge()).toEqual(['{service="posts"} 0', '{service="line-items"} 1']);
  observe({ kind: "feed-state", service: "line-items", state: "down", cause: new Error("refused") });
  expect(await readGauge()).toEqual(['{service="posts"} 0', '{service="line-items"} 0']);
});

test("an outage of ten seconds is one line with the reason and one at its end; a warning only if the feed was up before", async () => {
  const { observe, lines } = await setUp(["posts"]);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const down = (cause: string) =>
    observe({ kind: "feed-state", service: "posts", state: "down", cause: new Error(cause) });
  const up = () => observe({ kind: "feed-state", service: "posts", state: "up", cause: undefined });
  down("refused");
  vi.advanceTimersByTime(10_000);
  up();
  down("The feed ended the stream.");
  vi.advanceTimersByTime(9_999);
  up();
  vi.advanceTimersByTime(10_000);
  down("The feed ended the stream.");
  vi.advanceTimersByTime(10_000);
  expect(lines).toMatchObject([
    { level: "info", service: "posts", reason: "refused", msg: "change feed is not up yet" },
    { level: "info", service: "posts", msg: "change feed is up" },
    { level: "debug", service: "posts", msg: "change feed is up" },
    { level: "warn", service: "posts", reason: "The feed ended the stream.", msg: "change feed is down" },
  ]);
});

test("the resets of a second are one warning with their number", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { log, lines } = createCollectedLog();
  const reportFlood = createFloodLog(log);
  for (const readers of [7, 1, 1]) reportFlood(readers);
  vi.advanceTimersByTime(1_000);
  reportFlood(2);
  vi.advanceTimersByTime(1_000);
  expect(lines).toMatchObject([
    { level: "warn", resets: 9 },
    { level: "warn", resets: 2 },
  ]);
});

function createCollectedLog() {
  const lines: unknown[] = [];
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()));
      done();
    },
  });
  return { lines, log: createLog({ name: "test", level: "debug", destination }) };
}

async function setUp(services: readonly string[]) {
  const { lines, log } = createCollectedLog();
  const metrics = await createPrometheus(feedMetrics);
  const observe = createFeedStateObserver({ metrics, log, services });
  // As the REST proxy does for all services of its routes.
  metrics.announce({ service: "without-feed" });
  const readGauge = async () =>
    [...(await metrics.write()).matchAll(/^tributary_feed_up(.+)$/gm)].map(([, series]) => series);
  return { observe, lines, readGauge };
}
