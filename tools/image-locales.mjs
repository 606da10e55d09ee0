// Adds every locale to Chromium, for images: node tools/image-locales.mjs FOLDER, its folder `locales`. Chromium takes a locale
// only if a file has its name. Most languages have no texts there: their files are links to English texts. `Intl` takes its
// data from another file, so it is complete.
import { readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";

const letters = Array.from("abcdefghijklmnopqrstuvwxyz");
const scripts = "Adlm Arab Beng Cyrl Deva Grek Guru Hans Hant Hebr Latn Mong Mtei Olck Telu Tfng Vaii".split(" ");

/** @param {string} tag - Without separate data, `Intl` reports a more general tag. */
const hasData = (tag) => {
  try {
    return new Intl.NumberFormat(tag).resolvedOptions().locale === tag;
  } catch {
    return false;
  }
};

/** @returns {string[]} every tag with separate data. */
export function localesWithData() {
  const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
  const pairs = letters.flatMap((first) => letters.map((second) => first + second));
  const regions = [...pairs.map((pair) => pair.toUpperCase()), "001", "150", "419"].filter((region) =>
    names.of(region),
  );
  const triples = pairs.flatMap((pair) => letters.map((third) => pair + third));
  return [...pairs, ...triples].filter(hasData).flatMap((language) => {
    const written = [language, ...scripts.map((script) => `${language}-${script}`).filter(hasData)];
    return written.flatMap((tag) => [tag, ...regions.map((region) => `${tag}-${region}`).filter(hasData)]);
  });
}

/** @param {string} folder */
export function linkLocales(folder) {
  const texts = new Set(readdirSync(folder));
  for (const tag of localesWithData().filter((each) => !texts.has(`${each}.pak`))) {
    const [language] = tag.split("-");
    symlinkSync(texts.has(`${language}.pak`) ? `${language}.pak` : "en-US.pak", join(folder, `${tag}.pak`));
  }
}

if (process.argv[1] === import.meta.filename) {
  const [folder] = process.argv.slice(2);
  if (folder === undefined) {
    console.error("Which folder? node tools/image-locales.mjs FOLDER");
    process.exit(2);
  }
  linkLocales(folder);
}
