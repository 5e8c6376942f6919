import { cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const licenceFile = /^(?:licen[cs]e|notice|copying)/i;

/**
 * Copies the manifest, licences and notices of each bundled package: licences require their text to be distributed with the code, and the SBOM of
 * an image has each package whose manifest is in it.
 * @returns the packages without a licence file, as `name@version`: their manifest alone names the licence.
 */
export function copyThirdPartyFiles(packageFolders: ReadonlySet<string>, folder: string): readonly string[] {
  const unlicensed: string[] = [];
  for (const packageFolder of packageFolders) {
    const { name, version } = JSON.parse(readFileSync(join(packageFolder, "package.json"), "utf8")) as {
      readonly name: string;
      readonly version: string;
    };
    const licences = readdirSync(packageFolder).filter((file) => licenceFile.test(file));
    const target = join(folder, `${name}@${version}`);
    mkdirSync(target, { recursive: true });
    for (const file of ["package.json", ...licences]) cpSync(join(packageFolder, file), join(target, file));
    if (licences.length === 0) unlicensed.push(`${name}@${version}`);
  }
  return unlicensed.toSorted();
}
