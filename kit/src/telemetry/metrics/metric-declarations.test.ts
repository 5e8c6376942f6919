import { expect, test } from "vitest";
import { type MetricDeclarations, metricsOf } from "./metric-declarations.ts";

const all: MetricDeclarations = Object.assign({}, ...Object.values(metricsOf));

test("a metric's name has its process as prefix, and its unit or `_total` as suffix", () => {
  const odd = Object.entries(all).filter(([name, { kind }]) => {
    if (!/^tributary_(?:build|log|service|gateway|rest)_[a-z_]+$/.test(name)) return true;
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
