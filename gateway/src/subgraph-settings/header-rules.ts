// Checks the header rules of gateway.yaml for what their schema cannot say: names, and rules that depend on other settings.
import { isReservedInRequests, isReservedInResponses } from "./header-names.ts";
import type { HeaderRulesFile, RequestRule, ResponseRule } from "./header-rules-schema.ts";

export interface HeaderRuleProblem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

interface CheckOptions {
  /** Inserted response headers do not depend on a subgraph. */
  readonly isForAll: boolean;
  readonly verifiesTokens: boolean;
}

export function checkHeaderRules(
  { request = [], response = [] }: HeaderRulesFile,
  o: CheckOptions,
): readonly HeaderRuleProblem[] {
  return [
    ...request.flatMap((rule, i) => checkRequestRule(rule, o).map((problem) => below(["request", i], problem))),
    ...response.flatMap((rule, i) => checkResponseRule(rule, o).map((problem) => below(["response", i], problem))),
  ];
}

function below(path: readonly (string | number)[], problem: HeaderRuleProblem): HeaderRuleProblem {
  return { ...problem, path: [...path, ...problem.path] };
}

function checkRequestRule({ propagate, insert, remove }: RequestRule, o: CheckOptions): readonly HeaderRuleProblem[] {
  const problems: HeaderRuleProblem[] = [];
  const report = (path: readonly (string | number)[], message: string) => problems.push({ path, message });
  const checkName = (path: readonly (string | number)[], name: string) => {
    if (isReservedInRequests(name)) report(path, `${name} is reserved: no rule may name it`);
  };
  for (const name of listNames(propagate?.named)) {
    checkName(["propagate", "named"], name);
    if (name.toLowerCase() === "authorization")
      report(
        ["propagate", "named"],
        "authorization is forwarded unless `authorization: remove` is set for the subgraph",
      );
  }
  if (propagate?.rename !== undefined) checkTarget(["propagate", "rename"], propagate.rename);
  for (const name of listNames(remove?.named)) checkName(["remove", "named"], name);
  if (insert) checkName(["insert", "name"], insert.name);
  if (insert?.claim !== undefined && !o.verifiesTokens)
    report(["insert", "claim"], "a claim needs JWKS_URL: without it the gateway verifies no tokens");
  return problems;

  function checkTarget(path: readonly string[], name: string): void {
    checkName(path, name);
    if (["authorization", "cookie"].includes(name.toLowerCase())) report(path, `no header can become ${name}`);
  }
}

function checkResponseRule({ propagate, insert, remove }: ResponseRule, o: CheckOptions): readonly HeaderRuleProblem[] {
  const problems: HeaderRuleProblem[] = [];
  const report = (path: readonly string[], message: string) => problems.push({ path, message });
  const checkName = (path: readonly string[], name: string) => {
    if (isReservedInResponses(name)) report(path, `${name} is reserved: no rule may name it`);
  };
  const names = listNames(propagate?.named);
  for (const name of names) checkName(["propagate", "named"], name);
  for (const name of listNames(remove?.named)) checkName(["remove", "named"], name);
  const namesCookies = names.some((name) => name.toLowerCase() === "set-cookie");
  if (propagate?.rename !== undefined) {
    checkName(["propagate", "rename"], propagate.rename);
    const isCookie = namesCookies || propagate.rename.toLowerCase() === "set-cookie";
    if (isCookie) report(["propagate", "rename"], "set-cookie can neither be renamed nor the new name of a header");
  }
  if (propagate?.from_queries !== undefined && !namesCookies)
    report(["propagate", "from_queries"], "is for set-cookie only");
  if (insert) {
    checkName(["insert", "name"], insert.name);
    if (insert.name.toLowerCase() === "set-cookie")
      report(["insert", "name"], "every client would get the same cookie");
    if (!o.isForAll) report(["insert"], "is for headers.all only: which subgraphs respond differs between requests");
  }
  return problems;
}

function listNames(named: string | readonly string[] | undefined): readonly string[] {
  return typeof named === "string" ? [named] : (named ?? []);
}
