import { isDeepStrictEqual } from "node:util";
import { authorize } from "../graph/callers.ts";
import { type BenchmarkRequest, createReferenceExecutor } from "../graph/reference-executor.ts";
import type { LoadRequest } from "../load/connection.ts";
import {
  circleOperation,
  createColdDocument,
  createDocument,
  heavyOperation,
  shopDocumentId,
  shopOperation,
  smallOperation,
  trivialOperation,
  typenameOperation,
} from "./operations.ts";
import type { Workload } from "./workload.ts";

/** `ours-headers` forwards them to the subgraphs. */
export const forwardedHeaders = { "x-tenant-id": "acme", "x-locale": "en-GB", "x-app-version": "4.2.0" };

/** More than there are connections (32), so that no two requests in flight are equal. */
const heavyVariants = 96;
const smallVariants = 1_000;
const documentsCount = 2_000;
const callersCount = 1_000;
const callerRequestsCount = 5_000;
const zipfExponent = 1.1;
const goldenRatio = 0.618_033_988_749_895;
/** Books and pages of the callers' requests: by Zipf's law, a few are requested often. */
const drawBook = createZipf(1_000);
const drawPage = createZipf(100);

/** Sent before the measurement, because a process's first plan takes ten times as long as later plans. */
const coldPrimingCount = 20;
const coldCount = 400;

const executeReference = createReferenceExecutor();
const defaults = { connections: 32, order: "in turn", isRight } as const;
const unshareable = createRequests(smallVariants, (n) => ({
  query: smallOperation,
  variables: { isbn: `978-${n}` },
}));
const documents = createRequests(documentsCount, (n) => ({ query: createDocument(n) }));

export const gatewayWorkloads: readonly Workload[] = [
  {
    ...defaults,
    name: "heavy",
    title: "heavy",
    requests: createRequests(1, () => ({ query: heavyOperation, variables: { skip: 0 } })),
  },
  {
    ...defaults,
    name: "heavy-varying",
    title: "heavy, varying",
    requests: createRequests(heavyVariants, (n) => ({ query: heavyOperation, variables: { skip: n * 7 } })),
  },
  {
    ...defaults,
    name: "small",
    title: "small",
    requests: createRequests(1, () => ({ query: smallOperation, variables: { isbn: "978-7" } })),
  },
  {
    ...defaults,
    name: "small-unshareable",
    title: "small, unshareable",
    requests: unshareable,
  },
  {
    ...defaults,
    name: "trivial",
    title: "trivial",
    requests: createRequests(1, () => ({ query: trivialOperation })),
  },
  {
    ...defaults,
    name: "typename",
    title: "`{__typename}`",
    requests: createRequests(1, () => ({ query: typenameOperation })),
  },
  {
    ...defaults,
    name: "documents",
    title: "2,000 documents in turn",
    requests: documents,
    // Three times, because some contenders compile an operation on its second execution.
    primingRequests: [documents, documents, documents].flat(),
  },
  {
    ...defaults,
    name: "cold",
    title: "cold documents",
    requests: createColdRequests(coldPrimingCount, coldCount),
    primingRequests: createColdRequests(0, coldPrimingCount),
    // Measures pauses: a third client sends a small query every millisecond while two send documents that have to be planned.
    connections: 2,
    order: "once",
    probeEveryMs: 1,
  },
  {
    ...defaults,
    name: "heavy-latencies",
    title: "heavy, subgraphs of different speed",
    isOptIn: true,
    latenciesMs: { people: 2, books: 6, shelves: 3, reviews: 4 },
    requests: createRequests(1, () => ({ query: heavyOperation, variables: { skip: 0 } })),
  },
  {
    ...defaults,
    name: "callers",
    title: "callers, small",
    isOptIn: true,
    requests: createCallerRequests((n) => ({ query: smallOperation, variables: { isbn: `978-${drawBook(n)}` } })),
  },
  {
    ...defaults,
    name: "callers-heavy",
    title: "callers, heavy",
    isOptIn: true,
    requests: createCallerRequests((n) => ({ query: shopOperation, variables: { skip: drawPage(n) * 9 } })),
  },
  {
    ...defaults,
    name: "callers-mixed",
    title: "callers, own people",
    isOptIn: true,
    requests: createCallerRequests((n) => ({ query: circleOperation, variables: { skip: (n * 7) % callersCount } })),
  },
  {
    ...defaults,
    name: "headers",
    title: "small, unshareable, with three headers",
    isOptIn: true,
    requests: unshareable.map((request) => ({ ...request, headers: forwardedHeaders })),
  },
  {
    ...defaults,
    name: "by-text",
    title: "a registered document by its text",
    isOptIn: true,
    requests: createRequests(smallVariants, (n) => ({ query: shopOperation, variables: { skip: n % 96 } })),
  },
  {
    ...defaults,
    name: "by-id",
    title: "a registered document by its id",
    isOptIn: true,
    requests: createRequests(smallVariants, (n) => ({ documentId: shopDocumentId, variables: { skip: n % 96 } })),
  },
];

function createRequests(count: number, toRequest: (index: number) => object): readonly LoadRequest[] {
  return Array.from({ length: count }, (_, n) => ({ path: "/graphql", body: JSON.stringify(toRequest(n)) }));
}

/** Each with another document. @param firstDocument the index of the first one. */
function createColdRequests(firstDocument: number, count: number): readonly LoadRequest[] {
  return createRequests(count, (n) => ({ query: createColdDocument(firstDocument + n), variables: { skip: 0 } }));
}

/** Requests of callers in turn, each with its own token. */
function createCallerRequests(toRequest: (index: number) => object): readonly LoadRequest[] {
  const authorizations = Array.from({ length: callersCount }, (_, caller) => authorize(caller + 1));
  const requests = createRequests(callerRequestsCount, toRequest);
  return requests.map((request, n) => ({
    ...request,
    headers: { Authorization: authorizations[n % callersCount] as string },
  }));
}

/** Returns a function from an index to a number from 0 to `count` - 1, the same in every run; number `n` has the weight 1 / (n + 1) ** 1.1. */
function createZipf(count: number): (index: number) => number {
  let weightSum = 0;
  /** At index `n`: the sum of the weights of all numbers up to `n`. */
  const cumulativeWeights: number[] = [];
  for (let n = 0; n < count; n += 1) {
    weightSum += 1 / (n + 1) ** zipfExponent;
    cumulativeWeights.push(weightSum);
  }
  return (index) => {
    // The multiples of the golden ratio, modulo 1, are evenly distributed.
    const point = ((index * goldenRatio) % 1) * weightSum;
    return cumulativeWeights.findIndex((cumulativeWeight) => point < cumulativeWeight);
  };
}

/** Whether the result has no errors and the same data as graphql-js produces from one schema over the same rows. */
function isRight(body: unknown, request: LoadRequest): boolean {
  const { data, errors } = body as { readonly data?: unknown; readonly errors?: unknown };
  return errors === undefined && isDeepStrictEqual(data, executeReference(readRequest(request.body)));
}

/** With the text of a registered document. */
export function readRequest(body = ""): BenchmarkRequest {
  const request = JSON.parse(body) as BenchmarkRequest | { readonly documentId: string };
  return "query" in request ? request : { ...request, query: shopOperation };
}
