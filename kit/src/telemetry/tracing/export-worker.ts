// The entry of the thread that sends spans. Here an exporter may warm up, collect and wait as it likes: nobody's requests are here.
import { enableCompileCache } from "node:module";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { ExportAnswer, ExportProblem, ExportTask, ExportThreadData } from "./export-messages.ts";
import { toReadableSpan } from "./readable-span.ts";

const { url, serviceName, version, instanceId, compileCacheFolder } = workerData as ExportThreadData;
if (compileCacheFolder !== undefined) enableCompileCache(compileCacheFolder);

// Whoever answers requests comes first where both want one core. Linux gives a thread a priority of its own; elsewhere it would be the process's.
if (process.platform === "linux") setPriority(0, 10);

const [{ OTLPTraceExporter }, resources] = await Promise.all([
  import("@opentelemetry/exporter-trace-otlp-proto"),
  import("@opentelemetry/resources"),
]);
const exporter = new OTLPTraceExporter({ url });
const ofProcess = resources.resourceFromAttributes({
  "service.name": serviceName,
  "service.version": version,
  "service.instance.id": instanceId,
});
// OTEL_RESOURCE_ATTRIBUTES has the last word: it knows the pod.
const ofEnvironment = resources.detectResources({ detectors: [resources.envDetector] });
const resource = resources.defaultResource().merge(ofProcess).merge(ofEnvironment);

parentPort?.on("message", ({ number, spans }: ExportTask) => {
  const readable = spans.map((span) => toReadableSpan(span, { resource, version }));
  exporter.export(readable, ({ error }) => {
    answer({ number, problem: error && toProblem(error) });
  });
});
answer({ number: 0, problem: undefined });

function answer(message: ExportAnswer): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}

function toProblem({ name, message, ...more }: Error & { code?: string | number }): ExportProblem {
  return { name, message, ...(more.code !== undefined && { code: more.code }) };
}
