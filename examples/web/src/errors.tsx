// What users read when something fails.
import type { CombinedError } from "urql";

export interface Notice {
  readonly text: string;
  /** What is wrong with the input, a sentence each. */
  readonly details?: readonly string[];
}

/** RFC 9457. What the generated types of all errors have in common. */
interface Problem {
  readonly title: string;
  readonly detail: string;
  readonly errors?: readonly { readonly detail: string }[];
}

export const connectionLost: Notice = { text: "No connection. Check the network, and try again." };

/** Of GraphQL. A part of the data can be there at the same time: then only some fields failed. */
export function describeError({ networkError, graphQLErrors, response }: CombinedError): Notice {
  if (networkError) return connectionLost;
  const [first] = graphQLErrors;
  if (first?.extensions["code"] === "RATE_LIMITED") return tooManyRequests(response);
  if (first?.path) return { text: `Some of it could not be loaded: ${listFields(graphQLErrors)}.` };
  return { text: first?.message ?? "This did not work. Try again." };
}

/** Of a mutation: one error has all problems of the input. */
export function describeWriteError(error: CombinedError): Notice {
  const [first] = error.graphQLErrors;
  if (error.networkError || !first || first.extensions["code"] === "RATE_LIMITED") return describeError(error);
  const problems = (first.extensions["problems"] ?? []) as readonly { readonly detail: string }[];
  return describeInput(first.message, problems);
}

/** Of REST. */
export function describeProblem({ title, detail, errors = [] }: Problem, response: Response): Notice {
  if (response.status === 429) return tooManyRequests(response);
  return describeInput(`${title}. ${detail}`, errors);
}

function describeInput(text: string, problems: readonly { readonly detail: string }[]): Notice {
  return problems.length === 0
    ? { text }
    : { text: "Check your input.", details: problems.map(({ detail }) => detail) };
}

export function NoticeBox({ notice }: { readonly notice: Notice | undefined }) {
  if (!notice) return null;
  const { text, details = [] } = notice;
  return (
    <div role="alert">
      <p>{text}</p>
      {details.map((detail) => (
        <p key={detail}>{detail}</p>
      ))}
    </div>
  );
}

function tooManyRequests(response: Response | undefined): Notice {
  const seconds = response?.headers.get("retry-after");
  return { text: `Too many requests. Try again ${seconds ? `in ${seconds} s` : "later"}.` };
}

/** The names of the fields in their lists: `posts.nodes.author` */
function listFields(errors: CombinedError["graphQLErrors"]): string {
  const names = errors.map(({ path = [] }) => path.findLast((part) => typeof part === "string"));
  return [...new Set(names)].join(", ");
}
