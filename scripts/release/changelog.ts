/** For release.ts: moves the texts of changesets into CHANGELOG.md. The packages have one version, so there is one changelog. */
import { parse } from "yaml";
import { z } from "zod";

/** A file of `.changeset`. */
export interface Changeset {
  /** The largest bump of its packages. */
  readonly bump: Bump;
  /** Without `@tributary/`, in the order of the file. */
  readonly packages: readonly string[];
  /** Markdown, possibly several paragraphs. */
  readonly text: string;
}

/** The largest first. */
const bumps = ["major", "minor", "patch"] as const;
type Bump = (typeof bumps)[number];

const titles: Readonly<Record<Bump, string>> = {
  major: "Incompatible changes",
  minor: "Compatible changes",
  patch: "Corrections",
};
const unreleasedHeading = "## Unreleased\n";
/** The bump of each package, and the text below it. */
const changesetPattern = /^---\n(.*?)\n---\n(.*)$/s;
const frontMatter = z.record(z.string(), z.enum(bumps));

/**
 * @param path for messages.
 * @throws Error for a file that is not a changeset, names no package or has no text.
 */
export function parseChangeset(source: string, path: string): Changeset {
  const [, head = "", text = ""] = changesetPattern.exec(source) ?? [];
  // Undefined if the head does not map packages to bumps.
  const bumpByPackage = frontMatter.safeParse(parse(head)).data;
  if (bumpByPackage === undefined || Object.keys(bumpByPackage).length === 0 || text.trim() === "") {
    throw new Error(
      `${path} is not a changeset. It needs lines such as "@tributary/gateway": minor between two lines ---, and below them the text for CHANGELOG.md. npm run changeset writes such a file.`,
    );
  }
  const bumpsOfPackages = Object.values(bumpByPackage);
  return {
    // `?? "patch"` is only for the type: there is at least one package.
    bump: bumps.find((bump) => bumpsOfPackages.includes(bump)) ?? "patch",
    packages: Object.keys(bumpByPackage).map((name) => name.replace("@tributary/", "")),
    text: text.trim(),
  };
}

/**
 * Adds a release above the previous releases. The text of a section "Unreleased" becomes part of it, below the texts of the changesets.
 * @param day the day of the release, such as 2030-01-31.
 * @throws Error if the changelog has the version already.
 */
export function addRelease(
  changelog: string,
  { version, day, changesets }: { version: string; day: string; changesets: readonly Changeset[] },
): string {
  if (changelog.includes(`\n## ${version},`)) throw new Error(`CHANGELOG.md has a section for ${version} already.`);
  const sections = bumps.flatMap((bump) => renderSection(bump, changesets));
  const release = [`## ${version}, ${day}`, ...sections].join("\n\n");
  if (changelog.includes(unreleasedHeading)) return changelog.replace(unreleasedHeading, () => `${release}\n`);
  const firstReleaseIndex = /^## /m.exec(changelog)?.index ?? changelog.length;
  const introduction = changelog.slice(0, firstReleaseIndex).trimEnd();
  const earlierReleases = changelog.slice(firstReleaseIndex);
  const withRelease = `${introduction}\n\n${release}\n`;
  return earlierReleases === "" ? withRelease : `${withRelease}\n${earlierReleases}`;
}

/** The heading and the list of a kind of changes; empty if no changeset is of this kind. */
function renderSection(bump: Bump, changesets: readonly Changeset[]): readonly string[] {
  const items = changesets.filter((changeset) => changeset.bump === bump).map(renderItem);
  return items.length === 0 ? [] : [`### ${titles[bump]}`, items.join("\n")];
}

/** A list item: all lines but the first are indented, except empty ones. */
function renderItem({ packages, text }: Changeset): string {
  const indentedText = text.replaceAll("\n", "\n  ").replaceAll(/^ +$/gm, "");
  return `- **${packages.join(", ")}**: ${indentedText}`;
}
