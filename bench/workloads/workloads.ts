import type { BenchmarkRequest } from "../graph/reference-executor.ts";
import {
  createColdDocument,
  createDocument,
  heavyOperation,
  smallOperation,
  trivialOperation,
  typenameOperation,
} from "./operations.ts";

export const workloadNames = [
  "heavy",
  "heavy-varying",
  "small",
  "small-unshareable",
  "trivial",
  "typename",
  "documents",
  "cold",
] as const;

export type WorkloadName = (typeof workloadNames)[number];

export interface Workload {
  readonly name: WorkloadName;
  readonly title: string;
  readonly requests: readonly BenchmarkRequest[];
  readonly connections: number;
  readonly order: "in turn" | "once";
  /** Sent once each before the warm-up, to fill the caches. Defaults to `requests`. */
  readonly primingRequests?: readonly BenchmarkRequest[];
  /** The interval of the probe (load-job.ts); only workloads that measure pauses have one. */
  readonly probeEveryMs?: number;
}

const connections = 32;

/** More than there are connections, so that no two requests in flight are equal. */
const heavyVariants = 96;
const smallVariants = 1_000;
const documentsCount = 2_000;

/** Sent before the measurement, because a process's first plan takes ten times as long as later plans. */
const coldPrimingCount = 20;
const coldCount = 400;

const list = (count: number, toRequest: (index: number) => BenchmarkRequest) =>
  Array.from({ length: count }, (_, index) => toRequest(index));

const documents = list(documentsCount, (n) => ({ query: createDocument(n) }));

export const workloads: readonly Workload[] = [
  {
    name: "heavy",
    title: "heavy",
    requests: [{ query: heavyOperation, variables: { skip: 0 } }],
    connections,
    order: "in turn",
  },
  {
    name: "heavy-varying",
    title: "heavy, varying",
    requests: list(heavyVariants, (skip) => ({ query: heavyOperation, variables: { skip: skip * 7 } })),
    connections,
    order: "in turn",
  },
  {
    name: "small",
    title: "small",
    requests: [{ query: smallOperation, variables: { isbn: "978-7" } }],
    connections,
    order: "in turn",
  },
  {
    name: "small-unshareable",
    title: "small, unshareable",
    requests: list(smallVariants, (n) => ({ query: smallOperation, variables: { isbn: `978-${n}` } })),
    connections,
    order: "in turn",
  },
  { name: "trivial", title: "trivial", requests: [{ query: trivialOperation }], connections, order: "in turn" },
  {
    name: "typename",
    title: "`{__typename}`",
    requests: [{ query: typenameOperation }],
    connections,
    order: "in turn",
  },
  {
    name: "documents",
    title: "2,000 documents in turn",
    requests: documents,
    // Three times, because some contenders compile an operation on its second execution.
    primingRequests: [documents, documents, documents].flat(),
    connections,
    order: "in turn",
  },
  {
    name: "cold",
    title: "cold documents",
    requests: list(coldCount, (n) => ({ query: createColdDocument(coldPrimingCount + n), variables: { skip: 0 } })),
    primingRequests: list(coldPrimingCount, (n) => ({ query: createColdDocument(n), variables: { skip: 0 } })),
    connections: 2,
    order: "once",
    probeEveryMs: 1,
  },
];
