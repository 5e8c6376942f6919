import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

export interface Matcher {
  readonly label: string;
  readonly op: string;
  readonly value: string;
}

/** A vector selector: a metric and its label matchers. */
export interface Selector {
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** Labels of `by`, `without`, `on` or `ignoring`, and the selectors that they apply to. */
interface Grouping {
  /** True for `without` and `ignoring`: not every series needs to have these labels. */
  readonly isExcluding: boolean;
  readonly labels: readonly string[];
  readonly selectors: readonly Selector[];
}

export interface Query {
  readonly selectors: readonly Selector[];
  readonly groupings: readonly Grouping[];
}

/**
 * Parses a query with Prometheus' grammar, which knows the name of every function and aggregation. Grafana's interval variables
 * are replaced by 5m; variables in strings are kept.
 * @throws Error with the position of a syntax error
 */
export function readQuery(query: string): Query {
  const text = query.replaceAll(/\$__(rate_interval|interval|range)\b/g, "5m");
  const { topNode } = parser.parse(text);
  const error = find(topNode, "⚠")[0];
  if (error)
    throw new Error(`not PromQL at ${error.from}, before "${text.slice(error.from, error.from + 30)}": ${text}`);
  return {
    selectors: selectorsOf(topNode, text),
    groupings: find(topNode, "GroupingLabels").map((node) => readGrouping(node, text)),
  };
}

/** One selector for each alternative of a regular expression: two for `{a=~"b|c"}`. */
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

/** True if a selector matches an exported sample; job and instance are ignored. */
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
    if (!name) throw new Error(`a selector without a metric name: ${text}`);
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
  let expression: SyntaxNode | null = node.parent;
  while (expression && expression.name !== "AggregateExpr" && expression.name !== "BinaryExpr")
    expression = expression.parent;
  if (!expression) throw new Error(`labels without an expression: ${text}`);
  const labels = node.getChildren("LabelName").map((label) => textOf(label, text));
  const isExcluding = ["Without", "Ignoring"].some((name) => node.parent?.getChild(name));
  return { isExcluding, labels, selectors: selectorsOf(expression, text) };
}

function find(node: SyntaxNode, name: string): readonly SyntaxNode[] {
  const nodes: SyntaxNode[] = [];
  node.cursor().iterate((at) => {
    // Error nodes have no unique name.
    if (at.name === name || (name === "⚠" && at.type.isError)) nodes.push(at.node);
  });
  return nodes;
}

const textOf = ({ from, to }: SyntaxNode, text: string) => text.slice(from, to);
