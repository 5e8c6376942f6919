// Which keys take effect at a start only: those with `meta({ restart: true })` in settings-schema.ts.
import { type SettingsFile, settingsSchema } from "./settings-schema.ts";
import type { SubgraphFileSettings } from "../subgraph-settings/subgraph-schema.ts";
import { z } from "zod";

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly restart?: boolean;
}

/** Those that differ, such as `subgraphs.posts.entity_cache`. */
export function listRestartKeys(before: SettingsFile, after: SettingsFile): readonly string[] {
  const keys = compare(z.toJSONSchema(settingsSchema, { io: "input" }) as JsonSchema, before, after, []);
  return [...new Set([...keys, ...listFeedKeys(before, after)])];
}

/** Without `feed_urls`, the feed of a cached subgraph follows from its URLs. */
function listFeedKeys({ subgraphs: before = {} }: SettingsFile, { subgraphs: after = {} }: SettingsFile) {
  const follows = ([service, { entity_cache: isCached, feed_urls: feed, urls }]: [string, SubgraphFileSettings]) =>
    isCached === true && feed === undefined && JSON.stringify(urls) !== JSON.stringify(after[service]?.urls);
  return Object.entries(before)
    .filter(follows)
    .map(([service]) => `subgraphs.${service}.feed_urls`);
}

function compare(schema: JsonSchema, before: unknown, after: unknown, path: readonly string[]): readonly string[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (schema.restart === true) return [path.join(".")];
  const { properties = {}, additionalProperties: others } = schema;
  const keys = new Set([...Object.keys(Object(before)), ...Object.keys(Object(after))]);
  return [...keys].flatMap((key) => {
    const member = properties[key] ?? (typeof others === "object" ? others : undefined);
    return member ? compare(member, memberOf(before, key), memberOf(after, key), [...path, key]) : [];
  });
}

function memberOf(value: unknown, key: string): unknown {
  return (Object(value) as Readonly<Record<string, unknown>>)[key];
}
