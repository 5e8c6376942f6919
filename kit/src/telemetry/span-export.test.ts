import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createOpenTelemetry } from "./open-telemetry.ts";
import { createSpanExport } from "./span-export.ts";

const build = { version: "1.2.3", revision: "abc" };
const tracing = { serviceName: "things", sampler: "always_on", ratio: 1 } as const;

test("what is recorded reaches the collector when the process ends, if not before", async () => {
  const { url, requests } = await startCollector(200);
  const processor = await createSpanExport({ endpoint: `${url}/`, onLost: () => expect.unreachable() });
  const trace = await createOpenTelemetry({ tracing, build, processor });
  trace.begin("GET /things", undefined)?.end();
  await trace.stop();
  expect(requests.map(({ path, type }) => [path, type])).toEqual([["/v1/traces", "application/x-protobuf"]]);
  for (const text of ["GET /things", "service.name", "things", "service.version", "1.2.3"]) {
    expect(requests[0]?.body).toContain(text);
  }
});

test("losses are told once, until some have arrived", async () => {
  const collector = await startCollector(400);
  const told: Error[] = [];
  const processor = await createSpanExport({ endpoint: collector.url, onLost: (error) => told.push(error) });
  const trace = await createOpenTelemetry({ tracing, build, processor });
  const counts: number[] = [];
  for (const status of [400, 400, 200, 400]) {
    collector.answerWith(status);
    trace.begin("GET /things", undefined)?.end();
    await processor.forceFlush().catch(() => {});
    counts.push(told.length);
  }
  await trace.stop();
  expect(counts).toEqual([1, 1, 1, 2]);
});

async function startCollector(first: number) {
  let status = first;
  const requests: { readonly path: string | undefined; readonly type: string | undefined; readonly body: string }[] =
    [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const body = Buffer.concat(chunks).toString("latin1");
      requests.push({ path: request.url, type: request.headers["content-type"], body });
      response.writeHead(status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests, answerWith: (next: number) => void (status = next) };
}
