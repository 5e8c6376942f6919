import type { GraphqlRequest } from "../graph/oracle.ts";
import {
  coldDocument,
  documentInTurn,
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
  readonly requests: readonly GraphqlRequest[];
  readonly connections: number;
  readonly order: "in turn" | "once";
  /** Sent once each before the warm-up, so that caches hold what they can hold; the measured requests in most workloads. */
  readonly primeRequests?: readonly GraphqlRequest[];
  readonly probeEveryMs?: number;
}

/** So many requests are in flight at once. */
const connections = 32;

/** More than are ever in flight, so that no two requests at a time are the same. */
const heavyVariants = 96;
const smallVariants = 1_000;
const documentsCount = 2_000;

/** The first plan in a process takes ten times as long as later ones: that is booting, and not what is asked for here. */
const coldPrimed = 20;
const coldCount = 400;

const list = (count: number, toRequest: (index: number) => GraphqlRequest) =>
  Array.from({ length: count }, (_, index) => toRequest(index));

const documents = list(documentsCount, (n) => ({ query: documentInTurn(n) }));

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
    // Three times: some compile an operation when it comes a second time.
    primeRequests: [documents, documents, documents].flat(),
    connections,
    order: "in turn",
  },
  {
    name: "cold",
    title: "cold documents",
    requests: list(coldCount, (n) => ({ query: coldDocument(coldPrimed + n), variables: { skip: 0 } })),
    primeRequests: list(coldPrimed, (n) => ({ query: coldDocument(n), variables: { skip: 0 } })),
    connections: 2,
    order: "once",
    probeEveryMs: 1,
  },
];
