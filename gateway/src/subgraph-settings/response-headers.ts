// The headers that a client gets of the responses of subgraphs to its own requests: not of one that is cached, or that another client's request shares.
import {
  createSelector,
  type HeaderValues,
  isReservedInResponses,
  listDropped,
  listNames,
  spellingOf,
} from "./header-names.ts";
import { createLinearPattern } from "./linear-pattern.ts";
import type { ResponseRule } from "./header-rules-schema.ts";

type Algorithm = "first" | "last" | "append";

interface PropagatedHeader {
  readonly name: string;
  readonly values: readonly string[];
  readonly algorithm: Algorithm;
}

export interface ResponseHeaderRules {
  /** Whether Set-Cookie is propagated from queries: each client needs its own response. */
  readonly setsCookiesInQueries: boolean;
  read(headers: HeaderValues, isMutation: boolean): readonly PropagatedHeader[];
}

type Step = (headers: HeaderValues, isMutation: boolean, found: Map<string, PropagatedHeader>) => void;

/** Of all subgraphs and of this one, in this order. Undefined without rules that concern responses of subgraphs. */
export function createResponseHeaderRules(rules: readonly ResponseRule[]): ResponseHeaderRules | undefined {
  const steps = rules.flatMap(toSteps);
  if (steps.length === 0) return undefined;
  return {
    setsCookiesInQueries: rules.some(({ propagate }) => propagate?.from_queries === true),
    read(headers, isMutation) {
      const found = new Map<string, PropagatedHeader>();
      const forwardable = withoutDropped(headers);
      for (const step of steps) step(forwardable, isMutation, found);
      return [...found.values()];
    },
  };
}

function withoutDropped(headers: HeaderValues): HeaderValues {
  const dropped = listDropped(headers);
  if (dropped.size === 0) return headers;
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(spellingOf(name))));
}

function toSteps({ propagate, remove }: ResponseRule): readonly Step[] {
  if (remove) return [removeSelected(createSelector(remove))];
  if (!propagate) return [];
  const { algorithm = "last", from_queries: fromQueries = false, matching, rename } = propagate;
  if (matching !== undefined) return [propagateMatching(matching, algorithm)];
  return listNames(propagate.named).map((name) =>
    name === "set-cookie" ? propagateCookies(fromQueries) : propagateNamed(name, rename ?? name, algorithm),
  );
}

function propagateNamed(name: string, target: string, algorithm: Algorithm): Step {
  return (headers, _, found) => {
    const values = toValues(headers[name]);
    if (values.length > 0) found.set(target.toLowerCase(), { name: target, values, algorithm });
  };
}

function propagateCookies(fromQueries: boolean): Step {
  return (headers, isMutation, found) => {
    if (!isMutation && !fromQueries) return;
    const values = toValues(headers["set-cookie"]);
    if (values.length > 0) found.set("set-cookie", { name: "Set-Cookie", values, algorithm: "append" });
  };
}

function propagateMatching(source: string, algorithm: Algorithm): Step {
  const pattern = createLinearPattern(source);
  return (headers, _, found) => {
    for (const [name, raw] of Object.entries(headers)) {
      if (!pattern.test(name) || name === "set-cookie" || isReservedInResponses(name)) continue;
      const values = toValues(raw);
      if (values.length > 0) found.set(name, { name, values, algorithm });
    }
  };
}

function removeSelected(isSelected: (name: string) => boolean): Step {
  return (_headers, _isMutation, found) => {
    for (const name of found.keys()) if (isSelected(name)) found.delete(name);
  };
}

/** None for what objects inherit: a header can have the name `constructor`. */
function toValues(value: string | readonly string[] | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value : [];
}

/** Of one client request. */
export class CollectedHeaders {
  readonly #propagated: { readonly order: number; readonly headers: readonly PropagatedHeader[] }[] = [];

  /** @param order of the subgraph request in the plan, so that the result does not depend on which response arrives first. */
  add(order: number, headers: readonly PropagatedHeader[]): void {
    if (headers.length > 0) this.#propagated.push({ order, headers });
  }

  /** A raw list, with a field for each value. */
  list(): readonly string[] {
    const results = new Map<string, PropagatedHeader>();
    for (const { headers } of this.#propagated.toSorted((a, b) => a.order - b.order)) {
      for (const header of headers) {
        const key = header.name.toLowerCase();
        const earlier = results.get(key);
        if (earlier && header.algorithm === "first") continue;
        const isAppended = earlier && header.algorithm === "append";
        results.set(key, isAppended ? { ...header, values: [...earlier.values, ...header.values] } : header);
      }
    }
    return [...results.values()].flatMap(({ name, values }) => values.flatMap((value) => [name, value]));
  }
}
