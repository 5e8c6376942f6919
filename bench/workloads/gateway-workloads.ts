import { isDeepStrictEqual } from "node:util";
import type { Workload } from "../benchmark.ts";
import { type BenchmarkRequest, createReferenceExecutor } from "../graph/reference-executor.ts";
import type { LoadRequest } from "../load/connection.ts";
import {
  createColdDocument,
  createDocument,
  heavyOperation,
  smallOperation,
  trivialOperation,
  typenameOperation,
} from "./operations.ts";

/** More than there are connections, so that no two requests in flight are equal. */
const heavyVariants = 96;
const smallVariants = 1_000;
const documentsCount = 2_000;

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
    connections: 2,
    order: "once",
    probeEveryMs: 1,
  },
];

function list(count: number, toRequest: (index: number) => BenchmarkRequest): readonly LoadRequest[] {
  return Array.from({ length: count }, (_, n) => ({ path: "/graphql", body: JSON.stringify(toRequest(n)) }));
}

/** Whether the result has no errors and the same data as graphql-js produces from one schema over the same rows. */
function isRight(body: unknown, request: LoadRequest): boolean {
  const { data, errors } = body as { readonly data?: unknown; readonly errors?: unknown };
  return errors === undefined && isDeepStrictEqual(data, executeReference(JSON.parse(request.body ?? "")));
}
