import { type OpenApi, type Operation, operationsOf, mergeOpenApi, type RunnableExample } from "./documents.ts";
import { findSchemaViolations } from "./json-schema.ts";

type Components = OpenApi["components"];

/** The responses that the OpenAPI documents of both versions permit. */
export interface DocumentedResponses {
  operationOf(example: RunnableExample): Operation;
  /** The components of the example's document. */
  componentsOf(example: RunnableExample): Components;
  statusesOf(example: RunnableExample): readonly number[];
  /** Compares a response with a status. The body of one below 400 is not compared: examples.test.ts does that. */
  findFaults(response: Response, status: number, example: RunnableExample): Promise<readonly string[]>;
  /** The violations of the schema of problems with this status. */
  findProblemViolations(problem: unknown, status: number, example: RunnableExample): readonly string[];
}

export async function readDocumentedResponses(): Promise<DocumentedResponses> {
  const [v1, v2] = await Promise.all([mergeOpenApi(1), mergeOpenApi(2)]);
  const documents: Readonly<Record<number, OpenApi>> = { 1: v1, 2: v2 };
  const operations: Readonly<Record<number, ReadonlyMap<string, Operation>>> = {
    1: operationsOf(v1),
    2: operationsOf(v2),
  };
  const operationOf = ({ version, id }: RunnableExample) => operations[version]!.get(id)!;
  const componentsOf = ({ version }: RunnableExample) => documents[version]!.components;
  const problemOf = (status: number, example: RunnableExample) =>
    resolveProblem(componentsOf(example), operationOf(example).responses[status]!);

  return {
    operationOf,
    componentsOf,
    statusesOf: (example) => Object.keys(operationOf(example).responses).map(Number),
    async findFaults(response, status, example) {
      const text = await response.text();
      if (response.status !== status) return [`${response.status} instead of ${status}: ${text}`];
      const components = componentsOf(example);
      const responses = operationOf(example).responses;
      if (status >= 400) return findProblemFaults(response, text, problemOf(status, example), components);
      return findReceiptFaults(response, Object.keys(responses[status]?.headers ?? {}), components);
    },
    findProblemViolations: (problem, status, example) =>
      findSchemaViolations(problem, problemOf(status, example).schema, componentsOf(example).schemas),
  };
}

/** The component to which a documented error response refers. */
function resolveProblem({ responses }: Components, { $ref = "" }: Operation["responses"][string]) {
  const { content, headers = {} } = responses[$ref.replace("#/components/responses/", "")]!;
  const { schema, examples = {} } = content!["application/problem+json"]!;
  const types = Object.values(examples).map(({ value }) => (value as { readonly type: string }).type);
  return { types, schema, headers: Object.keys(headers) };
}

function findProblemFaults(
  response: Response,
  text: string,
  { types, schema, headers }: ReturnType<typeof resolveProblem>,
  components: Components,
): readonly string[] {
  const problem = JSON.parse(text) as { readonly type: string };
  const limitHeaders = response.status === 429 ? ["RateLimit", "RateLimit-Policy"] : [];
  const required = new Set(["WWW-Authenticate", "Retry-After", ...limitHeaders]);
  const missing = headers.filter((name) => required.has(name) && !response.headers.has(name));
  return [
    ...findSchemaViolations(problem, schema, components.schemas),
    ...findReceiptFaults(response, headers, components),
    ...missing.map((name) => `lacks the header ${name}`),
    ...(types.includes(problem.type) ? [] : [`${problem.type} is not documented`]),
  ];
}

/** A response has a valid receipt exactly if the document names it. An error may have one that is not documented. */
function findReceiptFaults(
  response: Response,
  documented: readonly string[],
  { schemas, headers }: Components,
): readonly string[] {
  const receipt = response.headers.get("Consistency-Token") ?? undefined;
  if (!documented.includes("Consistency-Token"))
    return receipt === undefined || response.status >= 400 ? [] : ["has a receipt"];
  return findSchemaViolations(receipt, headers["Consistency-Token"]!.schema, schemas, "receipt");
}
