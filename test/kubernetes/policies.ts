// Which connections the network policies of a cluster admit between pods of one namespace.
import type { Cluster } from "./cluster.ts";

interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

interface Selector {
  readonly matchLabels?: Readonly<Record<string, string>> | null;
  readonly matchExpressions?: readonly Expression[] | null;
}

interface Expression {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | null;
}

/** True if the selector selects a pod with these labels; without a selector none. */
export function matches(selector: Selector | null | undefined, labels: Labelled["labels"]): boolean {
  if (!selector) return false;
  const hasAll = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return hasAll && (selector.matchExpressions ?? []).every((expression) => holds(expression, labels));
}

/** The policies use only the operators `Exists` and `In`; any other one matches nothing here. */
function holds({ key, operator, values }: Expression, labels: Labelled["labels"]): boolean {
  const value = labels[key];
  if (value === undefined) return false;
  return operator === "Exists" || (operator === "In" && (values ?? []).includes(value));
}

/** True if the egress rules of `from` and the ingress rules of `to` both admit the connection. */
export function mayReach(cluster: Cluster, from: Labelled, to: Labelled, port: number): boolean {
  const policies = cluster.all("NetworkPolicy").map(({ spec }) => spec);
  const egress = policies.some(
    (spec) =>
      matches(spec?.podSelector, from.labels) &&
      (spec?.egress ?? []).some((rule) => admits(rule.to, rule.ports, to, port)),
  );
  const ingress = policies.some(
    (spec) =>
      matches(spec?.podSelector, to.labels) &&
      (spec?.ingress ?? []).some((rule) => admits(rule.from, rule.ports, from, port)),
  );
  return egress && ingress;
}

interface Peer {
  readonly podSelector?: Selector | null;
  readonly namespaceSelector?: unknown;
}

/** A rule without peers admits all pods, and one without ports all ports. A peer in another namespace matches none of the pods. */
function admits(
  peers: readonly Peer[] | null | undefined,
  ports: readonly { readonly port?: number | string | null }[] | null | undefined,
  other: Labelled,
  port: number,
): boolean {
  const isPeer = !peers || peers.some((peer) => !peer.namespaceSelector && matches(peer.podSelector, other.labels));
  return isPeer && (!ports || ports.some((entry) => entry.port === port));
}
