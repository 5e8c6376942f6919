// The settings in use. The file is read at start, and then watched: a changed file that is valid replaces them, any other changes nothing.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { ConfigError, type Environment } from "@tributary/kit/process/env";
import { readRegularFile } from "@tributary/kit/process/regular-file";
import type { Config } from "./config.ts";
import type { GatewayObserver } from "./observations.ts";
import { createFileSource } from "./supergraph/file-source.ts";
import type { TextSource } from "./supergraph/text-source.ts";
import { watchText } from "./supergraph/text-watcher.ts";
import { noSettings, type ParsedSettings, parseSettings, SettingsError } from "./settings/parse-settings.ts";
import { listRestartKeys } from "./settings/restart-keys.ts";
import { createSettings, type Settings, type SettingsOptions } from "./settings.ts";

export interface SettingsStore {
  readonly current: Settings;
  /** The file that `current` is of. */
  readonly parsed: ParsedSettings;
  /** Keys that have changed since the start, but take effect at a start only. */
  readonly restartKeys: readonly string[];
  /** Watches the file until `close`. */
  watch(o: WatchOptions): void;
  close(): void;
}

interface WatchOptions {
  readonly observe: GatewayObserver;
  readonly onChange: (settings: Settings) => void;
}

/** Besides hints of the file system, which network mounts do not send. */
const pollMs = 1_000;

/** @throws ConfigError with every problem of the file. */
export function readSettingsFile(path: string | undefined, environment: Environment): ParsedSettings {
  if (path === undefined) return noSettings;
  try {
    return parseSettings(readFileSync(path, "utf8"), path, environment);
  } catch (error) {
    throw toConfigError(error, path);
  }
}

export function toConfigError(error: unknown, path: string): unknown {
  if (error instanceof SettingsError) return new ConfigError(error.problems, "The settings are invalid:");
  const isUnreadable = error instanceof Error && "code" in error;
  return isUnreadable
    ? new ConfigError([`${path} cannot be read: ${error.message}`], "The settings are invalid:")
    : error;
}

export function toSettingsOptions(config: Config): SettingsOptions {
  return { ...config, variables: config.subgraphs, verifiesTokens: config.callerConfig.tokens !== undefined };
}

/** @param environment for `${env.NAME}`. @throws ConfigError */
export function createSettingsStore(first: ParsedSettings, config: Config, environment: Environment): SettingsStore {
  const o = toSettingsOptions(config);
  let parsed = first;
  let current = readFirst();
  let restartKeys: readonly string[] = [];
  let stopWatching = () => {};

  /** As one text, which changes with each of them. */
  async function readTlsTexts(): Promise<string> {
    const texts = [...current.subgraphs.tlsFiles.keys()].map((path) => readRegularFile(path));
    return JSON.stringify(await Promise.all(texts));
  }

  function readFirst(): Settings {
    try {
      return createSettings(first, o, 0);
    } catch (error) {
      throw toConfigError(error, first.name);
    }
  }

  /** @returns the problems of settings that are invalid. */
  function replace(parse: () => ParsedSettings, { observe, onChange }: WatchOptions): readonly string[] {
    try {
      const next = parse();
      const settings = createSettings(next, o, current.subgraphs.revision + 1);
      if (JSON.stringify(next.settings) === JSON.stringify(parsed.settings) && hasSameFiles(settings, current))
        return [];
      current = settings;
      parsed = next;
      restartKeys = listRestartKeys(first.settings, next.settings);
      observe({ kind: "settings-loaded", file: first.name, revision: current.subgraphs.revision });
      if (restartKeys.length > 0) observe({ kind: "settings-need-restart", keys: restartKeys });
      onChange(current);
    } catch (cause) {
      if (cause instanceof SettingsError) return cause.problems;
      // A bug must not end the process, nor the watching.
      observe({ kind: "internal-error", cause });
    }
    return [];
  }

  return {
    get current() {
      return current;
    },
    get parsed() {
      return parsed;
    },
    get restartKeys() {
      return restartKeys;
    },
    watch(options) {
      if (first === noSettings) return;
      const watch = (source: TextSource, parse: (text: string) => ParsedSettings) =>
        watchSettings({
          source,
          file: first.name,
          observe: options.observe,
          load: (text) => replace(() => parse(text), options),
        });
      const stops = [
        watch(createFileSource(first.name), (text) => parseSettings(text, first.name, environment)),
        watch({ name: `files of tls in ${first.name}`, read: readTlsTexts }, () => parsed),
      ];
      stopWatching = () => stops.forEach((stop) => stop());
    },
    close: () => stopWatching(),
  };
}

interface WatchedSettings extends Pick<WatchOptions, "observe"> {
  readonly source: TextSource;
  readonly file: string;
  /** @returns the problems of settings that are invalid. */
  readonly load: (text: string) => readonly string[];
}

function watchSettings({ source, file, observe, load }: WatchedSettings): () => void {
  let rejected: readonly string[] = [];
  return watchText({
    source,
    pollMs,
    onUnreadable(cause, isRepeated) {
      if (!isRepeated) observe({ kind: "settings-unreadable", file: source.name, cause });
    },
    onText(text) {
      const problems = load(text);
      const isNew = !isDeepStrictEqual(rejected, [text, ...problems]);
      if (problems.length > 0 && isNew) observe({ kind: "settings-rejected", file, problems });
      rejected = [text, ...problems];
      // The same text is valid when the files that it names have been written.
      return Promise.resolve(problems.length > 0 ? "retry" : "done");
    },
  });
}

function hasSameFiles(a: Settings, b: Settings): boolean {
  return isDeepStrictEqual(a.subgraphs.tlsFiles, b.subgraphs.tlsFiles);
}
