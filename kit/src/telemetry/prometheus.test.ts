import { expect, test } from "vitest";
import { createNoMetrics } from "./metrics.ts";
import { createPrometheus } from "./prometheus.ts";
import { metricsOf, runtimeMetricNames } from "./metric-declarations.ts";

const declarations = {
  things_total: { kind: "counter", help: "Things.", labels: ["colour"] },
  things: { kind: "gauge", help: "Things now.", labels: ["colour"] },
  thing_seconds: { kind: "histogram", help: "A thing's time.", labels: [], buckets: [0.1, 1] },
} as const;

test("what is counted is written in Prometheus' format", async () => {
  const metrics = await createPrometheus(declarations);
  metrics.counter("things_total").add({ colour: "red" });
  metrics.counter("things_total").add({ colour: "red" }, 2);
  metrics.gauge("things").add({ colour: "red" }, 5);
  metrics.gauge("things").add({ colour: "red" }, -1);
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

test("a series that is kept counts to the same labels", async () => {
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

test("a gauge that is read at each scrape forgets what is not said again", async () => {
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

test("metrics that are off take everything and write nothing", async () => {
  const metrics = createNoMetrics<typeof declarations>();
  metrics.counter("things_total").add({ colour: "red" });
  metrics.gauge("things").onScrape(() => expect.unreachable());
  metrics.histogram("thing_seconds").observe({}, 1);
  expect([metrics.isOn, await metrics.write()]).toEqual([false, ""]);
});
