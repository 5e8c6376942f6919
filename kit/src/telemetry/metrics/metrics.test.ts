import { expect, test } from "vitest";
import { createKnownValues, createLearnedValues, type LearnedValuesOptions } from "./known-values.ts";
import type { MetricDeclarations } from "./declarations/metric-declaration.ts";
import { metricsOf } from "./declarations/metrics-of-processes.ts";
import { runtimeMetricNames } from "./declarations/process-metrics.ts";
import { createNoMetrics } from "./metrics.ts";
import { createPrometheus } from "./prometheus.ts";

const declarations = {
  things_total: { kind: "counter", help: "Things.", labels: ["colour"] },
  things: { kind: "gauge", help: "Things now.", labels: ["colour"] },
  thing_seconds: { kind: "histogram", help: "A thing's time.", labels: [], buckets: [0.1, 1] },
} as const;

test("metrics are written in Prometheus' format", async () => {
  const metrics = await createPrometheus(declarations);
  metrics.counter("things_total").add({ colour: "red" });
  metrics.counter("things_total").add({ colour: "red" }, 2);
  metrics.gauge("things").set({ colour: "red" }, 5);
  metrics.gauge("things").set({ colour: "red" }, 4);
  metrics.histogram("thing_seconds").observe({}, 0.5);
  const lines = (await metrics.write()).split("\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "# TYPE things_total counter",
      'things_total{colour="red"} 3',
      'things{colour="red"} 4',
      'thing_seconds_bucket{le="0.1"} 0',
      'thing_seconds_bucket{le="1"} 1',
      "thing_seconds_count 1",
    ]),
  );
});

test("a series object counts for its labels", async () => {
  const metrics = await createPrometheus({
    ...declarations,
    lengths: { kind: "histogram", help: "Lengths.", labels: ["colour"], buckets: [1, 2] },
  } as const);
  metrics.counter("things_total").of({ colour: "red" }).add();
  metrics.counter("things_total").add({ colour: "red" });
  const lengths = metrics.histogram("lengths").of({ colour: "red" });
  for (const length of [1, 1.5, 7]) lengths.observe(length);
  const text = await metrics.write();
  expect(text).toContain('things_total{colour="red"} 2');
  const ofLengths = text.split("\n").filter((line) => line.startsWith("lengths"));
  expect(ofLengths).toEqual([
    'lengths_bucket{le="1",colour="red"} 1',
    'lengths_bucket{le="2",colour="red"} 2',
    'lengths_bucket{le="+Inf",colour="red"} 3',
    'lengths_sum{colour="red"} 9.5',
    'lengths_count{colour="red"} 3',
  ]);
});

test("a number and its digits are the same label", async () => {
  const metrics = await createPrometheus(declarations);
  for (const colour of [7, "7", 7]) metrics.counter("things_total").add({ colour });
  const series = (await metrics.write()).split("\n").filter((line) => line.startsWith("things_total{"));
  expect(series).toEqual(['things_total{colour="7"} 3']);
});

test("a label that gets ever more values ends in one series for all others", async () => {
  const metrics = await createPrometheus(declarations);
  for (let number = 0; number < 3_000; number++) metrics.counter("things_total").add({ colour: `colour ${number}` });
  const series = (await metrics.write()).split("\n").filter((line) => line.startsWith("things_total{"));
  expect(series).toHaveLength(2_001);
  expect(series.at(-1)).toBe('things_total{colour="other"} 1000');
});

const attempts = {
  tries_total: { kind: "counter", help: "Tries.", labels: ["target", "result"], expected: { result: ["ok", "bad"] } },
  results_total: { kind: "counter", help: "Results.", labels: ["result"], expected: { result: ["ok", "bad"] } },
  targets_total: { kind: "counter", help: "By target and caller.", labels: ["target", "caller"] },
  try_seconds: { kind: "histogram", help: "A try's time.", labels: ["target"], buckets: [1] },
  targets: { kind: "gauge", help: "Open tries.", labels: ["target"] },
} as const;
const linesOf = async (metrics: { write(): Promise<string> }, name: string) =>
  (await metrics.write()).split("\n").filter((line) => line.startsWith(name));

test("a series whose labels all have expected values is 0 from the start", async () => {
  const metrics = await createPrometheus(attempts);
  expect(await linesOf(metrics, "results_total")).toEqual([
    'results_total{result="ok"} 0',
    'results_total{result="bad"} 0',
  ]);
  expect(await linesOf(metrics, "tries_total")).toEqual([]);
});

