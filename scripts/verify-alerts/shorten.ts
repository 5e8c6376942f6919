/** All intervals of Prometheus and Alertmanager are divided by this, so that a fault takes seconds instead of minutes. */
export const shorteningFactor = 30;

const unitMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** @throws Error for a text that is not a Prometheus duration with one unit. */
export function toMs(duration: string): number {
  const [, number, unit = ""] = /^(\d+)(ms|[smhdw])$/.exec(duration) ?? [];
  const ms = unitMs[unit];
  if (number === undefined || ms === undefined) throw new Error(`not a duration: ${duration}`);
  return Number(number) * ms;
}

/** "5m" becomes "10000ms". */
export function shorten(duration: string, factor: number = shorteningFactor): string {
  return `${Math.round(toMs(duration) / factor)}ms`;
}

/** Shortens the windows and offsets of a query. */
export function shortenQuery(query: string, factor?: number): string {
  return query.replaceAll(
    /(\[|\boffset\s+)(\d+(?:ms|[smhdw]))\b/g,
    (_, before: string, duration: string) => before + shorten(duration, factor),
  );
}

/** Shortens the settings with these names, at any depth. */
export function shortenSettings(settings: unknown, names: readonly string[], factor?: number): unknown {
  if (Array.isArray(settings)) return settings.map((item) => shortenSettings(item, names, factor));
  if (typeof settings !== "object" || settings === null) return settings;
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => {
      const isDuration = names.includes(name) && typeof value === "string";
      return [name, isDuration ? shorten(value, factor) : shortenSettings(value, names, factor)];
    }),
  );
}
