import type { GraphqlRequest } from "../graph/oracle.ts";
import { coldDocument, documentInTurn, heavyOperation, smallOperation, trivialOperation } from "./operations.ts";

export const workloadNames = [
  "heavy",
  "heavy-varying",
  "small",
  "small-unshareable",
  "trivial",
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
  /** Other requests than those measured; without them the measured ones themselves are sent before. */
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
    name: "documents",
    title: "2,000 documents in turn",
    requests: list(documentsCount, (n) => ({ query: documentInTurn(n) })),
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
