// The headers that a subgraph gets of a client's request. Resolved once for each client request and subgraph, before any fetch is shared or cached.
import {
  createSelector,
  type HeaderValues,
  isReservedInRequests,
  listDropped,
  listNames,
  spellingOf,
  toText,
} from "./header-names.ts";
import { createLinearPattern } from "./linear-pattern.ts";
import type { RequestRule } from "./header-rules-schema.ts";

export interface ClientHeaders {
  readonly headers: HeaderValues;
  /** Of the verified token; undefined without one. */
  readonly claims: Readonly<Record<string, unknown>> | undefined;
}

export interface ForwardedHeaders {
  /** Names and values, as a raw list. */
  readonly list: readonly string[];
  /** Those on which a response may depend. An absent header differs from an empty one. */
  readonly varying: string;
}

export interface RequestHeaderRules {
  /** Whether responses may depend on what a client sends, also if it does not send it. */
  readonly varies: boolean;
  readonly insertsAuthorization: boolean;
  /** The client's is not sent: a rule inserts another one, or removes it. */
  readonly withholdsAuthorization: boolean;
  resolve(client: ClientHeaders): ForwardedHeaders;
}

interface Resolution {
  readonly client: ClientHeaders;
  readonly values: Map<string, { readonly value: string; readonly varies: boolean }>;
  readonly dropped: ReadonlySet<string>;
}

type Step = (resolution: Resolution) => void;

/** Of all subgraphs and of this one, in this order. Undefined without rules. */
export function createRequestHeaderRules(rules: readonly RequestRule[]): RequestHeaderRules | undefined {
  if (rules.length === 0) return undefined;
  const inserted = new Set(rules.flatMap(({ insert }) => (insert ? [spellingOf(insert.name)] : [])));
  const steps = rules.flatMap((rule) => toSteps(rule, inserted));
  const insertsAuthorization = inserted.has("authorization");
  return {
    varies: rules.some(
      ({ propagate, insert }) => (propagate && propagate.varies !== false) || insert?.claim !== undefined,
    ),
    insertsAuthorization,
    withholdsAuthorization:
      insertsAuthorization || rules.some(({ remove }) => remove && createSelector(remove)("authorization")),
    resolve(client) {
      const resolution: Resolution = {
        client,
        values: new Map(),
        dropped: listDropped(client.headers),
      };
      for (const step of steps) step(resolution);
      const list: string[] = [];
      let varying = "";
      for (const [name, { value, varies }] of resolution.values) {
        list.push(name, value);
        if (varies) varying += `${name}:${value}\n`;
      }
      return { list, varying };
    },
  };
}

/** @param inserted names that are never taken from the client. */
function toSteps({ propagate, insert, remove }: RequestRule, inserted: ReadonlySet<string>): readonly Step[] {
  if (insert)
    return [
      insert.claim === undefined
        ? insertValue(insert.name, insert.value ?? "")
        : insertClaim(insert.name, insert.claim),
    ];
  if (remove) return [removeSelected(createSelector(remove))];
  if (!propagate) return [];
  const varies = propagate.varies !== false;
  if (propagate.cookie !== undefined) return inserted.has("cookie") ? [] : [propagateCookie(propagate.cookie, varies)];
  if (propagate.matching !== undefined) return [propagateMatching(propagate.matching, varies, inserted)];
  return listNames(propagate.named).flatMap((name) => {
    const target = (propagate.rename ?? name).toLowerCase();
    return inserted.has(spellingOf(target)) ? [] : [propagateNamed(name, target, varies, propagate.default)];
  });
}

function insertValue(name: string, value: string): Step {
  const target = name.toLowerCase();
  return ({ values }) => void values.set(target, { value, varies: false });
}

function insertClaim(name: string, claim: string): Step {
  const target = name.toLowerCase();
  return ({ client, values }) => {
    const value = toHeaderValue(client.claims?.[claim]);
    if (value === undefined) values.delete(target);
    else values.set(target, { value, varies: true });
  };
}

/** RFC 9110, 5.5, without outer white space, which HTTP parsers drop: the subgraph would read another value. */
const headerValue = /^(?:[!-~](?:[\t -~]*[!-~])?)?$/;

/** Undefined for a claim of which no header can be made that says the same. */
function toHeaderValue(claim: unknown): string | undefined {
  if (!Array.isArray(claim)) return toMemberValue(claim);
  const members = claim.map(toMemberValue);
  // A comma or nothing would be other members.
  const isList = members.every((member) => member !== undefined && member !== "" && !member.includes(","));
  return isList && members.length > 0 ? members.join(",") : undefined;
}

function toMemberValue(claim: unknown): string | undefined {
  // A whole number above 2^53 was rounded by JSON.parse, perhaps to another user's id.
  if (typeof claim === "number")
    return Number.isInteger(claim) && !Number.isSafeInteger(claim) ? undefined : String(claim);
  if (typeof claim === "boolean") return String(claim);
  return typeof claim === "string" && headerValue.test(claim) ? claim : undefined;
}

function propagateNamed(name: string, target: string, varies: boolean, fallback: string | undefined): Step {
  const spelling = spellingOf(name);
  return ({ client, values, dropped }) => {
    const sent = dropped.has(spelling) ? undefined : toText(client.headers[name]);
    const value = sent ?? fallback;
    if (value !== undefined) values.set(target, { value, varies });
  };
}

function propagateMatching(source: string, varies: boolean, inserted: ReadonlySet<string>): Step {
  const pattern = createLinearPattern(source);
  return ({ client, values, dropped }) => {
    for (const [name, raw] of Object.entries(client.headers)) {
      const value = toText(raw);
      if (value === undefined || !pattern.test(name)) continue;
      // Credentials are forwarded by their names only.
      if (name === "authorization" || name === "cookie" || isReservedInRequests(name)) continue;
      const spelling = spellingOf(name);
      if (!inserted.has(spelling) && !dropped.has(spelling)) values.set(name, { value, varies });
    }
  };
}

/** RFC 6265, 4.2.1. The cookies of several rules are joined. Of several cookies with one name the first, which has the most specific path. */
function propagateCookie(name: string, varies: boolean): Step {
  const start = `${name}=`;
  return ({ client, values }) => {
    const pair = toText(client.headers["cookie"])
      ?.split(";")
      .map((text) => text.trim())
      .find((text) => text.startsWith(start));
    if (pair === undefined) return;
    const before = values.get("cookie");
    const value = before ? `${before.value}; ${pair}` : pair;
    values.set("cookie", { value, varies: varies || before?.varies === true });
  };
}

function removeSelected(isSelected: (name: string) => boolean): Step {
  return ({ values }) => {
    for (const name of values.keys()) if (isSelected(name)) values.delete(name);
  };
}
