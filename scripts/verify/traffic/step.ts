// A step is one kind of request of the journey, with its expected response. graphql-steps.ts and rest-steps.ts list the steps.
import { type HttpClientResponse, type HttpClientRequest, findResponseProblem } from "./http-client.ts";

/** The requests of a run are numbered. The number varies the request, so that few requests can use the same cached response. */
export interface Step {
  readonly name: string;
  createRequest(requestNumber: number): HttpClientRequest;
  /**
   * Call it once for each response. If the response is as expected, calls `onSuccess` (StepDescription) and returns undefined. Else describes what
   * is wrong.
   */
  findProblem(response: HttpClientResponse, requestNumber: number): string | undefined;
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
  textAt(endpoint: "graphql" | "rest", requestNumber: number): string;
  /** An idempotency key that is unique within the run. */
  keyAt(endpoint: "graphql" | "rest", requestNumber: number): string;
  /** Records a comment whose creation was confirmed, for the audit (audit.ts). */
  confirm(text: string): void;
}

type ResponsePath = readonly (string | number)[];

/** The value that the response must contain at a path. A path can end with `length`, the length of a list. */
export interface ExpectedValue {
  readonly responsePath: ResponsePath;
  readonly value: (requestNumber: number) => unknown;
}

export interface StepDescription extends ExpectedValue {
  readonly name: string;
  readonly status: number;
  createRequest(requestNumber: number): HttpClientRequest;
  /** Called with the number of each request whose response is as expected. */
  onSuccess?(requestNumber: number): void;
}

export function createStep({ name, status, createRequest, responsePath, value, onSuccess }: StepDescription): Step {
  return {
    name,
    createRequest,
    findProblem(response, requestNumber) {
      const isExpected = (body: unknown) => readPath(body, responsePath) === value(requestNumber);
      const problem = findResponseProblem(response, [status], isExpected);
      if (problem !== undefined) return `${name}: ${problem}`;
      onSuccess?.(requestNumber);
      return undefined;
    },
  };
}

/** Where the path leads through a value that is no object, returns that value. */
function readPath(value: unknown, [key, ...remainingPath]: ResponsePath): unknown {
  if (key === undefined || typeof value !== "object" || value === null) return value;
  return readPath((value as Readonly<Record<string, unknown>>)[key], remainingPath);
}
