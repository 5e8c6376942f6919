// The entry of the thread that exports spans. Compilation, garbage collection and waits here do not delay requests.
import { enableCompileCache } from "node:module";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import type { ExportResult, ExportProblem, ExportTask, ExportThreadData } from "./export-messages.ts";
import { toReadableSpan } from "./readable-span.ts";

const { url, serviceName, version, instanceId, compileCacheFolder } = workerData as ExportThreadData;
if (compileCacheFolder !== undefined) enableCompileCache(compileCacheFolder);

// Lower priority than the main thread, which serves requests. Only on Linux does this affect just one thread.
if (process.platform === "linux") setPriority(0, 10);

const [{ OTLPTraceExporter }, resources] = await Promise.all([
  import("@opentelemetry/exporter-trace-otlp-proto"),
  import("@opentelemetry/resources"),
]);
const exporter = new OTLPTraceExporter({ url });
const processResource = resources.resourceFromAttributes({
  "service.name": serviceName,
  "service.version": version,
  "service.instance.id": instanceId,
});
// OTEL_RESOURCE_ATTRIBUTES takes precedence: it identifies the pod.
const environmentResource = resources.detectResources({ detectors: [resources.envDetector] });
const resource = resources.defaultResource().merge(processResource).merge(environmentResource);

parentPort?.on("message", ({ number, spans }: ExportTask) => {
  const readable = spans.map((span) => toReadableSpan(span, { resource, version }));
  exporter.export(readable, ({ error }) => {
    post({ number, problem: error && toProblem(error) });
  });
});
post({ number: 0, problem: undefined });

function post(message: ExportResult): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}

function toProblem({ name, message, ...more }: Error & { code?: string | number }): ExportProblem {
  return { name, message, ...(more.code !== undefined && { code: more.code }) };
}
