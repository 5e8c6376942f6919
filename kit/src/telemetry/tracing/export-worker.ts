import { enableCompileCache } from "node:module";
import { setPriority } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import {
  type ExportResult,
  type ExportProblem,
  type ExportTask,
  type ExportThreadData,
  startupNumber,
} from "./export-messages.ts";
import { toReadableSpan } from "./readable-span.ts";

const { url, serviceName, version, instanceId, compileCacheFolder } = workerData as ExportThreadData;
if (compileCacheFolder !== undefined) enableCompileCache(compileCacheFolder);

/** The main thread, which serves requests, has 0 unless the operator changed it. The lowest priority is 19. */
const niceness = 10;
// Elsewhere than on Linux it would affect the whole process.
if (process.platform === "linux") setPriority(0, niceness);

// Static imports would be compiled before the compile cache is enabled.
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

parentPort?.on("message", ({ batchNumber, spans }: ExportTask) => {
  const readableSpans = spans.map((span) => toReadableSpan(span, { resource, version }));
  exporter.export(readableSpans, ({ error }) => {
    post({ batchNumber, problem: error && toProblem(error) });
  });
});
post({ batchNumber: startupNumber, problem: undefined });

function post(message: ExportResult): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message);
}

function toProblem({ name, message, ...ownProperties }: Error & { code?: string | number }): ExportProblem {
  const { code } = ownProperties;
  return code === undefined ? { name, message } : { name, message, code };
}
