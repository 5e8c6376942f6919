import type { Exchange } from "./exchange.ts";
import type { Subject } from "./subject.ts";

/** What a rule needs: tokens of the test issuer, a process that it may stop, or a change feed. */
export type RuleNeed = "tokens" | "start" | "feed";

export interface RuleDeclaration {
  readonly text: string;
  /** Of an optional rule: what the platform does for a service that does not offer it. */
  readonly without?: string;
  readonly needs?: RuleNeed;
  check(subject: Subject, report: RuleReport): Promise<unknown>;
}

export interface Rule extends RuleDeclaration {
  readonly id: string;
  /** The heading in docs/service-contract.md that has it. */
  readonly section: string;
}

export interface RuleFailure {
  /** A command, or what was compared. */
  readonly how: string;
  readonly expected: string;
  readonly got: string;
}

export interface RuleReport {
  expect(exchange: Exchange, isExpected: boolean, expected: string): void;
  expectStatus(exchange: Exchange, ...statuses: readonly number[]): void;
  /** For what is not seen in one response. */
  expectThat(isExpected: boolean, failure: RuleFailure): void;
  /** The service does not offer an optional part. */
  absent(): void;
  /** This part of the rule cannot be checked. */
  skip(reason: string): void;
}

/** @param rules by id. */
export function declareRules(
  section: string,
  rules: Readonly<Record<string, RuleDeclaration>>,
  needs?: RuleNeed,
): readonly Rule[] {
  return Object.entries(rules).map(([id, rule]) => ({ id, section, ...(needs && { needs }), ...rule }));
}
