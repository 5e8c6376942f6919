import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

export interface Matcher {
  readonly label: string;
  readonly op: string;
  readonly value: string;
}

/** A series that a query asks for. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** Labels of `by`, `without`, `on` or `ignoring`, and the series that they are about. */
interface Grouping {
  /** Of `without` and `ignoring`: what they name need not be there. */
  readonly isExcluding: boolean;
  readonly labels: readonly string[];
  readonly selectors: readonly Selector[];
}

export interface Query {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly Grouping[];
}

/**
 * What a query asks for, by Prometheus' own grammar, which knows every function and aggregation by its name. Grafana's variables for a
 * stretch of time stand for five minutes; those within a string stay.
 * @throws Error with the place where it is not PromQL.
 */
export function readQuery(written: string): Query {
  const text = written.replaceAll(/\$__(rate_interval|interval|range)\b/g, "5m");
  const { topNode } = parser.parse(text);
  const wrong = find(topNode, "⚠")[0];
  if (wrong)
    throw new Error(`not PromQL at ${wrong.from}, before "${text.slice(wrong.from, wrong.from + 30)}": ${text}`);
  return {
    selectors: selectorsOf(topNode, text),
    groupings: find(topNode, "GroupingLabels").map((node) => readGrouping(node, text)),
  };
}

/** One selector for each value that an `=~` lists, such as two for `{a=~"b|c"}`. */
export function splitAlternatives({ metric, matchers }: Selector): readonly Selector[] {
  const alternatives = matchers.map(({ label, op, value }) =>
    op === "=~" ? value.split("|").map((one) => ({ label, op, value: one })) : [{ label, op, value }],
  );
  const sets = alternatives.reduce<readonly (readonly Matcher[])[]>(
    (before, ones) => before.flatMap((set) => ones.map((one) => [...set, one])),
    [[]],
  );
  return sets.map((set) => ({ metric, matchers: set }));
}

/** Labels that Prometheus adds to what a process exports. */
const scrapeLabels: ReadonlySet<string> = new Set(["job", "instance"]);

/** Whether a selector finds an exported sample, whatever its job and instance. */
export function matches(
  { metric, matchers }: Selector,
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): boolean {
  return (
    name === metric &&
    matchers
      .filter(({ label }) => !scrapeLabels.has(label))
      .every(({ label, op, value }) => {
        const pattern = op.endsWith("~") ? value : value.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
        return new RegExp(`^(?:${pattern})$`).test(labels[label] ?? "") === !op.startsWith("!");
      })
  );
}

function selectorsOf(node: SyntaxNode, text: string): readonly Selector[] {
  return find(node, "VectorSelector").map((selector) => {
    const name = selector.getChild("Identifier");
    if (!name) throw new Error(`a selector without a metric's name: ${text}`);
    return {
      metric: textOf(name, text),
      matchers: find(selector, "UnquotedLabelMatcher").map((m) => readMatcher(m, text)),
    };
  });
}

function readMatcher(node: SyntaxNode, text: string): Matcher {
  const part = (name: string) => {
    const child = node.getChild(name);
    return child ? textOf(child, text) : "";
  };
  return { label: part("LabelName"), op: part("MatchOp"), value: JSON.parse(part("StringLiteral")) as string };
}

function readGrouping(node: SyntaxNode, text: string): Grouping {
  let about: SyntaxNode | null = node.parent;
  while (about && about.name !== "AggregateExpr" && about.name !== "BinaryExpr") about = about.parent;
  if (!about) throw new Error(`labels of nothing: ${text}`);
  const labels = node.getChildren("LabelName").map((label) => textOf(label, text));
  const isExcluding = ["Without", "Ignoring"].some((name) => node.parent?.getChild(name));
  return { isExcluding, labels, selectors: selectorsOf(about, text) };
}

function find(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  const found: SyntaxNode[] = [];
  node.cursor().iterate((at) => {
    // An error has no name of its own that could be asked for.
    if (at.name === name || (name === "⚠" && at.type.isError)) found.push(at.node);
  });
  return found;
}

const textOf = ({ from, to }: SyntaxNode, text: string) => text.slice(from, to);
