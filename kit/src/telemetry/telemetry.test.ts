import { expect, test } from "vitest";
import { metricsOf } from "./metrics/metric-declarations.ts";
import { createTelemetry } from "./telemetry.ts";

const config = {
  adminPort: undefined,
  logLevel: "silent",
  build: { version: "1.2.3", revision: "abc" },
  tracing: { endpoint: undefined, serviceName: "things", sampler: "always_on", ratio: 1 },
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
