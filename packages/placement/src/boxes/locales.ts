import type { InstanceFiles } from "./instance-files.ts";
import { chmod, lstat, mkdir, readdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Of the texts that every package of Chromium has. */
const usual = "en-US";

const fileOf = (locale: string): string => `${locale}.pak`;

/** Chromium takes only a locale for which a file with this name is in the folder. */
export function localesFolder(executable: string): string {
  return join(dirname(executable), "locales");
}

/** @returns the locales of a full Chromium, none where it has no such folder. */
export async function installedLocales(executable: string | undefined): Promise<readonly string[]> {
  if (executable === undefined) return [];
  return localesIn(await readdir(localesFolder(executable)).catch(() => []));
}

/** @param names - of the files in the folder. */
export function localesIn(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => (name.endsWith(".pak") ? [name.slice(0, -".pak".length)] : []));
}

export function localesOf({ sessionDir }: InstanceFiles): string {
  return join(sessionDir, "locales");
}

/** Makes the folder that hides Chromium's. @param originals - where the box has Chromium's. Ignores the umask. */
export async function makeLocales(files: InstanceFiles, originals: string): Promise<void> {
  await mkdir(localesOf(files));
  await chmod(localesOf(files), 0o755);
  await symlink(join(originals, fileOf(usual)), join(localesOf(files), fileOf(usual)));
}

/** Adds a locale: with its texts if Chromium has them, else with English ones. Its `Intl` is complete in both cases. */
export async function addLocale(
  files: InstanceFiles,
  locale: string,
  { installed, originals }: { readonly installed: readonly string[]; readonly originals: string },
): Promise<void> {
  const [language = ""] = locale.split("-");
  const texts = [locale, language].find((each) => installed.includes(each)) ?? usual;
  const link = join(localesOf(files), fileOf(locale));
  if ((await lstat(link).catch(() => undefined)) === undefined) await symlink(join(originals, fileOf(texts)), link);
}
