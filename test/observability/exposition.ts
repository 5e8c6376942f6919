/** The metrics of a process at `/metrics`, in Prometheus' text format. */
export interface Exposition {
  /** Metric types by name, from the `# TYPE` lines. */
  readonly types: ReadonlyMap<string, string>;
  readonly samples: readonly Sample[];
}

interface Sample {
  /** The series' name, such as `x_total` or `x_bucket`. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function readExposition(text: string): Exposition {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const lines = text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? (\S+)$/gm);
  const samples = Array.from(lines, ([, name = "", labels = "", value = ""]) => {
    const pairs = labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
    const entries = Array.from(pairs, ([, label = "", text = ""]) => [label, text] as const);
    return { name, labels: Object.fromEntries(entries), value: Number(value) };
  });
  return { types, samples };
}

/** The names of a metric's series in queries. */
export function seriesOf(name: string, type: string): readonly string[] {
  if (type === "histogram") return [`${name}_bucket`, `${name}_sum`, `${name}_count`];
  return type === "summary" ? [name, `${name}_sum`, `${name}_count`] : [name];
}
