import { mkdtemp, readdir, readlink, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { linkLocales } from "./image-locales.mjs";

it("makes a file for every locale that sessions can have, with the texts of the language if it has them", async () => {
  const folder = await mkdtemp(join(tmpdir(), "shoal-locales-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const name of ["en-US.pak", "de.pak"]) await writeFile(join(folder, name), "");
  linkLocales(folder);
  const tags = (await readdir(folder)).map((name) => name.slice(0, -".pak".length));
  const needed = ["de", "de-CH", "en", "en-US", "es-419", "fil-PH", "ja-JP", "pt-BR", "sr-Latn-RS", "zh-Hant-TW"];
  expect(tags).toEqual(expect.arrayContaining(needed));
  // As the service checks `location.locale`.
  expect(tags.filter((tag) => new Intl.DateTimeFormat(tag).resolvedOptions().locale !== tag)).toEqual([]);
  expect(await readlink(join(folder, "de-CH.pak"))).toBe("de.pak");
  expect(await readlink(join(folder, "ja-JP.pak"))).toBe("en-US.pak");
});