test("an announced label value is 0 in all metrics whose other labels have expected values", async () => {
  const metrics = await createPrometheus(attempts);
  metrics.gauge("targets").onScrape(() => {});
  for (let times = 0; times < 2; times++) metrics.announce({ target: "a" });
  metrics.counter("tries_total").add({ target: "a", result: "bad" });
  expect(await linesOf(metrics, "t")).toEqual([
    'tries_total{target="a",result="ok"} 0',
    'tries_total{target="a",result="bad"} 1',
    'try_seconds_bucket{le="1",target="a"} 0',
    'try_seconds_bucket{le="+Inf",target="a"} 0',
    'try_seconds_sum{target="a"} 0',
    'try_seconds_count{target="a"} 0',
    'targets{target="a"} 0',
  ]);
});

test("the first event of a label value exports its other outcomes as 0", async () => {
  const metrics = await createPrometheus(attempts);
  metrics.counter("tries_total").add({ target: "a", result: "ok" });
  expect(await linesOf(metrics, "tries_total")).toEqual([
    'tries_total{target="a",result="ok"} 1',
    'tries_total{target="a",result="bad"} 0',
  ]);
});

test("series without events are at most half of the series of a metric", async () => {
  const metrics = await createPrometheus(attempts);
  for (let number = 0; number < 3_000; number++) metrics.announce({ target: `target ${number}` });
  metrics.counter("tries_total").add({ target: "late", result: "bad" });
  const lines = await linesOf(metrics, "tries_total");
  expect(lines).toHaveLength(1_001);
  expect(lines.at(-1)).toBe('tries_total{target="late",result="bad"} 1');
});

test("the series of a label value are removed in every metric, and counted from 0 if it returns", async () => {
  const metrics = await createPrometheus(attempts);
  const tries = metrics.counter("tries_total");
  for (const target of ["a", "b"]) {
    tries.add({ target, result: "ok" }, 5);
    metrics.histogram("try_seconds").observe({ target }, 1);
  }
  metrics.remove({ target: "a" });
  const removed = await metrics.write();
  expect(removed).not.toContain('target="a"');
  expect(removed).toContain('tries_total{target="b",result="ok"} 5');
  expect(removed).toContain('try_seconds_count{target="b"} 1');
  for (const target of ["a", "b"]) tries.add({ target, result: "ok" });
  expect(await linesOf(metrics, "tries_total")).toEqual([
    'tries_total{target="b",result="ok"} 6',
    'tries_total{target="b",result="bad"} 0',
    'tries_total{target="a",result="ok"} 1',
    'tries_total{target="a",result="bad"} 0',
  ]);
});

test("a gauge that is read at each scrape drops values that are not set again", async () => {
  const metrics = await createPrometheus(declarations);
  const colours = ["red", "blue"];
  metrics.gauge("things").onScrape((gauge) => gauge.set({ colour: colours.shift() ?? "none" }, 1));
  expect(await metrics.write()).toContain('things{colour="red"} 1');
  const second = await metrics.write();
  expect(second).toContain('things{colour="blue"} 1');
  expect(second).not.toContain('"red"');
});

test.each(Object.entries(metricsOf))(
  "everything declared for a %s is exported from the start",
  async (_, ofProcess) => {
    const text = await (await createPrometheus(ofProcess)).write();
    const exported = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name));
    expect([...Object.keys(ofProcess), ...runtimeMetricNames].filter((name) => !exported.has(name))).toEqual([]);
  },
);

test("a metric that is not declared is a bug", async () => {
  const metrics = await createPrometheus(declarations);
  expect(() => metrics.counter("other_total" as never)).toThrow("other_total is not declared");
});

test("metrics that are off accept all calls and write nothing", async () => {
  const metrics = createNoMetrics<typeof declarations>();
  metrics.counter("things_total").add({ colour: "red" });
  metrics.gauge("things").onScrape(() => expect.unreachable());
  metrics.histogram("thing_seconds").observe({}, 1);
  metrics.announce({ colour: "red" });
  expect([metrics.isOn, await metrics.write()]).toEqual([false, ""]);
});

test("a label has the known values, one for all others, and one for none", () => {
  const clientOf = createKnownValues(["web", "ios"]);
  expect(["web", "ios", "Web", "eyJhbGciOi", "__proto__", "", undefined].map(clientOf)).toEqual([
    "web",
    "ios",
    "other",
    "other",
    "other",
    "unnamed",
    "unnamed",
  ]);
});

const learn = (known: readonly string[] = [], o: Partial<LearnedValuesOptions> = {}) =>
  createLearnedValues({ known, valuesMax: 3, occurrencesMin: 100, onReleased() {}, ...o });

function countTimes(values: ReturnType<typeof learn>, name: string, times: number): readonly string[] {
  return Array.from({ length: times }, () => values.count(name));
}

