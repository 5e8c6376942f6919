import { expect, test, onTestFinished } from "vitest";
import { type Log, silentLog } from "../process/log.ts";
import { startMetricsListener } from "./admin-server.ts";
import { countEntryPointObservations, handleByKind } from "./entry-point-observations.ts";
import { metricsOf } from "./metrics/declarations/metrics-of-processes.ts";
import { createPrometheus } from "./metrics/prometheus.ts";
import { createStatementObserver } from "./statement-observer.ts";
import { createTelemetry } from "./telemetry.ts";
import { noTrace } from "./tracing/trace.ts";

const config = {
  adminPort: undefined,
  logLevel: "silent",
  build: { version: "1.2.3", revision: "abc" },
  tracing: { endpoint: undefined, serviceName: "things", sampler: "always_on", ratio: 1, callers: "internal" },
} as const;
const o = { name: "things", declarations: metricsOf.service };

test("without its variables a process has no metrics and no traces", async () => {
  const { metrics, trace } = await createTelemetry({ ...o, config });
  expect([metrics.isOn, trace.isOn]).toEqual([false, false]);
});

test("tributary_build_info has the version and the current supergraph", async () => {
  const served: string[] = [];
  const { metrics } = await createTelemetry({
    ...o,
    config: { ...config, adminPort: 0 },
    supergraph: () => served.at(-1),
  });
  const info = async () =>
    /^tributary_build_info.*$/m.exec(await metrics.write())?.[0].replace(/[\da-f-]{36}/, "<uuid>");
  expect(await info()).toBe(
    'tributary_build_info{version="1.2.3",revision="abc",supergraph="none",instance_id="<uuid>"} 1',
  );
  served.push("f00");
  expect(await info()).toBe(
    'tributary_build_info{version="1.2.3",revision="abc",supergraph="f00",instance_id="<uuid>"} 1',
  );
});

test("log lines of level warn and above are counted", async () => {
  const { log, metrics } = await createTelemetry({ ...o, config: { ...config, adminPort: 0, logLevel: "fatal" } });
  log.fatal("logged by a test");
  expect(await metrics.write()).toContain('tributary_log_lines_total{level="fatal"} 1');
});

test("a collector's address turns tracing on, and the sampler can turn it off again", async () => {
  const tracing = { ...config.tracing, endpoint: "http://127.0.0.1:9" };
  const on = await createTelemetry({ ...o, config: { ...config, tracing } });
  const off = await createTelemetry({ ...o, config: { ...config, tracing: { ...tracing, sampler: "always_off" } } });
  expect([on.trace.isOn, off.trace.isOn]).toEqual([true, false]);
  await on.trace.stop();
});

test("a metric with announced label sets that have no zero is one warning at start, with the number of sets", async () => {
  const metrics = await createPrometheus({
    tries_total: { kind: "counter", help: "Tries.", labels: ["target"] },
    results_total: { kind: "counter", help: "Results.", labels: ["result"], expected: { result: ["ok", "bad"] } },
  });
  for (let times = 0; times < 2; times++)
    for (let number = 0; number < 1_428; number++) metrics.announce({ target: `target ${number}` });
  const warnings: object[] = [];
  const log: Log = { ...silentLog, info: () => {}, warn: (fields: object) => void warnings.push(fields) };
  const admin = await startMetricsListener({ adminPort: 0, adminHost: "127.0.0.1" }, { log, metrics });
  onTestFinished(() => admin?.close());
  expect(warnings).toEqual([{ metric: "tries_total", count: 428 }]);
});

test("constraint violations are counted separately from failures", async () => {
  const metrics = await createPrometheus(metricsOf.service);
  const around = createStatementObserver(metrics, noTrace);
  if (!around) throw new Error("metrics are on, so statements are observed");
  await around("insert", () => Promise.resolve(1));
  for (const code of ["23505", "23503", "57014", "53300", undefined]) {
    const error = Object.assign(new Error("no"), code === undefined ? {} : { code });
    await expect(around("insert", () => Promise.reject(error))).rejects.toBe(error);
  }
  const text = await metrics.write();
  const counts = ["ok", "rejected", "failed"].map((outcome) => {
    const series = `tributary_service_database_statement_duration_seconds_count{statement="insert",outcome="${outcome}"}`;
    return text
      .split("\n")
      .find((line) => line.startsWith(series))
      ?.slice(series.length + 1);
  });
  expect(counts).toEqual(["1", "2", "3"]);
});

const replicaDeclarations = {
  things_total: { kind: "counter", help: "Things.", labels: ["service"] },
  ejected: { kind: "gauge", help: "Ejected.", labels: ["service", "reason"] },
  open: { kind: "gauge", help: "Open.", labels: ["service"] },
  results_total: { kind: "counter", help: "Results.", labels: ["result"] },
  closed_total: { kind: "counter", help: "Closed.", labels: ["reason"] },
} as const;

async function observeReplicas() {
  const metrics = await createPrometheus(replicaDeclarations);
  const things = metrics.counter("things_total");
  const observe = handleByKind(
    countEntryPointObservations("service", {
      retries: things,
      retriesOverBudget: things,
      ejections: things,
      lookupFailures: things,
      ejected: metrics.gauge("ejected"),
      breakerOpen: metrics.gauge("open"),
      keyFetches: metrics.counter("results_total"),
      connectionsClosed: metrics.counter("closed_total"),
    }),
  );
  const eject = (service: string, replica: string, reason: "failing" | "slow" = "failing") =>
    observe({ kind: "replica-ejected", reason, service, replica, pauseMs: 1, cause: undefined });
  const read = async (gauge: "ejected" | "open") =>
    (await metrics.write()).split("\n").filter((line) => line.startsWith(`${gauge}{`));
  return { observe, eject, read };
}

test("a replica counts from its ejection until it is healthy or removed", async () => {
  const { observe, eject, read } = await observeReplicas();
  eject("things", "a");
  eject("things", "a");
  eject("things", "b", "slow");
  observe({ kind: "replica-restored", service: "others", replica: "b" });
  expect(await read("ejected")).toEqual([
    'ejected{service="things",reason="failing"} 1',
    'ejected{service="things",reason="slow"} 1',
    'ejected{service="others",reason="failing"} 0',
    'ejected{service="others",reason="slow"} 0',
  ]);
  observe({ kind: "replica-removed", service: "things", replica: "b" });
  expect(await read("ejected")).toContain('ejected{service="things",reason="slow"} 0');
  for (const isOpen of [true, false]) {
    observe({ kind: "breaker-changed", service: "things", isOpen });
    expect(await read("open")).toEqual([`open{service="things"} ${isOpen ? 1 : 0}`]);
  }
});

test("while a client of a service replaces another, the end of the old one clears no state of the new one", async () => {
  const { observe, eject, read } = await observeReplicas();
  const openBreaker = (isOpen: boolean) => observe({ kind: "breaker-changed", service: "things", isOpen });
  const removeReplica = () => observe({ kind: "replica-removed", service: "things", replica: "a" });
  const readAll = async () => [...(await read("open")), ...(await read("ejected"))].map((line) => line.slice(-1));
  for (const reason of ["slow", "failing"] as const) {
    openBreaker(true);
    eject("things", "a", reason);
  }
  // Open, failing and slow: a replica counts once, with the reason of the new client.
  expect(await readAll()).toEqual(["1", "1", "0"]);
  openBreaker(false);
  removeReplica();
  expect(await readAll()).toEqual(["1", "1", "0"]);
  openBreaker(false);
  removeReplica();
  expect(await readAll()).toEqual(["0", "0", "0"]);
});
