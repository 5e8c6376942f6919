// A step is one kind of request of the journey, with its expected response. graphql-steps.ts and rest-steps.ts list the steps.
import { type HttpClientResponse, type HttpClientRequest, findResponseProblem } from "./http-client.ts";

/** `count` is the number of the request in its run. It varies the request, so that few requests can use the same cached response. */
export interface Step {
  readonly name: string;
  createRequest(count: number): HttpClientRequest;
  /** Describes what is wrong with the response. If it is as expected, calls `onSuccess` and returns undefined: call it once for each response. */
  findProblem(response: HttpClientResponse, count: number): string | undefined;
}

/** The steps of one endpoint. */
export interface Steps {
  readonly reads: readonly Step[];
  readonly writes: readonly Step[];
}

/** Headers and unique texts of one run. */
export interface StepInput {
  readonly headers: Readonly<Record<string, string>>;
  /** A text that is unique within the run. */
  textAt(endpoint: "graphql" | "rest", count: number): string;
  /** An idempotency key that is unique within the run. */
  keyAt(endpoint: "graphql" | "rest", count: number): string;
  /** Records a comment whose creation was confirmed, for the audit (audit.ts). */
  confirm(text: string): void;
}

/** The value that the response must contain at a path. */
export interface ExpectedValue {
  readonly responsePath: readonly (string | number)[];
  readonly value: (count: number) => unknown;
}

export interface StepDescription extends ExpectedValue {
  readonly name: string;
  readonly status: number;
  createRequest(count: number): HttpClientRequest;
  /** Called with the number of each request whose response is as expected. */
  onSuccess?(count: number): void;
}

export function createStep({ name, status, createRequest, responsePath, value, onSuccess }: StepDescription): Step {
  return {
    name,
    createRequest,
    findProblem(response, count) {
      const problem = findResponseProblem(response, [status], (body) => readPath(body, responsePath) === value(count));
      if (problem === undefined) onSuccess?.(count);
      return problem === undefined ? undefined : `${name}: ${problem}`;
    },
  };
}

function readPath(body: unknown, [first, ...rest]: ExpectedValue["responsePath"]): unknown {
  if (first === undefined || typeof body !== "object" || body === null) return body;
  return readPath((body as Readonly<Record<string, unknown>>)[first], rest);
}