test("a value has its own label from its 101st occurrence on", () => {
  const labels = countTimes(learn(), "Feed", 102);
  expect(labels).toEqual([...Array.from({ length: 100 }, () => "other"), "Feed", "Feed"]);
});

test("a value that is named as a collective label never gets a series of its own, which could be removed", () => {
  const released: string[] = [];
  const values = learn([], { valuesMax: 1, onReleased: (name) => released.push(name), now: () => 0 });
  for (const name of ["other", "unnamed"]) expect(new Set(countTimes(values, name, 200))).toEqual(new Set([name]));
  expect(countTimes(values, "Feed", 500).at(-1)).toBe("Feed");
  expect(released).toEqual([]);
});

test("a value that is only looked up is not learned", () => {
  const values = learn();
  for (let i = 0; i < 200; i++) expect(values.find("Feed")).toBe("other");
  expect(values.count("Feed")).toBe("other");
});

test("configured values have their labels from the start, and take places of the learned ones", () => {
  const values = learn(["Feed", "Cart"]);
  expect([values.count("Feed"), values.find("Cart"), values.count(undefined)]).toEqual(["Feed", "Cart", "unnamed"]);
  expect(["Home", "Late"].map((name) => countTimes(values, name, 101).at(-1))).toEqual(["Home", "other"]);
  expect(["Feed", "Cart", "Home", "Late"].map((name) => values.find(name))).toEqual(["Feed", "Cart", "Home", "other"]);
});

test("a value that occurs often is learned while a client sends ever new ones", () => {
  const values = learn();
  let last = "";
  for (let i = 0; i < 101; i++) {
    last = values.count("Feed");
    for (let n = 0; n < 500; n++) values.count(`Flood${i}_${n}`);
  }
  expect(last).toBe("Feed");
});

test("a value that occurs more often takes the label of the one that occurs least, at most once a minute", () => {
  let nowMs = 0;
  const released: string[] = [];
  const values = learn(["Feed"], { now: () => nowMs, onReleased: (value) => released.push(value) });
  for (const name of ["Flood1", "Flood2"]) countTimes(values, name, 101);
  for (const name of ["Home", "Cart", "Feed"]) countTimes(values, name, 250);
  expect([released, values.find("Home"), values.find("Cart")]).toEqual([["Flood1"], "Home", "other"]);
  nowMs += 60_000;
  expect([values.count("Flood1"), values.count("Cart")]).toEqual(["other", "Cart"]);
  expect([released, ["Feed", "Home", "Flood2"].map((name) => values.find(name))]).toEqual([
    ["Flood1", "Flood2"],
    ["Feed", "Home", "other"],
  ]);
});

test("a value that occurred often once gives its label up to one that occurs now", () => {
  const values = learn([], { valuesMax: 1, now: () => 0 });
  countTimes(values, "Flood", 200_000);
  expect(countTimes(values, "Home", 400_000).at(-1)).toBe("Home");
});

test("a configured value never gives its label up", () => {
  const values = learn(["Feed", "Cart", "Home"], { now: () => 0 });
  expect(countTimes(values, "Flood", 30_000).at(-1)).toBe("other");
});

test("a value of more than 100 characters is never a label", () => {
  expect(countTimes(learn(), "n".repeat(101), 101).at(-1)).toBe("other");
});

const all: MetricDeclarations = Object.assign({}, ...Object.values(metricsOf));

test("a metric's name has its process or its subject as prefix, and its unit or `_total` as suffix", () => {
  const odd = Object.entries(all).filter(([name, { kind }]) => {
    if (!/^tributary_(?:build|log|service|gateway|rest|purger|rate_limit|admission|feed)_[a-z_]+$/.test(name))
      return true;
    if (kind === "histogram") return !name.endsWith("_seconds");
    return (kind === "counter") !== name.endsWith("_total");
  });
  expect(odd).toEqual([]);
});

test("histograms have at most 20 ascending buckets, and nothing else has any", () => {
  for (const [name, { kind, buckets }] of Object.entries(all)) {
    const isHistogram = kind === "histogram";
    expect([name, buckets !== undefined]).toEqual([name, isHistogram]);
    expect(buckets ?? []).toEqual((buckets ?? []).toSorted((a, b) => a - b));
    expect(buckets?.length ?? 0).toBeLessThanOrEqual(20);
  }
});

test("a label whose name suggests unbounded values, such as a URL path, declares its values", () => {
  const unbounded = new Set([
    "url",
    "path",
    "query",
    "userId",
    "user",
    "requestId",
    "traceId",
    "message",
    "address",
    "key",
  ]);
  const undeclared = Object.values(all).flatMap(({ labels, expected }) =>
    labels.filter((label) => unbounded.has(label) && expected?.[label] === undefined),
  );
  expect(undeclared).toEqual([]);
});
