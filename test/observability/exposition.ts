/** What a process shows at `/metrics`, in Prometheus' text format. */
export interface Exposition {
  /** Names as `# TYPE` says them, with their type. */
  readonly types: ReadonlyMap<string, string>;
  /** Labels of each sample, by the name of its series. */
  readonly samples: ReadonlyMap<string, readonly Readonly<Record<string, string>>[]>;
}

export function readExposition(text: string): Exposition {
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = "", type = ""]) => [name, type]));
  const samples = new Map<string, Readonly<Record<string, string>>[]>();
  for (const [, name = "", labels = ""] of text.matchAll(/^([a-z_]\w*)(?:\{(.*)\})? \S+$/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, label = "", value = ""]) => [
      label,
      value,
    ]);
    samples.set(name, [...(samples.get(name) ?? []), Object.fromEntries(pairs) as Record<string, string>]);
  }
  return { types, samples };
}

/** The names under which a metric's series can be asked for. */
export function seriesOf(name: string, type: string): readonly string[] {
  if (type === "histogram") return [`${name}_bucket`, `${name}_sum`, `${name}_count`];
  return type === "summary" ? [name, `${name}_sum`, `${name}_count`] : [name];
}
