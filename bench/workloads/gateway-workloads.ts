import { isDeepStrictEqual } from "node:util";
import type { Workload } from "../benchmark.ts";
import { authorize } from "../graph/callers.ts";
import { type BenchmarkRequest, createReferenceExecutor } from "../graph/reference-executor.ts";
import type { LoadRequest } from "../load/connection.ts";
import {
  circleOperation,
  createColdDocument,
  createDocument,
  heavyOperation,
  shopOperation,
  smallOperation,
  trivialOperation,
  typenameOperation,
} from "./operations.ts";

/** More than there are connections (32), so that no two requests in flight are equal. */
const heavyVariants = 96;
const smallVariants = 1_000;
const documentsCount = 2_000;
const callersCount = 1_000;
const callersRequests = 5_000;
/** Books and pages of the callers' requests: a few are requested often (Zipf with exponent 1.1). */
const drawBook = createZipf(1_000);
const drawPage = createZipf(100);

/** Sent before the measurement, because a process's first plan takes ten times as long as later plans. */
const coldPrimingCount = 20;
const coldCount = 400;

const executeReference = createReferenceExecutor();
const common = { connections: 32, order: "in turn", isRight } as const;
const documents = list(documentsCount, (n) => ({ query: createDocument(n) }));

export const gatewayWorkloads: readonly Workload[] = [
  {
    ...common,
    name: "heavy",
    title: "heavy",
    requests: list(1, (skip) => ({ query: heavyOperation, variables: { skip } })),
  },
  {
    ...common,
    name: "heavy-varying",
    title: "heavy, varying",
    requests: list(heavyVariants, (n) => ({ query: heavyOperation, variables: { skip: n * 7 } })),
  },
  {
    ...common,
    name: "small",
    title: "small",
    requests: list(1, () => ({ query: smallOperation, variables: { isbn: "978-7" } })),
  },
  {
    ...common,
    name: "small-unshareable",
    title: "small, unshareable",
    requests: list(smallVariants, (n) => ({ query: smallOperation, variables: { isbn: `978-${n}` } })),
  },
  { ...common, name: "trivial", title: "trivial", requests: list(1, () => ({ query: trivialOperation })) },
  { ...common, name: "typename", title: "`{__typename}`", requests: list(1, () => ({ query: typenameOperation })) },
  {
    ...common,
    name: "documents",
    title: "2,000 documents in turn",
    requests: documents,
    // Three times, because some contenders compile an operation on its second execution.
    primingRequests: [documents, documents, documents].flat(),
  },
  {
    ...common,
    name: "cold",
    title: "cold documents",
    requests: list(coldCount, (n) => ({ query: createColdDocument(coldPrimingCount + n), variables: { skip: 0 } })),
    primingRequests: list(coldPrimingCount, (n) => ({ query: createColdDocument(n), variables: { skip: 0 } })),
    // Measures pauses: a third client sends a small query every millisecond while two send documents that have to be planned.
    connections: 2,
    order: "once",
    probeEveryMs: 1,
  },
  {
    ...common,
    name: "callers",
    title: "callers, small",
    isSpecial: true,
    requests: listForCallers((n) => ({ query: smallOperation, variables: { isbn: `978-${drawBook(n)}` } })),
  },
  {
    ...common,
    name: "callers-heavy",
    title: "callers, heavy",
    isSpecial: true,
    requests: listForCallers((n) => ({ query: shopOperation, variables: { skip: drawPage(n) * 9 } })),
  },
  {
    ...common,
    name: "callers-mixed",
    title: "callers, own people",
    isSpecial: true,
    requests: listForCallers((n) => ({ query: circleOperation, variables: { skip: (n * 7) % callersCount } })),
  },
];

function list(count: number, toRequest: (index: number) => BenchmarkRequest): readonly LoadRequest[] {
  return Array.from({ length: count }, (_, n) => ({ path: "/graphql", body: JSON.stringify(toRequest(n)) }));
}

/** Requests of callers in turn, each with its own token. */
function listForCallers(toRequest: (index: number) => BenchmarkRequest): readonly LoadRequest[] {
  const tokens = Array.from({ length: callersCount }, (_, caller) => authorize(caller + 1));
  const requests = list(callersRequests, toRequest);
  return requests.map((request, n) => ({ ...request, authorization: tokens[n % callersCount] as string }));
}

/** Returns a function from an index to a number from 0 to `count` - 1, the same in every run; number `n` has the weight 1 / (n + 1) ** 1.1. */
function createZipf(count: number): (index: number) => number {
  let sum = 0;
  const sums = Array.from({ length: count }, (_, n) => (sum += 1 / (n + 1) ** 1.1));
  return (index) => {
    // The multiples of the golden ratio, modulo 1, are evenly distributed.
    const point = ((index * 0.618_033_988_749_895) % 1) * sum;
    return sums.findIndex((each) => point < each);
  };
}

/** Whether the result has no errors and the same data as graphql-js produces from one schema over the same rows. */
function isRight(body: unknown, request: LoadRequest): boolean {
  const { data, errors } = body as { readonly data?: unknown; readonly errors?: unknown };
  return errors === undefined && isDeepStrictEqual(data, executeReference(JSON.parse(request.body ?? "")));
}
